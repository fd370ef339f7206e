"""Values of python-mysql-replication as text, and ours in the same form.

The form of a document is JSON in which nothing is rounded: ``1`` is an integer and ``1.0`` a double, an SQL DECIMAL
is its digits, a temporal value is quoted text, bytes that are not UTF-8 are ``0x...``.
"""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from typing import Any

from forge.check.decoder import Form
from forge.decode.cells import Cell
from forge.values.wire_types import WireType

_TEMPORAL = (WireType.TIMESTAMP, WireType.DATE, WireType.TIME, WireType.DATETIME)


def form_of(value: Any, column: Any, source: str) -> Form:
    """The form of one value; ``column`` is the library's, ``source`` its remark on a value that is None."""
    if column.type == WireType.JSON and hasattr(value, "op"):
        return _diff_form(value.op.name, value.path, None if value.op.name == "Remove" else document_form(value.value))
    if column.type == WireType.JSON:
        # JSON null and NULL are both None to it, and look alike here.
        return None if value is None else document_form(value)
    if value is None:
        return None if source == "null" else f"({source})"
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime.timedelta):
        return time_text(value, getattr(column, "fsp", 0))
    if isinstance(value, datetime.datetime):
        return moment_text(value, getattr(column, "fsp", 0))
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, set):
        return ",".join(member for member in column.set_values if member in value)
    return f"{value:04d}" if column.type == WireType.YEAR else str(value)


def time_text(value: datetime.timedelta, fsp: int) -> str:
    """``[-]hh:mm:ss[.f...]`` with ``fsp`` digits."""
    micro = abs(value) // datetime.timedelta(microseconds=1)
    seconds, micro = divmod(micro, 1_000_000)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return ("-" if value < datetime.timedelta(0) else "") + text + _fraction(micro, fsp)


def moment_text(value: datetime.datetime, fsp: int) -> str:
    text = f"{value.year:04d}-{value.month:02d}-{value.day:02d} {value.hour:02d}:{value.minute:02d}:{value.second:02d}"
    return text + _fraction(value.microsecond, fsp)


def _fraction(micro: int, fsp: int) -> str:
    return f".{micro:06d}"[: fsp + 1] if fsp else ""


def document_form(value: Any) -> str:
    """The library's JSON value: keys and strings are bytes there."""
    if isinstance(value, dict):
        members = (f"{document_form(key)}: {document_form(member)}" for key, member in value.items())
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(document_form, value)) + "]"
    if isinstance(value, bytes):
        try:
            return _quoted(value.decode())
        except UnicodeDecodeError:
            return f"0x{value.hex()}"
    if isinstance(value, datetime.datetime):
        return _quoted(moment_text(value, 6))
    if isinstance(value, datetime.time):
        return _quoted(f"{value.hour:02d}:{value.minute:02d}:{value.second:02d}.{value.microsecond:06d}")
    return _scalar(value)


def _scalar(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def expected_json(cell: Cell) -> Form:
    """Our JSON cell in that form."""
    from forge.values.json.binary import decode_document

    document = decode_document(cell.value())
    return None if document is None else _document(document)


def expected_diffs(cell: Cell) -> Form:
    """Our partial JSON cell in that form: all of its diffs."""
    from forge.values.json.binary import decode_document

    diffs = []
    for diff in cell.diffs():
        value = None if diff.value is None else _document(decode_document(diff.value))
        diffs.append(_diff_form(diff.operation.name, diff.path.encode(), value))
    return "; ".join(diffs) or None


def _diff_form(operation: str, path: bytes, value: str | None) -> str:
    return f"{operation.upper()} {path.decode('utf-8', 'replace')}" + ("" if value is None else f" {value}")


def _document(value: Any) -> str:
    from forge.values.json.binary import Opaque, SqlInteger

    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(key)}: {_document(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_document, value)) + "]"
    if isinstance(value, SqlInteger):
        return str(value.value)
    if isinstance(value, Opaque):
        return _opaque(value)
    return _scalar(value)


def _opaque(value: Any) -> str:
    from forge.values.json.opaque import opaque_text

    if value.field_type == WireType.NEWDECIMAL:
        return opaque_text(value)[0]
    if value.field_type in _TEMPORAL:
        text = opaque_text(value)[0]
        # It has one Python type for both.
        return _quoted(f"{text} 00:00:00.000000" if value.field_type == WireType.DATE else text)
    try:
        return _quoted(value.data.decode())
    except UnicodeDecodeError:
        return f"0x{value.data.hex()}"
