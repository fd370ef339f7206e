"""What a declared statement does to the tables' rows, whatever its kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import structs
from msgspec.structs import replace

from forge.engine.dml.inserts import insert_rows
from forge.engine.dml.joined_changes import RowsFound, split_by_table
from forge.engine.dml.loads import load_rows
from forge.engine.dml.text_context import tables_named_in, with_opened_tables
from forge.engine.dml.updates import delete_rows, update_rows
from forge.engine.requests.rows import Delete, Insert, LoadData, Replace, Update
from forge.engine.requests.statements import Further as DeclaredFurther
from forge.engine.requests.statements import Statement
from forge.engine.rows.context import DmlContext
from forge.engine.rows.foreign_keys import Opened, Operation
from forge.engine.rows.predicates import equal_columns
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.effects import ForeignKeyEffects, OpenedTables, TriggerEffects
from forge.plan.statement_text import StatementText
from forge.plan.statements import Further, RowsStatement
from forge.plan.tables import Table
from forge.servers import ServerLine
from forge.sql.reads.charsets import names_charset
from forge.sql.reads.tables import is_of_several_tables, table_references, tables_of
from forge.sql.version_comments import as_logged
from forge.sql.words import readable_tokens

_OPERATIONS = ("INSERT", "REPLACE", "UPDATE", "DELETE", "LOAD")


def execute(declared: Statement, context: DmlContext) -> RowsStatement:
    """Run a statement; the rows that it changed, and its SQL.  Raises ScenarioError where a server would refuse it."""
    sent = declared.query
    if sent is not None:
        declared = structs.replace(declared, query=as_logged(sent, context.references.line))
    if declared.triggers == "run":
        context, declared = replace(context, nested=execute), structs.replace(declared, triggers=None)
    declared = split_by_table(declared, context)
    early = _parents_first(declared, context)
    statement = _executed(declared, replace(context, has_text=sent is not None))
    if declared.query is not None and not isinstance(declared, DeclaredFurther):
        _check_operation(declared, statement.table)
    events = _events(declared)
    follow, _ = context.references.followed(statement.table, events)
    parts = [
        (early.get(index) or _executed_further(part, index, context), part)
        for index, part in enumerate(declared.further)
    ]
    names = table_references(declared.query) if declared.query is not None and statement.kind != "insert" else []
    # A table has one TABLE_MAP however many changes it has here, but for each of its names in the text one (recorded).
    places = _places([statement.table, *(part.table for part, declaration in parts if declaration.joined)], names)
    joined = [table for table, _ in places[1:]]
    if joined and context.nested is not None and any(_fires(table, events, context) for table, _ in places):
        raise UnsupportedError("triggers of a statement of several tables are not run yet", expected="`further`")
    locked = _locked(declared, statement, follow, parts, context)
    held = tuple(_locks(declared.under_lock or (), context, "under_lock"))
    if held:
        locked = context.references.held(held, statement.table)
    if joined:
        locked = sorted([*locked, *joined], key=lambda table: _position(table, names))
    line = context.references.line
    text = _with_words(statement.text, line)
    if sent is not None and sent != declared.query:
        text = replace(text, sent=sent)
    if _is_of_several(statement, declared, context):
        text = replace(text, clauses=replace(text.clauses, several_tables=True))
    if statement.kind == "delete" and len(names) > 1 and _reads_one_row(statement.table, declared):
        # DELETE of several tables reads all columns of a row that it looks up by a key before the others (recorded).
        statement = _all_columns(statement)
        parts = [
            (
                _all_columns(part) if declaration.joined and _reads_one_row(part.table, declaration) else part,
                declaration,
            )
            for part, declaration in parts
        ]
    further = [
        replace(part, text=_with_words(replace(part.text, source=text.source), line)) if declaration.joined else part
        for part, declaration in parts
    ]
    statement = replace(
        statement,
        text=text,
        further=_in_order(statement, declared.further, further),
        opened=OpenedTables(
            locked=tuple(locked) if parts or follow or held or declared.locks is not None else (),
            held=held,
            update_bits=sum(1 << place for place in {place for _, place in places}),
        ),
        triggers=_triggers(statement, context),
        foreign_keys=ForeignKeyEffects(
            checks_parents=context.references.checks,
            is_parent=context.references.is_parent(statement.table),
            is_related=_is_related(declared, statement, follow, further, context),
        ),
        context=replace(statement.context, time=(context.time.second, context.time.microsecond)),
    )
    if context.is_text:
        joint = [(part, _events(declaration)) for part, declaration in parts if declaration.joined]
        return with_opened_tables(statement, [(statement, events), *joint], declared, context)
    return statement


def _fires(table: Table, events: Sequence[Operation], context: DmlContext) -> bool:
    return bool(context.references.triggers(table, *events))


def _check_operation(declared: Statement, table: Table) -> None:
    """The text is one of the declared operation, on the declared table.  Raises ScenarioError."""
    tokens = readable_tokens(declared.query or "")
    if tokens[0].is_word(*_OPERATIONS) and not tokens[0].is_word(declared.kind.upper()):
        raise _contradiction(f"is {_article(tokens[0].text.upper())}, but the statement is {_article(declared.kind)}")
    named = {name.lower() for _, name in tables_of(declared.query or "")}
    words = {token.text.lower() for token in tokens if token.kind in ("word", "name")}
    if named and table.name.lower() not in words:
        raise _contradiction(f"names {', '.join(sorted(named))}, but not {table.full_name}")


def _article(verb: str) -> str:
    return f"an {verb}" if verb.upper() in ("INSERT", "UPDATE") else f"a {verb}"


def _contradiction(what: str) -> ScenarioError:
    return ScenarioError(f"`query` {what}", expected="the text of the declared change")


def _is_of_several(statement: RowsStatement, declared: Statement, context: DmlContext) -> bool:
    if declared.query is None:
        # Our own text has that form where keys are to be ignored.
        return context.is_text and statement.kind == "delete" and is_of_several_tables(statement.text.sql, "")
    return statement.kind != "insert" and is_of_several_tables(
        declared.query, context.references.line.texts.joins_subqueries
    )


def _reads_one_row(table: Table, declared: Statement) -> bool:
    """Whether a DELETE has a literal for every column of a primary or unique key."""
    where: Any = (declared.delete.where if declared.delete is not None else None) or {}
    if isinstance(where, RowsFound):
        equal = set(where.equal)
    elif isinstance(where, str):
        equal = equal_columns(where)
    else:
        literals = {name: value for name, value in where.items() if not isinstance(value, (dict, list))}
        equal = {name.lower() for name, value in literals.items() if value is not None}
    named = {index for index, column in enumerate(table.columns) if column.name.lower() in equal}
    keys = [key for key in table.keys if key.kind != "index"]
    return any({part.column for part in key.parts} <= named for key in keys)


def _parents_first(declared: Statement, context: DmlContext) -> dict[int, RowsStatement]:
    """What BEFORE triggers insert, by index, into tables that the rows refer to: it has to be there first."""
    new = declared.insert or declared.replace
    if new is None or not any(part.before for part in declared.further):
        return {}
    with context.place(declared.kind, "into"):
        parents = {foreign.parent for foreign in context.opened(new.into).table.foreign_keys}
    early: dict[int, RowsStatement] = {}
    for index, part in enumerate(declared.further):
        inserted = part.insert or part.replace
        if part.before and inserted is not None:
            with context.place("further", index):
                table = context.opened(inserted.into).table
            if (table.database, table.name) in parents:
                early[index] = _executed_further(part, index, context)
    return early


def _locked(
    declared: Statement,
    statement: RowsStatement,
    follow: Sequence[Opened],
    parts: Sequence[tuple[RowsStatement, DeclaredFurther]],
    context: DmlContext,
) -> list[Table]:
    """The tables that are opened for writing, but for those that a statement of several tables joins."""
    if declared.locks is not None:
        return [statement.table, *_locks(declared.locks, context)]
    locked = [statement.table, *(opened.table for opened in follow)]
    for part, declaration in parts:
        if not declaration.joined and all(other.full_name != part.table.full_name for other in locked):
            locked += part.tables
    return locked


def _triggers(statement: RowsStatement, context: DmlContext) -> TriggerEffects:
    return TriggerEffects(
        tables=frozenset(".".join(trigger.table) for trigger in context.catalog.live_triggers()),
        reads=context.references.read_by_triggers(statement.table, statement.kind),
    )


def _with_words(text: StatementText, line: ServerLine) -> StatementText:
    """The text with the words in it that decide how it is logged."""
    named = line.query.says_collations and names_charset(text.words)
    return replace(text, clauses=replace(text.clauses, names_charset=True)) if named else text


def _is_related(
    declared: Statement,
    statement: RowsStatement,
    opened: Sequence[Opened],
    further: Sequence[RowsStatement],
    context: DmlContext,
) -> bool:
    """Whether foreign keys keep the statement from running beside others."""
    tables = [(statement.table, _events(declared)), *((child.table, child.events) for child in opened)]
    tables += [(table, ("insert", "update", "delete")) for table in _locks(declared.locks or (), context)]
    if declared.query is not None and context.references.line.query.foreign_keys_isolate:
        # A parent that is only read counts too (recorded on 5.6.24, 8.0.33 and 9.7.4).
        tables += [(table, ()) for table in tables_named_in(declared.query, context.catalog, context.current_database)]
    return any(part.foreign_keys.is_related for part in further) or any(
        context.references.isolates(table, events) for table, events in tables
    )


def _all_columns(statement: RowsStatement) -> RowsStatement:
    return replace(statement, changes=tuple(replace(change, after_duplicate=True) for change in statement.changes))


#: The entry that names the table of a statement, where it is not ``into``.
_TABLE_ENTRIES = {"update": "table", "delete": "from"}


def _executed(statement: Statement, context: DmlContext) -> RowsStatement:
    with context.place(statement.kind, _TABLE_ENTRIES.get(statement.kind, "into")):
        state = context.opened(statement.target or "")
    match statement.change:
        case Insert() | Replace() as new:
            return insert_rows(state, statement, new, context)
        case LoadData() as load:
            with context.place("load_data"):
                return load_rows(state, load, context)
        case Update() as update:
            return update_rows(state, statement, update, context)
        case Delete() as delete:
            return delete_rows(state, statement, delete, context)
    raise AssertionError("the model has seen to it that there is one")


def _executed_further(declared: DeclaredFurther, index: int, context: DmlContext) -> RowsStatement:
    def place(*steps: Any) -> Any:
        return context.place("further", index, *steps)

    return execute(declared, replace(context, place=place))


def _events(statement: Statement) -> tuple[Operation, ...]:
    """What a statement may do to rows: REPLACE counts as INSERT and DELETE."""
    match statement.change:
        case Replace() | LoadData(duplicates="replace"):
            return ("insert", "delete")
        case Insert(on_duplicate_key_update=updates) if updates is not None:
            return ("insert", "update")
        case Insert() | LoadData():
            return ("insert",)
        case Update():
            return ("update",)
    return ("delete",)


def _in_order(
    statement: RowsStatement, declared: Sequence[DeclaredFurther], further: Sequence[RowsStatement]
) -> tuple[Further, ...]:
    """Around each row: what BEFORE triggers do, then foreign keys, the row itself, what AFTER triggers do."""
    count = len(statement.changes)
    placed = [(cascade.position, 2, cascade.statement) for cascade in statement.further]
    for declaration, part in zip(declared, further, strict=True):
        row = count if declaration.row is None else declaration.row
        if row > count and (declaration.row or 0) > 1:
            raise ScenarioError(f"`row` is {row}, but the statement changes {count} rows of its own")
        before = declaration.before
        placed.append((max(min(row, count) - 1, 0), 1, part) if before else (min(row, count), 0, part))
    return tuple(Further(position, part) for position, _, part in sorted(placed, key=lambda entry: entry[:2]))


def _locks(names: Sequence[str], context: DmlContext, entry: str = "locks") -> list[Table]:
    with context.place(entry):
        return [context.opened(name).table for name in names]


def _position(table: Table, names: Sequence[str]) -> int:
    return names.index(table.name) if table.name in names else len(names)


def _places(tables: Sequence[Table], names: Sequence[str]) -> list[tuple[Table, int]]:
    """The tables that are changed, with their places in the text: each as often as the text names it, but once."""
    places: list[tuple[Table, int]] = []
    for table in tables:
        named = [place for place, name in enumerate(names) if name == table.name] or [0]
        free = [place for place in named if (table, place) not in places]
        if free:
            places.append((table, free[0]))
    return places
