"""What expressions compute with, where that is no int, Decimal, float, str, bytes, list or dict."""

from __future__ import annotations

import struct
from decimal import Decimal
from typing import Any

from msgspec import Struct

from forge.values.json.binary import Json

Operand = Any


class Document(Struct, frozen=True):
    """A JSON value, which a Python str or int would not tell from text or a number."""

    value: Json


class Unsigned(Struct, frozen=True):
    """An operand of an UNSIGNED column: what is computed of it must not be negative."""

    value: int


class Field(str):
    """Text that LOAD DATA has read into a user variable.

    Servers compute with such text as with a DOUBLE; here only with whole numbers, of which DOUBLE is exact.
    """


class Moment(str):
    """A DATE, TIME or DATETIME as the server prints it, which text is not."""

    __slots__ = ()


class Interval(Struct, frozen=True):
    """``INTERVAL amount unit``, which moments are moved by."""

    amount: Operand
    unit: str


class Single(float):
    """A FLOAT: the number of 32 bits next to what the column shows."""

    shown: float

    def __new__(cls, shown: float) -> Single:
        number = super().__new__(cls, struct.unpack("<f", struct.pack("<f", shown))[0])
        number.shown = shown
        return number


class Rounded(float):
    """A DOUBLE that shows so many digits behind its point."""

    places: int

    def __new__(cls, number: float, places: int) -> Rounded:
        made = super().__new__(cls, number)
        made.places = places
        return made


class Quotient(Decimal):
    """A quotient with more digits than it shows, which MariaDB goes on with; ``scale`` are those that it shows."""

    scale: int


def double_text(number: float) -> str:
    """A DOUBLE as servers print it: the fewest digits that give it back."""
    mantissa, _, exponent = f"{number!r}e0".partition("e")
    digits = mantissa.removesuffix(".0")
    power = int(exponent.partition("e")[0])
    plain_digits = f"{Decimal(repr(number)):f}"
    plain_digits = plain_digits.rstrip("0").rstrip(".") if "." in plain_digits else plain_digits
    size = abs(number)
    if not size or 1e-15 <= size < 1e15:
        return plain_digits
    if "e" not in f"{number!r}":
        exact = Decimal(repr(number)).normalize()
        power = exact.adjusted()
        digits = f"{exact.scaleb(-power):f}"
    return f"{digits}e{power}"
