"""Which features (``forge/servers/features.toml``) an event uses, as its bytes and its statement show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from forge.binlog.logged import LoggedEvent
from forge.charsets import collation, find_collation
from forge.decode.cells import Cell
from forge.decode.table_maps import TableMaps
from forge.errors import ForgeError, ScenarioError
from forge.events.event import Event
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid
from forge.events.mariadb_compressed import QueryCompressed, plain_query
from forge.events.previous_gtids import PreviousGtids
from forge.events.query import Query
from forge.events.row_image import present_columns
from forge.events.rows import ROWS_BODIES, RowsBody
from forge.events.table_map import TableMap
from forge.plan.definitions import DdlStatement
from forge.plan.requirements import table_features
from forge.servers import ServerLine
from forge.servers.features import features
from forge.sql.reads.features import features_of_statement
from forge.values.registry import reader_feature

USE_SQL_FOREIGN_KEY = 0x0010
GENERATED_INVISIBLE_KEY = 0x0004
#: Types of optional metadata that came after the others: COLUMN_VISIBILITY, VECTOR_DIMENSIONALITY.
RECORD_FEATURES = {12: "metadata_visibility", 13: "metadata_vector"}
#: What a replica needs beside the type.
APPLIED = {"ANONYMOUS_GTID": "applied_anonymous_groups", "XA_PREPARE": "xa_of_two_groups"}
_PARTITION = 0x01
#: Of status variable 130: ALTER TABLE is done, or undone (FL_COMMIT_ALTER_E1 and FL_ROLLBACK_ALTER_E1 of MariaDB).
_ALTER_ENDS = 0x04 | 0x08
#: How the seconds of TIMESTAMP stand in the types of before and after 5.6.4, and the last that 31 bits hold.
_TIMESTAMPS: Mapping[int, Literal["little", "big"]] = {7: "little", 17: "big"}
_LAST_NEAR = 0x7FFFFFFF
#: A user's name in a statement, with what it is of.
_USER = re.compile(r"""(["'`])(?P<name>[^"'`]{17,})\1\s*@""")
_OF_USERS = re.compile(r"\s*(create|alter|drop|grant|revoke|rename|set)\b", re.IGNORECASE)
_CREATE_TABLE = re.compile(r"\s*create\s+(or\s+replace\s+)?(temporary\s+)?table\b", re.IGNORECASE)
_COLLATE = re.compile(r"\bcollate\s*=?\s*[\"'`]?(\w+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Use:
    """A feature that an event uses; ``missing`` names the thing where the consumer lacks one of many (a collation)."""

    feature: str
    missing: str | None = None


def event_uses(logged: LoggedEvent, tables: TableMaps, consumer: ServerLine) -> Iterator[Use]:
    """What an event needs of a reader that knows its type; ``tables`` are those mapped so far."""
    event = logged.placed.event
    if not logged.inner and _positionless(event):
        yield Use("positions_in_cache")
    body = event.body
    if isinstance(body, FormatDescription):
        yield from _description(body)
    elif isinstance(body, AnonymousGtid):
        if consumer.knows("gtid"):
            yield Use("gtid_mode_off" if event.type_name == "ANONYMOUS_GTID" else "gtid_mode_on")
        yield from _gtid(body)
    elif isinstance(body, PreviousGtids) and body.gtid_set[0]:
        yield Use("gtid_tags")
    elif isinstance(body, TableMap):
        yield from _table_map(body)
    elif isinstance(body, ROWS_BODIES):
        yield from _rows(body)
        yield from _types_of_values(logged, tables, consumer)
        if not consumer.knows("far_timestamps") and _has_far_timestamp(logged, tables):
            yield Use("far_timestamps")
    elif isinstance(body, (Query, ExecuteLoadQuery, QueryCompressed)):
        yield from _query(body, consumer)


def _positionless(event: Event) -> bool:
    return event.log_pos == 0 and not isinstance(event.body, FormatDescription)


def _description(body: FormatDescription) -> Iterator[Use]:
    if body.checksum_algorithm is not None:
        yield Use("checksum_algorithm")
    if body.checksum_algorithm == 1:
        yield Use("checksums")


def _gtid(body: AnonymousGtid) -> Iterator[Use]:
    if body.clock_type is not None:
        yield Use("logical_clock")
    if body.commit_timestamp is not None:
        yield Use("commit_timestamps")
    if body.server_version is not None:
        yield Use("gtid_server_version")


def _table_map(body: TableMap) -> Iterator[Use]:
    if body.optional_metadata:
        yield Use("row_metadata")
    for record in body.optional_metadata:
        if record.type_code in RECORD_FEATURES:
            yield Use(RECORD_FEATURES[record.type_code])
    if body.table_flags & GENERATED_INVISIBLE_KEY:
        yield Use("generated_invisible_key")


def _rows(body: RowsBody) -> Iterator[Use]:
    bitmaps = [bitmap for bitmap in (body.present, getattr(body, "present_after", None)) if bitmap is not None]
    if any(len(present_columns(bitmap, body.width)) < body.width for bitmap in bitmaps):
        yield Use("row_images")
    if body.row_flags & USE_SQL_FOREIGN_KEY:
        yield Use("sql_foreign_keys")
    extra: bytes = getattr(body, "extra", b"")
    if extra[:1] == bytes([_PARTITION]):
        yield Use("extra_row_info")


def _cells(logged: LoggedEvent, tables: TableMaps) -> Iterator[Cell]:
    """The cells of a row event's images.  Raises ForgeError where they cannot be read."""
    for change in tables.changes(logged):
        yield from change.before or ()
        yield from change.after or ()


def _types_of_values(logged: LoggedEvent, tables: TableMaps, consumer: ServerLine) -> Iterator[Use]:
    """The column types that a reader needs to know: those of values; of a NULL, MySQL's readers read nothing."""
    body = logged.body
    mapped = tables.by_id.get(body.table_id) if isinstance(body, ROWS_BODIES) else None
    codes = set(mapped.body.types) if mapped is not None else set()
    unknown = {code: name for code in codes if (name := reader_feature(code)) and not consumer.knows(name)}
    if not unknown:
        return
    try:
        cells = _cells(logged, tables)
        there = {cell.column.type_code for cell in cells if cell.raw or consumer.family == "mariadb"}
    except ForgeError:
        there = codes
    yield from (Use(unknown[code]) for code in sorted(unknown.keys() & there))


def _has_far_timestamp(logged: LoggedEvent, tables: TableMaps) -> bool:
    """Whether a row has a TIMESTAMP whose seconds need the 32nd bit."""
    body = logged.body
    mapped = tables.by_id.get(body.table_id) if isinstance(body, ROWS_BODIES) else None
    if mapped is None or not _TIMESTAMPS.keys() & set(mapped.body.types):
        return False
    with suppress(ForgeError):
        for cell in _cells(logged, tables):
            order = _TIMESTAMPS.get(cell.column.type_code)
            if order is not None and cell.raw and int.from_bytes(cell.raw[:4], order) > _LAST_NEAR:
                return True
    return False


def _query(body: Query | ExecuteLoadQuery | QueryCompressed, consumer: ServerLine) -> Iterator[Use]:
    names = features()
    text = plain_query(body).query if isinstance(body, QueryCompressed) else body.query
    yield from map(Use, features_of_statement(text))
    for name, value in body.status_variables:
        if name in names:
            yield Use(name)
        if name == "mariadb_gtid_flags" and value[0] & _ALTER_ENDS:
            yield Use("alter_in_two_phases")
        if name == "charset":
            yield from _session_collations(value, consumer)
    yield from _statement_uses(text if isinstance(text, str) else text.decode("utf-8", "replace"), consumer)


def _statement_uses(text: str, consumer: ServerLine) -> Iterator[Use]:
    """What the words of a data definition statement, and the names of users, need of a replica."""
    if _OF_USERS.match(text) is None:
        return
    for name in dict.fromkeys(map(str.lower, _COLLATE.findall(text))):
        if _lacks_collation(name, consumer):
            yield Use("collation_of_column", name)
    longest = max((len(user["name"]) for user in _USER.finditer(text)), default=0)
    if longest > 16:
        yield Use("user_names_of_32" if longest <= 32 else "user_names_of_128")


def _session_collations(numbers: Any, consumer: ServerLine) -> Iterator[Use]:
    missing = [number for number in dict.fromkeys(numbers) if not has_collation(number, consumer)]
    if missing:
        yield Use("collation_of_session", ", ".join(_named(number) for number in missing))


def declared_uses(statement: DdlStatement) -> Iterator[Use]:
    """What a data definition statement needs of a replica."""
    for table in statement.tables:
        for name in sorted(table_features(table)):
            yield Use(name)


def logged_definitions(body: Query, producer: str) -> Iterator[DdlStatement]:
    """The definition in a CREATE TABLE statement of a log, as the newest recorded line of its family reads it.

    Nothing of what that line does not take: the words of the statement have told what they can.
    """
    if _CREATE_TABLE.match(body.query) is None:
        return
    from forge.scenario import Scenario, Session, plan

    line = "mariadb-11.8" if "mariadb" in producer.lower() else "mysql-9.7"
    with suppress(ForgeError):
        scenario = Scenario("log", server=line, session=Session(database=body.database or None))
        groups = plan(scenario.ddl(body.query)).groups
        yield from (group for group in groups if isinstance(group, DdlStatement) and group.tables)


def _lacks_collation(name: str, line: ServerLine) -> bool:
    """Whether some server has a collation of that name, and those of the line do not."""
    whole = f"utf8mb4_{name}" if name.startswith("uca1400_") else name  # MariaDB 10.10's name for several sets
    try:
        collation(whole)
    except ScenarioError:
        return False
    try:
        return not has_collation(collation(whole, line.name).id, line)
    except ScenarioError:
        return True


def has_collation(number: int, line: ServerLine) -> bool:
    """Whether servers of the line have a collation of that id."""
    if not line.knows("utf8mb4"):
        named = find_collation(number)
        if named is not None and named.charset in ("utf8mb4", "utf16", "utf16le", "utf32", "gb18030"):
            return False
    try:
        collation(number, line.name)
    except ScenarioError:
        return False
    return True


def _named(number: int) -> str:
    collation = find_collation(number)
    return f"{number}, {collation.name}" if collation is not None else str(number)
