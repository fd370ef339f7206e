"""Settings of a session as SQL: those that it begins with, and those that it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from forge.plan.clock import parse_timestamp
from forge.plan.collations import names_collation
from forge.plan.session import Session, on_line
from forge.servers import ServerLine

#: The setting that asks for the event with a statement's text.
QUERY_SETTINGS = {"rows_query": "binlog_rows_query_log_events", "annotate_rows": "binlog_annotate_row_events"}


@dataclass(frozen=True, slots=True)
class _Setting:
    """A statement that sets ``fields``; ``always``: also where a new session has the values by itself.

    It is sent to servers that ``is_there`` is true of.
    """

    fields: tuple[str, ...]
    sql: Callable[[Session, ServerLine], str]
    always: bool = False
    is_there: Callable[[ServerLine], bool] = lambda line: True


def setting_statements(session: Session, before: Session | None, line: ServerLine) -> tuple[str, ...]:
    """The statements that change the settings from ``before`` (None: those of a new session) to these."""
    return tuple(_statements(session, before, line))


def _statements(session: Session, before: Session | None, line: ServerLine) -> Iterator[str]:
    old = on_line(Session(), line) if before is None else before
    for setting in (*_SETTINGS, *(() if before is None else _LATER)):
        changes = any(getattr(session, name) != getattr(old, name) for name in setting.fields)
        if (changes or (setting.always and before is None)) and setting.is_there(line):
            yield setting.sql(session, line)


def seconds(moment: tuple[int, int], line: ServerLine) -> str:
    """(second, microsecond) as SET timestamp takes it."""
    second, microsecond = moment
    return f"{second}.{microsecond:06}" if line.knows("fractional_seconds") else str(second)


def _names(session: Session, line: ServerLine) -> str:
    named = names_collation(session, line)
    if named is None:
        is_usual = session.default_collation_for_utf8mb4 is None
        sql = "SET NAMES utf8mb4" + ("" if is_usual else " COLLATE utf8mb4_0900_ai_ci")
    else:
        sql = f"SET NAMES {named.charset}" + (f" COLLATE {named.name}" if "_" in (session.names or "") else "")
    for name in ("character_set_client", "character_set_results", "character_set_connection", "collation_connection"):
        value = getattr(session, name)
        sql += "" if value is None else f", {name} = {value}"
    return sql


def _flag(
    name: str, field: str, scope: str = "SESSION", is_there: Callable[[ServerLine], bool] = lambda line: True
) -> _Setting:
    return _Setting(
        (field,), lambda session, line: f"SET {scope} {name} = {int(getattr(session, field))}", is_there=is_there
    )


def _collation(field: str) -> _Setting:
    return _Setting((field,), lambda session, line: f"SET SESSION {field} = {getattr(session, field) or 'DEFAULT'}")


def _sql_mode(session: Session, line: ServerLine) -> str:
    return f"SET SESSION sql_mode = {'DEFAULT' if session.sql_mode is None else repr(session.sql_mode)}"


def _metadata(session: Session, line: ServerLine) -> str:
    word = "NO_LOG" if session.row_metadata == "none" else session.row_metadata.upper()
    return f"SET GLOBAL binlog_row_metadata = {word}"


def _gtid_next(session: Session, line: ServerLine) -> str:
    return f"SET SESSION gtid_next = 'AUTOMATIC{':' if session.gtid_tag else ''}{session.gtid_tag or ''}'"


def _compression(session: Session, line: ServerLine) -> str:
    level = f", binlog_transaction_compression_level_zstd = {session.compression_level}"
    return f"SET SESSION binlog_transaction_compression = {int(session.compression)}{level}"


def _numbers(session: Session, line: ServerLine) -> str:
    increment, offset = session.auto_increment_increment, session.auto_increment_offset
    return f"SET SESSION auto_increment_increment = {increment}, auto_increment_offset = {offset}"


def _timestamp(session: Session, line: ServerLine) -> str:
    moment = None if session.timestamp is None else seconds(parse_timestamp(session.timestamp), line)
    return f"SET timestamp = {moment or 'DEFAULT'}"


#: In the order in which they are sent.
_SETTINGS = (
    _collation("default_collation_for_utf8mb4"),
    _Setting(
        (
            "names",
            "character_set_client",
            "character_set_results",
            "character_set_connection",
            "collation_connection",
        ),
        _names,
        always=True,
    ),
    _Setting(("sql_mode",), _sql_mode),
    _Setting(("time_zone",), lambda session, line: f"SET SESSION time_zone = '{session.time_zone}'", always=True),
    _Setting(
        ("row_image",),
        lambda session, line: f"SET SESSION binlog_row_image = {session.row_image.upper()}",
        always=True,
        is_there=lambda line: line.knows("row_images"),
    ),
    _Setting(
        ("rows_query",),
        lambda session, line: f"SET SESSION {QUERY_SETTINGS[line.rows.query_event]} = {int(session.rows_query)}",
        always=True,
        is_there=lambda line: line.knows(line.rows.query_event),
    ),
    _Setting(
        ("row_value_options",),
        lambda session, line: f"SET SESSION binlog_row_value_options = '{session.row_value_options or ''}'",
    ),
    _Setting(
        ("binlog_format",), lambda session, line: f"SET SESSION binlog_format = '{session.binlog_format.upper()}'"
    ),
    _Setting(("gtid_tag",), _gtid_next),
    _Setting(("gtid_domain_id",), lambda session, line: f"SET SESSION gtid_domain_id = {session.gtid_domain_id}"),
    _Setting(("compression", "compression_level"), _compression),
    _flag("sql_generate_invisible_primary_key", "generate_invisible_primary_key"),
    _flag("sql_require_primary_key", "sql_require_primary_key"),
    _flag("default_table_encryption", "default_table_encryption"),
    _flag(
        "explicit_defaults_for_timestamp",
        "explicit_defaults_for_timestamp",
        is_there=lambda line: line.query.explicit_timestamps_set_by == "session",
    ),
    _Setting(
        ("default_storage_engine",),
        lambda session, line: f"SET SESSION default_storage_engine = {session.default_storage_engine}",
    ),
    _flag("binlog_alter_two_phase", "binlog_alter_two_phase"),
    _flag("check_constraint_checks", "check_constraint_checks"),
    _flag("foreign_key_checks", "foreign_key_checks"),
    _Setting(("auto_increment_increment", "auto_increment_offset"), _numbers),
    _Setting(("lc_time_names",), lambda session, line: f"SET SESSION lc_time_names = '{session.lc_time_names}'"),
    _flag("unique_checks", "unique_checks"),
    _flag("sql_auto_is_null", "sql_auto_is_null"),
    _flag("skip_replication", "skip_replication"),
    _flag("skip_parallel_replication", "skip_parallel_replication"),
    _collation("character_set_server"),
    _collation("collation_server"),
    _collation("collation_database"),
    _Setting(("timestamp",), _timestamp),
)
#: Settings that a new session has from the server's options, and that change later with SET.
_LATER = (
    _Setting(("server_id",), lambda session, line: f"SET SESSION server_id = {session.server_id}"),
    _Setting(("row_metadata",), _metadata),
    _flag("log_bin_compress", "log_bin_compress", "GLOBAL"),
    _flag("log_bin_use_v1_row_events", "log_bin_use_v1_row_events", "GLOBAL"),
    _Setting(
        ("binlog_transaction_dependency_tracking",),
        lambda session, line: (
            "SET GLOBAL binlog_transaction_dependency_tracking ="
            f" {session.binlog_transaction_dependency_tracking or 'DEFAULT'}"
        ),
    ),
    _Setting(
        ("log_bin_compress_min_len",),
        lambda session, line: f"SET GLOBAL log_bin_compress_min_len = {session.log_bin_compress_min_len}",
    ),
)
