"""Whether a statement that is logged as its text has used the session's time zone, and the fraction of its time.

Unlike BEGIN in row format (forge.compile.query.status), which knows the first row only, such a statement is logged
at its end: all rows count.  Recorded on MySQL 9.7, MariaDB 10.11 and 11.8.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from forge.compile.query.clock_calls import CLOCK_FUNCTIONS, calls_use_fraction, calls_use_zone
from forge.compile.query.status import TIMESTAMPS, ZONED
from forge.plan.changes import Origin
from forge.plan.definitions import DdlStatement, ObjectDefinition, TableAlteration, TableUpkeep
from forge.plan.statements import RowsStatement
from forge.plan.tables import TableColumn
from forge.servers import ServerLine


def uses_zone(statement: RowsStatement, line: ServerLine) -> bool:
    """Whether TIME_ZONE is logged with the statement's text."""
    calls_ask = calls_use_zone(statement.evaluated_calls, line) or "time_zone" in statement.text.system_variables
    if calls_ask or any("converted" in origins for origins in statement.evaluation.origins):
        return True
    if statement.evaluation.uses_zone:
        return True
    compared = ZONED if line.values.takes_offsets else TIMESTAMPS
    columns = statement.table.columns
    # Several literals at once are converted in the first row that they are compared in.
    search = statement.search
    read = search.compared & search.reached if line.texts.compares_lazily else search.compared
    if line.texts.compares_range_literals:
        read |= search.compared_twice
    if any(columns[index].type.name in compared for index in read):
        return True
    if any(columns[index].type.name == "TIMESTAMP" for index in search.compared_together & search.reached):
        return True
    # Rows take a default that is left out from the table's template row.
    omits = statement.as_text
    return any(_needs_zone(use, line, omits=omits) for use in _uses(statement, line))


def evaluates_fraction(statement: RowsStatement, line: ServerLine) -> bool:
    """Whether MICROSECONDS (MariaDB: HRNOW) is logged with the statement's text."""
    if calls_use_fraction(statement.evaluated_calls, line):
        return True
    for use in _uses(statement, line):
        if not (use.now or use.stamped):
            continue
        if (use.column.now_digits if use.now else use.column.type.fsp) > 0:
            return True
        if use.now and not use.column.clock_is_local and _reads_whole_time(use.column, line):
            return True
    return False


def _reads_whole_time(column: TableColumn, line: ServerLine) -> bool:
    """Whether DEFAULT CURRENT_TIMESTAMP of a column reads the fraction, digits or not."""
    if column.type.name == "DATETIME":
        return line.texts.fraction_of_datetime_defaults
    return line.texts.fraction_of_timestamp_defaults


def asks_for_time(statement: RowsStatement | DdlStatement) -> bool:
    """Whether the rows that the statement leaves may hold its time, so that a replay has to set it."""
    if isinstance(statement, DdlStatement):
        # Changing a table in place evaluates the defaults of all its columns; making one does not.
        changes = isinstance(statement, TableAlteration | ObjectDefinition | TableUpkeep)
        columns = [column for table in statement.tables for column in table.columns] if changes else []
        asks = isinstance(statement, ObjectDefinition) and statement.fraction
        versions = isinstance(statement, TableAlteration) and statement.adds_versions
        return asks or versions or any(map(_takes_time, columns))
    if any(call.name in CLOCK_FUNCTIONS for call in statement.text.calls | statement.triggers.calls):
        return True
    if any("now" in origins for origins in statement.evaluation.origins):
        return True
    if statement.table.row_end is not None:
        return True
    return statement.kind != "delete" and any(map(_takes_time, statement.table.columns))


def _takes_time(column: TableColumn) -> bool:
    return column.default_now or column.on_update_now


@dataclass(frozen=True, slots=True)
class _Use:
    """What the statement put into a column: ``now`` is DEFAULT CURRENT_TIMESTAMP, ``stamped`` ON UPDATE or NULL."""

    column: TableColumn
    origins: frozenset[Origin]
    now: bool
    stamped: bool


def _uses(statement: RowsStatement, line: ServerLine) -> Iterator[_Use]:
    """The uses of columns that hold moments."""
    # MariaDB stamps a row before it knows whether anything else changes.
    rows = statement.search.matched if line.texts.stamps_found_rows else len(statement.changes)
    update = statement.kind == "update"
    updates = rows > 0 if update else statement.evaluation.duplicate == "updated"
    sources = statement.evaluation.origins
    for index, column in enumerate(statement.table.columns):
        if column.type.name not in ZONED and not column.clock_is_local:
            continue
        origins = sources[index] if index < len(sources) else frozenset()
        named = index in ((statement.text.assigned if update else statement.text.updates) or ())
        yield _Use(
            column=column,
            origins=origins,
            now=not update and column.default_now and bool(origins & {"default", "omitted"}),
            stamped="now" in origins or (updates and column.on_update_now and not named),
        )


def _needs_zone(use: _Use, line: ServerLine, *, omits: bool) -> bool:
    if use.now and use.column.clock_is_local:
        return True
    if use.column.type.name not in ZONED:
        return False
    if use.column.type.name == "DATETIME":
        # The time is stored as the zone shows it; a literal may have an offset.
        return use.now or use.stamped or ("literal" in use.origins and line.values.takes_offsets)
    if not line.texts.converts_defaults:
        return "literal" in use.origins
    return bool(use.origins & {"literal", "default"}) or (omits and "omitted" in use.origins and use.column.has_default)
