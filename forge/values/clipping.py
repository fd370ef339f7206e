"""What a server without strict mode (sql_mode = '') stores of a literal: clipped with a warning instead of refused.

Every codec has its own ``clip``; what it gives is here.  Recorded on MySQL 9.7, MariaDB 10.11 and 11.8
(corpora/recordings/lenient).
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, NamedTuple

from forge.errors import UnsupportedError
from forge.values.literals import shown

LEADING_NUMBER = re.compile(r"\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)", re.IGNORECASE | re.ASCII)
#: Ends of exponents of which some types read other numbers: 1.5e+ is 15, and 1e 1 may be 10 (docs/servers/values.md).
_HALF_EXPONENT = re.compile(
    r"\s*[+-]?(?:(?:\d+\.\d*|\.\d+)e[+-]\Z|(?:\d+(?:\.\d*)?|\.\d+)e\s+[+-]?\d)", re.IGNORECASE | re.ASCII
)
_LINE_END_BEFORE = re.compile(r"[ \t]*[\n\v\f\r]")
#: No column tells numbers beyond from each other; larger exponents would be slow.
_EXPONENT_LIMIT = 400


class Clipped(NamedTuple):
    """A value, and the SQL literal of which a server without strict mode makes it."""

    value: Any
    sql: str


def leading_number(declared: Any) -> Decimal | None:
    """The number that text begins with, 0 if with none; numbers as they are; None for other things.

    Raises UnsupportedError for texts whose reading depends on the column's type.
    """
    if isinstance(declared, (bool, int)):
        return Decimal(int(declared))
    if isinstance(declared, float):
        declared = repr(declared)
    if isinstance(declared, Decimal):
        declared = str(declared)
    if not isinstance(declared, str):
        return None
    if _HALF_EXPONENT.match(declared):
        problem = f"what a column reads of {shown(declared)}, whose exponent is not complete, is not known"
        raise UnsupportedError(problem, expected="digits behind the e")
    match = LEADING_NUMBER.match(declared)
    value = Decimal(match[1]) if match else Decimal(0)
    if not value or value.adjusted() < -_EXPONENT_LIMIT:
        return Decimal(0)
    if value.adjusted() > _EXPONENT_LIMIT:
        return Decimal(1).scaleb(_EXPONENT_LIMIT).copy_sign(value)
    return value


def begins_with_line_end(declared: Any) -> bool:
    """Whether other white space than spaces and tabs stands before the text of a number."""
    return isinstance(declared, str) and _LINE_END_BEFORE.match(declared) is not None
