"""Rows that a REPLACE finds as they should be."""

from __future__ import annotations

from forge.engine.dictionary.table_state import TableState
from forge.errors import UnsupportedError


def check_same(state: TableState) -> None:
    """Raises UnsupportedError where servers may log an update that changes nothing.

    MyISAM and Aria compare two rows as they lie in memory, with what else was read to where a VARCHAR ends (recorded on
    MariaDB 10.11); MEMORY does not compare them (recorded on MySQL 9.7).
    """
    has_rest = any(column.type.name == "VARCHAR" for column in state.columns)
    if state.table.engine == "MEMORY" or (state.table.engine in ("MyISAM", "Aria") and has_rest):
        raise UnsupportedError(
            f"REPLACE of a row by its like in the {state.table.engine} table {state.name} is not supported yet",
            expected="a row that differs",
        )
