"""Which statements are logged as their texts: binlog_format, and what MIXED takes for unsafe.

Recorded on MySQL 9.7, MariaDB 10.11 and 11.8 (docs/servers/statement-format.md).
"""

from __future__ import annotations

from forge.plan.session import Session
from forge.plan.statements import RowsStatement
from forge.plan.tables import is_transactional
from forge.plan.written_columns import written_columns
from forge.servers import ServerLine

#: Functions whose result differs where the statement is run again (recorded on all three in MIXED).
UNSAFE_FUNCTIONS = frozenset((
    "CURRENT_USER", "FOUND_ROWS", "GET_LOCK", "IS_FREE_LOCK", "IS_USED_LOCK", "LOAD_FILE",
    "MASTER_POS_WAIT", "RANDOM_BYTES", "RELEASE_ALL_LOCKS", "RELEASE_LOCK", "ROW_COUNT", "SESSION_USER", "SLEEP",
    "SOURCE_POS_WAIT", "SYSDATE", "SYSTEM_USER", "USER", "UUID", "UUID_SHORT", "VERSION",
))  # fmt: skip
#: System variables whose value travels with the statement; all others are unsafe (recorded).
SAFE_VARIABLES = frozenset((
    "auto_increment_increment", "auto_increment_offset", "character_set_client", "character_set_connection",
    "character_set_database", "character_set_server", "collation_connection", "collation_database",
    "collation_server", "foreign_key_checks", "identity", "last_insert_id", "lc_time_names", "pseudo_thread_id",
    "rand_seed1", "rand_seed2", "sql_auto_is_null", "time_zone", "timestamp", "unique_checks",
))  # fmt: skip


def logs_temporary(session: Session, line: ServerLine) -> bool:
    """Whether statements on temporary tables are logged, as their texts."""
    return session.binlog_format == "statement" or (
        session.binlog_format == "mixed" and line.texts.mixed_logs_temporary
    )


def is_text(statement: RowsStatement, session: Session, line: ServerLine) -> bool:
    """Whether the statement is logged as its text."""
    if session.binlog_format == "row":
        return False
    if statement.text.load is not None and not statement.text.load.content:
        # An empty file changes nothing, and is not sent.
        return False
    if statement.touches_temporary and not logs_temporary(session, line):
        return False
    return session.binlog_format == "statement" or not needs_rows(statement, line)


def needs_rows(statement: RowsStatement, line: ServerLine) -> bool:
    """Whether MIXED logs the statement's rows."""
    return is_unsafe(statement, line) or _several_keys(statement, line)


def is_unsafe(statement: RowsStatement, line: ServerLine) -> bool:
    """Whether the statement may have another effect where it is run again, so that MIXED logs its rows."""
    text, context = statement.text, statement.context
    unsafe = UNSAFE_FUNCTIONS | frozenset(line.texts.unsafe_functions)
    if any(call.name in unsafe for call in text.calls | statement.triggers.calls):
        return True
    if not text.system_variables <= SAFE_VARIABLES or (context.in_xa and line.texts.unsafe_xa):
        return True
    if context.follows_changes and not is_transactional(statement.table) and not statement.table.temporary:
        # It stays where the rest is rolled back, and would come too late in the transaction's place.
        return True
    numbered = any(column.auto_increment for column in statement.table.columns)
    if numbered and statement.opened.reads_others:
        return True
    # Which rows come first may differ.
    clauses = text.clauses
    selects = clauses.selects and ((numbered and clauses.reads_tables) or clauses.ignores or text.updates is not None)
    ignores = clauses.ignores and statement.kind == "update"
    return clauses.limits or text.load is not None or selects or ignores


def marks_late(statement: RowsStatement, session: Session, line: ServerLine) -> bool:
    """Whether MIXED found only when columns were marked already that it logs the statement's rows."""
    if session.binlog_format != "mixed" or line.rows.duplicate_check != "late":
        return False
    return _several_keys(statement, line) and not is_unsafe(statement, line)


def _several_keys(statement: RowsStatement, line: ServerLine) -> bool:
    """Whether ON DUPLICATE KEY UPDATE has several keys, of which another one may find the row when it is run again."""
    if statement.text.updates is None or line.rows.duplicate_check == "never":
        return False
    keys = [key for key in statement.table.keys if key.kind != "index"]
    if line.rows.duplicate_check == "late":
        written = written_columns(statement, line)
        keys = [key for key in keys if all(part.column in written for part in key.parts)]
    return len(keys) > 1
