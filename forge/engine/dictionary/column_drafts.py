"""Columns as statements define them: what a draft means on a server."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from forge.engine.dictionary.column_defaults import with_default
from forge.engine.dictionary.columns import ColumnDefinition
from forge.errors import UnsupportedError
from forge.plan.requirements import column_features
from forge.plan.tables import TableColumn
from forge.servers import ServerLine, server_line
from forge.servers.facts.values import Dialect
from forge.sql.ast.definitions import ColumnDraft
from forge.sql.errors import SqlUnsupported, at_offset
from forge.sql.expressions import parse_expression
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import codec_for, column_for, facts_of, stored_type


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
    with at_offset(draft.type.offset):
        _require(column_features(TableColumn(draft.name, sql_type)), line)
        wire = column_for(sql_type, name=draft.name, nullable=nullable, server=server)
        if draft.checks and wire.dialect.json_is_text and sql_type.name == "JSON":
            # A CHECK of its own takes the place of the one that asks for a document (recorded on 10.11 and 11.8).
            wire = column_for(stored_type(sql_type, server), name=draft.name, nullable=nullable, server=server)
        try:
            codec = codec_for(wire)
        except UnsupportedError:
            raise UnsupportedError(f"column type {sql_type.name} is not supported yet") from None
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
    defined = ColumnDefinition(column, wire, codec, offset=draft.offset, draft=draft)
    with at_offset(draft.offset):
        _require(column_features(column), line)
        if draft.generated is not None:
            if facts_of(sql_type).kind == "vector" and wire.dialect.vector_is_varbinary:
                # Without strict mode MariaDB keeps bytes that are no vector.
                raise UnsupportedError("a generated VECTOR is not supported on MariaDB yet")
            expression = parse_expression(draft.expression, line.grammar)
            uses = frozenset(name.lower() for name in expression.columns())
            return replace(defined.replace(uses=uses), generated=expression)
    if draft.default is None:
        return defined
    defined = with_default(defined, draft.default, line, dialect=dialect)
    with at_offset(draft.default.offset):
        _require(column_features(defined.column), line)
    return defined


def _require(features: Iterable[str], line: ServerLine) -> None:
    for feature in features:
        line.require(feature)


def _is_json_by_check(draft: ColumnDraft, sql_type: SqlType, server: str) -> bool:
    """Whether the column is what MariaDB makes of JSON, as its SHOW CREATE TABLE prints it."""
    if len(draft.checks) != 1 or sql_type != stored_type(SqlType("JSON"), server):
        return False
    check = draft.checks[0].expression.replace("`", "").replace(" ", "").lower()
    return draft.checks[0].name is None and check == f"json_valid({draft.name.lower()})"
