"""Whether two JSON documents are equal as UPDATE asks: one that gives an equal document changes nothing.

Numbers are equal whatever their types are (1, 1.0 and DECIMAL 1.00), so are DATETIME and TIMESTAMP, and stale bytes do
not count; values of other opaque types are equal if type and bytes are.  Recorded on MySQL 9.7.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from forge.values.json.binary import Json, Opaque, SqlInteger, decode_document
from forge.values.json.opaque import opaque_number
from forge.values.wire_types import WireType

_MOMENTS: Final = (WireType.DATETIME, WireType.TIMESTAMP)


def equal_documents(one: bytes, other: bytes) -> bool:
    """Whether two binary documents have equal values.  Raises FormatError for what is no document."""
    return one == other or _equal(decode_document(one), decode_document(other))


def _equal(one: Json, other: Json) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    left, right = _number(one), _number(other)
    if left is not None and right is not None:
        return _equal_numbers(left, right)
    if isinstance(one, Opaque) and isinstance(other, Opaque):
        kinds = (one.field_type, other.field_type)
        return one.data == other.data and (kinds[0] == kinds[1] or all(kind in _MOMENTS for kind in kinds))
    return type(one) is type(other) and bool(one == other)


def _number(value: Json) -> int | float | Decimal | None:
    if isinstance(value, int | float):
        return value
    if isinstance(value, SqlInteger):
        return value.value
    return opaque_number(value) if isinstance(value, Opaque) and value.field_type == WireType.NEWDECIMAL else None


def _equal_numbers(left: int | float | Decimal, right: int | float | Decimal) -> bool:
    if isinstance(left, float) == isinstance(right, float):
        return left == right
    # A double counts with its shortest digits here: 9007199254740993 is not 9007199254740992.0.
    exact = [Decimal(repr(number)) if isinstance(number, float) else Decimal(number) for number in (left, right)]
    return exact[0] == exact[1]
