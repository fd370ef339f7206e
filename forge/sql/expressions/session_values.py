"""Functions of the session: its clock, database, numbers."""

from __future__ import annotations

from forge.sql.expressions.evaluation import (
    CLOCK,
    FUNCTIONS,
    Function,
    Row,
)
from forge.sql.expressions.operands import (
    Operand,
)

#: What each asks the session for.
_VALUES = {
    "DATABASE": "@@database", "SCHEMA": "@@database", "LAST_INSERT_ID": "@@last_insert_id",
    "CONNECTION_ID": "@@pseudo_thread_id", "USER": "@@user", "SESSION_USER": "@@user", "SYSTEM_USER": "@@user",
    "CURRENT_USER": "@@current_user", "VERSION": "@@version", "ROW_COUNT": "@@row_count", "FOUND_ROWS": "@@found_rows",
}  # fmt: skip
_CLOCKS = (
    "CURDATE", "CURRENT_DATE", "CURTIME", "CURRENT_TIME", "UTC_TIMESTAMP", "UTC_DATE", "UTC_TIME", "FROM_UNIXTIME",
)  # fmt: skip
#: What no definition of a table has.
OF_SESSION = (*CLOCK, *_CLOCKS, *_VALUES)


def _asks(name: str) -> Function:
    def computed(row: Row) -> Operand:
        value = row[name]
        return value or None if name == "@@database" else value

    return Function(computed, 0, 0, "nodes")


FUNCTIONS |= {name: _asks(value) for name, value in _VALUES.items()}
