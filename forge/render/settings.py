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
#: Settings that SET NAMES has, and that are set with it.
_CHARSETS = ("character_set_client", "character_set_results", "character_set_connection", "collation_connection")


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
    for name in _CHARSETS:
        value = getattr(session, name)
        sql += "" if value is None else f", {name} = {value}"
    return sql


def _number(
    field: str,
    *,
    of: str | None = None,
    scope: str = "SESSION",
    is_there: Callable[[ServerLine], bool] = lambda line: True,
) -> _Setting:
    """A number or a flag; the variable has the name ``of``, else that of the field."""
    return _Setting(
        (field,), lambda session, line: f"SET {scope} {of or field} = {int(getattr(session, field))}", is_there=is_there
    )


def _value(field: str, form: str, *, of: str | None = None, always: bool = False) -> _Setting:
    """A word, in the quotes of ``form``."""

    def sql(session: Session, line: ServerLine) -> str:
        return f"SET SESSION {of or field} = {form.format(getattr(session, field) or '')}"

    return _Setting((field,), sql, always)


def _or_default(field: str, scope: str = "SESSION") -> _Setting:
    return _Setting((field,), lambda session, line: f"SET {scope} {field} = {getattr(session, field) or 'DEFAULT'}")


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
    _or_default("default_collation_for_utf8mb4"),
    _Setting(("names", *_CHARSETS), _names, always=True),
    _Setting(("sql_mode",), _sql_mode),
    _value("time_zone", "'{}'", always=True),
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
    _value("row_value_options", "'{}'", of="binlog_row_value_options"),
    _Setting(
        ("binlog_format",), lambda session, line: f"SET SESSION binlog_format = '{session.binlog_format.upper()}'"
    ),
    _Setting(("gtid_tag",), _gtid_next),
    _number("gtid_domain_id"),
    _Setting(("compression", "compression_level"), _compression),
    _number("generate_invisible_primary_key", of="sql_generate_invisible_primary_key"),
    _number("sql_require_primary_key"),
    _number("default_table_encryption"),
    _number(
        "explicit_defaults_for_timestamp",
        is_there=lambda line: line.query.explicit_timestamps_set_by == "session",
    ),
    _value("default_storage_engine", "{}"),
    _number("binlog_alter_two_phase"),
    _number("check_constraint_checks"),
    _number("foreign_key_checks"),
    _Setting(("auto_increment_increment", "auto_increment_offset"), _numbers),
    _value("lc_time_names", "'{}'"),
    _number("unique_checks"),
    _number("sql_auto_is_null"),
    _number("skip_replication"),
    _number("skip_parallel_replication"),
    _or_default("character_set_server"),
    _or_default("collation_server"),
    _or_default("collation_database"),
    _Setting(("timestamp",), _timestamp),
)
#: Settings that a new session has from the server's options, and that change later with SET.
_LATER = (
    _number("server_id"),
    _Setting(("row_metadata",), _metadata),
    _number("log_bin_compress", scope="GLOBAL"),
    _number("log_bin_use_v1_row_events", scope="GLOBAL"),
    _or_default("binlog_transaction_dependency_tracking", "GLOBAL"),
    _number("log_bin_compress_min_len", scope="GLOBAL"),
)
