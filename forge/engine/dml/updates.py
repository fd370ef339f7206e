"""UPDATE and DELETE: what they do to a table's rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from forge.engine.dictionary.table_state import TableState
from forge.engine.dml.computed_values import ComputedValue, is_computed
from forge.engine.dml.json_updates import Applied, JsonUpdate, is_json_update
from forge.engine.dml.row_texts import delete_text, own_values, update_text
from forge.engine.dml.row_times import Portion, declared_portion, remove_row, rest_of_change, stamped
from forge.engine.dml.searched_rows import found_rows, parsed_conditions, read_columns, search_of
from forge.engine.requests.cells import ColumnPlace, is_generator
from forge.engine.requests.rows import Delete, Update
from forge.engine.requests.statements import Further as DeclaredFurther
from forge.engine.requests.statements import Statement
from forge.engine.rows.cells import NULL, cell_value, not_null, set_by_trigger
from forge.engine.rows.context import DmlContext
from forge.engine.rows.defaults import with_generated
from forge.engine.rows.where import (
    column_index,
    where_sql,
)
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.changes import RowChange
from forge.plan.statement_text import Clauses, StatementText
from forge.plan.statements import Further, RowsStatement
from forge.plan.tables import Row
from forge.servers import server_line
from forge.sql.write import assignment
from forge.values.base import Value
from forge.values.clipping import Clipped
from forge.values.json.equal import equal_documents


@dataclass(frozen=True, slots=True)
class _SetClause:
    """What SET gives columns, by index: values in the order of the rows, and literals.

    ``applied`` is what JSON functions made of each row, ``functions`` which ones; ``computed`` are expressions.
    """

    values: dict[int, list[Value | None]]
    literals: dict[int, Clipped]
    functions: dict[int, JsonUpdate]
    applied: dict[int, list[Applied]]
    computed: dict[int, ComputedValue]

    @property
    def reads(self) -> frozenset[int]:
        """The columns that functions and expressions read."""
        functions = [function.reads for function in self.functions.values()]
        return frozenset().union(*functions, *(value.reads for value in self.computed.values()))


def update_rows(state: TableState, statement: Statement, update: Update, context: DmlContext) -> RowsStatement:
    """Run an UPDATE.  Raises ScenarioError where a server would refuse it."""
    conditions = parsed_conditions(state, "update", update.where, context)
    with context.place("update", "for_portion_of"):
        portion = declared_portion(state, update.for_portion_of, context)
    found = found_rows(conditions, state, statement, update.limit, portion, context)
    chosen, searched = found[: update.limit], search_of("update", state, conditions)
    where = where_sql(conditions, state)
    state.updates += 1
    before = [state.rows[number] for number in chosen]
    # Of several tables the first is changed while it is read, the others out of a temporary table (recorded).
    patches = not (isinstance(statement, DeclaredFurther) and statement.joined)
    clause = _set_clause(state, update, chosen, context, patches=patches)
    by_trigger = set_by_trigger(state, "update", update.set_by_trigger, context)
    assignments = [
        assignment(state.columns[index].name, clause.literals[index].sql)
        if index in clause.applied or index in clause.computed
        else _assigned(state, index, before, clause.values[index], clause.literals[index].sql, context)
        for index in clause.values
    ]
    with context.place("update"):
        changes, further = _changed(state, chosen, clause, by_trigger, portion, context)
    assigned = frozenset((*clause.values, *by_trigger))
    by_triggers = context.references.written_by_triggers(state.table, "update")
    return replace(
        searched,
        changes=tuple(changes),
        further=tuple(further),
        text=StatementText(
            statement.query or update_text(state, assignments, where, len(found), update.limit, _sql(portion)),
            assigned=None if portion else assigned | by_triggers,
            only_by_triggers=(by_triggers | by_trigger.keys()) - clause.values.keys(),
            reads=read_columns(state, conditions, len(found)).union(
                _read_for_checks(state, clause.values), clause.reads
            ),
            line=context.line,
        ),
        search=replace(searched.search, matched=len(chosen)),
    )


def _set_clause(
    state: TableState, update: Update, chosen: list[int], context: DmlContext, *, patches: bool
) -> _SetClause:
    clause = _SetClause({}, {}, {}, {}, {})
    for name, cell in update.set.items():
        with context.place("update", "set", name):
            index = column_index(state, name)
            if index in clause.values:
                raise ScenarioError(f"column {state.columns[index].name!r} is set twice")
            if is_computed(cell):
                computed = clause.computed[index] = ComputedValue(state, index, cell, context)
                rows = [_so_far(state.rows[number], clause.values, place) for place, number in enumerate(chosen)]
                clause.values[index], clause.literals[index] = [computed.of(row) for row in rows], computed.literal
                continue
            if not is_json_update(state.columns[index], cell):
                clause.values[index], clause.literals[index] = _new_values(state, index, cell, chosen, context)
                continue
            if name in (update.set_by_trigger or ()):
                raise UnsupportedError("JSON functions on a column that a BEFORE trigger sets too")
            function = JsonUpdate(state, index, cell, context)
            # SET clauses see what those before them have set.
            rows = [_so_far(state.rows[number], clause.values, place) for place, number in enumerate(chosen)]
            applied = [function.apply(row[index], row, patches=patches) for row in rows]
            clause.functions[index], clause.applied[index] = function, applied
            clause.values[index] = [result.document for result in applied] or [None]
            clause.literals[index] = Clipped(None, function.sql)
    return clause


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
    for position, number in enumerate(chosen):
        before = state.rows[number]
        new = {index: values[position] for index, values in clause.values.items()}
        cut = before if portion is None else portion.cut(state, before)
        after = updated_row(state, cut, new, by_trigger, context)
        if after == before:
            continue
        after = stamped(state, after, clause.values, context)
        context.references.check_row(state, after, before)
        cascaded = context.references.parent_changes(state, before, after)
        further += [Further(len(changes), change) for change in cascaded]
        diffs = {index: of_rows[position].diffs for index, of_rows in clause.applied.items()}
        changes.append(RowChange(state.rows[number], after, diffs=diffs))
        try:
            state.change(number, after)
            changes += rest_of_change(state, before, clause.values, portion, context)
        except ScenarioError:
            if state.clustering is None:
                # Else the text has ORDER BY.
                _check_order(state, chosen[position:], clause, by_trigger, context, position)
            raise
    return changes, further


def _check_order(
    state: TableState,
    left: Sequence[int],
    clause: _SetClause,
    by_trigger: Mapping[int, Clipped],
    context: DmlContext,
    position: int,
) -> None:
    """Raises UnsupportedError if the rows could all be changed in another order, which a server may take."""
    rows = [
        updated_row(state, state.rows[number], {i: v[place] for i, v in clause.values.items()}, by_trigger, context)
        for place, number in enumerate(left, position)
    ]
    for number in left:
        state.remove(number)
    try:
        for row in rows:
            state.add(row)
    except ScenarioError:
        return
    raise UnsupportedError(
        f"rows of table {state.name} have one key on the way, and several in the end: whether a server takes that"
        " depends on the order in which it finds them"
    )


def _so_far(row: Row, values: Mapping[int, list[Value | None]], position: int) -> Row:
    return tuple(values[index][position] if index in values else value for index, value in enumerate(row))


def _new_values(
    state: TableState, index: int, cell: Any, chosen: list[int], context: DmlContext
) -> tuple[list[Value | None], Clipped]:
    """The values that SET gives a column, one for each chosen row, and the first one's literal."""
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
    return (values if generated else values * len(chosen) or values), cells[0] if cells else NULL


def _assigned(
    state: TableState,
    index: int,
    before: list[Row],
    values: list[Value | None],
    literal: str,
    context: DmlContext,
) -> str:
    column = state.columns[index]
    if len({repr(value) for value in values}) <= 1:
        return assignment(column.name, literal)
    return own_values(state, index, before, values, context)


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
    conditions = parsed_conditions(state, "delete", delete.where, context)
    with context.place("delete", "for_portion_of"):
        portion = declared_portion(state, delete.for_portion_of, context)
    found = found_rows(conditions, state, statement, delete.limit, portion, context)
    chosen, searched = found[: delete.limit], search_of("delete", state, conditions)
    where = where_sql(conditions, state)
    sql = statement.query or delete_text(state, where, len(found), delete.limit, _sql(portion))
    changes: list[RowChange] = []
    further: list[Further] = []
    with context.place("delete"):
        for number in chosen:
            if number not in state.rows:
                continue
            removed, cascaded = remove_row(state, number, portion, context)
            further += [Further(len(changes), change) for change in cascaded]
            changes += removed
    deletes_all = not conditions and delete.limit is None and statement.query is None
    return replace(
        searched,
        changes=tuple(changes),
        further=tuple(further),
        # What is set to delete a row of a system-versioned table is its end.
        text=StatementText(
            sql,
            assigned=None if state.table.row_end is None or portion else frozenset(),
            clauses=Clauses(deletes_all=deletes_all),
            line=context.line,
        ),
        search=replace(searched.search, matched=len(chosen)),
    )


def _sql(portion: Portion | None) -> str:
    return "" if portion is None else portion.sql


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
