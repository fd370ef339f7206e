"""Changes that a scenario makes to its finished files (docs/scenario/edits.md)."""

from __future__ import annotations

from typing import Any

import pytest

from forge.binlog.listing import disassemble
from forge.binlog.reader import read_events
from forge.compile import compile_files, compile_plan, write_files
from forge.corpus.cases import Case, compile_case
from forge.corpus.judge import judge_case
from forge.errors import FormatError, ScenarioError
from forge.events.rows import WriteRows
from forge.scenario import plan
from forge.scenario.matrix import base_scenario

SCENARIO = """\
scenario: edits
verdict: {verdict}
session: {{row_metadata: full, edits: {edits}}}
tables: ["CREATE TABLE e.t (id INT PRIMARY KEY, v VARCHAR(9), d DECIMAL(5,2))"]
transactions:
  - - insert: {{into: e.t, rows: [{{id: 1, v: one, d: 1.5}}]}}
  - - flush: binary_logs
  - - insert: {{into: e.t, rows: [{{id: 2, v: two, d: 2.5}}]}}
"""


def made(*edits: dict[str, Any]) -> list[bytes]:
    scenario = base_scenario(SCENARIO.format(verdict="may", edits=list(edits)), file="e.yaml", settings={})
    planned = plan(scenario)
    return write_files(planned, compile_files(planned))


WHOLE = made({"event": "XID", "set": {}})


def names(data: bytes) -> list[str]:
    return [document["event"] for document in disassemble(data)]


def test_an_edit_that_changes_nothing_leaves_the_file_as_it_is() -> None:
    assert [list(read_events(data)) for data in WHOLE]
    assert made({"event": "QUERY", "at": 0, "hex": ""}) == WHOLE


def test_sizes_positions_and_checksums_are_derived_again_unless_they_are_set() -> None:
    first, last = made({"event": "TABLE_MAP", "insert": "ff"})
    assert first == WHOLE[0]
    assert len(last) == len(WHOLE[1]) + 1
    assert all(
        event.event.checksum is None and event.event.log_pos is None for event in read_events(last, strict=False)
    )
    with pytest.raises(FormatError, match="the checksum of this XID event is wrong"):
        list(read_events(made({"event": "XID", "set": {"checksum": 0}})[1]))


def test_a_body_of_which_nothing_is_kept_is_empty() -> None:
    _, last = made({"event": "XID", "keep": 0})
    assert len(last) == len(WHOLE[1]) - 8


def test_fields_inside_others_are_set_by_a_path_and_dropped() -> None:
    changed = made(
        {"event": "WRITE_ROWS", "set": {"rows.0.v": "three", "rows.0.d": {"hex": "ff0000"}}},
        {"event": "QUERY", "drop": ["status_variables.catalog"]},
    )[1]
    [row] = next(document for document in disassemble(changed) if document["event"] == "WRITE_ROWS")["rows"]
    assert row == {"id": 2, "v": "three", "d": {"hex": "ff0000"}}
    [begin] = [document for document in disassemble(changed) if document["event"] == "QUERY"]
    assert "catalog" not in begin["status_variables"]


def test_events_are_removed_copied_and_put_in_beside_others_in_any_file() -> None:
    note = {"event": "ROWS_QUERY", "timestamp": 1, "server_id": 1, "query": "a"}
    first, last = made(
        {"event": "XID", "file": 1, "copies": 2},
        {"event": 19, "remove": True},
        {"event": "STOP", "before": [note], "after": [note]},
    )
    assert names(first).count("XID") == 3
    assert "TABLE_MAP" not in names(last)
    assert names(last)[-3:] == ["ROWS_QUERY", "STOP", "ROWS_QUERY"]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"event": "ROTATE"}, "there is no ROTATE event 1; expected a ROTATE event"),
        ({"event": "XID", "nth": -2}, "there is no XID event -2; expected one of 1"),
        ({"event": "XID", "file": 3}, "there is no file 3"),
        ({"event": "XID", "at": 3}, "`at` says where, but nothing says what"),
        ({"event": "XID", "at": 7, "hex": "0000"}, "the body has 8 bytes: none are at 7"),
        ({"event": "XID", "hex": "0"}, "`hex` is '0'"),
        ({"event": "XID", "set": {"rows.0.id": 1}}, "the event has no 'rows.0.id'"),
        ({"event": "XID", "drop": ["number"]}, "the event has no 'number'"),
    ],
)
def test_an_edit_of_what_is_not_there_is_refused(edit: dict[str, Any], said: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        made(edit)
    assert said in str(refused.value)
    assert "session.edits, number 1" in str(refused.value)


def test_edits_need_a_verdict_and_make_no_list_of_events() -> None:
    with pytest.raises(ScenarioError, match=r"session\.edits changes the file: `verdict` must say"):
        base_scenario(SCENARIO.format(verdict="null", edits="[{event: XID}]"), file="e.yaml", settings={})
    scenario = base_scenario(SCENARIO.format(verdict="may", edits="[{event: XID}]"), file="e.yaml", settings={})
    with pytest.raises(ScenarioError, match="a list of events cannot show"):
        compile_plan(plan(scenario))


def test_a_cell_without_a_value_is_rejected_where_it_is_shown_as_its_bytes() -> None:
    edits = [{"event": "WRITE_ROWS", "set": {"rows.0.d": {"hex": "ff0000"}}}]
    text = SCENARIO.format(verdict="reject\nphase: value", edits=edits)
    case = Case("e", "e.yaml", text, "mysql-9.7", verdict="reject", phase="value")
    judged = judge_case(case, decoders=["forge"])
    assert (judged.status, judged.against, [one.outcome for one in judged.verdicts]) == ("compiled", None, ["rejects"])
    assert "verdict:reject: value" in compile_case(case).tags


def test_bytes_behind_a_fixed_part_stay_when_another_event_is_changed() -> None:
    lengths = bytearray(next(read_events(WHOLE[1])).event.body.post_header_lengths)  # type: ignore[attr-defined]
    lengths[WriteRows.type_code - 1] += 3
    longer = {"event": "FORMAT_DESCRIPTION", "set": {"post_header_lengths": lengths.hex()}}
    extra = {"event": "WRITE_ROWS", "set": {"post_header_extra": "010203"}}
    once = made(longer, extra)
    assert b"\1\2\3" in [event.event.post_header_extra for event in read_events(once[1])]
    assert made(longer, extra, {"event": "XID", "set": {}}) == once
