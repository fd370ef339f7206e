"""The JSON Schema of the canonical decode: the frame of an event here, the fields of each type from its class."""

from __future__ import annotations

from forge.events.event import RawBody
from forge.events.registry import EVENT_TYPES
from forge.events.rows import ROWS_BODIES
from forge.events.shapes import FLAGS, HEX, SHARED, TEXT, U8, U32, Shape, array, described, object_of

_NUMBER: Shape = {"type": "integer", "minimum": 1}
_STRING: Shape = {"type": "string"}
_EXTRA = ("header_extra", "post_header_extra")
_BESIDE_ROWS = ("rows", "raw_rows", "database", "table", "note")


def decode_schema(*, rows: bool = True) -> Shape:
    """The schema (2020-12) of one object of :func:`forge.decode.decode.canonical_events`.

    ``rows``: whether row events have their rows (:func:`forge.decode.decode.event_without_rows`).
    """
    of_rows = [body.type_name for body in EVENT_TYPES.values() if issubclass(body, ROWS_BODIES)]
    cases = [
        {"if": _of_type(body.type_name), "then": _fields(_reference(body.type_name))} for body in EVENT_TYPES.values()
    ]
    with_rows: Shape = {"if": _of_type(*of_rows), "then": {"required": ["rows"]}, "else": _without_rows()}
    raw = {"required": ["readers"], **_fields(RawBody.canonical_shape()), **_without_rows()}
    optional = ("inner", "readers", *_EXTRA, *_BESIDE_ROWS)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:binlog-forge:canonical-decode:1",
        "title": "One event of a binary log in the canonical decode",
        "description": "A canonical decode is a stream of such objects, one a line, in file order.",
        **object_of(_properties(), *optional),
        "dependentRequired": {"raw_rows": ["note", "rows"]},
        "if": _fields({"required": ["raw"]}),
        "then": raw,
        "else": {"allOf": [*cases, with_rows if rows else _without_rows()]},
        "$defs": SHARED
        | {"row": _row(), "image": _image(), "cell": _cell()}
        | {body.type_name: body.canonical_shape() for body in EVENT_TYPES.values()},
    }


def _of_type(*names: str) -> Shape:
    return {"properties": {"type": {"enum": list(names)}}}


def _fields(shape: Shape) -> Shape:
    return {"properties": {"fields": shape}}


def _without_rows() -> Shape:
    return {"not": {"anyOf": [{"required": [name]} for name in _BESIDE_ROWS]}}


def _reference(name: str) -> Shape:
    return {"$ref": f"#/$defs/{name}"}


def _properties() -> Shape:
    inside = "Number inside the TRANSACTION_PAYLOAD event with the same index and offset, from 1."
    log_pos = "The header's field: usually the offset of the next event, modulo 2^32; in 4.x of the event itself."
    longer = "Bytes behind a header, or a body's fixed part, that FORMAT_DESCRIPTION makes longer than usual."
    undecoded = "The rows of an event whose columns are not known; the note says why."
    return {
        "index": {"type": "integer", "minimum": 0, "description": "Number of the event in the file, from 0."},
        "offset": {"type": "integer", "minimum": 4, "description": "File offset of the event's first byte."},
        "inner": described(_NUMBER, inside),
        "type": {
            "type": "string",
            "minLength": 1,
            "description": "Name of the event type; its number as text where it has no name.",
        },
        "type_code": U8,
        "timestamp": described(U32, "Seconds since the epoch, from the header."),
        "server_id": U32,
        "event_size": described(U32, "Bytes of the whole event, header and checksum included."),
        "log_pos": described(U32, log_pos),
        **{name: described(HEX, longer) for name in _EXTRA},
        "flags": FLAGS,
        "checksum": object_of({
            "algorithm": {"enum": ["NONE", "CRC32"]},
            "valid": {"type": ["boolean", "null"], "description": "null if the event has no checksum."},
        }),
        "readers": _readers(),
        "fields": {"type": "object"},
        "database": TEXT,
        "table": TEXT,
        "rows": array(_reference("row")),
        "raw_rows": described(HEX, undecoded),
        "note": _STRING,
    }  # fmt: skip


def _readers() -> Shape:
    old = {"enum": ["read", "stop"], "description": "A reader of before WL#4033 (MySQL 5.1, 5.5)."}
    new = {"enum": ["read", "skip", "stop"], "description": "A reader of the newest servers of the file's family."}
    readers = object_of({"old": old, "new": new})
    return described(readers, "Of informational events: what readers do with them (WL#4033).")


def _row() -> Shape:
    return object_of({"before": _reference("image"), "after": _reference("image")})


def _image() -> Shape:
    description = "The cells of the columns that are present, in column order; null where the event has no such image."
    return {"description": description, "anyOf": [{"type": "null"}, array(_reference("cell"))]}


def _cell() -> Shape:
    binary = "The bytes of a binary value; with a note: the bytes of a cell which has no value."
    update = (
        "A partial JSON update: what to do to the old document, in this order. "
        "The value beside it is the new document, where the old one is logged."
    )
    operation = {"enum": ["REPLACE", "INSERT", "REMOVE"]}
    diff = object_of({"operation": operation, "path": _STRING, "value": _STRING}, "value")
    properties: Shape = {
        "column": _NUMBER,
        "name": TEXT,
        "type": _STRING,
        "value": {"type": ["string", "null"], "description": "The exact text of the value; null for NULL."},
        "hex": described(HEX, binary),
        "note": _STRING,
        "diffs": described(array(diff), update),
    }
    return object_of(properties, "name", "value", "hex", "note", "diffs") | {
        "oneOf": [
            {"required": ["value"], "not": {"required": ["diffs"]}},
            {"required": ["hex"]},
            {"required": ["diffs"]},
        ],
        "dependentRequired": {"note": ["hex"]},
    }
