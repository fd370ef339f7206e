"""What declarations may say and what clients are sent: scalars checked and SQL literals written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from forge.errors import ScenarioError, UnsupportedError

_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*", re.IGNORECASE | re.ASCII)
#: The mark of an exponent without digits, or with white space before them.
_HALF_EXPONENT = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)e([+-]?\s*|\s+[+-]?\d+\s*)", re.IGNORECASE | re.ASCII)
#: Exponents beyond any column: int(Decimal("1e999999999")) would not come back.
_MAX_EXPONENT = 1000
_MAX_BITS = 4000
_ESCAPES = {0: r"\0", 8: r"\b", 9: r"\t", 10: r"\n", 13: r"\r", 26: r"\Z", 34: r"\"", 39: r"\'", 92: r"\\"}
_ESCAPED = str.maketrans({code: text for code, text in _ESCAPES.items() if code != 34})
#: Digits enough for every DECIMAL and every double.
EXACT = Context(prec=2 * _MAX_EXPONENT, rounding=ROUND_HALF_UP)


def refuse(type_name: str, declared: Any, problem: str, expected: str | None = None) -> ScenarioError:
    """The error for a declared value that a column of this type cannot hold."""
    return ScenarioError(f"{type_name} {problem}: {shown(declared)}", expected=expected)


def shown(declared: Any) -> str:
    """A declared value for a message, never a long one."""
    if isinstance(declared, int) and declared.bit_length() > _MAX_BITS:
        # Python refuses to print such a number.
        return f"an integer of {declared.bit_length()} bits"
    if isinstance(declared, Decimal):
        declared = str(declared)
    try:
        return shortened(repr(declared))
    except (ValueError, TypeError, AttributeError, RecursionError):
        # Too deep, with such a number in it, or of a type that cannot be shown.
        return f"this {type(declared).__name__}"


def shortened(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."


def is_number(text: str) -> bool:
    """Whether the whole text is a number to a server."""
    return _NUMBER.fullmatch(text) is not None


def number(type_name: str, declared: Any) -> Decimal:
    """The exact number of a declared scalar: int, bool, Decimal, float, or its text.  Raises ScenarioError."""
    if isinstance(declared, bool):
        return Decimal(int(declared))
    if isinstance(declared, int):
        if declared.bit_length() > _MAX_BITS:
            raise refuse(type_name, declared, "cannot hold this number")
        return Decimal(declared)
    value: Decimal | None = None
    if isinstance(declared, float):
        value = Decimal(repr(declared))
    elif isinstance(declared, Decimal):
        value = declared
    elif isinstance(declared, str) and _NUMBER.fullmatch(declared):
        value = Decimal(declared.strip())
    elif isinstance(declared, str) and _HALF_EXPONENT.fullmatch(declared):
        # Integers, years and decimals differ in what they read of it, and so do servers (docs/servers/values.md).
        problem = f"{type_name} does not take {shown(declared)}, whose exponent is not complete"
        raise UnsupportedError(problem, expected="digits behind the e")
    if value is None or not value.is_finite():
        raise refuse(type_name, declared, "cannot hold this value", "a number")
    if value and (abs(value.adjusted()) > _MAX_EXPONENT or len(value.as_tuple().digits) > _MAX_EXPONENT):
        raise refuse(type_name, declared, "cannot hold this number", "a number of less than 1000 digits")
    return value


def rounded(value: Decimal, scale: int) -> Decimal:
    """``value`` with exactly ``scale`` fraction digits, halves away from zero as servers round DECIMAL; no -0."""
    result = value.quantize(Decimal(1).scaleb(-scale), context=EXACT)
    if not result:
        return result.copy_abs()
    return value if value.same_quantum(result) else result


def negated(value: float | Decimal) -> float | Decimal:
    """``-value`` with all its digits, where Python's own sign keeps 28 of them; no -0 of a DECIMAL."""
    return EXACT.minus(value) if isinstance(value, Decimal) else -value


def hex_mapping(declared: Any) -> bytes | None:
    """The bytes of a ``{"hex": "..."}`` mapping; None if ``declared`` is not a mapping.  Raises ScenarioError."""
    if not isinstance(declared, Mapping):
        return None
    digits = declared.get("hex")
    if set(declared) != {"hex"} or not isinstance(digits, str):
        raise ScenarioError(f"a value cannot be the mapping {shown(dict(declared))}", expected="{hex: '00ff'}")
    try:
        return bytes.fromhex(digits)
    except ValueError:
        raise ScenarioError(f"{shown(digits)} is not hex", expected="pairs of hex digits") from None


def quoted(text: str) -> str:
    """``text`` as a string literal (for a session without NO_BACKSLASH_ESCAPES)."""
    return f"'{text.translate(_ESCAPED)}'"


def hexadecimal(data: bytes) -> str:
    """``data`` as a binary literal."""
    return f"x'{data.hex()}'" if data else "''"


def literal_sql(declared: Any) -> str:
    """A declared literal in SQL, for whatever column."""
    data = declared if isinstance(declared, (bytes, bytearray)) else hex_mapping(declared)
    if data is not None:
        return hexadecimal(bytes(data))
    if isinstance(declared, (bool, int)):
        return str(int(declared))
    if isinstance(declared, Decimal):
        return f"{declared:f}"
    if isinstance(declared, float):
        shown = repr(declared)
        return shown if "e" in shown else f"{shown}e0"
    if isinstance(declared, timedelta):
        seconds, micro = divmod(abs(declared) // timedelta(microseconds=1), 1_000_000)
        sign = "-" if declared < timedelta(0) else ""
        return quoted(f"{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{micro:06d}")
    if isinstance(declared, (date, time)):
        return quoted(str(declared))
    if isinstance(declared, (list, tuple)):
        return quoted(",".join(map(str, declared)))
    if isinstance(declared, (set, frozenset)):
        return quoted(",".join(sorted(map(str, declared))))
    return quoted(str(declared))
