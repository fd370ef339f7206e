"""UPDATE and DELETE: what they do to a table's rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from forge.engine.dictionary.table_state import TableState
from forge.engine.dml.assignments import ChangedDocument, ComputedValue, JsonUpdate, computed
from forge.engine.dml.joined_changes import OwnValues, RowsFound
from forge.engine.dml.row_texts import delete_text, own_values, update_text
from forge.engine.dml.row_times import Portion, declared_portion, remove_row, rest_of_change, stamped
from forge.engine.dml.trigger_bodies import run_triggers, without_triggers
from forge.engine.requests.cells import ColumnPlace, is_generator
from forge.engine.requests.rows import Delete, Update
from forge.engine.requests.statements import Further as DeclaredFurther
from forge.engine.requests.statements import Statement
from forge.engine.rows.cells import cell_value, not_null, set_by_trigger
from forge.engine.rows.context import DmlContext
from forge.engine.rows.defaults import with_generated
from forge.engine.rows.predicates import Predicate, parse_predicates, table_scope
from forge.engine.rows.row_order import as_read, in_order_of_query, in_partitions
from forge.engine.rows.selects import ordered_by
from forge.engine.rows.where import Condition, column_index, matching, parse_where, rows_with_keys, where_sql
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.changes import ChangeKind, RowChange
from forge.plan.effects import Search
from forge.plan.statement_text import Clauses, StatementText
from forge.plan.statements import Further, RowsStatement
from forge.plan.tables import Row
from forge.servers import server_line
from forge.sql.write import assignment
from forge.values.base import Value
from forge.values.clipping import Clipped
from forge.values.json.equal import equal_documents


class _Found(Struct, frozen=True):
    """The rows that an UPDATE or a DELETE finds, in the order of the server."""

    conditions: list[Condition | Predicate]
    portion: Portion | None
    #: Numbers of the rows, and of those that LIMIT lets through.
    numbers: list[int]
    chosen: list[int]
    #: WHERE, as SQL.
    where: str
    #: The statement before it changes rows.
    searched: RowsStatement

    @property
    def portion_sql(self) -> str:
        return "" if self.portion is None else self.portion.sql


def _found(
    kind: ChangeKind, state: TableState, statement: Statement, declared: Update | Delete, context: DmlContext
) -> _Found:
    chosen_rows: object = declared.where
    if isinstance(chosen_rows, RowsFound):
        numbers = chosen_rows.numbers
        return _Found([], None, numbers, numbers, "", _searched(kind, state, numbers, []))
    conditions: list[Condition | Predicate] = []
    if isinstance(declared.where, str):
        with context.place(kind, "where"):
            conditions += parse_predicates(declared.where, state, context, declared.alias)
        where = f" WHERE {declared.where}"
    else:
        of_columns: list[Condition] = []
        for name, condition in (declared.where or {}).items():
            with context.place(kind, "where", name):
                of_columns += parse_where({name: condition}, state, dialect=context.catalog.dialect)
        conditions += of_columns
        where = where_sql(of_columns, state)
    with context.place(kind, "for_portion_of"):
        portion = declared_portion(state, declared.for_portion_of, context)
    if declared.affects is not None:
        with context.place(kind, "affects"):
            numbers = rows_with_keys(state, declared.affects)
        return _Found(conditions, portion, numbers, numbers, where, _searched(kind, state, numbers, conditions))
    numbers = matching(conditions, state)
    if declared.partition is not None:
        with context.place(kind, "partition"):
            numbers = in_partitions(state, numbers, declared.partition)
    if portion is not None:
        numbers = [number for number in numbers if portion.touches(state, state.rows[number])]
    # What is joined, or runs in a trigger, has its order from another table.
    names = (declared.set or ()) if isinstance(declared, Update) else ()
    written = {index for name in names if (index := state.definition.find(name)) is not None}
    compared = {condition.index for condition in conditions if condition.index >= 0}
    if declared.order_by is not None:
        with context.place(kind, "order_by"):
            numbers = as_read(state, numbers, compared, written)
            numbers = ordered_by(declared.order_by, table_scope(state, declared.alias, context), state, numbers)
    elif statement.query is not None and not isinstance(statement, DeclaredFurther):
        ranges = {condition.range_column for condition in conditions}
        numbers = in_order_of_query(state, numbers, statement.query, compared, written, statement.found_by, ranges)
    chosen = numbers[: declared.limit]
    return _Found(conditions, portion, numbers, chosen, where, _searched(kind, state, chosen, conditions))


def _searched(
    kind: ChangeKind, state: TableState, chosen: Sequence[int], conditions: Sequence[Condition | Predicate]
) -> RowsStatement:
    search = Search(len(chosen), frozenset(condition.index for condition in conditions if condition.has_literal))
    return RowsStatement(kind=kind, table=state.table, changes=(), search=search)


class _SetClause(Struct, frozen=True):
    """What SET gives columns, by index: values in the order of the rows, with the SQL of the first.

    ``computed`` are the columns whose values are computed for each row, ``diffs`` what a server notes of documents.
    """

    values: dict[int, list[Value | None]] = field(default_factory=dict)
    sql: dict[int, str] = field(default_factory=dict)
    computed: dict[int, ComputedValue | ChangedDocument | JsonUpdate] = field(default_factory=dict)
    diffs: dict[int, list[bytes | None]] = field(default_factory=dict)

    @property
    def reads(self) -> frozenset[int]:
        """The columns that functions and expressions read."""
        return frozenset().union(*(value.reads for value in self.computed.values()))


def update_rows(state: TableState, statement: Statement, update: Update, context: DmlContext) -> RowsStatement:
    """Run an UPDATE.  Raises ScenarioError where a server would refuse it."""
    if update.ignore:
        context = replace(context, ignores=True)
    found = _found("update", state, statement, update, context)
    chosen, portion = found.chosen, found.portion
    state.updates += 1
    before = [state.rows[number] for number in chosen]
    # Of several tables the first is changed while it is read, the others out of a temporary table (recorded).
    patches = not (isinstance(statement, DeclaredFurther) and statement.joined)
    clause = _set_clause(state, update, chosen, context, patches=patches)
    by_trigger = set_by_trigger(state, "update", update.set_by_trigger, context)
    assignments = [
        assignment(state.columns[index].name, clause.sql[index])
        if index in clause.computed
        or isinstance(update.where, RowsFound)
        or len({repr(value) for value in values}) <= 1
        else own_values(state, index, before, values, context)
        for index, values in clause.values.items()
    ]
    with context.place("update"):
        changes, further = _changed(state, chosen, clause, by_trigger, portion, context)
    assigned = frozenset((*clause.values, *by_trigger))
    by_triggers = context.references.written_by_triggers(state.table, "update")
    return replace(
        found.searched,
        changes=tuple(changes),
        further=tuple(further),
        text=StatementText(
            statement.query
            or update_text(state, assignments, found.where, len(found.numbers), update, found.portion_sql),
            assigned=None if portion else assigned | by_triggers,
            only_by_triggers=(by_triggers | by_trigger.keys()) - clause.values.keys(),
            reads=_read_columns(state, found).union(_read_for_checks(state, clause.values), clause.reads),
            line=context.line,
        ),
    )


def _set_clause(
    state: TableState, update: Update, chosen: list[int], context: DmlContext, *, patches: bool
) -> _SetClause:
    clause = _SetClause()
    if update.rows is not None:
        _rows_given(state, update.rows, chosen, clause, context)
    scope = table_scope(state, update.alias, context)
    for name, cell in (update.set or {}).items():
        with context.place("update", "set", name):
            index = column_index(state, name)
            column = state.columns[index]
            if index in clause.values:
                raise ScenarioError(f"column {column.name!r} is set twice")
            if isinstance(cell, OwnValues):
                clause.values[index] = [
                    not_null(column, value, state.name, clips=context.clips) for value in cell.values
                ]
                clause.sql[index] = "NULL"
                continue
            source = computed(state, index, cell, context, scope)
            if source is None:
                clause.values[index], clause.sql[index] = _new_values(state, index, cell, chosen, context)
                continue
            if isinstance(source, JsonUpdate | ChangedDocument) and name in (update.set_by_trigger or ()):
                raise UnsupportedError("JSON functions on a column that a BEFORE trigger sets too")
            # SET clauses see what those before them have set.
            seen = {} if context.assigns_at_once else clause.values
            rows = [_so_far(state.rows[number], seen, place) for place, number in enumerate(chosen)]
            applied = [source.of(row, patches=patches) for row in rows]
            clause.computed[index], clause.sql[index] = source, source.sql
            clause.values[index] = [result.value for result in applied] or [None]
            if isinstance(source, JsonUpdate | ChangedDocument):
                clause.diffs[index] = [result.diffs for result in applied]
    return clause


def _rows_given(
    state: TableState, rows: Sequence[Any], chosen: Sequence[int], clause: _SetClause, context: DmlContext
) -> None:
    """What a scenario says that the rows become."""
    names = [column.name for column in state.columns if column.column.visible and column.generated is None]
    given: list[dict[int, Value | None]] = []
    for number, row in enumerate(rows):
        with context.place("update", "rows", number):
            if isinstance(row, list) and len(row) != len(names):
                raise ScenarioError(f"the row has {len(row)} cells", expected=f"{len(names)}, as many as columns")
            cells = dict(zip(names, row, strict=True)) if isinstance(row, list) else row
            values: dict[int, Value | None] = {}
            for name, cell in cells.items():
                index = column_index(state, name)
                place = ColumnPlace(state.name, name)
                values[index] = cell_value(state.columns[index], cell, place, number, context).value
            given.append(values)
    for index in sorted(set().union(*given)):
        clause.values[index] = [
            row.get(index, state.rows[number][index]) for row, number in zip(given, chosen, strict=True)
        ]
        clause.sql[index] = "NULL"


def _placing(changes: Sequence[RowChange], further: list[Further]) -> Callable[[RowsStatement], None]:
    """Takes what a trigger does, behind the changes so far."""
    return lambda change: further.append(Further(len(changes), change))


def _changed(
    state: TableState,
    chosen: Sequence[int],
    clause: _SetClause,
    by_trigger: Mapping[int, Clipped],
    portion: Portion | None,
    context: DmlContext,
) -> tuple[list[RowChange], list[Further]]:
    """Change the rows: what is logged of them, and of their children."""
    changes: list[RowChange] = []
    further: list[Further] = []
    place = _placing(changes, further)
    for position, number in enumerate(chosen):
        before = state.rows[number]
        new = {index: values[position] for index, values in clause.values.items()}
        cut = before if portion is None else portion.cut(state, before)
        after = updated_row(state, cut, new, by_trigger, context)
        after = run_triggers(state, "update", "before", (before, after), context, place) or after
        if after == before:
            run_triggers(state, "update", "after", (before, after), context, place)
            continue
        after = stamped(state, after, clause.values, context)
        if context.ignores and state.conflict(after, number) is not None:
            continue
        try:
            context.references.check_row(state, after, before)
            cascaded = without_triggers(context.references.parent_changes(state, before, after), context)
        except ScenarioError:
            if not context.ignores:
                raise
            continue
        further += [Further(len(changes), change) for change in cascaded]
        diffs = {index: of_rows[position] for index, of_rows in clause.diffs.items()}
        changes.append(RowChange(state.rows[number], after, diffs=diffs))
        state.change(number, after)
        changes += rest_of_change(state, before, clause.values, portion, context)
        run_triggers(state, "update", "after", (before, after), context, place)
    return changes, further


def _so_far(row: Row, values: Mapping[int, list[Value | None]], position: int) -> Row:
    return tuple(values[index][position] if index in values else value for index, value in enumerate(row))


def _new_values(
    state: TableState, index: int, cell: Any, chosen: list[int], context: DmlContext
) -> tuple[list[Value | None], str]:
    """The values that SET gives a column, one for each chosen row, and the first one's SQL."""
    column = state.columns[index]
    generated = is_generator(cell, json=column.holds_json)
    if generated and len(chosen) > 1:
        if state.clustering is None:
            raise ScenarioError(
                f"{state.name} has no primary key, so SQL cannot give {len(chosen)} rows different values",
                expected="a literal, or a table with a primary key",
            )
        if any(part.column == index for part in state.clustering.parts):
            raise ScenarioError(
                f"{state.name}.{column.name}: a generator cannot give the primary key of several rows new values",
                expected="a literal",
            )
    rows = chosen if generated else chosen[:1] or [0]
    place = ColumnPlace(state.name, column.name, state.updates)
    cells = [cell_value(column, cell, place, row, context) for row in rows]
    values = [cell.value for cell in cells]
    if chosen:
        # A statement that finds no row is taken.
        values = [not_null(column, value, state.name, clips=context.clips) for value in values]
    return (values if generated else values * len(chosen) or values), cells[0].sql if cells else "NULL"


def updated_row(
    state: TableState,
    before: Row,
    values: Mapping[int, Value | None],
    by_trigger: Mapping[int, Clipped],
    context: DmlContext,
) -> Row:
    """The row after an UPDATE; ON UPDATE CURRENT_TIMESTAMP is evaluated if anything else changes.

    MySQL looks at that before the triggers run (fill_record_n_invoke_before_triggers), MariaDB behind them (recorded).
    """
    set_values = {index: cell.value for index, cell in by_trigger.items()}
    early = context.references.line.rows.stamps_before_triggers
    seen = values if early else {**values, **set_values}
    cells = [seen.get(index, value) for index, value in enumerate(before)]
    row = with_generated(state.columns, cells, clips=context.clips)
    if not _is_same(state, before, row):
        row = tuple(
            context.time.cell(column) if column.column.on_update_now and index not in seen else value
            for index, (column, value) in enumerate(zip(state.columns, row, strict=True))
        )
    cells = [set_values.get(index, value) for index, value in enumerate(row)]
    row = with_generated(state.columns, cells, clips=context.clips)
    return before if _is_same(state, before, row) else row


def _is_same(state: TableState, before: Row, after: Row) -> bool:
    """Whether an UPDATE changes nothing; JSON documents are compared by their values."""
    return all(
        old == new or (column.type_facts.is_json and old is not None and new is not None and equal_documents(old, new))
        for column, old, new in zip(state.columns, before, after, strict=True)
    )


def delete_rows(state: TableState, statement: Statement, delete: Delete, context: DmlContext) -> RowsStatement:
    """Run a DELETE.  Raises ScenarioError where a server would refuse it."""
    found = _found("delete", state, statement, delete, context)
    portion = found.portion
    sql = statement.query or delete_text(state, found.where, len(found.numbers), delete, found.portion_sql)
    changes: list[RowChange] = []
    further: list[Further] = []
    place = _placing(changes, further)
    with context.place("delete"):
        for number in found.chosen:
            if number not in state.rows:
                continue
            before = state.rows[number]
            run_triggers(state, "delete", "before", (before, None), context, place)
            try:
                removed, cascaded = remove_row(state, number, portion, context)
                without_triggers(cascaded, context)
            except ScenarioError:
                if not delete.ignore:
                    raise
                continue
            further += [Further(len(changes), change) for change in cascaded]
            changes += removed
            run_triggers(state, "delete", "after", (before, None), context, place)
    deletes_all = not found.conditions and delete.limit is None and statement.query is None
    return replace(
        found.searched,
        changes=tuple(changes),
        further=tuple(further),
        # What is set to delete a row of a system-versioned table is its end.
        text=StatementText(
            sql,
            assigned=None if state.table.row_end is None or portion else frozenset(),
            clauses=Clauses(deletes_all=deletes_all),
            line=context.line,
        ),
    )


def _read_columns(state: TableState, found: _Found) -> frozenset[int]:
    """The columns that our SQL of an UPDATE reads: in WHERE, and in ORDER BY where there are several rows."""
    order = state.clustering.parts if state.clustering is not None and len(found.numbers) > 1 else ()
    return frozenset(
        (*(index for condition in found.conditions for index in condition.columns), *(part.column for part in order))
    )


def _read_for_checks(state: TableState, assigned: Collection[int]) -> set[int]:
    """The columns of CHECK constraints on what is assigned; MariaDB's JSON columns have one (recorded)."""
    columns = {
        index
        for index in assigned
        if state.columns[index].holds_json and server_line(state.definition.server).values.json_is_checked
    }
    for _, holds in state.checks:
        used = {column_index(state, name) for name in holds.expression.columns()}
        columns |= used if used & set(assigned) else set()
    return columns
