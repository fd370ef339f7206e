"""Which features (``forge/servers/features.toml``) an event uses, as its bytes and its statement show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from forge.binlog.logged import LoggedEvent
from forge.charsets import find_collation
from forge.check.canonical.table_maps import TableMaps
from forge.errors import ScenarioError
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
_PARTITION = 0x01


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
        yield from _gtid(body)
    elif isinstance(body, PreviousGtids) and body.gtid_set[0]:
        yield Use("gtid_tags")
    elif isinstance(body, TableMap):
        yield from _table_map(body)
    elif isinstance(body, ROWS_BODIES):
        yield from _rows(body, tables)
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


def _rows(body: RowsBody, tables: TableMaps) -> Iterator[Use]:
    mapped = tables.by_id.get(body.table_id)
    # A reader needs to know the types of a table when it reads its rows.
    for code in sorted(set(mapped.body.types) if mapped is not None else ()):
        feature = reader_feature(code)
        if feature is not None:
            yield Use(feature)
    bitmaps = [bitmap for bitmap in (body.present, getattr(body, "present_after", None)) if bitmap is not None]
    if any(len(present_columns(bitmap, body.width)) < body.width for bitmap in bitmaps):
        yield Use("row_images")
    if body.row_flags & USE_SQL_FOREIGN_KEY:
        yield Use("sql_foreign_keys")
    extra: bytes = getattr(body, "extra", b"")
    if extra[:1] == bytes([_PARTITION]):
        yield Use("extra_row_info")


def _query(body: Query | ExecuteLoadQuery | QueryCompressed, consumer: ServerLine) -> Iterator[Use]:
    names = features()
    text = plain_query(body).query if isinstance(body, QueryCompressed) else body.query
    yield from map(Use, features_of_statement(text))
    for name, value in body.status_variables:
        if name in names:
            yield Use(name)
        if name == "charset":
            yield from _session_collations(value, consumer)


def _session_collations(numbers: Any, consumer: ServerLine) -> Iterator[Use]:
    missing = [number for number in dict.fromkeys(numbers) if not has_collation(number, consumer)]
    if missing:
        yield Use("collation_of_session", ", ".join(_named(number) for number in missing))


def declared_uses(statement: DdlStatement, consumer: ServerLine) -> Iterator[Use]:
    """What a data definition statement needs of a replica."""
    text = statement.text.sql.lower()
    for table in statement.tables:
        for name in sorted(table_features(table)):
            yield Use(name)
        collations = {column.type.collation for column in table.columns} | {table.collation}
        for number in sorted(number for number in collations if number is not None):
            collation = find_collation(number)
            if collation is not None and collation.name in text and not has_collation(number, consumer):
                yield Use("collation_of_column", _named(number))


def has_collation(number: int, line: ServerLine) -> bool:
    """Whether servers of the line have a collation of that id."""
    from forge.charsets import collation

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
