"""Databases and tables, and what data definition statements do to them."""

from __future__ import annotations

import re
from dataclasses import replace

from forge.engine.ddl.create_select import CopiedRows
from forge.engine.ddl.dropped_tables import check_droppable, distinct, drop_tables
from forge.engine.ddl.objects import ObjectName, ObjectStatement, apply_object, forget_database
from forge.engine.ddl.sequences import apply_sequence
from forge.engine.ddl.table_changes import alter_table, rename_tables, truncate_table
from forge.engine.dictionary.create_table import check_temporary, defined_table, needs_key, with_generated_key
from forge.engine.dictionary.engines import PLAIN_ENGINES, check_engine
from forge.engine.dictionary.foreign_key_definition import declared_references, with_foreign_keys
from forge.engine.dictionary.partitions import has_text_values
from forge.engine.dictionary.show_create import create_table_text
from forge.engine.dictionary.triggers import Trigger
from forge.engine.rows.defaults import StatementTime
from forge.engine.rows.state import TableState
from forge.errors import ScenarioError, nearest
from forge.plan.definitions import DdlStatement
from forge.plan.engines import is_defined_atomically
from forge.servers import server_line
from forge.sql.ast.definitions import CharsetClause, SelectDraft, TableRef
from forge.sql.ast.statements import (
    AlterTable,
    CreateLike,
    CreateTable,
    DatabaseStatement,
    DropTables,
    RenameTables,
    TableDdl,
)
from forge.sql.errors import SqlError, SqlUnsupported

SYSTEM_DATABASES = frozenset({"mysql", "sys", "information_schema", "performance_schema"})
_NAME = re.compile(r"\s*(`(?:[^`]|``)+`|[^`.\s]+)(?:\s*\.\s*(`(?:[^`]|``)+`|[^`.\s]+))?\s*")

TableName = tuple[str, str]


class Catalog:
    """What exists on the server.  Table and database names are case-sensitive, as on Linux."""

    def __init__(
        self,
        server: str,
        *,
        generates_keys: bool = False,
        foreign_key_checks: bool = True,
        zero_dates: bool = False,
    ) -> None:
        self.server = server
        #: The session takes zero and partial dates as defaults.
        self.zero_dates = zero_dates
        #: Tables without a key get an invisible one (sql_generate_invisible_primary_key).
        self.generates_keys = generates_keys
        self.foreign_key_checks = foreign_key_checks
        #: Default collation by database.
        self.databases: dict[str, int] = {}
        self.tables: dict[TableName, TableState] = {}
        #: The session's temporary tables, oldest first; each hides the one of its name in ``tables``.
        self.temporary: dict[TableName, TableState] = {}
        #: The session logs what is done to temporary tables.
        self.logs_temporary = False
        #: The next CREATE TABLE ... SELECT is logged as its text.
        self.selects_as_text = False
        #: Views, triggers, routines and events: (kind, database, name) -> the table of a trigger.
        self.objects: dict[ObjectName, TableName | None] = {}
        #: Columns of views whose defaults are moments.
        self.view_moments: dict[TableName, frozenset[str]] = {}
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
        found = self.find((database, parts[-1]))
        if found is None:
            raise self._unknown_table(database, parts[-1])
        found.is_open = True
        return found

    def find(self, name: TableName) -> TableState | None:
        """The table that a name means: a temporary one before all others."""
        return self.temporary.get(name) or self.tables.get(name)

    def put(self, old: TableName, new: TableState, *, moves: bool) -> None:
        """A table has a new definition; one that ``moves`` is made now."""
        name = (new.table.database, new.table.name)
        shelf = self.shelf(temporary=new.table.temporary)
        if moves:
            del shelf[old]
            shelf[name] = new
            return
        entries = [(name, new) if known == old else (known, state) for known, state in shelf.items()]
        shelf.clear()
        shelf.update(entries)

    def shelf(self, *, temporary: bool) -> dict[TableName, TableState]:
        """The temporary tables, or the others."""
        return self.temporary if temporary else self.tables

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
            done = apply_object(self, statement, sql, current)
            return apply_sequence(self, statement, done, current) if statement.kind == "sequence" else done
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
        found = self.find((database, ref.name))
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

    def free_name(self, ref: TableRef, current: str, *, temporary: bool = False) -> TableName:
        name = (self.database_of(ref, current), ref.name)
        if name in self.shelf(temporary=temporary):
            raise SqlError(f"table {'.'.join(name)} exists already", ref.offset)
        if not temporary and ("view", *name) in self.objects:
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
            if known and statement.replaces:
                replaced = any(key[0] == name for key in self.tables)
                self._forget(name)
                result = replace(result, replaces=replaced)
                known = False
            if known and not statement.exists:
                raise SqlError(f"database {name!r} exists already", statement.offset)
            if not known:
                self.databases[name] = self._collation(statement.charset, server_line(self.server).default_collation)
            return replace(result, no_effect=known, encrypts=not statement.encryption)
        if not known:
            if kind == "drop_database" and statement.exists:
                return replace(result, no_effect=True)
            suggestion = nearest(name, self.databases)
            raise SqlError(f"there is no database {name!r}", statement.offset, suggestion=suggestion)
        if kind == "alter_database":
            self.databases[name] = self._collation(statement.charset, self.databases[name])
            return result
        dropped = tuple(key for key in self.tables if key[0] == name)
        irrevocable = tuple(sorted(key for key in dropped if not is_defined_atomically(self.tables[key].table)))
        self._forget(name)
        current = "" if current == name else current
        return replace(result, current_database=current, dropped=dropped, irrevocable=irrevocable)

    def _forget(self, name: str) -> None:
        """A database goes with everything inside it."""
        del self.databases[name]
        forget_database(self.objects, name)
        self.tables = {key: table for key, table in self.tables.items() if key[0] != name}

    def _replaced(self, statement: CreateTable | CreateLike, current: str) -> bool:
        """CREATE OR REPLACE drops what is there; whether there is something."""
        ref = statement.table
        name = (self.database_of(ref, current), ref.name)
        if statement.replaces and statement.temporary:
            raise SqlUnsupported("CREATE OR REPLACE TEMPORARY TABLE is not supported yet", ref.offset)
        if not statement.replaces or name not in self.tables:
            return False
        check_droppable(self, ref, current, [name])
        del self.tables[name]
        return True

    def _collation(self, clause: CharsetClause, inherited: int) -> int:
        return clause.resolve(inherited, self.server).id

    def _create(self, statement: CreateTable, sql: str, current: str) -> DdlStatement:
        database = self.database_of(statement.table, current)
        result = self._creation(sql, current, database, temporary=statement.temporary)
        result = replace(result, if_exists=statement.if_not_exists)
        shelf = self.shelf(temporary=statement.temporary)
        if (database, statement.table.name) in shelf and statement.if_not_exists:
            # With SELECT no server logs it.
            unlogged = statement.select is not None
            known = shelf[(database, statement.table.name)].table
            return replace(result, no_effect=True, unlogged=unlogged, tables=(known,))
        replaced = self._replaced(statement, current)
        result = replace(result, replaces=replaced)
        if statement.replaces and statement.select is not None:
            raise SqlUnsupported("CREATE OR REPLACE TABLE ... SELECT is not supported yet", statement.select.offset)
        name = self.free_name(statement.table, current, temporary=statement.temporary)
        if statement.temporary:
            check_temporary(statement)
        if statement.select is not None:
            return self._create_select(statement, statement.select, name, result)
        definition = defined_table(statement, name, self.databases[database], self.server, zero_dates=self.zero_dates)
        if self.generates_keys and needs_key(statement, definition):
            if statement.partitions is not None:
                problem = "no server generates a primary key for a table with partitions"
                raise SqlError(problem, statement.partitions.offset, expected="a key")
            statement = with_generated_key(statement)
            definition = defined_table(
                statement, name, self.databases[database], self.server, zero_dates=self.zero_dates
            )
            result = replace(result, sql=create_table_text(statement, definition, current))
        references = [*statement.foreign_keys, *declared_references(statement.columns, server_line(self.server))]
        definition = with_foreign_keys(definition, references, self, current)
        state = TableState(definition, self.next_version(name), statement.options.auto_increment or 1)
        check_engine(state.table, definition.keys, self.server)
        shelf[name] = state
        state.is_logged = self.logs_temporary
        by_text = has_text_values(definition.partitions)
        return replace(result, tables=(state.table,), defines=state.table.columns, partitioned_by_text=by_text)

    def _creation(self, sql: str, current: str, database: str, *, temporary: bool) -> DdlStatement:
        return DdlStatement(
            kind="create_table",
            sql=sql,
            current_database=current,
            databases=(database,),
            temporary=temporary,
            touches_temporary=temporary,
        )

    def _create_select(
        self, statement: CreateTable, select: SelectDraft, name: TableName, result: DdlStatement
    ) -> DdlStatement:
        source = self.state_of(select.table, result.current_database)
        copied = CopiedRows(statement, select, source, self.server)
        definition = defined_table(statement, name, self.databases[name[0]], self.server, copied.columns)
        others = statement.partitions is not None or bool(statement.foreign_keys)
        if others or (self.generates_keys and needs_key(statement, definition)):
            what = "with partitions, foreign keys or generated keys"
            raise SqlUnsupported(f"CREATE TABLE ... SELECT {what} is not supported yet", select.offset)
        state = TableState(definition, self.next_version(name), statement.options.auto_increment or 1)
        check_engine(state.table, definition.keys, self.server)
        odd = {definition.engine, source.definition.engine} - PLAIN_ENGINES
        if odd:
            raise SqlUnsupported(
                f"CREATE TABLE ... SELECT and {min(odd)} are not supported together yet", select.offset
            )
        touches = statement.temporary or source.table.temporary
        result = replace(result, tables=(state.table,), touches_temporary=touches, replayed=result.sql)
        rows = copied.insert(state, result.sql)
        rows = replace(rows, opened=replace(rows.opened, reads_temporary=touches))
        own = {draft.name.lower() for draft in statement.columns}
        defines = tuple(column for column in state.table.columns if column.name.lower() in own)
        result = replace(result, defines=defines)
        if statement.temporary or self.selects_as_text:
            result = replace(
                result,
                databases=distinct((name[0], source.table.database)),
                insert_id=copied.first_number,
                fills_temporary=statement.temporary,
                zone=copied.copies_moments,
                unnumbered=server_line(self.server).family == "mariadb",
            )
        else:
            printed = replace(statement, columns=copied.drafts)
            text = create_table_text(printed, definition, result.current_database)
            result = replace(result, sql=text, selected=rows)
        self.shelf(temporary=statement.temporary)[name] = state
        state.is_logged = self.logs_temporary
        return result

    def _create_like(self, statement: CreateLike, sql: str, current: str) -> DdlStatement:
        model = self.state_of(statement.like, current)
        database = self.database_of(statement.table, current)
        if (database, statement.table.name) == (model.table.database, model.table.name):
            raise SqlError(f"table {model.name} cannot be like itself", statement.like.offset)
        result = replace(self._creation(sql, current, database, temporary=statement.temporary), like=True)
        shelf = self.shelf(temporary=statement.temporary)
        if (database, statement.table.name) in shelf and statement.if_not_exists:
            return replace(result, no_effect=True)
        result = replace(result, replaces=self._replaced(statement, current))
        name = self.free_name(statement.table, current, temporary=statement.temporary)
        definition = replace(model.definition, database=database, name=name[1], foreign_keys=())
        definition = replace(definition, temporary=statement.temporary)
        if statement.temporary and definition.partitions is not None:
            raise SqlError("a temporary table has no partitions", statement.like.offset)
        state = TableState(definition, self.next_version(name))
        check_engine(state.table, definition.keys, self.server)
        shelf[name] = state
        state.is_logged = self.logs_temporary
        touches = statement.temporary or model.table.temporary
        return replace(result, tables=(state.table,), touches_temporary=touches, likeness=model.table)
