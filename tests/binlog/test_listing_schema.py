"""The JSON Schema of listings describes what `forge disasm` writes, and nothing that `forge asm` does not read."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given

from forge.binlog.listing import assemble, disassemble, listing_text
from forge.binlog.listing.schema import listing_schema
from forge.binlog.writer import write_binlog
from forge.errors import ScenarioError
from forge.events.event import Event
from forge.events.registry import EVENT_NAMES, EVENT_TYPES
from forge.located import load_documents
from forge.testing.events import bodies
from tests.recorded import LOGS

SCHEMA = jsonschema.Draft202012Validator(listing_schema())
RECORDED = [path for path in LOGS if path.stat().st_size < 8000]
HEADER = {"timestamp": 0, "server_id": 1}


def faults(document: Any) -> list[str]:
    return [error.message for error in SCHEMA.iter_errors(document)]


def test_the_schema_is_one_and_has_every_type() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA.schema)
    assert {body.type_name for body in EVENT_TYPES.values()} <= set(SCHEMA.schema["$defs"])


@pytest.mark.slow
def test_the_listings_of_recordings_fit() -> None:
    seen = set()
    for path in RECORDED[::10]:
        for document in disassemble(path.read_bytes()):
            assert faults(document) == [], path
            seen.add(document["event"])
    assert len(seen) > 15


def test_a_listing_in_yaml_fits_as_it_does_in_json() -> None:
    text = "".join(listing_text(RECORDED[len(RECORDED) // 2].read_bytes()))
    assert [faults(located.value) for located in load_documents(text) if located.value] == [[]] * text.count("\n---\n")


@given(body=bodies())
def test_the_listing_of_any_event_fits(body: Any) -> None:
    for document in disassemble(write_binlog([Event(body=body)])):
        assert faults(document) == []


def test_what_is_no_event_fits() -> None:
    assert [faults(one) for one in disassemble(b"hello")] == [[]]
    assert [faults(one) for one in disassemble(b"\xfebin" + bytes(7))] == [[]]


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"event": "INTVAR", **HEADER, "variable": 1},
        {"event": "INTVAR", **HEADER, "variable": "one", "value": 1},
        {"event": "INTVAR", **HEADER, "variable": 1, "value": 1, "valeu": 1},
        {"event": "INTWAR", **HEADER, "variable": 1, "value": 1},
        {"event": "INTVAR", **HEADER, "variable": 1, "value": 1, "flags": ["IGNORED"]},
        {"event": "INTVAR", **HEADER, "body": "0"},
        {"event": "200", **HEADER, "data": ""},
        {"bytes": "xy"},
        {"event": "QUERY", **HEADER, "query": "BEGIN", "status_variables": {"flags3": 0}},
        {"event": "TABLE_MAP", **HEADER, "table_id": 1, "database": "d", "table": "t", "columns": [{"type": "LANG"}]},
    ],
)
def test_a_document_that_asm_refuses_does_not_fit(document: dict[str, Any]) -> None:
    assert faults(document) != []
    with pytest.raises(ScenarioError):
        assemble(json.dumps(document))


def test_every_known_type_may_be_given_as_bytes() -> None:
    for name in [*EVENT_NAMES.values(), "200"]:
        assert faults({"event": name, **HEADER, "body": "00"}) == []
