"""The features of a case, found in what it declares and in the events that came of it (``tags.toml``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import msgspec

from forge.binlog.payload import inner_events, inner_format
from forge.charsets import find_collation
from forge.engine.requests.transactions import Transaction
from forge.errors import FormatError
from forge.events.event import Event
from forge.events.format_description import FormatDescription
from forge.events.optional_metadata import METADATA_CODES
from forge.events.registry import EVENT_NAMES
from forge.events.rows import ROWS_BODIES, STMT_END
from forge.events.table_map import TableMap
from forge.events.transaction_payload import TransactionPayload
from forge.plan.definitions import DdlStatement
from forge.plan.keys import key_of_rows, key_prefix
from forge.plan.metadata_forms import MetadataForms
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.plan.statements import RowsStatement
from forge.plan.tables import Table, TableColumn
from forge.scenario.model import Scenario
from forge.servers import server_line

#: Fields of the declared transactions and what they are called here.
_DECLARED = {
    "insert": "insert",
    "insert.ignore": "insert ignore",
    "insert.on_duplicate_key_update": "insert on duplicate key update",
    "insert.select": "insert select",
    "replace": "replace",
    "update": "update",
    "delete": "delete",
    "load_data": "load data",
    "further": "triggers and cascades",
    "savepoint": "savepoint",
    "rollback_to": "rollback to savepoint",
    "release_savepoint": "release savepoint",
    "user_variables": "user variables",
    "xa": "xa transaction",
    "xa_commit": "xa second phase",
    "xa_rollback": "xa second phase",
    "explicit": "explicit transaction",
    "logged": "logged statement",
    "event": "event placed",
    "flush": "flush binary logs",
    "restart": "restart of the server",
}


def features_of(scenario: Scenario, plan: Plan, files: Sequence[Sequence[Event]]) -> set[str]:
    """Tags ``group:word`` of a compiled scenario."""
    features = {f"statement:{word}" for word in _declared(scenario)}
    features |= {f"session:{word}" for word in _settings(plan.session, plan.server)}
    for group in plan.groups:
        if isinstance(group, DdlStatement):
            features.add(f"statement:{group.kind}")
            features |= {"statement:temporary table"} if group.touches_temporary else set()
            for table in group.tables:
                features |= set(_table(table))
        else:
            features |= {f"image:{word}" for word in _images(group, plan.session.row_image)}
    for events in files:
        for event in _with_inner(events):
            features |= set(_event(event))
    if len(files) > 1:
        features.add("session:several files")
    return features


def _declared(scenario: Scenario) -> Iterator[str]:
    """What the statements are, by the fields that are set in them."""
    for transaction in scenario.transactions:
        statements = transaction if isinstance(transaction, list) else transaction.statements
        if isinstance(transaction, Transaction):
            yield from _words(transaction)
            if transaction.end == "rollback":
                yield "rollback"
        if len(statements) > 1:
            yield "several statements"
        for statement in statements:
            yield from _words(statement)


@cache
def _names(struct: type[msgspec.Struct]) -> list[tuple[str, str]]:
    """The fields of a declared form: attribute, and name in a scenario."""
    return [(field.name, field.encode_name) for field in msgspec.structs.fields(struct)]


def _words(struct: msgspec.Struct, path: str = "") -> Iterator[str]:
    for attribute, encoded in _names(type(struct)):
        value = getattr(struct, attribute)
        if value is None or value is False or value == []:
            continue
        name = f"{path}{encoded}"
        if name in _DECLARED:
            yield _DECLARED[name]
        if isinstance(value, msgspec.Struct) and not path:
            yield from _words(value, f"{name}.")
        if name == "further":
            for inner in value:
                yield from _words(inner)


def _settings(session: Session, server: str) -> Iterator[str]:
    line = server_line(server)
    if line.groups.always_gtids:
        yield "gtid on"
    else:
        yield "gtid tagged" if session.gtid_tag is not None else "gtid on" if session.gtid else "gtid off"
    yield f"metadata {session.row_metadata if line.table_map.full_metadata else 'none'}"
    yield f"ends with {session.ends_with}" if session.torn is None else "ends torn"
    flags = {
        "rows query": session.rows_query,
        "relay log": session.relay_log is not None,
        "replica": session.source is not None,
        "compression": session.compression or session.log_bin_compress,
        "invisible primary key": session.generate_invisible_primary_key,
        "forced metadata": session.metadata != MetadataForms(),
        "sql_mode not strict": session.sql_mode == "",
        "checks off": not (session.foreign_key_checks and session.unique_checks),
        "set timestamp": session.timestamp is not None,
        "old temporals": not session.mysql56_temporal_format,
    }
    yield from (word for word, is_set in flags.items() if is_set)
    if session.binlog_format != "row":
        yield f"format {session.binlog_format}"


def _images(group: Any, mode: str) -> Iterator[str]:
    """The image mode with each kind of row change, and the key that stands for the row."""
    for statement in _rows_statements(group.statements if hasattr(group, "statements") else ()):
        key = key_of_rows(statement.table)
        by = "without key" if key is None else f"by {key.kind} key"
        for change in statement.changes:
            kind = "insert" if change.before is None else "delete" if change.after is None else "update"
            yield f"{mode} {kind}" if kind == "insert" else f"{mode} {kind} {by}"


def _rows_statements(statements: Iterable[Any]) -> Iterator[RowsStatement]:
    for statement in statements:
        if isinstance(statement, RowsStatement) and not statement.table.temporary:
            yield statement
            yield from _rows_statements(getattr(statement, "further", ()))


def _table(table: Table) -> Iterator[str]:
    for column in table.columns:
        yield f"type:{column.type.name}"
        if column.type.collation is not None:
            collation = find_collation(column.type.collation)
            yield from () if collation is None else (f"charset:{collation.charset}",)
        yield from (f"column:{word}" for word in _attributes(column))
    if table.engine.lower() != "innodb":
        yield "column:engine without transactions"
    key = key_of_rows(table)
    if key is None:
        yield "column:no key for the row"
        return
    yield "column:primary key" if key.kind == "primary" else "column:unique key for the row"
    if len(key.parts) > 1:
        yield "column:composite key"
    if any(key_prefix(table, part) is not None for part in key.parts):
        yield "column:prefix key"


def _attributes(column: TableColumn) -> Iterator[str]:
    if column.generated is not None:
        yield f"generated {column.generated}"
    flags = {
        "invisible": not column.visible,
        "auto_increment": column.auto_increment,
        "current_timestamp": column.default_now or column.on_update_now,
        "default expression": column.computed_default,
        "compressed": column.type.compressed,
    }
    yield from (word for word, is_set in flags.items() if is_set)


def _with_inner(events: Sequence[Event]) -> Iterator[Event]:
    """The events of a file, those inside payloads among them."""
    description = events[0].body if events else None
    for event in events:
        yield event
        if isinstance(event.body, TransactionPayload) and isinstance(description, FormatDescription):
            try:
                yield from inner_events(event.body, inner_format(description.context()))
            except FormatError:
                continue


def _event(event: Event) -> Iterator[str]:
    body = event.body
    yield f"event:{event.type_name if event.type_code in EVENT_NAMES else 'unknown'}"
    if isinstance(body, FormatDescription):
        yield f"session:checksum {'crc32' if body.checksum_algorithm else 'none'}"
    elif isinstance(body, TableMap):
        for record in body.optional_metadata:
            yield f"record:{record.type_name if record.type_name in METADATA_CODES else 'unknown'}"
        if not body.optional_metadata:
            yield "record:none"
    elif isinstance(body, ROWS_BODIES) and not body.row_flags & STMT_END:
        yield "session:split rows"
