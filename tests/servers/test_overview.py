"""``forge servers``: every line with what it writes and how that is known; and what lines of any release write."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from forge.binlog import read_events, write_binlog
from forge.binlog.listing import disassemble
from forge.cli.app import run
from forge.compile import compile_plan
from forge.record.recording import find_recordings
from forge.resources import corpora_dir
from forge.scenario import plan
from forge.scenario.matrix import base_scenario
from forge.servers import server_line, server_names
from forge.servers.loading import evidence
from forge.servers.overview import kind_of_evidence, overview, shown, value_of
from tests.servers.shown import is_shown, line_of

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = """
scenario: any
tables:
  - CREATE TABLE t.a (id INT NOT NULL PRIMARY KEY, v VARCHAR(10))
transactions:
  - - insert: {into: t.a, rows: [{id: 1, v: abc}]}
  - - insert: {into: t.a, rows: [{id: 2, v: abc}]}
    - update: {table: t.a, where: {id: 1}, set: {v: b}}
"""


def types_of(name: str, binlog_format: str) -> list[str]:
    """The event types of a log whose listing has no raw bytes."""
    scenario = base_scenario(SCENARIO, settings={"server": name, "session.binlog_format": binlog_format})
    data = write_binlog(compile_plan(plan(scenario)))
    assert [placed.event for placed in read_events(data)]
    documents = list(disassemble(data))
    assert not [document for document in documents if document.keys() & {"bytes", "body"}]
    return [document["event"] for document in documents]


@pytest.mark.slow
@pytest.mark.parametrize("name", server_names())
def test_a_line_writes_a_log_that_is_read_and_listed_whole(name: str) -> None:
    line = server_line(name)
    found = types_of(name, "statement")
    if line.knows("row_events"):
        rows = types_of(name, "row")
        assert any("WRITE_ROWS" in word for word in rows)
        assert "MARIADB_GTID" in rows or "QUERY" in rows
    begins = "START_V3" if line.framing.binlog_version < 4 else "FORMAT_DESCRIPTION"
    assert (found[0], found[-1]) == (begins, "STOP")


def test_the_series_of_4_x_have_no_begin_around_single_statements_and_no_xid() -> None:
    assert types_of("mysql-4.1", "statement")[1:] == ["QUERY"] * 7 + ["STOP"]
    assert types_of("mysql-5.0", "statement").count("XID") == 2


def test_mariadb_5_5_has_begin_in_the_place_of_gtids() -> None:
    row = ["QUERY", "TABLE_MAP", "WRITE_ROWS_V1", "XID"]
    assert types_of("mariadb-5.5", "row") == [
        "FORMAT_DESCRIPTION", "QUERY", "QUERY", *row, *row[:3], "TABLE_MAP", "UPDATE_ROWS_V1", "XID", "STOP",
    ]  # fmt: skip


def printed(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["servers", *arguments]) == 0
    return capfd.readouterr().out


def test_the_table_has_every_line_and_an_object_says_what_is_not_recorded(capfd: pytest.CaptureFixture[str]) -> None:
    table = printed(capfd)
    assert [row.split()[0] for row in table.splitlines()[1:]] == list(server_names())
    (row,) = printed(capfd, "mysql-8.0.18", "--json").splitlines()
    shown = json.loads(row)
    assert (shown["like"], shown["listed_types"], shown["recorded"]) == ("mysql-8.0.23", 39, None)
    assert shown["facts"]["table_map.full_metadata"]["label"] == "source"
    assert "TRANSACTION_PAYLOAD" not in shown["event_types"]
    text = printed(capfd, "mysql-4.1")
    assert "public log: framing.binlog_version = 3 (reference: read in files of 4.1.24 and 4.1.26)" in text
    assert "START_V3" in text
    assert "TABLE_MAP" not in text


def test_an_unknown_line_is_one_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["servers", "mysql-9.77"]) == 2
    assert "unknown server line 'mysql-9.77'" in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("name", server_names())
def test_no_fact_is_called_recorded_that_the_line_never_recorded(name: str) -> None:
    """Each label by what it says: whose recording, whose file, and the same value on a line before and one behind."""
    one = overview(name)
    for fact, known in one.facts.items():
        own = evidence(name)[fact].line == name
        if known.label == "recorded here":
            assert one.line.recorded is not None, fact
            assert not known.source.startswith("corpora/") or name in recorded_lines(known.source), fact
        elif known.label == "recorded on older and newer alike":
            around = [overview(each) for each in known.source.split(" and ")]
            assert around[0].line.release < one.line.release < around[1].line.release, fact
            for other in around:
                assert other.facts[fact].label == "recorded here", fact
                assert value_of(other.line, fact) == value_of(one.line, fact), fact
        elif known.label == "public log":
            assert own, fact
            assert "read in" in known.source, fact
        elif known.label == "source":
            assert own, fact


@cache
def recorded_lines(place: str) -> frozenset[str]:
    """The lines of the recordings at a place in the repository."""
    return frozenset(map(line_of, find_recordings([str(ROOT / place)])))


@pytest.mark.parametrize("name", [name for name in server_names() if server_line(name).recorded is None])
def test_a_line_that_nobody_recorded_has_no_evidence_of_recordings(name: str) -> None:
    own = {fact: each.source for fact, each in evidence(name).items() if each.line == name}
    assert {fact for fact, source in own.items() if kind_of_evidence(source) == "recorded"} == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(shown()))
def test_recordings_show_what_they_are_said_to_show(name: str) -> None:
    """A few of them: with another line's value, the recording of this line comes out as another."""
    found = shown()[name]
    assert server_line(name).recorded is not None
    assert [
        fact for fact, recording in found.items() if line_of(corpora_dir() / "recordings" / recording) != name
    ] == []
    for fact in list(found)[:: max(1, len(found) // 4)]:
        assert is_shown(name, found[fact], fact), fact
