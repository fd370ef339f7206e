"""Settings of a session that no server takes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from forge.engine.dictionary.engines import engine_named
from forge.errors import ScenarioError, UnsupportedError, nearest
from forge.located import Path
from forge.plan.collations import wrong_collations
from forge.plan.session import Session
from forge.plan.sql_modes import sql_mode
from forge.plan.time_zones import offset_of
from forge.servers import ServerLine, locale_names

LARGEST_ID = (1 << 32) - 1
#: Lowest and highest values (sys_vars.cc, MAX_LOG_UNIQUE_FN_EXT; max_binlog_size is only rounded up to 4096).
BOUNDS = {
    "gtid_domain_id": (0, (1 << 32) - 1),
    "dependency_history": (1, 10_000_000),
    "auto_increment_increment": (1, 65535),
    "auto_increment_offset": (1, 65535),
    "first_file": (1, (1 << 31) - 1),
    "max_binlog_size": (1, 1 << 30),
    "binlog_row_event_max_size": (256, (1 << 32) - 1),
    "compression_level": (1, 22),
    "log_bin_compress_min_len": (10, 1024),
}
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_IGNORED: Path = ("session", "replicate_ignore_table")
#: A server cuts an extension off, and takes what stands before a slash as a folder.
LOG_NAME = re.compile(r"[^./\\\s\0]{1,200}\Z")


def wrong_settings(session: Session, line: ServerLine) -> Iterator[tuple[Path, ScenarioError]]:
    """Each setting that cannot be, with its place in the scenario."""
    bounds = BOUNDS | {"server_id": (line.framing.lowest_server_id, LARGEST_ID)}
    for name, (lowest, highest) in bounds.items():
        value = getattr(session, name)
        if value is not None and not lowest <= value <= highest:
            yield ("session", name), ScenarioError(f"{name} is {value}", expected=f"{lowest} to {highest}")
    for name, error in wrong_collations(session, line):
        yield ("session", name), error
    try:
        sql_mode(session.sql_mode, line)
    except ScenarioError as error:
        yield ("session", "sql_mode"), error
    try:
        offset_of(session.time_zone, line)
    except ScenarioError as error:
        yield ("session", "time_zone"), error
    try:
        engine_named(session.default_storage_engine, line)
    except ScenarioError as error:
        yield ("session", "default_storage_engine"), error
    if session.lc_time_names not in locale_names():
        suggestion = nearest(session.lc_time_names, locale_names())
        yield (
            ("session", "lc_time_names"),
            ScenarioError(
                f"{session.lc_time_names!r} is not a locale", expected="a name such as de_DE", suggestion=suggestion
            ),
        )
    if 1 < session.auto_increment_increment < session.auto_increment_offset:
        yield (
            ("session", "auto_increment_offset"),
            UnsupportedError(
                "an auto_increment_offset greater than auto_increment_increment is not supported:"
                " servers differ in what they do"
            ),
        )
    if not 1 <= session.payload.frames <= 1000:
        yield (
            ("session", "payload", "frames"),
            ScenarioError(f"payload.frames is {session.payload.frames}", expected="1 to 1000"),
        )
    relay = session.relay_log
    if relay is not None and (relay.server_id == session.server_id or not 1 <= relay.server_id <= LARGEST_ID):
        yield (
            ("session", "relay_log", "server_id"),
            ScenarioError(
                f"server_id of the replica is {relay.server_id}", expected=f"1 to {LARGEST_ID}, not the source's own"
            ),
        )
    lowest, highest = BOUNDS["max_binlog_size"]
    if relay is not None and relay.max_size is not None and not lowest <= relay.max_size <= highest:
        yield (
            ("session", "relay_log", "max_size"),
            ScenarioError(f"relay_log.max_size is {relay.max_size}", expected=f"{lowest} to {highest}"),
        )
    yield from _wrong_tracking(session, line)
    if session.binlog_legacy_event_pos and line.framing.cached_positions:
        problem = f"{line.name} writes all positions anyway"
        yield ("session", "binlog_legacy_event_pos"), ScenarioError(problem, expected="MariaDB 11.4 or later")
    yield from _wrong_source(session, line)
    names: list[tuple[Path, str]] = [(("session", "log_name"), session.log_name)]
    if relay is not None:
        names.append((("session", "relay_log", "name"), relay.name))
    for path, name in names:
        if not LOG_NAME.match(name):
            yield (
                path,
                ScenarioError(
                    f"{name!r} is not a name of a log", expected="letters and digits, without a dot or a slash"
                ),
            )


def _wrong_tracking(session: Session, line: ServerLine) -> Iterator[tuple[Path, ScenarioError]]:
    """What is wrong with the settings for last_committed and for the version of row events."""
    tracking = session.binlog_transaction_dependency_tracking
    by_keys = line.groups.dependency_tracking == "writeset" or tracking not in (None, "COMMIT_ORDER")
    if session.dependency_history is not None and not by_keys:
        problem = f"{line.name} does not track what depends on what by writesets"
        yield ("session", "dependency_history"), ScenarioError(problem, expected="no dependency_history")
    extraction = session.transaction_write_set_extraction or ("XXHASH64" if line.groups.gathers_keys else "OFF")
    if extraction == "OFF" and tracking not in (None, "COMMIT_ORDER"):
        problem = f"{line.name} gathers no written keys with transaction_write_set_extraction OFF (error 3231)"
        yield (
            ("session", "binlog_transaction_dependency_tracking"),
            ScenarioError(problem, expected="transaction_write_set_extraction: XXHASH64"),
        )
    if session.log_bin_use_v1_row_events and session.row_value_options is not None:
        problem = "PARTIAL_UPDATE_ROWS of MySQL 8.0 with log_bin_use_v1_row_events cannot be read"
        yield ("session", "row_value_options"), UnsupportedError(problem, expected="one of the two settings")


def _wrong_source(session: Session, line: ServerLine) -> Iterator[tuple[Path, ScenarioError]]:
    """What is wrong with the source of a replica."""
    source, path = session.source, ("session", "source")
    if session.replicate_ignore_table and not (session.gtid and line.knows("commit_timestamps")):
        yield _IGNORED, UnsupportedError("replicate_ignore_table is supported on MySQL with GTIDs only")
    if source is None:
        return
    if source.server_id == session.server_id or not 1 <= source.server_id <= LARGEST_ID:
        problem = f"server_id of the source is {source.server_id}"
        yield (*path, "server_id"), ScenarioError(problem, expected=f"1 to {LARGEST_ID}, not the replica's own")
    if not (line.knows("commit_timestamps") or line.knows("mariadb_gtid")):
        yield path, UnsupportedError(f"binary logs of replicas of {line.name} are not supported yet")
    if session.relay_log is not None:
        yield path, UnsupportedError("the relay log of a replica's replica is not supported yet")
    if source.uuid is not None and not UUID.match(source.uuid):
        yield (
            (*path, "uuid"),
            ScenarioError(f"{source.uuid!r} is not a UUID", expected="8-4-4-4-12 hexadecimal digits"),
        )


def check_selects(session: Session, line: ServerLine) -> None:
    """Raises UnsupportedError for sessions in which CREATE TABLE ... SELECT is logged otherwise than is known here."""
    if not line.ddl.create_select:
        raise UnsupportedError(f"CREATE TABLE ... SELECT on {line.name} is not supported yet")
    if session.gtid and line.groups.enforces_gtid_consistency and not line.knows("atomic_create_select"):
        raise ScenarioError(
            "enforce_gtid_consistency forbids CREATE TABLE ... SELECT (error 1786)", expected="gtid: false"
        )
    odd = (
        ("sql_mode", session.sql_mode is not None),
        ("auto_increment_increment", session.auto_increment_increment != 1),
        (
            "explicit_defaults_for_timestamp",
            session.explicit_defaults_for_timestamp != line.settings.explicit_defaults_for_timestamp,
        ),
        ("lower_case_table_names", session.lower_case_table_names != 0),
        ("sql_require_primary_key", session.sql_require_primary_key),
        ("default_collation_for_utf8mb4", session.default_collation_for_utf8mb4 is not None),
    )
    for name, is_set in odd:
        if is_set:
            raise UnsupportedError(f"CREATE TABLE ... SELECT with session.{name} is not supported yet")
