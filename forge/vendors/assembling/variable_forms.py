"""The USER_VAR events that a printed assignment may have been."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from forge.charsets import collation
from forge.errors import ForgeError
from forge.events.format import FormatContext
from forge.events.plain import to_text
from forge.events.user_var import DECIMAL, INTEGER, REAL, STRING, UserVar
from forge.values.numeric.decimals import MAX_PRECISION, pack
from forge.vendors.assembling.printed_events import PrintedText

_TEXT = re.compile(rb"_(\w+) (?:0x([0-9A-F]*)|X'([0-9A-F]*)'|\"\") COLLATE `?(\w+)`?")
_NUMBER = re.compile(rb"-?[0-9.]+(?:e[-+]?\d+)?|-?nan|-?inf")
#: Collations of numbers, where the text has none.
_OF_NUMBERS = (8, 33, 45, 63, 255, 224, 2304)
#: Doubles that print alike are so near.
_NEAR = 600


def user_vars(fields: Any, text: PrintedText, format: FormatContext) -> Iterator[UserVar]:
    """The events; numbers may be of three types."""
    name, value = fields["name"], fields["value"]
    types: tuple[str | None, ...] = (None, "geometry") if format.mariadb else (None,)
    if value == b"NULL":
        yield UserVar(name=name)
    elif (found := _TEXT.fullmatch(value)) is not None:
        data = bytes.fromhex((found[2] or found[3] or b"").decode())
        try:
            number = collation(to_text(found[4]), "mariadb" if text.mariadb else "mysql").id
        except ForgeError:
            return
        for data_type in types:
            flags = (0,) if data_type else (None, 0)
            for flag in flags:
                yield UserVar(name=name, value=(STRING, number, data), value_flags=flag, data_type=data_type)
    elif _NUMBER.fullmatch(value):
        given = fields.get("collation")
        likely = (
            (given,) if given is not None else dict.fromkeys([fields["connection"] or _OF_NUMBERS[0], *_OF_NUMBERS])
        )
        for number in likely:
            for kind, data, flag in _numbers(to_text(value)):
                yield UserVar(name=name, value=(kind, number, data), value_flags=flag)


def _numbers(text: str) -> Iterator[tuple[int, bytes, int | None]]:
    """(type, bytes, flags) that are printed as this number."""
    if re.fullmatch(r"-?\d+", text):
        number = int(text)
        if -(1 << 63) <= number < 1 << 64:
            data = (number % (1 << 64)).to_bytes(8, "little")
            for flag in (0, 1, None) if number < 1 << 63 else (1,):
                yield INTEGER, data, flag
    if re.fullmatch(r"-?\d*\.?\d+", text):
        yield from _decimals(Decimal(text))
    near = float(text)
    seen = {near}
    yield REAL, struct.pack("<d", near), None
    up = down = near
    for _ in range(_NEAR):
        up, down = math.nextafter(up, math.inf), math.nextafter(down, -math.inf)
        for other in (up, down):
            if f"{other:.14g}" == f"{near:.14g}" and other not in seen:
                seen.add(other)
                yield REAL, struct.pack("<d", other), None


def _decimals(number: Decimal) -> Iterator[tuple[int, bytes, int | None]]:
    _, digits, exponent = number.as_tuple()
    scale = -int(exponent)
    least = max(len(digits), scale, 1)
    for precision in range(least, MAX_PRECISION + 1):
        yield DECIMAL, bytes([precision, scale]) + pack(number, precision, scale), None
