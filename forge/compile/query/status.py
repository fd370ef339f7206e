"""Status variables of QUERY events: what each of a session has, and what rows add to BEGIN and COMMIT around them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from forge.charsets import collation
from forge.compile.query.clock_calls import calls_use_fraction, calls_use_zone
from forge.compile.row_images import image_columns
from forge.events.status_vars import WRITING_ORDER, StatusVariables
from forge.plan.changes import EvaluatedRow, Origin
from forge.plan.collations import connection_charset
from forge.plan.session import Session
from forge.plan.sql_modes import sql_mode
from forge.plan.statements import RowsStatement
from forge.plan.tables import TableColumn
from forge.servers import ServerLine, locale_names
from forge.servers.features import features
from forge.values.registry import column_types

THREAD_SPECIFIC = 0x0004
NO_FOREIGN_KEY_CHECKS = 0x04000000
RELAXED_UNIQUE_CHECKS = 0x08000000
AUTO_IS_NULL = 0x00004000
EXPLICIT_DEFAULTS_FOR_TIMESTAMP = 0x01000000
NO_CHECK_CONSTRAINT_CHECKS = 0x00008000

#: UPDATED_DB_NAMES lists no more databases than this; a count of 254 stands for more.
MAX_DATABASES = 16
OVER_MAX_DATABASES = 254

#: Types whose values are moments.
ZONED = frozenset(name for name, known in column_types().items() if known.facts.is_moment)
TIMESTAMPS = frozenset(("TIMESTAMP",))


def session_variables(session: Session, line: ServerLine) -> dict[str, Any]:
    """What every QUERY event of the session has."""
    flags2 = line.query.flags2
    flags2 |= 0 if session.foreign_key_checks else NO_FOREIGN_KEY_CHECKS
    flags2 |= 0 if session.unique_checks else RELAXED_UNIQUE_CHECKS
    flags2 |= AUTO_IS_NULL if session.sql_auto_is_null else 0
    flags2 |= 0 if session.check_constraint_checks else NO_CHECK_CONSTRAINT_CHECKS
    if not session.explicit_defaults_for_timestamp:
        flags2 &= ~EXPLICIT_DEFAULTS_FOR_TIMESTAMP
    variables: dict[str, Any] = {
        "flags2": flags2,
        "sql_mode": line.query.sql_mode if session.sql_mode is None else sql_mode(session.sql_mode, line).bits,
        "catalog": "std",
        "charset": connection_charset(session, line),
    }
    numbers = (session.auto_increment_increment, session.auto_increment_offset)
    if numbers != (1, 1):
        variables["auto_increment"] = numbers
    if session.lc_time_names != "en_US":
        variables["lc_time_names"] = locale_names().index(session.lc_time_names)
    if session.collation_database is not None:
        variables["charset_database"] = collation(session.collation_database, line.name).id
    if line.query.default_collation_for_utf8mb4 is not None:
        named = session.default_collation_for_utf8mb4
        number = line.query.default_collation_for_utf8mb4 if named is None else collation(named, line.name).id
        variables["default_collation_for_utf8mb4"] = number
    return variables


def timestamp_variables(session: Session, line: ServerLine) -> dict[str, int]:
    """What a statement that defines a TIMESTAMP has besides."""
    known = line.knows("explicit_defaults_for_timestamp")
    return {"explicit_defaults_for_timestamp": int(bool(session.explicit_defaults_for_timestamp))} if known else {}


def in_order(variables: dict[str, Any], line: ServerLine) -> StatusVariables:
    """The variables in writing order, without those that the line does not have yet."""
    order = WRITING_ORDER if line.query.variables is None else line.query.variables
    return tuple(
        (name, variables[name]) for name in order if name in variables and (name not in features() or line.knows(name))
    )


def begin_variables(statement: RowsStatement, microsecond: int, session: Session, line: ServerLine) -> StatusVariables:
    """BEGIN carries what the transaction's first statement had needed when it logged its first row."""
    variables = session_variables(session, line)
    first = statement.first or statement
    if first.foreign_keys.cascaded:
        variables["flags2"] |= NO_FOREIGN_KEY_CHECKS
    marks = line.query.table_map_for_update == "all" or statement.text.clauses.several_tables
    if marks and _is_updating(statement, first):
        variables["table_map_for_update"] = statement.opened.update_bits
    if statement.foreign_keys.is_related:
        variables["updated_databases"] = OVER_MAX_DATABASES
    # What the first change's own statement needed, and before it that of the client.
    for part in (statement,) if first is statement or first.foreign_keys.cascaded else (statement, first):
        if uses_time_zone(part, session, line) or _checks_default(part, session, line):
            variables["time_zone"] = session.time_zone
        if evaluates_now(part, fractional=True):
            variables["microseconds"] = microsecond
        calls = part.evaluation.first_calls
        if calls_use_zone(calls, line) or "time_zone" in part.text.system_variables:
            variables["time_zone"] = session.time_zone
        if calls_use_fraction(calls, line):
            variables["microseconds"] = microsecond
    if statement.text.clauses.defines_timestamp:
        variables |= timestamp_variables(session, line)
    return in_order(variables, line)


def _is_updating(statement: RowsStatement, first: RowsStatement) -> bool:
    """Whether the server is at an UPDATE when ``first`` logs its row: everything that a trigger does makes it forget
    that when it is done (recorded on 9.7).
    """
    if first.kind == "update" and not first.foreign_keys.cascaded:
        return first.triggers.before is None
    if statement.kind != "update" or statement.triggers.before is None:
        return statement.kind == "update"
    return not first.foreign_keys.cascaded and statement.triggers.before == "rows"


def uses_time_zone(statement: RowsStatement, session: Session, line: ServerLine) -> bool:
    """Whether the server had asked for the session's time zone when the statement logged its first row.

    Recorded on 9.7: for a DATETIME or TIMESTAMP literal (it may carry an offset), stored or compared; for DEFAULT as
    a keyword on a TIMESTAMP; for CURRENT_TIMESTAMP as the default of a DATETIME (TIMESTAMP stores it unconverted).
    """
    columns = statement.table.columns
    zoned = ZONED if line.values.takes_offsets else TIMESTAMPS
    if statement.table.engine == "CSV" and any(column.type.name == "TIMESTAMP" for column in columns):
        # Rows are written and read as text.
        return bool(statement.changes)
    search = statement.search
    if statement.evaluation.uses_zone:
        return True
    if any(columns[index].type.name in zoned for index in search.compared | search.compared_twice):
        return True
    # DATETIME is compared with several literals at once as numbers are (recorded).
    if any(columns[index].type.name == "TIMESTAMP" for index in search.compared_together):
        return True
    if any(columns[index].type.name in zoned for index in statement.table.partition_columns):
        # Before an INSERT the server looks at the partition of every row (set_used_partition; recorded on 9.7).
        inserted = [change.after for change in statement.changes if change.before is None and change.after is not None]
        for index in statement.table.partition_columns:
            if columns[index].type.name in zoned and any(row[index] is not None for row in inserted):
                return True
    if _casts_for_keys(statement):
        return True
    for row in statement.evaluation.rows:
        for column, value, origin in zip(columns, row.row, row.origins, strict=True):
            if origin == "converted" and value is not None:
                return True
            if column.clock_is_local and takes_now(row, column, origin):
                return True
            if column.type.name not in ZONED or value is None:
                continue
            if origin == "literal" and column.type.name in zoned:
                return True
            if origin == "default" and column.type.name == "TIMESTAMP" and session.explicit_defaults_for_timestamp:
                return True
            if origin == "default" and column.type.name != "TIMESTAMP" and column.default_now:
                return True
            if column.type.name == "DATETIME" and takes_now(row, column, origin):
                return True
    return False


def _casts_for_keys(statement: RowsStatement) -> bool:
    """Whether a key on an expression casts to DATETIME in the first row, or any that an UPDATE changes (recorded)."""
    parts = [part.expression for key in statement.table.keys for part in key.parts if part.expression is not None]
    casts = [part for part in parts if part.casts_to_datetime]
    changes = statement.changes if statement.kind == "update" else statement.changes[:1]
    rows = [row for change in changes if casts for row in (change.before, change.after) if row is not None]
    return any(cast.compute(row) not in (None, ()) for row in rows for cast in casts)


def _checks_default(statement: RowsStatement, session: Session, line: ServerLine) -> bool:
    """Whether an INSERT evaluates the literal default of a TIMESTAMP: where its image leaves the column out
    (recorded on 9.7, MINIMAL; otherwise the default comes from the table's template row)."""
    if statement.kind != "insert":
        return False
    image = image_columns(statement, "insert", session, line)[1]
    return image is not None and any(
        column.type.name == "TIMESTAMP" and column.default is not None and index not in image.columns
        for index, column in enumerate(statement.table.columns)
    )


def mariadb_commit_variables(
    statement: RowsStatement, microsecond: int, session: Session, line: ServerLine
) -> StatusVariables:
    """COMMIT of a statement on a table without transactions, in the statement's own circumstances (recorded)."""
    variables = session_variables(session, line)
    if uses_time_zone(statement, session, line):
        variables["time_zone"] = session.time_zone
    for row in statement.evaluation.rows:
        pairs = zip(statement.table.columns, row.origins, strict=True)
        evaluated = [column for column, origin in pairs if takes_now(row, column, origin)]
        if reads_fraction(evaluated, line, of_default=row.kind != "update"):
            variables["hrnow"] = microsecond
    if calls_use_zone(statement.evaluation.calls, line):
        variables["time_zone"] = session.time_zone
    if calls_use_fraction(statement.evaluation.calls, line):
        variables["hrnow"] = microsecond
    return in_order(variables, line)


def reads_fraction(evaluated: Iterable[TableColumn], line: ServerLine, *, of_default: bool = True) -> bool:
    """Whether MariaDB reads the fraction of the time for CURRENT_TIMESTAMP in these columns.

    The default of a DATETIME, on 11.8 of a TIMESTAMP too, takes it whole, digits or not; ON UPDATE does not (recorded).
    """
    whole = ZONED if line.texts.fraction_of_timestamp_defaults else {"DATETIME"}
    if of_default:
        return any(column.now_digits > 0 or column.type.name in whole for column in evaluated)
    return any(column.type.fsp > 0 for column in evaluated)


def takes_now(row: EvaluatedRow, column: TableColumn, origin: Origin) -> bool:
    """Whether the column got CURRENT_TIMESTAMP without the statement's text giving it a value."""
    if origin == "now":
        return True
    if row.kind == "update":
        return origin == "omitted" and column.on_update_now
    return origin in ("default", "omitted") and column.default_now


def evaluates_now(statement: RowsStatement, *, fractional: bool) -> bool:
    """Whether CURRENT_TIMESTAMP was evaluated by the first row; with ``fractional``, one that has fraction digits."""
    return any(
        takes_now(row, column, origin) and (column.now_digits > 0 or not fractional)
        for row in statement.evaluation.rows
        for column, origin in zip(statement.table.columns, row.origins, strict=True)
    )
