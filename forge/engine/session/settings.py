"""Settings of a session that no server takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from forge.engine.dictionary.engines import engine_named
from forge.errors import ScenarioError, UnsupportedError, nearest
from forge.located import Path
from forge.plan.collations import wrong_collations
from forge.plan.session import Session, on_line
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


#: What reads a setting, and raises ScenarioError for a value that is none.
_READ: tuple[tuple[str, Callable[..., object]], ...] = (
    ("sql_mode", sql_mode), ("time_zone", offset_of), ("default_storage_engine", engine_named),
)  # fmt: skip


def wrong_settings(session: Session, line: ServerLine) -> Iterator[tuple[Path, ScenarioError]]:
    """Each setting that cannot be, with its place in the scenario."""
    for name, (lowest, highest) in (BOUNDS | {"server_id": (line.framing.lowest_server_id, LARGEST_ID)}).items():
        yield from _outside(("session", name), getattr(session, name), lowest, highest)
    yield from _outside(("session", "payload", "frames"), session.payload.frames, 1, 1000)
    for name, error in wrong_collations(session, line):
        yield ("session", name), error
    for name, read in _READ:
        try:
            read(getattr(session, name), line)
        except ScenarioError as error:
            yield ("session", name), error
    if session.lc_time_names not in locale_names():
        problem, suggestion = (
            f"{session.lc_time_names!r} is not a locale",
            nearest(session.lc_time_names, locale_names()),
        )
        yield (
            ("session", "lc_time_names"),
            ScenarioError(problem, expected="a name such as de_DE", suggestion=suggestion),
        )
    if 1 < session.auto_increment_increment < session.auto_increment_offset:
        problem = "an auto_increment_offset greater than auto_increment_increment is not supported"
        yield ("session", "auto_increment_offset"), UnsupportedError(f"{problem}: servers differ in what they do")
    yield from _wrong_rows(session)
    if session.binlog_legacy_event_pos and line.framing.cached_positions:
        problem = f"{line.name} writes all positions anyway"
        yield ("session", "binlog_legacy_event_pos"), ScenarioError(problem, expected="MariaDB 11.4 or later")
    names: list[tuple[Path, str]] = [(("session", "log_name"), session.log_name)]
    relay = session.relay_log
    if relay is not None:
        yield from _of_another("replica", ("session", "relay_log", "server_id"), relay.server_id, session)
        yield from _outside(("session", "relay_log", "max_size"), relay.max_size, *BOUNDS["max_binlog_size"])
        names.append((("session", "relay_log", "name"), relay.name))
    yield from _wrong_source(session, line)
    for path, name in names:
        if not LOG_NAME.match(name):
            expected = "letters and digits, without a dot or a slash"
            yield path, ScenarioError(f"{name!r} is not a name of a log", expected=expected)


def _outside(path: Path, value: int | None, lowest: int, highest: int) -> Iterator[tuple[Path, ScenarioError]]:
    if value is not None and not lowest <= value <= highest:
        shown = ".".join(map(str, path[1:]))
        yield path, ScenarioError(f"{shown} is {value}", expected=f"{lowest} to {highest}")


def _of_another(whose: str, path: Path, server_id: int, session: Session) -> Iterator[tuple[Path, ScenarioError]]:
    """What is wrong with the server id of another server of the replication."""
    if server_id == session.server_id or not 1 <= server_id <= LARGEST_ID:
        problem = f"server_id of the {whose} is {server_id}"
        yield path, ScenarioError(problem, expected=f"1 to {LARGEST_ID}, not the session's own")


def _wrong_rows(session: Session) -> Iterator[tuple[Path, ScenarioError]]:
    """What is wrong with the settings of row events."""
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
    yield from _of_another("source", (*path, "server_id"), source.server_id, session)
    if not (line.knows("commit_timestamps") or line.knows("mariadb_gtid")):
        yield path, UnsupportedError(f"binary logs of replicas of {line.name} are not supported yet")
    if session.relay_log is not None:
        yield path, UnsupportedError("the relay log of a replica's replica is not supported yet")
    if source.uuid is not None and not UUID.match(source.uuid):
        yield (
            (*path, "uuid"),
            ScenarioError(f"{source.uuid!r} is not a UUID", expected="8-4-4-4-12 hexadecimal digits"),
        )


#: Settings with which the server writes the definition of a table made of a SELECT otherwise.
_PLAIN_IN_SELECTS = (
    "sql_mode", "auto_increment_increment", "explicit_defaults_for_timestamp", "lower_case_table_names",
    "default_collation_for_utf8mb4",
)  # fmt: skip


def check_selects(session: Session, line: ServerLine) -> None:
    """Raises UnsupportedError for sessions in which CREATE TABLE ... SELECT is logged otherwise than is known here."""
    if not line.ddl.create_select:
        raise UnsupportedError(f"CREATE TABLE ... SELECT on {line.name} is not supported yet")
    if session.gtid and line.groups.enforces_gtid_consistency and not line.knows("atomic_create_select"):
        raise ScenarioError(
            "enforce_gtid_consistency forbids CREATE TABLE ... SELECT (error 1786)", expected="gtid: false"
        )
    plain = on_line(Session(), line)
    for name in _PLAIN_IN_SELECTS:
        if getattr(session, name) != getattr(plain, name):
            raise UnsupportedError(f"CREATE TABLE ... SELECT with session.{name} is not supported yet")
