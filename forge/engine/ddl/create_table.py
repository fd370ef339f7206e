"""CREATE TABLE, with LIKE and SELECT: the definition that the statement states, and the table that comes of it."""

from __future__ import annotations

from msgspec.structs import replace

from forge.engine.ddl.create_select import CopiedRows
from forge.engine.ddl.ddl_context import DdlContext
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
from forge.plan.definitions import TableCreation, TableCreationSelect
from forge.plan.keys import key_of_rows
from forge.servers import ServerLine
from forge.sql.ast.definitions import ColumnDraft, KeyDraft, PartDraft, SelectDraft, TypeDraft
from forge.sql.ast.statements import CreateTable
from forge.sql.errors import SqlUnsupported
from forge.values.declaration.sqltype import SqlType

#: The column of a generated invisible primary key.
GENERATED_KEY = "my_row_id"


def create_table(statement: CreateTable, context: DdlContext) -> TableCreation | TableCreationSelect:
    """Run CREATE TABLE, also with LIKE and SELECT.  Raises SqlError for what a server would refuse, SqlUnsupported."""
    catalog, select, temporary = context.catalog, statement.select, statement.temporary
    model = None if statement.like is None else context.table(statement.like)
    name = context.resolve(statement.table)
    known = catalog.shelf(temporary=temporary).get(name)
    plan = TableCreation(
        context.text,
        (name[0],),
        temporary=temporary,
        touches_temporary=temporary,
        likeness=None if model is None else model.table,
    )
    if known is not None and statement.if_not_exists:
        # With SELECT no server logs it.
        return replace(plan, tables=(known.table,), no_effect=True, unlogged=select is not None)
    plan = replace(plan, replaces=_replaces(statement, name, context))
    if statement.replaces and select is not None:
        raise SqlUnsupported("CREATE OR REPLACE TABLE ... SELECT is not supported yet", select.offset)
    catalog.check_free(name, statement.table.offset, temporary=temporary)
    if model is not None:
        definition = replace(model.definition, database=name[0], name=name[1], foreign_keys=(), temporary=temporary)
        state = _stored(statement, definition, context)
        return replace(plan, tables=(state.table,), touches_temporary=temporary or model.table.temporary)
    statement = replace(statement, columns=timestamp_columns(statement.columns, catalog))
    if select is not None:
        return _create_select(statement, select, name, context)
    definition = defined_table(statement, name, context)
    if catalog.generates_keys and needs_key(definition, context.line):
        statement = with_generated_key(statement)
        definition = defined_table(statement, name, context)
        plan = replace(plan, text=replace(plan.text, sql=_printed(statement, definition, context)))
    state = _stored(statement, definition, context)
    return replace(plan, tables=(state.table,), defines=state.table.columns)


def _replaces(statement: CreateTable, name: TableName, context: DdlContext) -> bool:
    """CREATE OR REPLACE drops what is there; whether there is something."""
    if statement.replaces and statement.temporary:
        raise SqlUnsupported("CREATE OR REPLACE TEMPORARY TABLE is not supported yet", statement.table.offset)
    if not statement.replaces or name not in context.catalog.tables:
        return False
    check_droppable(context.catalog, statement.table, context.current_database, [name])
    del context.catalog.tables[name]
    return True


def _stored(statement: CreateTable, definition: Definition, context: DdlContext) -> TableState:
    """The table, which exists from now on.  Raises SqlError for one that its engine cannot hold."""
    name = (definition.database, definition.name)
    state = TableState(definition, context.catalog.next_version(name), statement.options.auto_increment or 1)
    check_engine(state.table, definition.keys, context.line)
    context.catalog.shelf(temporary=definition.temporary)[name] = state
    state.is_logged = context.logs_temporary or context.line.ddl.drops_all_temporary
    return state


def _create_select(
    statement: CreateTable, select: SelectDraft, name: TableName, context: DdlContext
) -> TableCreationSelect:
    copied = CopiedRows(statement, select, context.table(select.table), context.catalog.server)
    definition = defined_table(statement, name, context, copied)
    if definition.engine == "BLACKHOLE":
        raise SqlUnsupported("CREATE TABLE ... SELECT into BLACKHOLE is not supported yet", select.offset)
    if context.catalog.generates_keys and needs_key(definition, context.line):
        problem = "CREATE TABLE ... SELECT with a generated key is not supported yet"
        raise SqlUnsupported(problem, select.offset, expected="a primary key")
    state, source = _stored(statement, definition, context), copied.source.table
    rows = copied.insert(state, context.sql, context.time)
    own = {draft.name.lower() for draft in statement.columns}
    creation = TableCreationSelect(
        replace(context.text, sent=context.sql),
        (name[0],),
        (state.table,),
        statement.temporary,
        touches_temporary=statement.temporary or source.temporary,
        defines=tuple(column for column in state.table.columns if column.name.lower() in own),
    )
    if statement.temporary or context.selects_as_text:
        return replace(creation, databases=distinct((name[0], source.database)), insert_id=copied.first_number)
    sql = _printed(replace(statement, columns=copied.drafts), definition, context)
    rows = replace(rows, opened=replace(rows.opened, reads_temporary=creation.touches_temporary))
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
