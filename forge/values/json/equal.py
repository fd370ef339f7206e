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


def equal_documents(left: bytes, right: bytes) -> bool:
    """Whether two binary documents have equal values.  Raises FormatError for what is no document."""
    return left == right or _equal(decode_document(left), decode_document(right))


def _equal(left: Json, right: Json) -> bool:
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    numbers = _number(left), _number(right)
    if numbers[0] is not None and numbers[1] is not None:
        return _equal_numbers(numbers[0], numbers[1])
    if isinstance(left, Opaque) and isinstance(right, Opaque):
        kinds = (left.field_type, right.field_type)
        return left.data == right.data and (kinds[0] == kinds[1] or all(kind in _MOMENTS for kind in kinds))
    return type(left) is type(right) and bool(left == right)


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
