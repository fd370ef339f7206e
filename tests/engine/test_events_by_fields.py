"""`event: {type: ..., fields: ...}`: what `forge disasm` prints of an event places the same event."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from forge.binlog.listing import disassemble
from forge.binlog.reader import read_events
from forge.compile import compile_files
from forge.errors import ScenarioError
from forge.events.event import Event
from forge.events.layout import Body
from forge.events.registry import EVENT_CODES
from forge.resources import corpora_dir
from forge.scenario import PlacedEvent, Scenario, Statement, plan

HEADER = ("event", "timestamp", "server_id", "flags", "event_size", "log_pos", "checksum")


@cache
def listed() -> dict[str, tuple[dict[str, Any] | None, dict[str, Any], Event]]:
    """By event type: the TABLE_MAP of its table, the document of the first one, and the event."""
    found: dict[str, tuple[dict[str, Any] | None, dict[str, Any], Event]] = {}
    paths = [path for path in sorted(corpora_dir().rglob("recordings/**/binlog.000001")) if path.stat().st_size < 4000]
    for path in paths[::2]:
        data = path.read_bytes()
        maps: dict[int, dict[str, Any]] = {}
        for document, placed in zip(disassemble(data), read_events(data), strict=True):
            event = placed.event
            fields = {key: value for key, value in document.items() if key not in HEADER}
            if event.type_name == "TABLE_MAP":
                maps[fields["table_id"]] = fields
            found.setdefault(event.type_name, (maps.get(fields.get("table_id", -1)), fields, event))
    return found


def placed(*events: tuple[str, dict[str, Any]]) -> Scenario:
    scenario = Scenario("x")
    for name, fields in events:
        # By number: a name has to be one of the line's own types.
        scenario = scenario.transaction(Statement(event=PlacedEvent(type=EVENT_CODES[name], fields=fields)))
    return scenario


def _without_length(body: Body) -> Body:
    return body.replace(transaction_length=None) if hasattr(body, "transaction_length") else body


@pytest.mark.slow
def test_the_fields_of_a_listing_place_the_same_event() -> None:
    other = []
    for name, (table, fields, event) in listed().items():
        if name == "FORMAT_DESCRIPTION":
            continue
        before = [("TABLE_MAP", table)] if table is not None and name != "TABLE_MAP" else []
        [events] = compile_files(plan(placed(*before, (name, fields))))
        made = [made.body for made in events if made.type_name == name][-1]
        # That of a group is derived when the file is written.
        other += [] if _without_length(made) == _without_length(event.body) else [name]
    assert other == []
    assert len(listed()) >= 20


@pytest.mark.parametrize(
    ("name", "fields", "problem"),
    [
        ("XID", {"xiid": 5}, "xiid"),
        ("XID", {"xid": 5, "log_pos": 7}, "log_pos is no field of the body"),
        ("RAND", {"seed1": "x", "seed2": 1}, "seed1"),
        ("WRITE_ROWS", {"table_id": 5, "rows": [{"@1": 1}]}, "5"),
    ],
)
def test_fields_that_an_event_does_not_have_are_refused(name: str, fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        plan(placed((name, fields)))
