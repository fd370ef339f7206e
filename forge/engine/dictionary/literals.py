"""Literals as a server in strict mode takes them (sql_mode of a default session)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from forge.errors import ScenarioError, UnsupportedError
from forge.servers.facts.values import Dialect
from forge.values.base import Codec, Column, Value
from forge.values.clipping import Clipped
from forge.values.declaration.facts import TypeFacts
from forge.values.literals import hex_mapping, quoted
from forge.values.registry import codec_for, facts_of
from forge.values.spatial.geometry import GEOMETRY, is_wkb
from forge.values.temporal.odd import is_odd_in_strict_mode, odd_form
from forge.values.temporal.text import MAX_FSP, accept_clock
from forge.values.text.clipping import whole_units
from forge.values.text.column_charset import charset_of

_LARGEST_TIME = "838:59:59"
#: hhhmmss.
_LONGEST_CLOCK = 9_999_999
_TWO_POINTS = re.compile(r"\s*[+-]?\d*\.\d*\.", re.ASCII)
_ZERO = re.compile(r"\s*[+-]?0+ *", re.ASCII)
_UNDECLARED = TypeFacts(kind="other")


def strict_value(column: Column, codec: Codec, declared: Any) -> Value:
    """The value that a declared literal has in a column; never None.

    Raises ScenarioError for what the column cannot hold, and for what strict mode refuses: dates with a zero month or
    day (NO_ZERO_DATE, NO_ZERO_IN_DATE, which are not in MariaDB's default mode), and the empty value of an ENUM, which
    stands for an error.
    """
    facts = _facts(column)
    if facts.is_number or charset_of(column) is not None:
        data = declared if isinstance(declared, (bytes, bytearray)) else _bytes_of(declared)
        if data is not None:
            declared = int.from_bytes(data, "big") if facts.is_number else whole_units(charset_of(column), bytes(data))
    try:
        value = codec.accept(column, declared)
    except ScenarioError:
        if facts.is_temporal and is_odd_in_strict_mode(codec.type_name(column), declared):
            raise odd_form(codec.type_name(column), declared) from None
        if facts.kind == "time" and isinstance(declared, int) and abs(declared) > _LONGEST_CLOCK:
            # MariaDB reads some as moments, and stores zero.
            raise UnsupportedError(
                f"what a TIME column reads of {declared!r} is not known", expected="hhmmss"
            ) from None
        if (facts.is_text or facts.is_bytes) and isinstance(declared, float):
            # Servers round its digits to the width of the column, and refuse some.
            problem = f"{codec.type_name(column)} does not take {declared!r}, which is longer, yet"
            raise UnsupportedError(problem, expected="fewer digits, or a text") from None
        raise
    if facts.has_date and not (column.dialect.takes_zero_dates and column.dialect.takes_zero_parts):
        if not column.dialect.takes_zero_dates if is_zero_date(value) else has_zero_part(column, value):
            name = codec.type_name(column).partition("(")[0]
            raise ScenarioError(f"{name} {value!r} has a zero month or day", expected="a date of the calendar")
    elif facts.kind == "time" and not column.dialect.largest_time_has_fraction:
        if (
            value.lstrip("-").startswith(_LARGEST_TIME)
            and accept_clock("TIME", declared, MAX_FSP, column.dialect).micro
        ):
            raise ScenarioError(f"TIME cannot hold {value!r}", expected=f"-{_LARGEST_TIME} to {_LARGEST_TIME}")
    elif facts.is_text and isinstance(value, bytes):
        _check_characters(column, codec, value)
    elif facts.kind == "enum" and value == 0 and not _is_zero_text(column, declared):
        raise ScenarioError("ENUM has no member ''", expected="one of its members")
    # The same text is kept once: the rows of a dump are most of what is held.
    return declared if type(value) is type(declared) is str and value == declared else value


def _check_characters(column: Column, codec: Codec, data: bytes) -> None:
    """Bytes of a text column are characters of its set, and not more of them than it has.  Raises ScenarioError.

    MariaDB takes any bytes for a set of single bytes.
    """
    charset, dialect = charset_of(column), column.dialect
    if charset is None:
        return
    takes_any = charset.max_length == 1 and dialect.marks_malformed_text
    if not takes_any and not charset.well_formed(data, dialect.well_formed):
        problem = f"{codec.type_name(column)} cannot hold bytes that are not text of {charset.name}: {data.hex()}"
        raise ScenarioError(problem)
    length = None if column.declared is None else column.declared.length
    if length is not None and sum(1 for _ in charset.characters(data, dialect.well_formed)) > length:
        raise ScenarioError(f"{codec.type_name(column)} cannot hold more than {length} characters: {data.hex()}")


def _facts(column: Column) -> TypeFacts:
    return _UNDECLARED if column.declared is None else facts_of(column.declared)


def _is_zero_text(column: Column, declared: Any) -> bool:
    """Whether it is the number 0 as text, which MySQL takes for an index; there are no numbers in two-byte sets."""
    charset = charset_of(column)
    return (
        bool(isinstance(declared, str) and _ZERO.fullmatch(declared))
        and column.dialect.zero_text_is_index
        and (charset is None or charset.min_length == 1)
    )


def _bytes_of(declared: Any) -> bytes | None:
    return hex_mapping(declared) if isinstance(declared, Mapping) and set(declared) == {"hex"} else None


def has_zero_part(column: Column, value: Value) -> bool:
    """Whether a moment that is not the zero date has a zero month or day that the session does not take."""
    if column.dialect.takes_zero_parts or is_zero_date(value):
        return False
    _, month, day = value[:10].split("-")
    return "00" in (month, day)


def is_zero_date(value: Value) -> bool:
    """Whether a moment is the zero date, at whatever time."""
    return not value.strip("0-: .")


def under(column: Column, dialect: Dialect | None) -> Column:
    """The column as a session takes its values; None is for a session that has the server's own modes."""
    return column if dialect is None else replace(column, dialect=dialect)


def taken(column: Column, declared: Any, *, clips: bool) -> Clipped:
    """A literal's value, never None, and its SQL.  ``clips`` is for a session without strict mode.

    Raises ScenarioError for what the session refuses.
    """
    if column.geometry_type is not None and is_wkb(declared):
        return Clipped(GEOMETRY.accept(column, declared), GEOMETRY.wkb_sql(column, declared))
    if clips:
        clipped = _clipped(column, declared)
        if clipped.value is not None and _facts(column).has_date and has_zero_part(column, clipped.value):
            # NO_ZERO_IN_DATE without strict mode.
            return clipped._replace(value=codec_for(column).clip(column, "0000-00-00").value)
        return clipped
    codec = codec_for(column)
    value = strict_value(column, codec, declared)
    if value == 0 and column.members and _is_zero_text(column, declared):
        # Strict mode takes the text of the number, and not the number.
        return Clipped(value, quoted(declared))
    return Clipped(value, codec.sql(column, value))


def _clipped(column: Column, declared: Any) -> Clipped:
    """What a session without strict mode makes of a literal.  Raises ScenarioError, UnsupportedError."""
    if isinstance(declared, str) and _facts(column).is_integer and _TWO_POINTS.match(declared):
        # MariaDB reads 462 of '46.2.'.
        raise UnsupportedError(f"what an integer column reads of {declared!r} is not known", expected="a number")
    try:
        return codec_for(column).clip(column, declared)
    except UnsupportedError:
        raise
    except ScenarioError as error:
        facts = _facts(column)
        if facts.kind == "vector" or ((facts.is_text or facts.is_bytes) and isinstance(declared, (float, Decimal))):
            # Servers round a number to the width of a text, and read some bytes as vectors.
            problem = f"{error.problem}: clipped without strict mode in ways that are not supported"
            raise UnsupportedError(problem, expected=error.expected) from None
        if facts.is_temporal:
            # Servers take every text, and read of some what they can.
            raise UnsupportedError(f"{error.problem}: without strict mode it is not known what is read of it") from None
        raise


def zero_value(column: Column) -> Value | None:
    """What NULL becomes in a NOT NULL column of a session without strict mode; None where it stays an error."""
    facts, codec = _facts(column), codec_for(column)
    if facts.refuses_null_always:
        return None
    if facts.has_date:
        return codec.clip(column, "0000-00-00").value
    if facts.kind == "enum":
        # The error value on MySQL, the first member on MariaDB.
        return column.dialect.implicit_member
    return codec.accept(column, facts.implicit_default)


def implicit_default(column: Column) -> Any:
    """What a NOT NULL column gets in rows that exist already when it is added without a default.

    A declared literal; None for JSON, which has none.  Raises ScenarioError for types whose implicit default strict
    mode refuses.
    """
    facts = _facts(column)
    if facts.refuses_implicit_default:
        name = codec_for(column).type_name(column).partition("(")[0]
        raise ScenarioError(f"rows of the table have no value for the new {name} column", expected="DEFAULT, or NULL")
    return facts.implicit_default
