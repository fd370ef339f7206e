"""The SQL text of statements: what ROWS_QUERY logs, and what replays the scenario on a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.rows.state import TableState
from forge.errors import UnsupportedError
from forge.plan.engines import is_transactional
from forge.plan.tables import Row, Table
from forge.servers import server_line
from forge.sql.write.identifiers import identifier, qualified
from forge.values.base import Value
from forge.values.clipping import Clipped
from forge.values.literals import hexadecimal


def table_sql(table: Table) -> str:
    return qualified(table.database, table.name)


def value_sql(column: ColumnDefinition, value: Value | None) -> str:
    """A literal that stores, or equals, exactly this value."""
    return "NULL" if value is None else column.codec.sql(column.wire, value)


def comparison_sql(column: ColumnDefinition, value: Value | None) -> str:
    """A literal to compare the column with: BINARY(n) has its padding."""
    return hexadecimal(value) if isinstance(value, bytes) else value_sql(column, value)


def insert_sql(
    verb: str, state: TableState, columns: Sequence[int], rows: Sequence[Mapping[int, Clipped]], *, listed: bool = True
) -> str:
    """INSERT or REPLACE of the cells' literals; a row that lacks one of ``columns`` gets the keyword DEFAULT."""
    lines = []
    for row in rows:
        cells = [row[index].sql if index in row else "DEFAULT" for index in columns]
        lines.append(f"({', '.join(cells)})")
    return f"{_into(verb, state, columns if listed else None)} VALUES {', '.join(lines)}"


def select_sql(verb: str, state: TableState, columns: Sequence[int] | None, select: str) -> str:
    """INSERT or REPLACE of a SELECT's rows; without ``columns`` it names none."""
    return f"{_into(verb, state, columns)} {select}"


def _into(verb: str, state: TableState, columns: Sequence[int] | None) -> str:
    if columns is None:
        return f"{verb} INTO {table_sql(state.table)}"
    names = ", ".join(identifier(state.columns[index].name) for index in columns)
    return f"{verb} INTO {table_sql(state.table)} ({names})"


def duplicate_sql(state: TableState, updates: Mapping[int, str | int]) -> str:
    """`` ON DUPLICATE KEY UPDATE ...`` of SQL texts by column; a number is a column of the new row; "" without any."""
    if not updates:
        return ""
    parts = []
    for index, source in updates.items():
        value = f"VALUES({identifier(state.columns[source].name)})" if isinstance(source, int) else source
        parts.append(assignment(state.columns[index], value))
    return f" ON DUPLICATE KEY UPDATE {', '.join(parts)}"


def update_sql(state: TableState, assignments: Sequence[str], where: str, affected: int) -> str:
    table = table_sql(state.table)
    hint = ""
    if _needs_no_index(state, affected):
        hint = _no_index_hint(state)
        table += "" if hint else _ignored_indexes(state)
    return f"UPDATE {hint}{table} SET {', '.join(assignments)}{where}{_order(state, affected)}"


def delete_sql(state: TableState, where: str, affected: int) -> str:
    table = table_sql(state.table)
    if not _needs_no_index(state, affected):
        return f"DELETE FROM {table}{where}{_order(state, affected)}"
    hint = _no_index_hint(state)
    if hint:
        return f"DELETE {hint}FROM {table}{where}"
    # Only the form for several tables takes index hints.
    return f"DELETE {table} FROM {table}{_ignored_indexes(state)}{where}"


def _needs_no_index(state: TableState, affected: int) -> bool:
    """Rows without a clustering key come in the order of insertion as long as no index is read."""
    if affected > 1 and state.clustering is None and state.is_shuffled and not is_transactional(state.table):
        raise UnsupportedError(
            f"{state.name} has no key, and new rows in the place of old ones: the order of rows of a"
            f" {state.table.engine} table is unknown then",
            expected="statements on one row, or a primary key",
        )
    return affected > 1 and state.clustering is None and bool(state.table.keys)


def _no_index_hint(state: TableState) -> str:
    """The optimizer hint; nothing where the server knows none."""
    if not server_line(state.definition.server).texts.index_hints:
        return ""
    return f"/*+ NO_INDEX({identifier(state.table.name)}) */ "


def _ignored_indexes(state: TableState) -> str:
    return f" IGNORE INDEX ({', '.join(identifier(key.name) for key in state.table.keys)})"


def _order(state: TableState, affected: int) -> str:
    """The ORDER BY that makes a server change several rows in our order."""
    if affected < 2 or state.clustering is None:
        return ""
    parts = []
    for part in state.clustering.parts:
        column = state.columns[part.column]
        name = identifier(column.name)
        parts.append(f"CAST({name} AS BINARY)" if column.type_facts.is_text else name)
    return f" ORDER BY {', '.join(parts)}"


def assignment(column: ColumnDefinition, literal: str) -> str:
    return f"{identifier(column.name)} = {literal}"


def case_assignment(state: TableState, index: int, before: Sequence[Row], values: Sequence[Value | None]) -> str:
    """An assignment that gives each of several rows its own value, chosen by the clustering key."""
    column = state.columns[index]
    assert state.clustering is not None
    branches = []
    for row, value in zip(before, values, strict=True):
        tests = [_exactly(state.columns[part.column], row[part.column]) for part in state.clustering.parts]
        branches.append(f"WHEN {' AND '.join(tests)} THEN {_case_value(column, value)}")
    return f"{identifier(column.name)} = CASE {' '.join(branches)} END"


def _exactly(column: ColumnDefinition, value: Value | None) -> str:
    """A comparison that only this key value meets; key values differ under their collation."""
    return f"{identifier(column.name)} = {comparison_sql(column, value)}"


def _case_value(column: ColumnDefinition, value: Value | None) -> str:
    """A literal of one type in all branches: a CASE that mixes types would convert some of them."""
    if value is not None and column.type_facts.has_members:
        return str(value)
    text = value_sql(column, value)
    return f"CAST({text} AS JSON)" if column.type_facts.is_json and text.startswith("'") else text
