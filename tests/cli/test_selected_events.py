"""forge rows, forge diff and forge compat of some events of binary logs, which may be compressed as a whole."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

import forge
from forge.cli import app

TEXT = """
scenario: two
session: {gtid: true}
server: mysql-9.7
tables: ["CREATE TABLE s.a (id INT PRIMARY KEY)", "CREATE TABLE s.b (id INT PRIMARY KEY, v VECTOR(2))"]
transactions:
  - - insert: {into: s.a, rows: [{id: 1}, {id: 2}]}
  - - insert: {into: s.b, rows: [{id: 3}]}
  - - delete: {from: s.a, where: {id: 2}}
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    [path] = forge.build(TEXT).write(tmp_path / "binlog.000001")
    return path


def rows(capfd: pytest.CaptureFixture[str], *words: str) -> list[tuple[str, int]]:
    assert app.run(["rows", *words]) == 0
    records = map(json.loads, capfd.readouterr().out.splitlines())
    return [(record["_operation"], record["@1"]) for record in records]


def test_rows_of_some_events(log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert rows(capfd, str(log), "--table", "s.a") == [("insert", 1), ("insert", 2), ("delete", 2)]
    assert rows(capfd, str(log), "--table", "s.a", "--type", "delete_rows") == [("delete", 2)]
    deleted = next(row for row in forge.read(log).rows if row.kind == "delete")
    assert rows(capfd, str(log), "--table", "s.a", "--start-position", str(deleted.offset)) == [("delete", 2)]
    assert rows(capfd, str(log), "--table", "s.a", "--stop-position", str(deleted.offset)) == [
        ("insert", 1), ("insert", 2),
    ]  # fmt: skip
    assert rows(capfd, str(log), "--table", "s.a", "--until", "1999-01-01") == []
    assert rows(capfd, str(log), "--table", "s.a", "--stop-position", "200") == []
    assert app.run(["rows", str(log), "--table", "s.c", "--stop-position", "200"]) == 2
    assert "expected s.a, s.b" in capfd.readouterr().err
    gtid = [event["fields"]["gtid"] for event in forge.read(log).events if event["type"] == "GTID"][-1]
    packed = tmp_path / "binlog.000001.gz"
    packed.write_bytes(gzip.compress(log.read_bytes()))
    assert rows(capfd, str(packed), str(log), "--table", "s.a", "--gtid", gtid) == [("delete", 2), ("delete", 2)]


def test_records_of_some_events_are_the_same_in_all_formats(
    log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `rows` is not installed")
    pytest.importorskip("numba", reason="the extra `rows` is not installed")
    packed = tmp_path / "binlog.000002.zst"
    packed.write_bytes(zstandard.compress(log.read_bytes()))
    deleted = next(row for row in forge.read(log).rows if row.kind == "delete")
    for words in (
        ["--type", "delete_rows"],
        ["--type", "WRITE_ROWS", "--type", "DELETE_ROWS", "--start-position", str(deleted.offset)],
        ["--stop-position", str(deleted.offset), "--since", "2024-01-01"],
        ["--until", "1999-01-01"],
        ["--gtid", "6b696e64-6f66-4f72-6765-000000000001:3-5"],
        [],
    ):
        shown = rows(capfd, str(log), str(packed), "--table", "s.a", *words)
        for form in ("parquet", "arrow"):
            out = str(tmp_path / form)
            assert app.run(["rows", str(log), str(packed), "--table", "s.a", *words, "--format", form, "-o", out]) == 0
            table = parquet.read_table(out) if form == "parquet" else pyarrow_file(out)
            assert list(zip(table["_operation"].to_pylist(), table["@1"].to_pylist(), strict=True)) == shown
    assert len(shown) == 6


def pyarrow_file(path: str) -> Any:
    from pyarrow import ipc

    return ipc.open_file(path).read_all()


def test_differences_of_some_events(log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    changed = TEXT.replace("{id: 3}", "{id: 30}").replace("{id: 2}]}", "{id: 2}, {id: 4}]}")
    for compression in ("", ", compression: true"):
        forge.build(TEXT.replace("{gtid: true", "{gtid: true" + compression)).write(log)
        [other] = forge.build(changed.replace("{gtid: true", "{gtid: true" + compression)).write(tmp_path / "other")
        packed = tmp_path / "other.gz"
        packed.write_bytes(gzip.compress(other.read_bytes()))

        def found(*words: str, packed: Path = packed) -> list[str]:
            code = app.run(["diff", str(log), str(packed), "--all", "--json", *words])
            lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
            assert code == bool(lines)
            return [f"{line['left']} {line['right']}" for line in lines]

        in_a, in_b = "nothing {'@1': 4}", "3 30"
        assert found("--table", "s.a") == [in_a]
        assert found("--table", "s.b") == [in_b]
        assert found("--type", "WRITE_ROWS") == [in_a, in_b]
        assert found("--type", "DELETE_ROWS") == []
        gtids = [event["fields"]["gtid"] for event in forge.read(log).events if event["type"] == "GTID"]
        assert found("--gtid", gtids[-3], "--type", "WRITE_ROWS") == [in_a]
        place = next(row.offset for row in forge.read(log).rows if row.table == "b")
        assert found("--stop-position", str(place), "--type", "WRITE_ROWS") == [in_a]


def test_logs_of_several_files_are_compared_file_by_file(
    log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    left, right = tmp_path / "left", tmp_path / "right"
    for folder in (left, right):
        folder.mkdir()
        forge.build(TEXT).write(folder / "binlog.000001")
        forge.build(TEXT).write(folder / "binlog.000002")
    assert app.run(["diff", str(left), str(right)]) == 0
    forge.build(TEXT.replace("{id: 3}", "{id: 30}")).write(right / "binlog.000002")
    assert app.run(["diff", str(left), str(right)]) == 1
    assert capfd.readouterr().out.startswith("binlog.000002, event 16 (WRITE_ROWS)")
    forge.build(TEXT).write(right / "binlog.000002")
    (right / "binlog.000003").write_bytes(log.read_bytes())
    assert app.run(["diff", str(left), str(right)]) == 1
    assert "files: left 2, right 3" in capfd.readouterr().out


def test_compat_of_a_log_says_what_a_consumer_does_not_know(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run(["compat", str(log), "--to", "mysql-8.0"]) == 0
    shown = capfd.readouterr().out
    assert shown.startswith("A log of 9.7.4 for a consumer of mysql-8.0:")
    assert "A replica stops at event 7, QUERY at 609: it does not parse the declaration.\n" in shown
    # Of a NULL it reads nothing.
    assert shown.endswith("A reader reads 24 of 24 events, and 4 of 4 rows.\n")


def test_compat_of_some_events_of_several_logs(log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    packed = tmp_path / "binlog.000002.gz"
    packed.write_bytes(gzip.compress(log.read_bytes()))
    assert app.run(["compat", str(log), str(packed), "--to", "mysql-8.0", "--table", "s.a", "--json"]) == 0
    report = json.loads(capfd.readouterr().out)
    assert (report["rows"], report["events"]) == (6, 8)
    assert {event["file"] for event in report["decode"]} == {0, 1}
    assert not any("VECTOR" in finding["title"] for finding in report["findings"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["scenario.yaml", "binlog.000001"], "scenario.yaml is no binary log; expected one scenario without a choice"),
        (["scenario.yaml", "--type", "XID"], "scenario.yaml is no binary log; expected one scenario without a choice"),
        (["binlog.000001", "--from", "mysql-8.0"], "--from and --set are for scenarios; expected binary logs alone"),
        (["nothing"], "cannot read the file"),
    ],
)
def test_what_does_not_go_together_is_told(
    words: list[str], sentence: str, log: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(log.parent)
    Path("scenario.yaml").write_text(TEXT, encoding="utf-8")
    assert app.run(["compat", *words, "--to", "mysql-8.0"]) == 2
    assert sentence in capfd.readouterr().err


def test_a_broken_log_is_told_with_its_name(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    torn = log.with_name("torn")
    torn.write_bytes(log.read_bytes()[:-3])
    assert app.run(["compat", str(log), str(torn), "--to", "mysql-8.0"]) == 3
    assert f"{torn}, event" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--gtid", "garbage"], "'garbage' is no GTID; expected one such as UUID:5, UUID:tag:5, UUID:1-5 or 0-1-5"),
        (["--start-position", "900", "--stop-position", "100"], "no event is between the positions 900 and 100"),
        (["--since", "2024-01-02", "--until", "2024-01-01"], "the time of `until` is not after that of `since`"),
        (["--table", "s.nope"], "no table 's.nope' is in the log; expected s.a, s.b"),
        (["--gtid", "3E11FA47-71CA-11E1-9E33-C80AA9429562:5"], "has an event of those"),
    ],
)
def test_a_choice_that_nothing_meets_is_no_agreement(
    log: Path, capfd: pytest.CaptureFixture[str], words: list[str], problem: str
) -> None:
    assert app.run(["diff", str(log), str(log), *words]) == 2
    assert problem in capfd.readouterr().err


@pytest.mark.parametrize("command", [["dump"], ["compat", "--to", "mysql-5.7"], ["diff"]])
def test_a_table_that_is_not_there_is_an_error_everywhere(
    command: list[str], log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    files = [str(log)] * (2 if command == ["diff"] else 1)
    for table in ("s.a", "s.*", "*.b", "*"):
        assert app.run([*command, *files, "--table", table]) == (2 if table == "*" else 0)
    for table in ("s.c", "t.*", "*.a.b"):
        capfd.readouterr()
        assert app.run([*command, *files, "--table", "s.a", "--table", table]) == 2
        assert f"no table {table!r} is in the log; expected s.a, s.b" in capfd.readouterr().err


def test_a_gtid_is_known_in_capitals(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    gtid = next(event["fields"]["gtid"] for event in forge.read(log).events if event["type"] == "GTID")
    chosen = []
    for written in (gtid, gtid.upper()):
        assert app.run(["dump", str(log), "--gtid", written]) == 0
        chosen.append(capfd.readouterr().out)
    assert chosen[0] == chosen[1] != ""


def test_standard_input_is_one_log(capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run(["diff", "-", "-"]) == 2
    assert "standard input is a single log" in capfd.readouterr().err


def test_an_empty_file_is_a_log_that_ends_too_early(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "binlog.000001"
    empty.write_bytes(b"")
    assert app.run(["compat", str(empty), "--to", "mysql-5.7"]) == 3
    assert "this file is empty" in capfd.readouterr().err
