"""Defaults of columns: literals, expressions, the time, and which of them a server would accept."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from decimal import Decimal

from forge.charsets import compare_key
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.literals import strict_value, under
from forge.errors import ScenarioError, UnsupportedError, about
from forge.servers import ServerLine
from forge.servers.facts.values import Dialect
from forge.sql.ast.definitions import (
    Default,
    ExpressionDefault,
    LiteralDefault,
    NowDefault,
)
from forge.sql.errors import SqlError, SqlUnsupported, StrictRefusal, at_offset, strict_at, unsupported_at
from forge.sql.expressions import Expression, parse_expression
from forge.values.declaration.sqltype import SqlType
from forge.values.literals import is_number
from forge.values.numeric.floats import float_text, to_float32
from forge.values.registry import facts_of
from forge.values.text.column_charset import charset_of

_NOW = ("CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP")
_DATES, _TIMES = ("CURRENT_DATE", "CURDATE"), ("CURRENT_TIME", "CURTIME")
#: Places of the numbers that MySQL computes with: nine words of nine digits (DECIMAL_BUFF_LENGTH).
_PLACES = 81
#: An expression that is nothing but the time.
_CLOCK = re.compile(r"[\s(]*(?P<name>[A-Za-z_]+)\s*(?:\(\s*(?P<digits>[0-6]?)\s*\))?[\s)]*", re.ASCII)


def with_default(
    defined: ColumnDefinition, default: Default, line: ServerLine, *, dialect: Dialect | None = None
) -> ColumnDefinition:
    """The column with a default.  Raises SqlError where a server would refuse it."""
    column, facts = defined.column, defined.type_facts
    if (
        isinstance(default, LiteralDefault)
        and default.literal.form == "moment"
        and not line.grammar.opens_literal_defaults
    ):
        # Of columns of all types, in all modes (error 1067, recorded on 9.7).
        problem = "MySQL takes no date or time as a literal default"
        raise SqlError(problem, default.offset, expected="a text, or DEFAULT (...) of CREATE TABLE")
    if column.auto_increment and isinstance(default, LiteralDefault) and default.value is None and not default.is_set:
        return defined
    if column.auto_increment:
        if isinstance(default, LiteralDefault) and isinstance(default.value, bool):
            # MySQL takes them, and forgets them (recorded on 9.7).
            problem = f"TRUE or FALSE as the default of AUTO_INCREMENT column {column.name!r} is not supported yet"
            raise SqlUnsupported(problem, default.offset, expected="no default")
        raise SqlError(f"column {column.name!r} is AUTO_INCREMENT and cannot have a default", default.offset)
    if isinstance(default, NowDefault):
        if line.grammar.loose_clock_defaults and defined.type.name in ("DATE", "TIME"):
            return _with_clock(defined, default.fsp)
        check_now(defined.type, default.fsp, "DEFAULT", default.offset, line)
        if default.fsp > defined.type.fsp and (default.is_local or default.is_set):
            # They are rounded or cut, as sql_mode says.
            problem = f"a default of the {defined.type.name} column {column.name!r} with more digits than it"
            raise SqlUnsupported(f"{problem} is not supported yet", default.offset, expected="the digits of the column")
        is_local = default.is_local and (default.fsp < defined.type.fsp or defined.is_timestamp)
        # CREATE TABLE gives CURRENT_TIMESTAMP without digits those of the column, no more (recorded on 10.11, 11.8).
        is_of_column = not (default.fsp or is_local or default.is_set)
        said = defined.type.fsp if is_of_column else min(default.fsp, defined.type.fsp)
        return without_default(defined).replace(
            default_now=True,
            clock_digits=said if is_local or said != defined.type.fsp else None,
            clock_is_local=is_local,
        )
    if isinstance(default, ExpressionDefault):
        digits = _clock_digits(default.sql, defined.type)
        if digits is not None:
            return _with_clock(defined, digits)
        with at_offset(default.offset):
            try:
                expression = parse_expression(default.sql)
            except UnsupportedError:
                # What it gives is the scenario's to say.
                return without_default(defined).replace(computed_default=True)
            if expression.columns():
                return without_default(defined).replace(computed_default=True)
            if line.grammar.opens_literal_defaults:
                with _refused_of_json(defined, default.offset):
                    _check_computed(defined, expression, dialect)
        return replace(without_default(defined).replace(computed_default=True), default=expression)
    if default.value is None:
        if default.is_set and not facts.literal_default and not defined.wire.dialect.literal_lob_defaults:
            raise SqlError(f"a {defined.type.name} column cannot be given the default NULL", default.offset)
        if not column.nullable:
            raise SqlError(f"column {column.name!r} is NOT NULL and cannot have the default NULL", default.offset)
        # SET DEFAULT makes an expression of the NULL of a TEXT or BLOB, which images hold (recorded on 10.11 and 11.8).
        computed = default.is_set and facts.is_blob and defined.wire.dialect.literal_lob_defaults
        return without_default(defined).replace(has_default=True, computed_default=computed)
    # MariaDB takes literals for TEXT and BLOB (10.2.1 on), and stores them as it does expressions.
    as_expression = facts.is_lob and defined.wire.dialect.literal_lob_defaults
    if not facts.literal_default and not as_expression:
        # Without strict mode MySQL forgets an empty one of TEXT and BLOB.
        refusal = SqlError if default.value not in ("", b"") or facts.is_json or facts.is_geometry else StrictRefusal
        raise refusal(
            f"a {defined.type.name} column cannot have a literal default",
            default.offset,
            expected="DEFAULT (expression)",
        )
    if as_expression and default.literal.charset is not None and line.query.says_collations:
        # It is kept so, and the set is looked up whenever the definition is read (recorded on 11.8).
        problem = f"a default of the {defined.type.name} column {column.name!r} that names a character set"
        raise SqlUnsupported(f"{problem} is not supported yet", default.offset, expected="a text alone")
    if as_expression and facts.is_bytes and isinstance(default.value, str) and not default.value.isascii():
        # Its bytes are those of the table's character set (recorded on 10.11 and 11.8).
        problem = f"a default of the {defined.type.name} column {column.name!r} with other characters than ASCII's"
        raise SqlUnsupported(f"{problem} is not supported yet", default.offset, expected="bytes, x'c3a9'")
    value = _default_value(defined, default, dialect, line)
    return without_default(defined).replace(has_default=True, default=value, computed_default=as_expression)


def _check_computed(defined: ColumnDefinition, expression: Expression, dialect: Dialect | None) -> None:
    """MariaDB computes a constant default when the table is made.  Raises ScenarioError for one that does not fit."""
    if expression.asks_for_time:
        return
    value = expression.evaluate({})
    with about(f"the default of column {defined.name!r} is impossible"):
        if value is not None:
            strict_value(under(defined.wire, dialect), defined.codec, value)
        elif not defined.column.nullable:
            raise ScenarioError("it is NULL, and the column NOT NULL")


def _refused_of_json(defined: ColumnDefinition, offset: int) -> AbstractContextManager[None]:
    """MariaDB's JSON is text with a CHECK, which its default may break: refusals are ours."""
    is_checked = defined.holds_json and defined.wire.dialect.json_is_text
    return unsupported_at(offset) if is_checked else nullcontext()


def _clock_digits(sql: str, sql_type: SqlType) -> int | None:
    """The fraction digits of the clock whose part is what the column holds; None for other expressions."""
    match = _CLOCK.fullmatch(sql)
    if match is None:
        return None
    name = match["name"].upper()
    held = {"DATE": _DATES, "TIME": _TIMES}.get(sql_type.name, ())
    if name not in (*_NOW, *held) or (name in _NOW and sql_type.name not in ("DATE", "TIME", "DATETIME", "TIMESTAMP")):
        return None
    return int(match["digits"] or 0)


def _with_clock(defined: ColumnDefinition, digits: int) -> ColumnDefinition:
    return without_default(defined).replace(
        default_now=True, computed_default=True, clock_digits=digits, clock_is_local=True
    )


def check_clocks(columns: Iterable[ColumnDefinition]) -> None:
    """Raises UnsupportedError for a default whose clock MariaDB reads in ALTER TABLE in ways that are not known: it is
    not that of the column's type.  CURRENT_DATE of a DATE is (recorded on 10.11).
    """
    for column in columns:
        default = column.draft.default if column.draft is not None else None
        clock = _CLOCK.fullmatch(default.sql) if isinstance(default, ExpressionDefault) else None
        is_date = clock is not None and clock["name"].upper() in _DATES
        if column.column.clock_digits is not None and column.type.name not in ("DATETIME", "TIMESTAMP") and not is_date:
            problem = f"ALTER TABLE beside the default of the {column.type.name} column {column.name!r}"
            raise UnsupportedError(f"{problem} is not supported yet", expected="CURRENT_TIMESTAMP of a TIMESTAMP")


def check_read_again(old: ColumnDefinition, new: ColumnDefinition) -> None:
    """Raises UnsupportedError for a default of FLOAT with more than the six digits that ALTER TABLE prints and reads
    again, if the statement keeps it (recorded on 9.7, 10.11 and 11.8).
    """
    value = old.column.default
    if old.type.name != "FLOAT" or not isinstance(value, float) or new.column.default is not value:
        return
    if old.type.scale is None and to_float32(float(f"{value:.6g}")) != value:
        problem = f"ALTER TABLE beside the default of the FLOAT column {old.name!r}"
        raise UnsupportedError(f"{problem} is not supported yet", expected="six digits")


def without_default(defined: ColumnDefinition, *, lacks_default: bool = False) -> ColumnDefinition:
    """The column with no default of any kind; ``lacks_default``: not even NULL."""
    facts = replace(defined, default=None)
    return facts.replace(
        has_default=False,
        default=None,
        default_now=False,
        computed_default=False,
        clock_digits=None,
        clock_is_local=False,
        lacks_default=lacks_default,
    )


def _default_value(
    defined: ColumnDefinition, default: LiteralDefault, dialect: Dialect | None, line: ServerLine
) -> object:
    literal = int(default.value) if isinstance(default.value, bool) else default.value
    if not isinstance(literal, (str, bytes)) and defined.type_facts.has_members:
        problem = f"the default of column {defined.name!r} is impossible: {defined.type.name} has no member {literal!r}"
        raise SqlError(problem, default.offset, expected="a member in quotes")
    if isinstance(literal, str) and defined.type_facts.has_members and not _names_members(defined, literal):
        problem = f"the default of column {defined.name!r} is impossible: {defined.type.name} has no member {literal!r}"
        raise SqlError(problem, default.offset, expected="a member, not its number")
    if defined.type_facts.is_temporal and isinstance(literal, (str, bytes)) and not literal.strip():
        problem = f"the default of column {defined.name!r} is impossible: {defined.type.name} has no blank one"
        raise SqlError(problem, default.offset, expected="a date or time")
    wire = under(defined.wire, dialect)
    if default.literal.form == "moment" and defined.type_facts.is_number and line.grammar.opens_literal_defaults:
        # MariaDB takes 20240229 of a date.
        problem = f"a moment as the default of the {defined.type.name} column {defined.name!r} is not supported yet"
        raise SqlUnsupported(problem, default.offset, expected="a number")
    if default.literal.form == "hex_text" and isinstance(literal, bytes) and defined.type_facts.is_number:
        literal = literal.decode("latin-1") if wire.dialect.hex_defaults_are_text else literal
    if isinstance(literal, Decimal) and (defined.type_facts.is_text or defined.type_facts.is_bytes):
        if default.literal.form == "double":
            _check_double(defined, literal, default.offset, line)
        literal = float_text(float(literal)) if default.literal.form == "double" else f"{literal:f}"
    if isinstance(literal, str) and defined.type.name == "CHAR":
        literal = literal.rstrip(" ")  # Before it is looked at, however long it is (recorded).
    limit = None if defined.type.name != "VARCHAR" or wire.dialect.cuts_defaults else defined.type.length
    if isinstance(literal, str) and limit is not None and len(literal) > limit:
        raise SqlError(f"the default of column {defined.name!r} is longer than {limit} characters", default.offset)
    if isinstance(literal, str) and defined.type_facts.kind == "bit":
        # In SQL text a string is bytes to a BIT column; cells of a scenario are more generous.
        literal = int.from_bytes(literal.encode(), "big")
    if defined.type_facts.kind == "decimal" and isinstance(literal, str) and not line.grammar.opens_literal_defaults:
        _check_places(defined, literal, default.offset)
    is_unsigned_float = defined.type_facts.is_approximate and defined.wire.unsigned
    if is_unsigned_float and line.grammar.opens_literal_defaults and str(literal).strip().startswith("-"):
        # MariaDB takes some.
        problem = f"the negative default of the unsigned {defined.type.name} column {defined.name!r}"
        raise SqlUnsupported(f"{problem} is not supported yet", default.offset, expected="0")
    # Without strict mode servers refuse other values all the same, and take some dates and decimals.
    refused_at = strict_at if defined.type_facts.is_temporal or defined.type_facts.kind == "decimal" else at_offset
    if isinstance(literal, str) and defined.type_facts.is_approximate and _is_finite(literal):
        # Of a text MySQL in strict mode alone refuses what is too large; the others take the largest number.
        refused_at = unsupported_at if line.grammar.opens_literal_defaults else strict_at
    subject = f"the default of column {defined.name!r} is impossible"
    with refused_at(default.offset), _refused_of_json(defined, default.offset), about(subject):
        return strict_value(wire, defined.codec, literal)


def _is_finite(text: str) -> bool:
    return is_number(text) and math.isfinite(float(text))


def _check_places(defined: ColumnDefinition, text: str, offset: int) -> None:
    """Raises StrictRefusal for a number with more places than MySQL computes with, though they round to zero (1366)."""
    number = Decimal(text.strip()) if is_number(text) else Decimal(0)
    exponent = number.as_tuple().exponent
    if number and isinstance(exponent, int) and exponent < -_PLACES:
        problem = f"the default of column {defined.name!r} is impossible: DECIMAL has no value {text!r}"
        raise StrictRefusal(problem, offset, expected=f"{_PLACES} places at most")


def _check_double(defined: ColumnDefinition, number: Decimal, offset: int, line: ServerLine) -> None:
    """Raises SqlUnsupported for a number that servers may write with its exponent, to keep it short, and for one whose
    ASCII MySQL takes for the characters of a CHAR (recorded on 9.7).
    """
    length = 1 if defined.type.length is None and not defined.type_facts.is_lob else defined.type.length
    if length is not None and len(f"{number:f}") > length:
        problem = f"the default {number} of a {defined.type.name} that is short is not supported yet"
        raise SqlUnsupported(problem, offset, expected="a text")
    own = charset_of(defined.wire)
    is_wide = own is not None and own.min_length > 1
    if defined.type.name == "CHAR" and is_wide and not line.grammar.opens_literal_defaults:
        problem = f"the default {number} of a CHAR column of a character set without ASCII is not supported yet"
        raise SqlUnsupported(problem, offset, expected="a text")


def _names_members(defined: ColumnDefinition, literal: str) -> bool:
    """Whether a default of ENUM or SET is made of names: a server takes no numbers there."""
    if not literal.strip().lstrip("+-").isdigit():
        return True
    collation_id = defined.type.collation
    keys = [literal.rstrip(" "), *defined.type.members]
    if collation_id is not None:
        keys = [compare_key(collation_id, key) for key in keys]
    return keys[0] in keys[1:]


def check_now(sql_type: SqlType, fsp: int, clause: str, offset: int, line: ServerLine) -> None:
    """Raises SqlError, SqlUnsupported for a column that CURRENT_TIMESTAMP does not suit."""
    if not facts_of(sql_type).is_moment:
        if clause == "DEFAULT" and line.grammar.loose_clock_defaults:
            raise SqlUnsupported(
                f"a {sql_type.name} column with DEFAULT CURRENT_TIMESTAMP is not supported yet", offset
            )
        raise SqlError(
            f"a {sql_type.name} column cannot have {clause} CURRENT_TIMESTAMP", offset, expected="TIMESTAMP or DATETIME"
        )
    if fsp != sql_type.fsp and not line.grammar.loose_clock_defaults:
        expected = f"CURRENT_TIMESTAMP({sql_type.fsp})" if sql_type.fsp else "CURRENT_TIMESTAMP"
        raise SqlError(
            f"{clause} has {fsp} fractional digits, but its column has {sql_type.fsp}", offset, expected=expected
        )
