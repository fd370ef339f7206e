"""What of logs is said, events as a selection looks at them, and the transaction that a reader is in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from forge.binlog.logged import LoggedEvent
from forge.binlog.selection import Selection
from forge.changed.conditions import Condition
from forge.changed.row_statements import RowStatements
from forge.decode.cells import surroundings_of
from forge.decode.table_maps import TableMaps
from forge.events.rows import ROWS_BODIES
from forge.events.table_map import TableMap

#: Types that begin a transaction.
GTIDS = ("GTID", "ANONYMOUS_GTID", "GTID_TAGGED", "MARIADB_GTID")


@dataclass(frozen=True, slots=True)
class Asked:
    """What of the logs is said, and how."""

    rows: RowStatements
    events: Selection
    where: Condition | None = None
    #: Statements that are in the log as text are written, too; else listed.
    statements: bool = False


@dataclass(slots=True)
class RunningSql:
    """The one that a reader is in: what is said of its beginning, once something of it is written."""

    head: str = ""
    begin: str = "START TRANSACTION"
    is_open: bool = False
    in_block: bool = False
    #: Places of a spill at the beginning, and at savepoints.
    marks: dict[str, int] = field(default_factory=dict)


def as_chosen(logged: LoggedEvent, maps: TableMaps) -> dict[str, Any]:
    """An event as a selection looks at it."""
    event, body = logged.event, logged.body
    shown: dict[str, Any] = {"offset": logged.offset, "timestamp": event.timestamp, "type": event.type_name}
    if isinstance(body, TableMap):
        return shown | {"fields": {"database": body.database, "table": body.table}}
    if event.type_name in GTIDS:
        return shown | {"fields": {"gtid": body.canonical(surroundings_of(logged.placed)).get("gtid")}}
    mapped = maps.by_id.get(body.table_id) if isinstance(body, ROWS_BODIES) else None
    if mapped is not None:
        shown |= {"database": mapped.body.database, "table": mapped.body.table}
    return shown


def mentions(name: str, text: str, database: str) -> bool:
    """Whether a statement in that database is about a table, or with ``*`` about one of a database."""
    owner, _, table = name.partition(".")
    about = owner == database or owner in text
    return about and ("*" in table or table in text)


def xa_text(format_id: int, gtrid: bytes, bqual: bytes) -> str:
    return f"X'{gtrid.hex()}',X'{bqual.hex()}',{format_id}"
