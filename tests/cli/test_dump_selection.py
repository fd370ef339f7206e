"""forge dump of some events: by table, type, transaction, place and time, of one file or several."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import forge
from forge.cli import app

TEXT = """
scenario: two
session: {gtid: true}
tables: ["CREATE TABLE s.a (id INT PRIMARY KEY)", "CREATE TABLE s.b (id INT PRIMARY KEY)"]
transactions:
  - - insert: {into: s.a, rows: [{id: 1}]}
  - - insert: {into: s.b, rows: [{id: 2}, {id: 3}]}
  - - delete: {from: s.b, where: {id: 2}}
"""
UUID = "6b696e64-6f66-4f72-6765-000000000001"
Dump = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def dump(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Dump:
    [path] = forge.build(TEXT).write(tmp_path / "log")

    def run(*options: str) -> list[dict[str, Any]]:
        assert app.run(["dump", "--json", str(path), *options]) == 0
        return [json.loads(line) for line in capfd.readouterr().out.splitlines()]

    return run


def test_by_table_and_type(dump: Dump) -> None:
    assert {event["type"] for event in dump("--table", "s.b")} == {"TABLE_MAP", "WRITE_ROWS", "DELETE_ROWS"}
    assert [event["type"] for event in dump("--type", "delete_rows", "--type", "XID")] == [
        "XID", "XID", "DELETE_ROWS", "XID",
    ]  # fmt: skip
    assert [row["after"][0]["value"] for row in dump("--rows", "--table", "s.b", "--type", "WRITE_ROWS")] == ["2", "3"]


def test_by_transaction(dump: Dump) -> None:
    every = dump()
    gtids = [event["fields"]["gtid"] for event in every if event["type"] == "GTID"]
    last = dump("--gtid", gtids[-1])
    assert [event["type"] for event in last] == ["GTID", "QUERY", "TABLE_MAP", "DELETE_ROWS", "XID"]
    source, _, number = gtids[-1].rpartition(":")
    both = dump("--gtid", f"{source}:{int(number) - 1}-{number}")
    assert [event["type"] for event in both].count("GTID") == 2
    assert both[-5:] == last


def test_by_place_and_time(dump: Dump) -> None:
    every = dump()
    middle = every[5]
    assert dump("--start-position", str(middle["offset"])) == every[5:]
    assert dump("--stop-position", str(middle["offset"])) == every[:5]
    later = [event for event in every if event["timestamp"] >= every[-1]["timestamp"]]
    assert dump("--since", str(every[-1]["timestamp"])) == later
    assert dump("--until", "1999-01-01") == []
    assert len(dump("--since", "1999-01-01 00:00:00", "--until", "2099-01-01")) == len(every)


def test_several_files_are_told_apart(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    [one] = forge.build(TEXT).write(tmp_path / "one")
    [two] = forge.build(TEXT).write(tmp_path / "two")
    assert app.run(["dump", str(one), str(two), "--json", "--type", "WRITE_ROWS"]) == 0
    events = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [Path(event["file"]).name for event in events] == ["one", "one", "two", "two"]
    assert app.run(["dump", str(one), str(two), "--rows"]) == 0
    assert [line for line in capfd.readouterr().out.splitlines() if line.startswith("#")] == [f"# {one}", f"# {two}"]


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        (["--type", "WRITE_ROW"], "there is no event type 'WRITE_ROW'; did you mean 'WRITE_ROWS'"),
        (["--table", "orders"], "table 'orders' has no database; expected a name such as shop.orders"),
        (["--since", "yesterday"], "'yesterday' is no time; expected YYYY-MM-DD hh:mm:ss in UTC, or seconds"),
    ],
)
def test_a_wrong_option_is_a_sentence(
    option: list[str], sentence: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    [one] = forge.build(TEXT).write(tmp_path / "one")
    assert app.run(["dump", str(one), *option]) == 2
    assert sentence in capfd.readouterr().err
