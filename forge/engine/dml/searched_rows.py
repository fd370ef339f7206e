"""The rows that an UPDATE or a DELETE finds, and what a server reads to find them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forge.engine.dictionary.table_state import TableState
from forge.engine.dml.query_rows import check_rows
from forge.engine.dml.row_times import Portion
from forge.engine.requests.statements import Further as DeclaredFurther
from forge.engine.requests.statements import Statement
from forge.engine.rows.context import DmlContext
from forge.engine.rows.row_order import in_order_of_query
from forge.engine.rows.where import Condition, is_impossible, keys_read, matching, parse_where
from forge.plan.changes import ChangeKind
from forge.plan.effects import Search
from forge.plan.statements import RowsStatement


def found_rows(
    conditions: list[Condition],
    state: TableState,
    statement: Statement,
    limit: int | None,
    portion: Portion | None,
    context: DmlContext,
) -> list[int]:
    """Numbers of the rows that meet the conditions, in the order of the server; LIMIT takes the first of them."""
    found = matching(conditions, state)
    if portion is not None:
        found = [number for number in found if portion.touches(state, state.rows[number])]
    # What is joined, or runs in a trigger, has its order from another table.
    if statement.query is None or isinstance(statement, DeclaredFurther):
        return found
    names = () if statement.update is None else statement.update.set
    written = {index for name in names if (index := state.definition.find(name)) is not None}
    check_rows(state, statement.query, found, limit, context)
    return in_order_of_query(
        state, found, statement.query, {condition.index for condition in conditions}, written, statement.found_by
    )


def search_of(kind: ChangeKind, state: TableState, conditions: list[Condition]) -> RowsStatement:
    """The statement before it changes rows: what a server reads and compares to find them."""
    return RowsStatement(
        kind=kind,
        table=state.table,
        changes=(),
        search=Search(
            compared=frozenset(c.index for c in conditions if c.is_compared and not c.compares_together),
            compared_together=frozenset(condition.index for condition in conditions if condition.compares_together),
            impossible=is_impossible(conditions, state),
            empty=not state.rows,
            keys=frozenset() if state.rows else keys_read(conditions, state),
        ),
    )


def parsed_conditions(
    state: TableState, kind: str, where: Mapping[str, Any] | None, context: DmlContext
) -> list[Condition]:
    conditions: list[Condition] = []
    for name, declared in (where or {}).items():
        with context.place(kind, "where", name):
            conditions += parse_where({name: declared}, state, dialect=context.catalog.dialect)
    return conditions


def read_columns(state: TableState, conditions: list[Condition], affected: int) -> frozenset[int]:
    """The columns that our SQL of an UPDATE reads: in WHERE, and in ORDER BY where there are several rows."""
    order = state.clustering.parts if state.clustering is not None and affected > 1 else ()
    return frozenset((*(condition.index for condition in conditions), *(part.column for part in order)))
