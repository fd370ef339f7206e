"""A log cut into its parts: the head, groups, what stands between them, and the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from forge.binlog.listing.disassemble import disassemble
from forge.binlog.payload import inner_events
from forge.binlog.reader import PlacedEvent
from forge.events.binlog_checkpoint import BinlogCheckpoint
from forge.events.event import Event
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.format import FormatContext
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid
from forge.events.gtid_list import GtidList
from forge.events.gtid_tagged import GtidTagged
from forge.events.intvar import Intvar
from forge.events.mariadb_compressed import QueryCompressed, plain_query
from forge.events.mariadb_gtid import MariadbGtid
from forge.events.previous_gtids import PreviousGtids
from forge.events.query import Query
from forge.events.rand import Rand
from forge.events.rotate import Rotate
from forge.events.start_v3 import StartV3
from forge.events.stop import Stop
from forge.events.transaction_payload import TransactionPayload
from forge.events.user_var import UserVar
from forge.events.xa_prepare import XaPrepare
from forge.events.xid import Xid

Document = dict[str, Any]
GTIDS = (AnonymousGtid, GtidTagged, MariadbGtid)
#: What a statement's own event follows.
_VALUES = (Intvar, Rand, UserVar)
_OF_FILE = (FormatDescription, StartV3, PreviousGtids, GtidList, BinlogCheckpoint)
_ENDS = (Xid, XaPrepare, TransactionPayload)
MARIADB_STANDALONE = 0x01

#: ``server``: what the server adds between groups, which facts tell.
Kind = Literal["head", "group", "event", "server", "end"]


@dataclass(slots=True)
class Part:
    """A run of events: their bytes, and the documents of the listing."""

    kind: Kind
    placed: list[PlacedEvent] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)

    @property
    def shape(self) -> list[Any]:
        """The types of its events."""
        return [_types(document) for document in self.documents]

    def events(self) -> Iterator[Event]:
        """Its events, those of a payload in its place, and texts that are compressed plain."""
        for placed in self.placed:
            body = placed.event.body
            inside = inner_events(body, FormatContext()) if isinstance(body, TransactionPayload) else [placed.event]
            for event in inside:
                one = event.body
                yield event.replace(body=plain_query(one)) if isinstance(one, QueryCompressed) else event


def _types(document: Document) -> Any:
    inside = document.get("events")
    return document.get("event") if inside is None else [one.get("event") for one in inside]


def parts_of(placed: Iterable[PlacedEvent]) -> Iterator[Part]:
    """The parts of a log, one after the other, without their documents."""
    open = Part("head")
    for one in placed:
        kind = _Cut.kind(open, one.event)
        if kind is not None:
            if open.placed:
                yield open
            open = Part(kind)
        open.placed.append(one)
    if open.placed:
        yield open


def listed_parts(data: bytes, placed: Iterable[PlacedEvent]) -> tuple[list[Part], list[Document]]:
    """The parts of a whole file with their documents; and those of bytes behind its last event."""
    parts = list(parts_of(placed))
    documents = disassemble(data)
    for part in parts:
        part.documents = [next(documents) for _ in part.placed]
    return parts, list(documents)


class _Cut:
    """Where parts begin."""

    @staticmethod
    def kind(open: Part, event: Event) -> Kind | None:
        """The kind of the part that begins with this event; None if it goes on with the open one."""
        body = event.body
        if isinstance(body, (Stop, Rotate)):
            return "end"
        if isinstance(body, GTIDS):
            return "group"
        if isinstance(body, _OF_FILE):
            # No scenario places a FORMAT_DESCRIPTION, which changes how the file is read: edits do.
            added = isinstance(body, (BinlogCheckpoint, FormatDescription))
            return None if open.kind == "head" else "server" if added else "event"
        if open.kind == "group" and not _is_over(open):
            return None
        return "group" if isinstance(body, (Query, QueryCompressed, ExecuteLoadQuery, *_VALUES)) else "event"


def _is_over(group: Part) -> bool:
    """Whether a group has its last event."""
    last = group.placed[-1].event.body
    if isinstance(last, _ENDS):
        return True
    text = _text(last)
    if text is None:
        return False
    if in_block(group):
        return text in ("COMMIT", "ROLLBACK")
    return True


def in_block(group: Part) -> bool:
    """Whether the group runs from BEGIN, or XA START, to its end."""
    for event in group.events():
        body = event.body
        if isinstance(body, MariadbGtid):
            return not body.flags2 & MARIADB_STANDALONE
        if (text := _text(body)) is not None:
            return text == "BEGIN" or text.startswith("XA START ")
    return False


def _text(body: object) -> str | None:
    if isinstance(body, QueryCompressed):
        return plain_query(body).query
    return body.query if isinstance(body, (Query, ExecuteLoadQuery)) else None
