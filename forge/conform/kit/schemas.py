"""JSON Schemas of what a kit has, and of what testees are asked and answer."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.conform.kit.case_files import KitCase
from forge.conform.kit.definitions import MappedTable
from forge.conform.kit.protocol import Answer, Request
from forge.decode.schema import decode_schema
from forge.events.shapes import HEX, SHARED, TEXT, U8, Shape, array, described, object_of

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_NUMBER: Shape = {"type": "integer", "minimum": 1}
_DIGITS: Shape = {"type": "string", "pattern": "^-?[0-9]+$"}


def kit_schemas() -> dict[str, Shape]:
    """The schemas by the name of their file."""
    return {
        "case": _of("case", "case.json, and a line of index.jsonl", msgspec.json.schema(KitCase)),
        "tables": _of("tables", "tables.json: the tables that the logs map", msgspec.json.schema(list[MappedTable])),
        "event": _event(),
        "row": _row(),
        "request": _of("request", "A line that a testee reads", msgspec.json.schema(Request)),
        "answer": _of("answer", "A line that a testee writes", msgspec.json.schema(Answer)),
    }


def _of(name: str, title: str, schema: dict[str, Any]) -> Shape:
    return {"$schema": _DRAFT, "$id": f"urn:binlog-forge:kit:1:{name}", "title": title, **schema}


def _event() -> Shape:
    """A line of FILE.events.jsonl: the canonical decode but for the rows."""
    schema = decode_schema(rows=False)
    return schema | {"$id": "urn:binlog-forge:kit:1:event", "title": "A line of FILE.events.jsonl: one event"}


def _row() -> Shape:
    """A line of FILE.rows.jsonl."""
    image = "The cells of the columns that are present; null where the event has no such image."
    cells = described({"anyOf": [{"type": "null"}, array({"$ref": "#/$defs/cell"})]}, image)
    properties: Shape = {
        "event": {"type": "integer", "minimum": 0, "description": "Number of the event in the file, from 0."},
        "offset": {"type": "integer", "minimum": 4, "description": "File offset of the event."},
        "inner": described(_NUMBER, "Number of the event inside the payload at that offset, from 1."),
        "row": described(_NUMBER, "Number of the row in its event, from 1."),
        "kind": {"enum": ["insert", "update", "delete"]},
        "database": TEXT,
        "table": TEXT,
        "before": cells,
        "after": cells,
    }
    row = _of("row", "A line of FILE.rows.jsonl: one changed row", object_of(properties, "inner"))
    return row | {"$defs": SHARED | {"cell": _cell(), "value": _value()}}


def _cell() -> Shape:
    properties: Shape = {
        "column": described(_NUMBER, "Number of the column in its table, from 1."),
        "name": TEXT,
        "type_code": described(U8, "The byte of TABLE_MAP's list of types."),
        "raw": {"description": "The cell's bytes; null for NULL.", "anyOf": [HEX, {"type": "null"}]},
        "prefix": described(_NUMBER, "How many of the bytes are the length of the others; left out where none is."),
        "text": {"type": "string", "description": "The exact text, as the canonical decode has it."},
        "value": {"$ref": "#/$defs/value"},
    }
    return object_of(properties, "name", "prefix", "text", "value")


def _value() -> Shape:
    number: Shape = {"type": "integer", "minimum": 0}
    date: Shape = {"year": number, "month": number, "day": number}
    clock: Shape = {"hour": number, "minute": number, "second": number, "microsecond": number}
    members = {"anyOf": [array(HEX), {"type": "null"}], "description": "null where the log does not have the members."}
    diff = object_of(
        {"operation": {"type": "string"}, "path": {"type": "string"}, "value": {"type": "string"}}, "value"
    )
    kinds: Shape = {
        "integer": described(_DIGITS, "A whole number."),
        "decimal": {"type": "string", "description": "All digits of the column's scale."},
        "float": {"type": "string", "description": "The shortest digits that give the number back; nan, inf, -inf."},
        "bits": {"type": "string", "pattern": "^[01]+$"},
        "year": _DIGITS,
        "date": described(object_of(date), "Any part may be 0."),
        "datetime": described(object_of(date | clock), "Year, month and day may be 0."),
        "time": object_of({"negative": {"type": "boolean"}} | clock),
        "timestamp": described(object_of({"seconds": number, "microseconds": number}), "Since 1970 in UTC."),
        "enum": object_of({"number": _DIGITS, "members": members}),
        "set": object_of({"number": _DIGITS, "members": members}),
        "text": {"type": "string"},
        "bytes": HEX,
        "json": {"description": "The document."},
        "geometry": object_of({"srid": number, "wkb": HEX}),
        "vector": array({"type": "string"}),
        "diffs": described(array(diff), "A partial update: what to do to the document of the before image."),
        "broken": {"type": "string", "description": "The bytes are no value: the rule that they break."},
    }
    return {"oneOf": [described(object_of({kind: shape}), f"kind {kind}") for kind, shape in kinds.items()]}
