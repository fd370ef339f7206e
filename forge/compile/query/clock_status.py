"""What a statement on rows uses of the clock: the session's time zone, and the fraction of the statement's time.

A plain rule: the functions that its text calls, the moments that it gives columns or compares them with, and the
defaults that it leaves to the server.  Where a server has used more or less, the session's facts say so (``statuses``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forge.plan.changes import RowChange
from forge.plan.session import Session
from forge.plan.statements import RowsStatement
from forge.plan.tables import TableColumn
from forge.servers import ServerLine
from forge.values.registry import column_types

#: Types whose values are moments.
ZONED = frozenset(name for name, known in column_types().items() if known.facts.is_moment)
TIMESTAMPS = frozenset(("TIMESTAMP",))

_UTC = frozenset(("UTC_TIMESTAMP", "UTC_TIME"))
#: Functions that give the statement's time in the session's zone.
_NOW = frozenset(("NOW", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP", "CURTIME", "CURRENT_TIME"))
_LOCAL = _NOW | {"CURDATE", "CURRENT_DATE", "SYSDATE", "FROM_UNIXTIME"}
#: Functions whose result depends on the statement's time.
CLOCK_FUNCTIONS = _NOW | _UTC | {"CURDATE", "CURRENT_DATE", "UTC_DATE", "UNIX_TIMESTAMP"}


def clock_variables(
    statement: RowsStatement, changes: Sequence[RowChange], microsecond: int, session: Session, line: ServerLine
) -> dict[str, Any]:
    """The status variables of the clock when the statement has logged these of its changes."""
    variables: dict[str, Any] = {}
    if _uses_zone(statement, changes, session, line):
        variables["time_zone"] = session.time_zone
    if _reads_fraction(statement, changes, line):
        variables[line.query.fraction_variable] = microsecond
    return variables


def _uses_zone(statement: RowsStatement, changes: Sequence[RowChange], session: Session, line: ServerLine) -> bool:
    text, columns = statement.text, statement.table.columns
    calls = any(call.name in _LOCAL or (call.name == "UNIX_TIMESTAMP" and not call.is_empty) for call in text.calls)
    if calls or "time_zone" in text.system_variables:
        return True
    # A literal may have an offset where servers take one; that of a TIMESTAMP is in the session's zone.
    literals = ZONED if line.values.takes_offsets else TIMESTAMPS
    if any(columns[index].type.name in literals for index in statement.search.compared):
        return True
    named = _named(statement)
    rows = [change.after for change in changes if change.after is not None]
    for index, column in enumerate(columns):
        if index not in named:
            if rows and _omission_uses_zone(column, statement, session, line):
                return True
        elif column.type.name in literals and any(row[index] is not None for row in rows):
            return True
    return False


def _omission_uses_zone(column: TableColumn, statement: RowsStatement, session: Session, line: ServerLine) -> bool:
    """Whether a column that the text does not name gets a value for which the zone is used."""
    if column.type.name == "DATETIME":
        return _is_stamped(column, statement)
    # A row comes with literal defaults, but for MINIMAL images and for statements as texts these are made anew.
    anew = statement.as_text or session.row_image == "minimal"
    converts = statement.kind == "insert" and line.texts.converts_defaults
    return column.type.name == "TIMESTAMP" and column.default is not None and anew and converts


def _reads_fraction(statement: RowsStatement, changes: Sequence[RowChange], line: ServerLine) -> bool:
    every = line.texts.fraction_of_every_clock
    if any(call.name in _NOW | _UTC and (every or call.digits > 0) for call in statement.text.calls):
        return True
    stamped = [
        column
        for index, column in enumerate(statement.table.columns)
        if changes and index not in _named(statement) and _is_stamped(column, statement)
    ]
    whole = {"DATETIME"} if line.texts.fraction_of_datetime_defaults and statement.kind == "insert" else set()
    whole |= TIMESTAMPS if line.texts.fraction_of_timestamp_defaults and statement.kind == "insert" else set()
    return any(column.now_digits > 0 or column.type.name in whole for column in stamped)


def _named(statement: RowsStatement) -> frozenset[int]:
    """The columns that the text gives values."""
    text = statement.text
    assigned = frozenset(range(len(statement.table.columns))) if text.assigned is None else text.assigned
    return frozenset() if statement.kind == "delete" else assigned | (text.updates or frozenset())


def _is_stamped(column: TableColumn, statement: RowsStatement) -> bool:
    """Whether a column that the text does not name gets the statement's time."""
    return column.default_now if statement.kind == "insert" else statement.kind == "update" and column.on_update_now
