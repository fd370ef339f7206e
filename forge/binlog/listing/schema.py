"""The JSON Schema of the listing's documents, made from the events' own fields (docs/listing.md)."""

from __future__ import annotations

import dataclasses
from typing import Any

from forge.binlog.listing.documents import EXTRA_FIELDS
from forge.binlog.listing.fields import TYPE_WORDS, may_be_null
from forge.binlog.payload import LEVELS
from forge.events.event import EVENT_FLAGS
from forge.events.layout import Body, flag_table
from forge.events.mariadb_compressed import QueryCompressed
from forge.events.optional_metadata import METADATA_CODES
from forge.events.registry import EVENT_CODES, EVENT_TYPES
from forge.events.rows import ROWS_BODIES, PartialUpdateRows, UpdateRows, UpdateRowsV1
from forge.events.status_vars import STATUS_VARIABLES, UNREAD
from forge.events.table_map import TableMap
from forge.events.transaction_payload import TransactionPayload

Schema = dict[str, Any]

_HEX: Schema = {"$ref": "#/$defs/hex"}
_TEXT: Schema = {"$ref": "#/$defs/text"}
_VALUE: Schema = {"$ref": "#/$defs/value"}
_LONGER = "Bytes behind a header or fixed part that FORMAT_DESCRIPTION makes longer; zeros where it is left out."
_DERIVED = "Derived; stands only where the bytes differ from what would be derived."


def listing_schema() -> Schema:
    """The schema (2020-12) of one document of a listing."""
    bodies = {body.type_name: _body(body) for body in EVENT_TYPES.values()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:binlog-forge:listing:1",
        "title": "One document of a listing of a binary log",
        "description": "A listing is a stream of such documents: YAML documents, or JSON objects one a line.",
        "type": "object",
        "oneOf": [
            _object({"file": _HEX}, "file", description="A whole file that does not start with the magic number."),
            _object({"bytes": _HEX}, "bytes", description="Bytes that have no event's shape."),
            {"required": ["event"], "properties": {"event": {"$ref": "#/$defs/event"}}, **_choice(list(bodies))},
        ],
        "$defs": _shared() | bodies,
    }


def _choice(names: list[str]) -> Schema:
    """An event with a ``body`` is of any type; one with fields is of a type that is known."""
    cases = [{"if": {"properties": {"event": {"const": name}}}, "then": {"$ref": f"#/$defs/{name}"}} for name in names]
    return {
        "if": {"required": ["body"]},
        "then": {"$ref": "#/$defs/raw"},
        "else": {"properties": {"event": {"enum": names}}, "allOf": cases},
    }


def _shared() -> Schema:
    number = {"type": "integer", "minimum": 0, "maximum": 255}
    return {
        "hex": {"type": "string", "pattern": "^([0-9a-fA-F]{2})*$"},
        "text": {
            "description": "Text; its bytes where it is not UTF-8, or would not come back from YAML unchanged.",
            "anyOf": [{"type": "string"}, _object({"hex": _HEX}, "hex")],
        },
        "value": {
            "description": "A field's value; bytes inside of lists are marked.",
            "anyOf": [
                {"type": ["integer", "string", "boolean", "null"]},
                _object({"hex": _HEX}, "hex"),
                _object({"bytes": _HEX}, "bytes"),
                {"type": "array", "items": _VALUE},
            ],
        },
        "event": {
            "description": "The name of the event type, or its number.",
            "anyOf": [{"enum": list(EVENT_CODES)}, {"type": "string", "pattern": "^[0-9]{1,3}$"}, number],
        },
        "cell": {
            "description": "NULL, a value that gives the cell's bytes, the bytes, or a partial update of a document.",
            "anyOf": [
                {"type": ["null", "integer", "string"]},
                _object({"hex": _HEX}, "hex"),
                _object({"diffs": {"type": "array", "items": {"$ref": "#/$defs/diff"}}}, "diffs"),
            ],
        },
        "diff": {
            "description": "Operation, path, new value as JSON text.",
            "type": "array",
            "prefixItems": [{"enum": ["REPLACE", "INSERT", "REMOVE"]}, {"type": "string"}, _TEXT],
            "minItems": 2,
            "maxItems": 3,
        },
        "row": {
            "description": "Cells by the names of their columns, or @1, @2 ...",
            "type": "object",
            "additionalProperties": {"$ref": "#/$defs/cell"},
        },
        "raw": _object(
            _header() | {"body": _HEX},
            "body",
            description="A body as bytes: of a type that is not known, or not as its type should be.",
        ),
    }


def _object(properties: Schema, *required: str, **more: Any) -> Schema:
    return more | {
        "type": "object",
        "required": list(required),
        "properties": properties,
        "additionalProperties": False,
    }


def _header() -> Schema:
    unsigned = {"type": "integer", "minimum": 0, "maximum": 0xFFFFFFFF}
    return {
        "event": {"$ref": "#/$defs/event"},
        "timestamp": unsigned,
        "server_id": unsigned,
        "flags": _flags([name for _, name in EVENT_FLAGS]),
        **{name: unsigned | {"description": _DERIVED} for name in ("event_size", "log_pos", "checksum")},
        **{name: _HEX | {"description": _LONGER} for name in EXTRA_FIELDS},
    }


def _flags(names: list[str]) -> Schema:
    return {"type": "array", "items": {"anyOf": [{"enum": names}, {"type": "integer", "minimum": 1}]}}


def _body(body: type[Body]) -> Schema:
    """The fields of a type; what has a default, can be derived, or has another form may be left out."""
    fields = dataclasses.fields(body)  # type: ignore[arg-type]
    properties = {item.name: _field(item) for item in fields}
    for item in fields:
        if item.metadata.get("derived"):
            properties[item.name] |= {"description": _DERIVED}
    required = [item.name for item in fields if item.default is dataclasses.MISSING]
    properties, required = _readable(body, properties, required)
    return _object(
        _header() | properties, *required, description=" ".join((body.__doc__ or "").split("\n\n")[0].split())
    )


def _field(item: dataclasses.Field[Any]) -> Schema:
    annotation, table = str(item.type), flag_table(item)
    if table is not None:
        return _flags([word for _, word in table])
    if item.name == "status_variables":
        names = {"enum": [*(word for word, _ in STATUS_VARIABLES.values()), UNREAD]}
        by_name = {"type": "object", "propertyNames": names, "additionalProperties": _VALUE}
        return {"anyOf": [by_name, {"type": "array", "items": _VALUE}]}
    if annotation.startswith("bytes"):
        return dict(_HEX)
    if annotation.startswith("str"):
        return dict(_TEXT)
    if annotation == "bool":
        return {"type": "boolean"}
    kind = "integer" if annotation.startswith("int") else None
    return dict(_VALUE) if kind is None else {"type": [kind, "null"] if may_be_null(item) else kind}


def _readable(body: type[Body], properties: Schema, required: list[str]) -> tuple[Schema, list[str]]:
    """The fields with those of the readable form, where a type has one."""
    if issubclass(body, ROWS_BODIES):
        rows = {"anyOf": [_HEX, {"type": "array", "items": _row(body)}]}
        padding = {"enum": ["zeros", "ones"], "description": "The unused bits of the null bitmaps."}
        return properties | {"rows": rows, "null_padding": padding}, ["table_id", "rows"]
    if body is TableMap:
        columns = {"type": "array", "items": _column()}
        records = {
            "type": "object",
            "propertyNames": {"anyOf": [{"enum": list(METADATA_CODES)}, {"pattern": "^type_[0-9]+$"}]},
            "additionalProperties": _VALUE,
        }
        readable = {"columns": columns, "optional_metadata": {"anyOf": [records, {"type": "array", "items": _VALUE}]}}
        block = ("types", "metadata", "nullable")
        return properties | readable, [name for name in required if name not in block]
    if body is QueryCompressed:
        return properties | {"query": _TEXT}, []
    if body is TransactionPayload:
        events = {"type": "array", "items": {"$ref": "#"}}
        level = {"type": "integer", "minimum": min(LEVELS), "maximum": max(LEVELS)}
        return properties | {
            "events": events,
            "level": level,
            "compression": {"enum": ["zstd", "none"]},
            "flushed": {"type": "boolean"},
        }, []
    return properties, required


def _row(body: type[Body]) -> Schema:
    row: Schema = {"$ref": "#/$defs/row"}
    if not issubclass(body, (UpdateRows, UpdateRowsV1)):
        return row
    options = {"value_options": {"type": "integer"}, "partial_bits": _HEX}
    images = {"before": row, "after": row}
    return _object(images | (options if issubclass(body, PartialUpdateRows) else {}), "before", "after")


def _column() -> Schema:
    kinds = {"anyOf": [{"enum": list(TYPE_WORDS.values())}, {"type": "integer", "minimum": 0, "maximum": 255}]}
    return _object({"type": kinds, "metadata": _HEX, "nullable": {"type": "boolean"}}, "type")
