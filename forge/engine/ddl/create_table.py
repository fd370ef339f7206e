"""CREATE TABLE, with LIKE and SELECT: the definition that the statement states, and the table that comes of it."""

from __future__ import annotations

from dataclasses import replace

from forge.engine.ddl.context import DdlContext
from forge.engine.ddl.create_select import CopiedRows
from forge.engine.ddl.drop_table import check_droppable, distinct
from forge.engine.ddl.timestamp_columns import timestamp_columns
from forge.engine.dictionary.catalog import TableName
from forge.engine.dictionary.column_drafts import define_column
from forge.engine.dictionary.definition import Definition
from forge.engine.dictionary.engines import INNODB, check_engine, chosen_engine
from forge.engine.dictionary.foreign_key_definition import own_parts, with_parts
from forge.engine.dictionary.show_create import create_table_text
from forge.engine.dictionary.table_state import TableState
from forge.engine.dictionary.tables import plan_table
from forge.engine.rows.defaults import zone_refusal
from forge.plan.definitions import TableCreation, TableCreationLike, TableCreationSelect
from forge.plan.keys import key_of_rows
from forge.servers import ServerLine
from forge.sql.ast.definitions import ColumnDraft, KeyDraft, PartDraft, TypeDraft
from forge.sql.ast.statements import CreateLike, CreateTable
from forge.sql.errors import SqlError, SqlUnsupported
from forge.values.declaration.sqltype import SqlType

#: The column of a generated invisible primary key.
GENERATED_KEY = "my_row_id"


def create_table(statement: CreateTable, context: DdlContext) -> TableCreation | TableCreationSelect:
    """Run CREATE TABLE, also with SELECT.  Raises SqlError for what a server would refuse, SqlUnsupported."""
    catalog, select, temporary = context.catalog, statement.select, statement.temporary
    name = context.resolve(statement.table)
    known = catalog.shelf(temporary=temporary).get(name)
    if known is not None and statement.if_not_exists:
        # With SELECT no server logs it.
        creation = TableCreation(context.text, (name[0],), (known.table,), temporary, temporary, no_effect=True)
        return replace(creation, unlogged=select is not None)
    replaces = _replaces(statement, name, context)
    if statement.replaces and select is not None:
        raise SqlUnsupported("CREATE OR REPLACE TABLE ... SELECT is not supported yet", select.offset)
    catalog.check_free(name, statement.table.offset, temporary=temporary)
    statement = replace(statement, columns=timestamp_columns(statement.columns, catalog))
    copied = None
    if select is not None:
        copied = CopiedRows(statement, select, context.table(select.table), catalog.server)
    definition = defined_table(statement, name, context, copied)
    text = context.text
    if catalog.generates_keys and needs_key(definition, context.line):
        if select is not None:
            problem = "CREATE TABLE ... SELECT with a generated key is not supported yet"
            raise SqlUnsupported(problem, select.offset, expected="a primary key")
        statement = with_generated_key(statement)
        definition = defined_table(statement, name, context)
        text = replace(text, sql=_printed(statement, definition, context))
    state = TableState(definition, catalog.next_version(name), statement.options.auto_increment or 1)
    _store(state, context)
    if copied is not None:
        return _filled(statement, state, copied, context)
    return TableCreation(
        text,
        (name[0],),
        (state.table,),
        temporary,
        temporary,
        defines=state.table.columns,
        replaces=replaces,
    )


def create_like(statement: CreateLike, context: DdlContext) -> TableCreationLike:
    """Run CREATE TABLE ... LIKE.  Raises SqlError for what a server would refuse."""
    catalog = context.catalog
    model = context.table(statement.like)
    name = context.resolve(statement.table)
    if name == (model.table.database, model.table.name):
        raise SqlError(f"table {model.name} cannot be like itself", statement.like.offset)
    temporary = statement.temporary
    if name in catalog.shelf(temporary=temporary) and statement.if_not_exists:
        return TableCreationLike(context.text, (name[0],), (), temporary, temporary, no_effect=True)
    replaces = _replaces(statement, name, context)
    catalog.check_free(name, statement.table.offset, temporary=statement.temporary)
    definition = replace(
        model.definition, database=name[0], name=name[1], foreign_keys=(), temporary=statement.temporary
    )
    state = TableState(definition, catalog.next_version(name))
    _store(state, context)
    touches = temporary or model.table.temporary
    return TableCreationLike(
        context.text,
        (name[0],),
        (state.table,),
        temporary,
        touches,
        replaces=replaces,
        likeness=model.table,
    )


def _replaces(statement: CreateTable | CreateLike, name: TableName, context: DdlContext) -> bool:
    """CREATE OR REPLACE drops what is there; whether there is something."""
    if statement.replaces and statement.temporary:
        raise SqlUnsupported("CREATE OR REPLACE TEMPORARY TABLE is not supported yet", statement.table.offset)
    if not statement.replaces or name not in context.catalog.tables:
        return False
    check_droppable(context.catalog, statement.table, context.current_database, [name])
    del context.catalog.tables[name]
    return True


def _store(state: TableState, context: DdlContext) -> None:
    """The table exists from now on.  Raises SqlError for one that its engine cannot hold."""
    check_engine(state.table, state.definition.keys, context.line)
    context.catalog.shelf(temporary=state.table.temporary)[state.table.database, state.table.name] = state
    state.is_logged = context.logs_temporary or context.line.ddl.drops_all_temporary


def _filled(statement: CreateTable, state: TableState, copied: CopiedRows, context: DdlContext) -> TableCreationSelect:
    """What CREATE TABLE ... SELECT did: the new table has its rows."""
    if state.table.engine == "BLACKHOLE":
        raise SqlUnsupported("CREATE TABLE ... SELECT into BLACKHOLE is not supported yet", copied.select.offset)
    source = copied.source.table
    touches = statement.temporary or source.temporary
    rows = copied.insert(state, context.sql, context.time)
    own = {draft.name.lower() for draft in statement.columns}
    creation = TableCreationSelect(
        replace(context.text, sent=context.sql),
        (state.table.database,),
        (state.table,),
        statement.temporary,
        touches,
        defines=tuple(column for column in state.table.columns if column.name.lower() in own),
    )
    if statement.temporary or context.selects_as_text:
        databases = distinct((state.table.database, source.database))
        return replace(creation, databases=databases, insert_id=copied.first_number)
    sql = _printed(replace(statement, columns=copied.drafts), state.definition, context)
    rows = replace(rows, opened=replace(rows.opened, reads_temporary=touches))
    return replace(creation, text=replace(creation.text, sql=sql), selected=rows)


def _printed(statement: CreateTable, definition: Definition, context: DdlContext) -> str:
    """The statement as the server prints the table.  Raises UnsupportedError."""
    for column in definition.columns:
        if context.time.offset and column.is_timestamp and column.column.default is not None:
            raise zone_refusal(column, "printing the default of")
    return create_table_text(statement, definition, context.current_database)


def defined_table(
    statement: CreateTable, name: TableName, context: DdlContext, copied: CopiedRows | None = None
) -> Definition:
    """The definition that CREATE TABLE states, with the columns of its SELECT.  Raises SqlError."""
    catalog, line = context.catalog, context.line
    collation = statement.options.charset.resolve(catalog.databases[name[0]], catalog.server).id
    columns = tuple(
        define_column(draft, collation, catalog.server, dialect=catalog.dialect) for draft in statement.columns
    )
    apart = statement.temporary and line.ddl.temporary_engine_apart
    definition = Definition(
        name[0],
        name[1],
        columns if copied is None else copied.columns(columns),
        (),
        collation,
        catalog.server,
        engine=chosen_engine(statement.options) or (INNODB if apart else catalog.default_engine),
        partitions=statement.partitions,
        temporary=statement.temporary,
        versioned=statement.options.versioned or any(draft.versioned for draft in statement.columns),
    )
    parts = [part for draft in statement.columns for part in own_parts(draft, line)]
    return with_parts(definition, (*parts, *statement.parts), catalog, context.current_database)


def needs_key(definition: Definition, line: ServerLine) -> bool:
    """Whether the server generates a key: InnoDB would cluster the rows by a hidden id, or there is no primary key."""
    table = plan_table(definition, 0)
    key = table.primary_key if line.ddl.generates_key_beside_unique else key_of_rows(table)
    return definition.engine == INNODB and key is None


def with_generated_key(statement: CreateTable) -> CreateTable:
    """The statement with the key that a server generates."""
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
    return replace(statement, columns=(column, *statement.columns), parts=(key, *statement.parts))
