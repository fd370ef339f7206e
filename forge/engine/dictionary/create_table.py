"""What CREATE TABLE states: the definition of the table, with the key that a server generates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from forge.compile.rows.table_map import key_of_rows
from forge.engine.dictionary.definition import ColumnDefinition, Definition, define_column
from forge.engine.dictionary.engines import INNODB
from forge.sql.ast.definitions import ColumnDraft, KeyDraft, PartDraft, TypeDraft
from forge.sql.ast.statements import CreateTable
from forge.sql.errors import SqlError
from forge.values.declaration.sqltype import SqlType

TableName = tuple[str, str]


def check_temporary(statement: CreateTable) -> None:
    """Raises SqlError for what a temporary table cannot have (1562, 1215, 1796)."""
    special = next((key for key in statement.keys if key.special == "FULLTEXT"), None)
    if statement.partitions is not None:
        raise SqlError("a temporary table has no partitions", statement.partitions.offset)
    if statement.foreign_keys:
        raise SqlError("a temporary table has no foreign keys", statement.foreign_keys[0].offset)
    if special is not None and (statement.options.engine or INNODB) == INNODB:
        raise SqlError("a temporary table of InnoDB has no FULLTEXT key", special.offset)


def defined_table(
    statement: CreateTable,
    name: TableName,
    database_collation: int,
    server: str,
    completed: Callable[[tuple[ColumnDefinition, ...]], tuple[ColumnDefinition, ...]] = lambda columns: columns,
    *,
    zero_dates: bool = False,
) -> Definition:
    """The definition that CREATE TABLE states; ``completed`` adds columns of a SELECT.  Raises SqlError."""
    collation = statement.options.charset.resolve(database_collation, server).id
    columns = completed(
        tuple(define_column(draft, collation, server, zero_dates=zero_dates) for draft in statement.columns)
    )
    own = [key for draft in statement.columns for key in draft.own_keys()]
    nullable = {draft.name.lower() for draft in statement.columns if draft.nullable}
    keys = (*own, *statement.keys)
    for key in keys:
        for part in key.parts if key.kind == "primary" else ():
            if part.column.lower() in nullable:
                problem = f"column {part.column!r} of the primary key cannot be NULL"
                raise SqlError(problem, part.offset, expected="NOT NULL")
    engine = statement.options.engine or INNODB
    definition = Definition(
        name[0], name[1], columns, keys, collation, server, engine=engine, temporary=statement.temporary
    ).with_not_null_keys()
    checks = [*statement.checks, *(check for draft in statement.columns for check in draft.checks)]
    definition = definition.with_checks(sorted(checks, key=lambda check: check.offset))
    return replace(definition, partitions=statement.partitions)


def needs_key(statement: CreateTable, definition: Definition) -> bool:
    """Whether InnoDB would make a hidden row id its clustering key."""
    return definition.engine == INNODB and key_of_rows(definition.table(0)) is None


def with_generated_key(statement: CreateTable) -> CreateTable:
    """The statement with the key that a server generates.  Raises SqlError where it cannot (4108, 4109)."""
    for draft in statement.columns:
        if draft.name.lower() == GENERATED_KEY:
            raise SqlError(f"the server cannot generate a primary key: there is a column {draft.name!r}", draft.offset)
        if draft.auto_increment:
            problem = f"the server cannot generate a primary key beside AUTO_INCREMENT column {draft.name!r}"
            raise SqlError(problem, draft.offset)
    offset = statement.table.offset
    column = ColumnDraft(
        GENERATED_KEY,
        TypeDraft(SqlType("BIGINT", unsigned=True), offset=offset),
        offset,
        nullable=False,
        auto_increment=True,
        visible=False,
    )
    key = KeyDraft("primary", None, (PartDraft(GENERATED_KEY, None, offset),), offset)
    return replace(statement, columns=(column, *statement.columns), keys=(key, *statement.keys))


GENERATED_KEY = "my_row_id"
