"""``forge info``: a page about logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")

import forge
from forge.binlog.listing import assemble, disassemble
from forge.changed.log_info import LogInfo, log_info
from forge.cli import app

TEXT = """
scenario: two
session: {gtid: true, row_metadata: full}
tables: ["CREATE TABLE s.a (id INT PRIMARY KEY, v TEXT)", "CREATE TABLE s.b (id INT PRIMARY KEY)"]
transactions:
  - - insert: {into: s.a, rows: [{id: 1, v: "%s"}]}
  - - insert: {into: s.b, rows: [{id: 2}, {id: 3}]}
  - - delete: {from: s.b, where: {id: 2}}
""" % ("x" * 2000)
UUID = "6b696e64-6f66-4f72-6765-000000000001"


def of(tmp_path: Path, text: str, **settings: Any) -> LogInfo:
    [path] = forge.build(text, **settings).write(tmp_path / "log")
    return log_info([path])


def test_transactions_have_their_sizes_and_gtids(tmp_path: Path) -> None:
    info = of(tmp_path, TEXT)
    whole = Path(info.files[0].name).stat().st_size
    assert info.transactions == 6
    assert info.transaction_bytes == sum(
        event["event_size"] for event in forge.read(info.files[0].name).events
        if event["type"] not in ("FORMAT_DESCRIPTION", "PREVIOUS_GTIDS", "STOP")
    )  # fmt: skip
    assert info.transaction_bytes < whole
    assert info.largest is not None
    assert info.largest.gtid == f"{UUID}:4"
    assert info.sizes == [5, 1, 0, 0, 0, 0, 0, 0]
    assert info.gtids.text() == f"{UUID}:1-6"
    assert not info.gtids.breaks


def test_tables_and_statements_are_counted(tmp_path: Path) -> None:
    info = of(tmp_path, TEXT)
    rows = {name: [count.rows for count in counts.by_operation.values()] for name, counts in info.tables.items()}
    assert rows == {"s.a": [1, 0, 0], "s.b": [2, 0, 1]}
    assert info.statements == {"CREATE DATABASE": 1, "CREATE TABLE": 2}
    assert info.session.values["character_set_client"] == {"utf8mb4": 3}


@pytest.mark.parametrize("server", ["mysql-5.5", "mysql-9.7", "mariadb-10.11", "mysql-4.1"])
def test_without_gtids_a_transaction_is_a_block_or_a_statement(tmp_path: Path, server: str) -> None:
    text = TEXT.replace("gtid: true, row_metadata: full", "checksum: none" if server < "mysql-5.6" else "")
    if server == "mysql-4.1":
        text = text.replace("{checksum: none}", "{checksum: none, binlog_format: statement}")
    assert of(tmp_path, text, server=server).transactions == 6


def test_compressed_transactions_count_with_the_bytes_of_the_file(tmp_path: Path) -> None:
    info = of(tmp_path, TEXT.replace("gtid: true", "gtid: true, compression: true"))
    assert info.transactions == 6
    assert info.transaction_bytes < Path(info.files[0].name).stat().st_size
    assert info.tables["s.b"].by_operation["insert"].rows == 2


def test_numbers_that_do_not_follow_are_breaks(tmp_path: Path) -> None:
    [path] = forge.build(TEXT).write(tmp_path / "log")
    documents = list(disassemble(path.read_bytes()))
    gtids = [one for one in documents if one.get("event") == "GTID"]
    gtids[3]["gno"] = 40
    listing = "".join(json.dumps(one) + "\n" for one in documents)
    path.write_bytes(assemble(listing))
    info = log_info([path])
    assert [(one.of, one.expected, one.found) for one in info.gtids.breaks] == [(UUID, 4, 40), (UUID, 41, 5)]
    assert info.gtids.text() == f"{UUID}:1-3:5-6:40"


def test_the_command_prints_a_page_an_object_and_html(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    [path] = forge.build(TEXT).write(tmp_path / "log")
    assert app.run(["info", str(path), "--time-zone", "+02:00"]) == 0
    text = capfd.readouterr().out
    assert f"  {UUID}:1-6\n" in text
    assert "2024-01-01 02:00:00" in text
    assert app.run(["info", str(path), "--json", "--table", "s.b"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert [table["table"] for table in found["tables"]] == ["s.b"]
    assert found["tables"][0]["metadata"] == "full"
    assert app.run(["info", str(path), "--html", "-o", str(tmp_path / "page.html")]) == 0
    assert "<td>s.a</td>" in (tmp_path / "page.html").read_text()


def test_of_a_damaged_log_the_page_has_what_comes_before(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    [path] = forge.build(TEXT).write(tmp_path / "log")
    path.write_bytes(path.read_bytes()[:-30])
    assert app.run(["info", str(path), "--json"]) == 3
    said = capfd.readouterr()
    assert json.loads(said.out)["tables"][0]["insert"]["rows"] == 1
    assert "phase" not in said.err
    assert "framing" in said.err
