"""The texts of statements on rows that have no ``query``: a server changes the same rows by them, in our order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.table_state import TableState
from forge.engine.requests.rows import Delete, Update
from forge.engine.rows.context import DmlContext
from forge.engine.rows.where import comparison_sql, value_sql
from forge.errors import UnsupportedError
from forge.plan.tables import Row
from forge.servers import server_line
from forge.sql.write import (
    Access,
    assignment,
    chosen_value,
    delete_sql,
    duplicate_sql,
    identifier,
    insert_select_sql,
    insert_sql,
    new_value,
    no_index_hint,
    qualified,
    update_sql,
)
from forge.values.base import Value
from forge.values.clipping import Clipped


def insert_text(
    verb: str,
    state: TableState,
    columns: Sequence[int],
    rows: Sequence[Mapping[int, Clipped]],
    *,
    listed: bool,
    select: str | None,
) -> str:
    """INSERT or REPLACE, of a SELECT's rows or of the cells' literals; a row that lacks a cell gets DEFAULT.

    ``listed``: the text names the columns.
    """
    names = [state.columns[index].name for index in columns] if listed else None
    if select is not None:
        return insert_select_sql(verb, _name(state), names, select)
    cells = [[row[index].sql if index in row else "DEFAULT" for index in columns] for row in rows]
    return insert_sql(verb, _name(state), names, cells)


def duplicate_text(state: TableState, updates: Mapping[int, str | int]) -> str:
    """`` ON DUPLICATE KEY UPDATE ...`` of SQL by column; a number is a column of the new row; "" without any."""
    return duplicate_sql(
        [
            assignment(
                state.columns[index].name,
                new_value(state.columns[source].name) if isinstance(source, int) else source,
            )
            for index, source in updates.items()
        ]
    )


def update_text(
    state: TableState, assignments: Sequence[str], where: str, found: int, update: Update, portion: str = ""
) -> str:
    """UPDATE [FOR PORTION OF] that finds that many rows in our order, and changes the first of them up to the limit."""
    access = _access(state, found) if update.order_by is None else Access(order=[update.order_by])
    text = update_sql(_name(state) + portion + _called(update), assignments, where, access) + _limit(update.limit)
    return text.replace("UPDATE", "UPDATE IGNORE", 1) if update.ignore else text


def delete_text(state: TableState, where: str, found: int, delete: Delete, portion: str = "") -> str:
    """DELETE [FOR PORTION OF] that finds that many rows in our order, and deletes the first of them up to the limit."""
    access = _access(state, found) if delete.order_by is None else Access(order=[delete.order_by])
    if access.ignored and delete.limit is not None:
        raise UnsupportedError(
            f"`limit` on {state.name}, which has keys and no primary key: DELETE takes no IGNORE INDEX beside LIMIT",
            expected="a `query:`",
        )
    text = delete_sql(_name(state) + portion + _called(delete), where, access) + _limit(delete.limit)
    return text.replace("DELETE", "DELETE IGNORE", 1) if delete.ignore else text


def _called(change: Update | Delete) -> str:
    """PARTITION and the alias behind the table's name."""
    chosen = "" if change.partition is None else f" PARTITION ({', '.join(map(identifier, change.partition))})"
    return chosen + ("" if change.alias is None else f" AS {identifier(change.alias)}")


def _limit(limit: int | None) -> str:
    return "" if limit is None else f" LIMIT {limit}"


def _name(state: TableState) -> str:
    return qualified(state.table.database, state.table.name)


def _access(state: TableState, found: int) -> Access:
    """What makes a server find several rows in our order: rows without a clustering key come in the order of insertion
    as long as no index is read.
    """
    if found < 2:
        return Access()
    if state.clustering is not None:
        columns = [state.columns[part.column] for part in state.clustering.parts]
        return Access(order=[_order_term(column) for column in columns if not column.column.system])
    if state.is_shuffled:
        problem = (
            f"{state.table.engine} puts new rows of {state.name} in the place of deleted ones: their order is unknown"
        )
        raise UnsupportedError(problem, expected="statements on one row, or a primary key")
    if not state.table.keys:
        return Access()
    if server_line(state.definition.server).texts.index_hints:
        return Access(hint=no_index_hint(state.table.name))
    return Access(ignored=[key.name for key in state.table.keys])


def _order_term(column: ColumnDefinition) -> str:
    name = identifier(column.name)
    return f"CAST({name} AS BINARY)" if column.type_facts.is_text else name


def own_values(
    state: TableState, index: int, before: Sequence[Row], values: Sequence[Value | None], context: DmlContext
) -> str:
    """An assignment that gives each of several rows its own value, chosen by the clustering key."""
    columns = [column.under(context.catalog.dialect) for column in state.columns]
    assert state.clustering is not None
    parts = [part.column for part in state.clustering.parts]
    branches = [
        ([_exactly(columns[part], row[part]) for part in parts], _branch_value(columns[index], value))
        for row, value in zip(before, values, strict=True)
    ]
    return assignment(columns[index].name, chosen_value(branches))


def _exactly(column: ColumnDefinition, value: Value | None) -> str:
    """A comparison that only this key value meets; key values differ under their collation."""
    return f"{identifier(column.name)} = {comparison_sql(column, value)}"


def _branch_value(column: ColumnDefinition, value: Value | None) -> str:
    """A literal of one type in all branches: a CASE that mixes types would convert some of them."""
    if value is not None and column.type_facts.has_members:
        return str(value)
    text = value_sql(column, value)
    return f"CAST({text} AS JSON)" if column.type_facts.is_json and text.startswith("'") else text
