"""The fields of the events that statement format writes beside QUERY, as a reader wants them: values, not bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forge.charsets import charset, find_collation
from forge.errors import ForgeError
from forge.events.intvar import INSERT_ID, LAST_INSERT_ID, Intvar
from forge.events.layout import flag_names, text_or_hex, to_text
from forge.events.load import Load
from forge.events.load_statement import LOAD_OPTIONS, LoadStatement
from forge.events.user_var import DECIMAL, INTEGER, REAL, ROW, STRING, UserVar
from forge.values.base import Column
from forge.values.registry import codec_for
from forge.values.wire_types import WireType

Fields = dict[str, Any]

INTVARS = {LAST_INSERT_ID: "LAST_INSERT_ID", INSERT_ID: "INSERT_ID"}
#: What EXECUTE_LOAD_QUERY does with rows that are there.
DUPLICATES = {0: "ERROR", 1: "IGNORE", 2: "REPLACE"}
_KINDS = {STRING: "STRING", REAL: "REAL", INTEGER: "INTEGER", ROW: "ROW", DECIMAL: "DECIMAL"}
_UNSIGNED = 1
_BINARY = "binary"
_SEPARATORS = ("fields_terminated_by", "enclosed_by", "lines_terminated_by", "lines_starting_by", "escaped_by")


def intvar_fields(body: Intvar) -> Fields:
    return {"variable": INTVARS.get(body.variable, body.variable), "value": body.value}


def user_var_fields(body: UserVar, family: str) -> Fields:
    """``value`` is null, or has ``type``, ``collation`` and ``value``; bytes stand under ``hex``."""
    shown: Fields = {"name": text_or_hex(body.name), "value": None}
    if body.value is not None:
        kind, collation, raw = body.value
        known = find_collation(collation, family)
        told = {"type": _KINDS.get(kind, kind), "collation": collation_fields(collation, family)}
        text = number_text(kind, raw, unsigned=bool((body.value_flags or 0) & _UNSIGNED))
        if kind == STRING and known is not None and known.charset != _BINARY:
            text = _decoded(known.charset, raw)
        shown["value"] = told | ({"hex": raw.hex()} if text is None else {"value": text})
    if body.value_flags is not None:
        shown["value_flags"] = flag_names(body.value_flags, ((_UNSIGNED, "UNSIGNED"),))
    if body.data_type is not None:
        shown["data_type"] = text_or_hex(body.data_type)
    return shown


def number_text(kind: int, raw: bytes, *, unsigned: bool) -> str | None:
    """The text of a number in a user variable; None for text, and for bytes that are no such number."""
    try:
        if kind == INTEGER and len(raw) == 8:
            return str(int.from_bytes(raw, "little", signed=not unsigned))
        if kind == REAL and len(raw) == 8:
            return _text_of(Column(WireType.DOUBLE, b"\x08"), raw)
        if kind == DECIMAL and len(raw) > 2:
            return _text_of(Column(WireType.NEWDECIMAL, raw[:2]), raw[2:])
    except (ForgeError, ValueError, IndexError):
        pass
    return None


def _text_of(column: Column, raw: bytes) -> str | None:
    codec = codec_for(column)
    return codec.text(column, codec.decode(column, raw))


def collation_fields(number: int, family: str) -> Fields:
    """``id``; ``name`` and ``charset`` too where the family's servers have such a collation."""
    known = find_collation(number, family)
    return {"id": number} | ({"name": known.name, "charset": known.charset} if known else {})


def _decoded(name: str, raw: bytes) -> str | None:
    try:
        return charset(name).decode(raw)
    except ForgeError:
        return None


def load_fields(body: LoadStatement, rest: Fields) -> Fields:
    """Separators by name and options as words; ``rest`` are the other fields."""
    return rest | {
        "separators": dict(zip(_SEPARATORS, map(text_or_hex, _separators(body)), strict=True)),
        "options": flag_names(body.options, LOAD_OPTIONS),
    }


def _separators(body: LoadStatement) -> Sequence[str]:
    if isinstance(body, Load):
        return ["" if body.empty >> place & 1 else to_text(bytes([byte])) for place, byte in enumerate(body.separators)]
    found: Sequence[str] = body.separators  # type: ignore[attr-defined]
    return found
