"""Columns as statements define them: what a draft means on a server, and whether it would accept it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace

from forge.charsets import compare_key
from forge.engine.dictionary.column_defaults import check_now, with_default
from forge.engine.dictionary.columns import ColumnDefinition, primary_null
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.requirements import column_features
from forge.plan.tables import TableColumn
from forge.servers import ServerLine, server_line
from forge.servers.facts.values import Dialect
from forge.sql.ast.definitions import (
    BINARY_COLLATION,
    ColumnDraft,
    KeyDraft,
    LiteralDefault,
)
from forge.sql.errors import SqlError, SqlUnsupported, StrictRefusal, at_offset, strict_at
from forge.sql.expressions import Expression, parse_expression
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import codec_for, column_for, facts_of, stored_type
from forge.values.text.column_charset import charset_of, charset_of_collation


def check_primary_nulls(keys: Iterable[KeyDraft], drafts: Iterable[ColumnDraft], line: ServerLine) -> None:
    """Raises SqlError, SqlUnsupported for a column of the primary key that says NULL, or DEFAULT NULL on MySQL."""
    names = {part.column.lower() for key in keys if key.kind == "primary" for part in key.parts}
    for draft in drafts:
        has_null = isinstance(draft.default, LiteralDefault) and draft.default.value is None
        if draft.name.lower() in names and (draft.says_null or (has_null and not line.ddl.lenient_keys)):
            raise primary_null(draft.name, draft.offset, line)


def define_column(
    draft: ColumnDraft, table_collation: int, server: str, *, dialect: Dialect | None = None
) -> ColumnDefinition:
    """What a column draft means in a table of that default collation.  Raises SqlError and SqlUnsupported.

    ``dialect``: what the session's modes make of values.
    """
    sql_type = draft.type.resolve(table_collation, server)
    if _is_json_by_check(draft, sql_type, server):
        sql_type, draft = SqlType("JSON"), replace(draft, checks=())
    nullable = draft.nullable if draft.nullable is not None else "primary" not in draft.keys
    line = server_line(server)
    if draft.says_null and "primary" in draft.keys:
        raise primary_null(draft.name, draft.offset, line)
    if line.ddl.lenient_keys and {"unique", "primary"} <= set(draft.keys):
        # It makes one key of the two.
        problem = f"column {draft.name!r} with UNIQUE and PRIMARY KEY is not supported on MariaDB yet"
        raise SqlUnsupported(problem, draft.offset, expected="PRIMARY KEY")
    if nullable and draft.auto_increment:
        # NULL stays NULL there, and counts.
        problem = f"column {draft.name!r} with AUTO_INCREMENT and NULL is not supported yet"
        raise SqlUnsupported(problem, draft.offset, expected="NOT NULL")
    with at_offset(draft.type.offset):
        for feature in column_features(TableColumn(draft.name, sql_type)):
            line.require(feature)
        facts = facts_of(sql_type)
        with strict_at(draft.type.offset) if facts.is_varying or facts.has_members else nullcontext():
            wire = column_for(sql_type, name=draft.name, nullable=nullable, server=server)
        try:
            codec = codec_for(wire)
        except UnsupportedError:
            raise UnsupportedError(f"column type {sql_type.name} is not supported yet") from None
        if draft.checks and wire.dialect.json_is_text and sql_type.name == "JSON":
            # A CHECK of its own takes the place of the one that asks for a document (recorded on 10.11 and 11.8).
            sql_type = stored_type(sql_type, server)
            wire = column_for(sql_type, name=draft.name, nullable=nullable, server=server)
            codec = codec_for(wire)
    sql_type = stored_type(sql_type, server)
    _check_members(sql_type, draft)
    column = TableColumn(
        name=draft.name,
        type=sql_type,
        nullable=nullable,
        auto_increment=draft.auto_increment,
        visible=draft.visible,
        generated=draft.generated,
        on_update_now=draft.on_update is not None,
        system=draft.system,
        versioned=draft.versioned is not False and not draft.system,
    )
    with at_offset(draft.offset):
        for feature in column_features(column):
            line.require(feature)
    defined = ColumnDefinition(column, wire, codec, offset=draft.offset, draft=draft)
    if draft.on_update is not None:
        check_now(sql_type, draft.on_update, "ON UPDATE", draft.offset, line)
    if draft.generated is not None:
        if draft.default is not None or draft.auto_increment or draft.on_update is not None:
            raise SqlError(f"generated column {draft.name!r} cannot have a default", draft.offset)
        with at_offset(draft.offset):
            _check_generated(draft, line)
            if facts.kind == "vector" and wire.dialect.vector_is_varbinary:
                # Without strict mode MariaDB keeps bytes that are no vector.
                raise UnsupportedError("a generated VECTOR is not supported on MariaDB yet")
            expression = parse_expression(draft.expression, line.grammar)
            check_table_charset(defined, expression, table_collation, line)
        uses = frozenset(name.lower() for name in expression.columns())
        return replace(defined.replace(uses=uses), generated=expression)
    if draft.default is None:
        return defined
    defined = with_default(defined, draft.default, line, dialect=dialect)
    with at_offset(draft.default.offset):
        for feature in column_features(defined.column):
            line.require(feature)
        if defined.default is not None:
            check_table_charset(defined, defined.default, table_collation, line)
    return defined


def _is_json_by_check(draft: ColumnDraft, sql_type: SqlType, server: str) -> bool:
    """Whether the column is what MariaDB makes of JSON, as its SHOW CREATE TABLE prints it."""
    if len(draft.checks) != 1 or sql_type != stored_type(SqlType("JSON"), server):
        return False
    check = draft.checks[0].expression.replace("`", "").replace(" ", "").lower()
    return draft.checks[0].name is None and check == f"json_valid({draft.name.lower()})"


def check_table_charset(
    defined: ColumnDefinition, expression: Expression, table_collation: int, line: ServerLine
) -> None:
    """Raises UnsupportedError where MariaDB computes another value, of literals in the table's character set: at once
    for generated columns, for defaults once the definition is read again, and behind ALTER TABLE that changes the set
    (recorded on 10.11 and 11.8).
    """
    if not line.grammar.opens_literal_defaults:
        return
    if table_collation == BINARY_COLLATION and expression.changes_case:
        raise UnsupportedError("UPPER and LOWER in a table of the collation binary are not supported yet")
    own, of_table = charset_of(defined.wire), charset_of_collation(table_collation)
    if table_collation == BINARY_COLLATION and own is not None and own.min_length > 1:
        raise UnsupportedError("an expression for wide characters in a table of bytes is not supported yet")
    if of_table is not None and of_table.min_length > 1 and defined.type_facts.is_bytes:
        raise UnsupportedError("an expression for bytes in a table of wide characters is not supported yet")


def _check_generated(draft: ColumnDraft, line: ServerLine) -> None:
    if draft.persistent and not line.knows("persistent_columns"):
        raise ScenarioError("MySQL does not have PERSISTENT", expected="STORED")
    if not line.ddl.generated_take_null and (draft.nullable is not None or "primary" in draft.keys):
        raise ScenarioError(f"MariaDB does not take NOT NULL, NULL or PRIMARY KEY for generated column {draft.name!r}")


def _check_members(sql_type: SqlType, draft: ColumnDraft) -> None:
    """Members have to differ as the collation compares them."""
    seen: dict[str, str] = {}
    for member in sql_type.members:
        key = compare_key(sql_type.collation, member) if sql_type.collation else member
        if key in seen:
            problem = f"{sql_type.name} has the members {seen[key]!r} and {member!r}, which are equal in its collation"
            raise StrictRefusal(problem, draft.type.offset)
        seen[key] = member
