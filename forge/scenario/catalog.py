"""Databases and tables, and what data definition statements do to them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from forge.compile.grouping import is_transactional
from forge.compile.statements import DdlKind, DdlStatement
from forge.compile.table_map import key_of_rows
from forge.errors import ScenarioError, nearest
from forge.scenario.create_select import CopiedRows
from forge.scenario.definition import ColumnDefinition, Definition, define_column
from forge.scenario.engines import INNODB, check_engine
from forge.scenario.foreign_key_definition import declared_references, with_foreign_keys
from forge.scenario.objects import ObjectName, ObjectStatement, apply_object, forget_database
from forge.scenario.partitions import has_text_values
from forge.scenario.rows import StatementTime
from forge.scenario.show_create import create_table_text
from forge.scenario.state import TableState
from forge.scenario.syntax import (
    AlterTable,
    CharsetClause,
    ColumnDraft,
    CreateLike,
    CreateTable,
    DatabaseStatement,
    DropTables,
    KeyDraft,
    PartDraft,
    RenameTables,
    SelectDraft,
    TableDdl,
    TableRef,
    TypeDraft,
)
from forge.scenario.table_changes import alter_table, drop_tables, rename_tables, truncate_table
from forge.scenario.tokens import SqlError, SqlUnsupported
from forge.scenario.triggers import Trigger
from forge.servers import server_line
from forge.values.sqltype import SqlType

SYSTEM_DATABASES = frozenset({"mysql", "sys", "information_schema", "performance_schema"})
_NAME = re.compile(r"\s*(`(?:[^`]|``)+`|[^`.\s]+)(?:\s*\.\s*(`(?:[^`]|``)+`|[^`.\s]+))?\s*")

TableName = tuple[str, str]


class Catalog:
    """What exists on the server.  Table and database names are case-sensitive, as on Linux."""

    def __init__(self, server: str, *, generates_keys: bool = False, foreign_key_checks: bool = True) -> None:
        self.server = server
        #: Tables without a key get an invisible one (sql_generate_invisible_primary_key).
        self.generates_keys = generates_keys
        self.foreign_key_checks = foreign_key_checks
        #: Default collation by database.
        self.databases: dict[str, int] = {}
        self.tables: dict[TableName, TableState] = {}
        #: Views, triggers, routines and events: (kind, database, name) -> the table of a trigger.
        self.objects: dict[ObjectName, TableName | None] = {}
        #: Triggers by their names in ``objects``, which has those that are there.
        self.triggers: dict[ObjectName, Trigger] = {}
        #: How many definitions every table name has had.
        self._versions: dict[TableName, int] = {}

    def table(self, declared: str, current: str) -> TableState:
        """The table of a declared name such as ``shop.orders``.  Raises ScenarioError with the nearest name."""
        match = _NAME.fullmatch(declared)
        if match is None:
            raise ScenarioError(f"{declared!r} is not the name of a table", expected="database.table")
        parts = [part[1:-1].replace("``", "`") if part.startswith("`") else part for part in match.groups() if part]
        database = parts[0] if len(parts) == 2 else current
        if not database:
            raise ScenarioError(f"table {declared!r} names no database", expected="database.table, or session.database")
        found = self.tables.get((database, parts[-1]))
        if found is None:
            raise self._unknown_table(database, parts[-1])
        found.is_open = True
        return found

    def database(self, name: str) -> str:
        """The name of a database that exists.  Raises ScenarioError with the nearest name."""
        if name not in self.databases:
            raise ScenarioError(f"there is no database {name!r}", suggestion=nearest(name, self.databases))
        return name

    def live_triggers(self) -> list[Trigger]:
        """The triggers in the order of their creation."""
        return [trigger for name, trigger in self.triggers.items() if self.objects.get(name) in self.tables]

    def apply(self, statement: TableDdl | ObjectStatement, sql: str, current: str, time: StatementTime) -> DdlStatement:
        """Run a statement; what the compiler has to know of it.

        ``current`` is the session's current database, ``time`` that of the statement.  Raises SqlError (a place in
        ``sql``) for what a server would refuse.
        """
        if isinstance(statement, ObjectStatement):
            return apply_object(self, statement, sql, current)
        if isinstance(statement, DatabaseStatement):
            return self._database(statement, sql, current)
        if isinstance(statement, CreateTable):
            return self._create(statement, sql, current)
        if isinstance(statement, CreateLike):
            return self._create_like(statement, sql, current)
        if isinstance(statement, AlterTable):
            return alter_table(self, statement, sql, current, time)
        if isinstance(statement, DropTables):
            return drop_tables(self, statement, sql, current)
        if isinstance(statement, RenameTables):
            return rename_tables(self, statement, sql, current)
        return truncate_table(self, statement, sql, current)

    def database_of(self, ref: TableRef, current: str) -> str:
        """The database that a statement means by a table's name.  Raises SqlError."""
        database = ref.database or current
        if not database:
            expected = "database.table, or session.database"
            raise SqlError(f"table {ref.name!r} names no database", ref.offset, expected=expected)
        if database.lower() in SYSTEM_DATABASES:
            raise SqlError(f"{database!r} is a system database", ref.offset, expected="another name")
        if database not in self.databases:
            suggestion = nearest(database, self.databases)
            raise SqlError(f"there is no database {database!r}", ref.offset, suggestion=suggestion)
        return database

    def state_of(self, ref: TableRef, current: str) -> TableState:
        """The table that a statement names.  Raises SqlError."""
        database = self.database_of(ref, current)
        found = self.tables.get((database, ref.name))
        if found is None:
            unknown = self._unknown_table(database, ref.name)
            raise SqlError(unknown.problem, ref.offset, suggestion=unknown.suggestion)
        return found

    def _unknown_table(self, database: str, name: str) -> ScenarioError:
        known = {f"{a}.{b}" for a, b in self.tables}
        return ScenarioError(f"there is no table {database}.{name}", suggestion=nearest(f"{database}.{name}", known))

    def next_version(self, name: TableName) -> int:
        version = self._versions.get(name, -1) + 1
        self._versions[name] = version
        return version

    def free_name(self, ref: TableRef, current: str) -> TableName:
        name = (self.database_of(ref, current), ref.name)
        if name in self.tables:
            raise SqlError(f"table {'.'.join(name)} exists already", ref.offset)
        if ("view", *name) in self.objects:
            raise SqlError(f"{'.'.join(name)} is a view", ref.offset, expected="another name")
        return name

    def _database(self, statement: DatabaseStatement, sql: str, current: str) -> DdlStatement:
        name = statement.name or current
        known = name in self.databases
        kind = statement.statement
        result = DdlStatement(kind=kind, sql=sql, current_database=current, databases=(name,))
        if not name:
            raise SqlError("no database is named, and none is current", statement.offset)
        if name.lower() in SYSTEM_DATABASES:
            raise SqlError(f"{name!r} is a system database", statement.offset, expected="another name")
        if kind == "create_database":
            if known and not statement.exists:
                raise SqlError(f"database {name!r} exists already", statement.offset)
            if not known:
                self.databases[name] = self._collation(statement.charset, server_line(self.server).default_collation)
            return replace(result, no_effect=known)
        if not known:
            if kind == "drop_database" and statement.exists:
                return replace(result, no_effect=True)
            suggestion = nearest(name, self.databases)
            raise SqlError(f"there is no database {name!r}", statement.offset, suggestion=suggestion)
        if kind == "alter_database":
            self.databases[name] = self._collation(statement.charset, self.databases[name])
            return result
        del self.databases[name]
        forget_database(self.objects, name)
        dropped = tuple(key for key in self.tables if key[0] == name)
        irrevocable = tuple(sorted(key for key in dropped if not is_transactional(self.tables[key].table)))
        self.tables = {key: table for key, table in self.tables.items() if key[0] != name}
        current = "" if current == name else current
        return replace(result, current_database=current, dropped=dropped, irrevocable=irrevocable)

    def _collation(self, clause: CharsetClause, inherited: int) -> int:
        return clause.resolve(inherited, self.server).id

    def _create(self, statement: CreateTable, sql: str, current: str) -> DdlStatement:
        database = self.database_of(statement.table, current)
        result = DdlStatement(kind="create_table", sql=sql, current_database=current, databases=(database,))
        result = replace(result, if_exists=statement.if_not_exists)
        if (database, statement.table.name) in self.tables and statement.if_not_exists:
            # With SELECT no server logs it.
            unlogged = statement.select is not None
            known = self.tables[(database, statement.table.name)].table
            return replace(result, no_effect=True, unlogged=unlogged, tables=(known,))
        name = self.free_name(statement.table, current)
        if statement.select is not None:
            return self._create_select(statement, statement.select, name, result)
        definition = defined_table(statement, name, self.databases[database], self.server)
        if self.generates_keys and _needs_key(statement, definition):
            if statement.partitions is not None:
                problem = "no server generates a primary key for a table with partitions"
                raise SqlError(problem, statement.partitions.offset, expected="a key")
            statement = with_generated_key(statement)
            definition = defined_table(statement, name, self.databases[database], self.server)
            result = replace(result, sql=create_table_text(statement, definition, current))
        references = [*statement.foreign_keys, *declared_references(statement.columns, server_line(self.server))]
        definition = with_foreign_keys(definition, references, self, current)
        state = TableState(definition, self.next_version(name), statement.options.auto_increment or 1)
        check_engine(state.table, self.server)
        self.tables[name] = state
        by_text = has_text_values(definition.partitions)
        return replace(result, tables=(state.table,), defines=state.table.columns, partitioned_by_text=by_text)

    def _create_select(
        self, statement: CreateTable, select: SelectDraft, name: TableName, result: DdlStatement
    ) -> DdlStatement:
        copied = CopiedRows(statement, select, self.state_of(select.table, result.current_database), self.server)
        definition = defined_table(statement, name, self.databases[name[0]], self.server, copied.columns)
        others = statement.partitions is not None or bool(statement.foreign_keys)
        if others or definition.engine != INNODB or (self.generates_keys and _needs_key(statement, definition)):
            what = "with partitions, foreign keys, generated keys or another engine"
            raise SqlUnsupported(f"CREATE TABLE ... SELECT {what} is not supported yet", select.offset)
        printed = replace(statement, columns=copied.charset(copied.drafts, definition))
        text = create_table_text(printed, definition, result.current_database)
        state = TableState(definition, self.next_version(name), statement.options.auto_increment or 1)
        rows = copied.insert(state, result.sql)
        self.tables[name] = state
        return replace(result, sql=text, replayed=result.sql, tables=(state.table,), selected=rows)

    def _create_like(self, statement: CreateLike, sql: str, current: str) -> DdlStatement:
        model = self.state_of(statement.like, current)
        database = self.database_of(statement.table, current)
        if (database, statement.table.name) == (model.table.database, model.table.name):
            raise SqlError(f"table {model.name} cannot be like itself", statement.like.offset)
        result = DdlStatement(kind="create_table", sql=sql, current_database=current, databases=(database,), like=True)
        if (database, statement.table.name) in self.tables and statement.if_not_exists:
            return replace(result, no_effect=True)
        name = self.free_name(statement.table, current)
        definition = replace(model.definition, database=database, name=name[1], foreign_keys=())
        state = TableState(definition, self.next_version(name))
        self.tables[name] = state
        return replace(result, tables=(state.table,))


def defined_table(
    statement: CreateTable,
    name: TableName,
    database_collation: int,
    server: str,
    completed: Callable[[tuple[ColumnDefinition, ...]], tuple[ColumnDefinition, ...]] = lambda columns: columns,
) -> Definition:
    """The definition that CREATE TABLE states; ``completed`` adds columns of a SELECT.  Raises SqlError."""
    collation = statement.options.charset.resolve(database_collation, server).id
    columns = completed(tuple(define_column(draft, collation, server) for draft in statement.columns))
    own = [key for draft in statement.columns for key in draft.own_keys()]
    nullable = {draft.name.lower() for draft in statement.columns if draft.nullable}
    keys = (*own, *statement.keys)
    for key in keys:
        for part in key.parts if key.kind == "primary" else ():
            if part.column.lower() in nullable:
                problem = f"column {part.column!r} of the primary key cannot be NULL"
                raise SqlError(problem, part.offset, expected="NOT NULL")
    engine = statement.options.engine or INNODB
    definition = Definition(name[0], name[1], columns, keys, collation, server, engine=engine).with_not_null_keys()
    checks = [*statement.checks, *(check for draft in statement.columns for check in draft.checks)]
    definition = definition.with_checks(sorted(checks, key=lambda check: check.offset))
    return replace(definition, partitions=statement.partitions)


def _needs_key(statement: CreateTable, definition: Definition) -> bool:
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


__all__ = ["SYSTEM_DATABASES", "Catalog", "DdlKind", "defined_table"]
