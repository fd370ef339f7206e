"""The SQL text of statements on rows: what ROWS_QUERY logs, and what replays the scenario on a server.

A ``table`` is written already, as :func:`forge.sql.write.identifiers.qualified` does; columns are names, cells and
values literals of SQL, ``where`` is empty or a clause with a space before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from forge.sql.write.identifiers import identifier


def insert_sql(verb: str, table: str, columns: Sequence[str] | None, rows: Iterable[Sequence[str]]) -> str:
    """INSERT or REPLACE of rows of literals; without ``columns`` it names none."""
    lines = [f"({', '.join(row)})" for row in rows]
    return f"{_into(verb, table, columns)} VALUES {', '.join(lines)}"


def insert_select_sql(verb: str, table: str, columns: Sequence[str] | None, select: str) -> str:
    """INSERT or REPLACE of a SELECT's rows; without ``columns`` it names none."""
    return f"{_into(verb, table, columns)} {select}"


def _into(verb: str, table: str, columns: Sequence[str] | None) -> str:
    names = "" if columns is None else f" ({', '.join(map(identifier, columns))})"
    return f"{verb} INTO {table}{names}"


def duplicate_sql(assignments: Sequence[str]) -> str:
    """`` ON DUPLICATE KEY UPDATE ...``; "" without assignments."""
    return f" ON DUPLICATE KEY UPDATE {', '.join(assignments)}" if assignments else ""


def new_value(column: str) -> str:
    """What ON DUPLICATE KEY UPDATE calls the value of a column in the new row."""
    return f"VALUES({identifier(column)})"


def assignment(column: str, value: str) -> str:
    return f"{identifier(column)} = {value}"


def chosen_value(branches: Sequence[tuple[Sequence[str], str]]) -> str:
    """CASE that gives a row the value behind the conditions which it meets, all of them."""
    cases = [f"WHEN {' AND '.join(conditions)} THEN {value}" for conditions, value in branches]
    return f"CASE {' '.join(cases)} END"


@dataclass(frozen=True, slots=True)
class Access:
    """How a server is made to find the rows of an UPDATE or DELETE, and in which order: by default its own way.

    ``hint`` is an optimizer hint, ``ignored`` are keys for IGNORE INDEX, ``order`` terms for ORDER BY.
    """

    hint: str = ""
    ignored: Sequence[str] = ()
    order: Sequence[str] = ()


def no_index_hint(table: str) -> str:
    """The optimizer hint that no key of the table is read."""
    return f"/*+ NO_INDEX({identifier(table)}) */ "


def update_sql(table: str, assignments: Sequence[str], where: str, access: Access) -> str:
    ignored = _ignored(access)
    return f"UPDATE {access.hint}{table}{ignored} SET {', '.join(assignments)}{where}{_order(access)}"


def delete_sql(table: str, where: str, access: Access) -> str:
    if access.ignored:
        # Only the form for several tables takes index hints.
        return f"DELETE {table} FROM {table}{_ignored(access)}{where}"
    return f"DELETE {access.hint}FROM {table}{where}{_order(access)}"


def _ignored(access: Access) -> str:
    return f" IGNORE INDEX ({', '.join(map(identifier, access.ignored))})" if access.ignored else ""


def _order(access: Access) -> str:
    return f" ORDER BY {', '.join(access.order)}" if access.order else ""
