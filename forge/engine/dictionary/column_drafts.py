"""Columns as statements define them: what a draft means on a server."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

from msgspec.structs import replace

from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.literals import strict_value, under
from forge.errors import UnsupportedError, about
from forge.plan.requirements import column_features
from forge.plan.tables import TableColumn
from forge.servers import ServerLine, server_line
from forge.servers.facts.values import Dialect
from forge.sql.ast.definitions import ColumnDraft, Default, ExpressionDefault, LiteralDefault, NowDefault
from forge.sql.errors import SqlError, SqlUnsupported, at_offset
from forge.sql.expressions import parse_expression
from forge.values.base import Value
from forge.values.declaration.sqltype import SqlType
from forge.values.numeric.floats import float_text
from forge.values.registry import codec_for, column_for, stored_type


def define_column(
    draft: ColumnDraft, table_collation: int, server: str, *, dialect: Dialect | None = None
) -> ColumnDefinition:
    """What a column draft means in a table of that default collation.  Raises SqlError and SqlUnsupported.

    ``dialect``: what the session's modes make of values.
    """
    line = server_line(server)
    sql_type = draft.type.resolve(table_collation, server)
    if _is_json_by_check(draft, sql_type, server):
        sql_type, draft = SqlType("JSON"), replace(draft, checks=())
    nullable = draft.nullable if draft.nullable is not None else "primary" not in draft.keys
    if nullable and draft.auto_increment:
        # NULL stays NULL there, and counts.
        problem = f"column {draft.name!r} with AUTO_INCREMENT and NULL is not supported yet"
        raise SqlUnsupported(problem, draft.offset, expected="NOT NULL")
    column = TableColumn(
        name=draft.name,
        type=stored_type(sql_type, server),
        nullable=nullable,
        auto_increment=draft.auto_increment,
        visible=draft.visible,
        generated=draft.generated,
        on_update_now=draft.on_update is not None,
        system=draft.system,
        versioned=draft.versioned is not False and not draft.system,
    )
    with at_offset(draft.type.offset):
        _require(column_features(TableColumn(draft.name, sql_type)), line)
        wire = column_for(sql_type, name=draft.name, nullable=nullable, server=server)
        if draft.checks and wire.dialect.json_is_text and sql_type.name == "JSON":
            # A CHECK of its own takes the place of the one that asks for a document (recorded on 10.11 and 11.8).
            wire = column_for(column.type, name=draft.name, nullable=nullable, server=server)
        defined = ColumnDefinition(column, wire, codec_for(wire), offset=draft.offset, draft=draft)
    if draft.default is not None:
        defined = with_default(defined, draft.default, line, dialect=dialect)
    with at_offset(draft.offset):
        _require(column_features(defined.column), line)
        return defined if draft.generated is None else _with_generated(defined, draft, line)


def _require(features: Iterable[str], line: ServerLine) -> None:
    for feature in features:
        line.require(feature)


def _with_generated(defined: ColumnDefinition, draft: ColumnDraft, line: ServerLine) -> ColumnDefinition:
    if defined.type_facts.kind == "vector" and defined.wire.dialect.vector_is_varbinary:
        # Without strict mode MariaDB keeps bytes that are no vector.
        raise UnsupportedError("a generated VECTOR is not supported on MariaDB yet")
    expression = parse_expression(draft.expression, line.grammar)
    uses = frozenset(name.lower() for name in expression.columns())
    return replace(defined.replace(uses=uses), generated=expression)


def _is_json_by_check(draft: ColumnDraft, sql_type: SqlType, server: str) -> bool:
    """Whether the column is what MariaDB makes of JSON, as its SHOW CREATE TABLE prints it."""
    if len(draft.checks) != 1 or sql_type != stored_type(SqlType("JSON"), server):
        return False
    check = draft.checks[0].expression.replace("`", "").replace(" ", "").lower()
    return draft.checks[0].name is None and check == f"json_valid({draft.name.lower()})"


_NOW = ("CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP")
_DATES, _TIMES = ("CURRENT_DATE", "CURDATE"), ("CURRENT_TIME", "CURTIME")
#: An expression that is nothing but the time.
_CLOCK = re.compile(r"[\s(]*(?P<name>[A-Za-z_]+)\s*(?:\(\s*(?P<digits>[0-6]?)\s*\))?[\s)]*", re.ASCII)


def with_default(
    defined: ColumnDefinition, default: Default, line: ServerLine, *, dialect: Dialect | None = None
) -> ColumnDefinition:
    """The column with a default.  Raises SqlError for a value that it cannot hold."""
    if defined.column.auto_increment:
        # It numbers rows all the same.
        return defined
    if isinstance(default, NowDefault):
        return _with_time(defined, default, line)
    if isinstance(default, ExpressionDefault):
        return _with_expression(defined, default)
    facts, literal_lobs = defined.type_facts, defined.wire.dialect.literal_lob_defaults
    if default.value is None:
        if not defined.column.nullable:
            raise SqlError(f"column {defined.name!r} is NOT NULL and cannot have the default NULL", default.offset)
        # SET DEFAULT makes an expression of the NULL of a TEXT or BLOB, which images hold (recorded on 10.11 and 11.8).
        computed = default.is_set and facts.is_blob and literal_lobs
        return without_default(defined).replace(has_default=True, computed_default=computed)
    # MariaDB takes literals for TEXT and BLOB (10.2.1 on), and stores them as it does expressions.
    as_expression = facts.is_lob and literal_lobs
    if facts.is_lob and default.value in ("", b"") and not as_expression:
        # Without strict mode MySQL forgets it.
        return without_default(defined)
    if not facts.literal_default and not as_expression:
        problem = f"a {defined.type.name} column cannot have a literal default"
        raise SqlError(problem, default.offset, expected="DEFAULT (expression)")
    value = _default_value(defined, default, dialect)
    return without_default(defined).replace(has_default=True, default=value, computed_default=as_expression)


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


def _with_time(defined: ColumnDefinition, default: NowDefault, line: ServerLine) -> ColumnDefinition:
    """DEFAULT CURRENT_TIMESTAMP.  Raises SqlError for a column of another type than those of moments."""
    digits = defined.type.fsp
    if line.grammar.loose_clock_defaults and (defined.type.name in ("DATE", "TIME") or defined.type_facts.is_text):
        return _with_clock(defined, default.fsp)
    if not defined.type_facts.is_moment:
        problem = f"a {defined.type.name} column cannot have DEFAULT CURRENT_TIMESTAMP"
        raise SqlError(problem, default.offset, expected="TIMESTAMP or DATETIME")
    is_local = default.is_local and (default.fsp < digits or defined.is_timestamp)
    # CREATE TABLE gives CURRENT_TIMESTAMP without digits those of the column, no more (recorded on 10.11, 11.8).
    is_of_column = not (default.fsp or is_local or default.is_set)
    said = digits if is_of_column else min(default.fsp, digits)
    return without_default(defined).replace(
        default_now=True,
        clock_digits=said if is_local or said != digits else None,
        clock_is_local=is_local,
    )


def _with_expression(defined: ColumnDefinition, default: ExpressionDefault) -> ColumnDefinition:
    """DEFAULT (expression); the scenario says the values of one that cannot be computed here."""
    digits = _clock_digits(default.sql, defined.type)
    if digits is not None:
        return _with_clock(defined, digits)
    computed = without_default(defined).replace(computed_default=True)
    with at_offset(default.offset):
        try:
            expression = parse_expression(default.sql)
        except UnsupportedError:
            return computed
    return computed if expression.columns() else replace(computed, default=expression)


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


def _default_value(defined: ColumnDefinition, default: LiteralDefault, dialect: Dialect | None) -> Value:
    """What the column holds of a literal.  Raises SqlError for one that no column of its type holds."""
    facts, wire = defined.type_facts, under(defined.wire, dialect)
    literal = int(default.value) if isinstance(default.value, bool) else default.value
    form = default.literal.form
    if form == "hex_text" and isinstance(literal, bytes) and facts.is_number and wire.dialect.hex_defaults_are_text:
        literal = literal.decode("latin-1")
    if isinstance(literal, Decimal) and (facts.is_text or facts.is_bytes):
        literal = float_text(float(literal)) if form == "double" else f"{literal:f}"
    if isinstance(literal, str) and defined.type.name == "CHAR":
        literal = literal.rstrip(" ")  # Before it is looked at, however long it is (recorded).
    if isinstance(literal, str) and facts.kind == "bit":
        # In SQL text a string is bytes to a BIT column; cells of a scenario are more generous.
        literal = int.from_bytes(literal.encode(), "big")
    with at_offset(default.offset), about(f"the default of column {defined.name!r} is impossible"):
        return strict_value(wire, defined.codec, literal)
