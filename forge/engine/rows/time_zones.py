"""What a session in another time zone than UTC does not compute: anything from a TIMESTAMP, which is stored in UTC."""

from __future__ import annotations

from collections.abc import Collection

from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.table_state import TableState
from forge.errors import UnsupportedError


def zone_refusal(column: ColumnDefinition, what: str) -> UnsupportedError:
    """The error for the use of a TIMESTAMP, ``what``, that depends on the session's time zone."""
    return UnsupportedError(
        f"{what} TIMESTAMP column {column.name!r} in a time zone other than UTC is not supported yet",
        expected="time_zone +00:00 or SYSTEM",
    )


def check_reads(columns: Collection[ColumnDefinition], offset: int) -> None:
    """Raises UnsupportedError for an expression with these columns in it, ``offset`` minutes ahead of UTC."""
    for column in columns:
        if offset and column.is_timestamp:
            raise zone_refusal(column, "an expression with")


def check_expressions(state: TableState, offset: int) -> None:
    """The same for the table's generated columns, keys and CHECK constraints."""
    if not offset:
        return
    used: set[str] = set()
    for column in state.columns:
        if column.generated is not None:
            used |= {column.name.lower(), *column.column.uses}
    for part in (part for key in state.table.keys for part in key.parts):
        used |= part.expression.uses if part.expression is not None else frozenset()
    for _, holds in state.checks:
        used |= {name.lower() for name in holds.expression.columns()}
    check_reads([column for column in state.columns if column.name.lower() in used], offset)
