"""The events around rows, compiled once by the reference path, as templates for every transaction.

Which numbers of an event vary, and where they stand, is read off events that were compiled with other facts: the
layouts stay declared in one place (forge.events).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec

from forge.bulk.writing.envelope import STAMPS, STMT_END, Envelope, EventTemplate, RowsTemplate, Stamp
from forge.compile.files.compilation import LOGS
from forge.compile.query.clock import TIMESTAMPS, ZONED
from forge.compile.rows.rows import COMPRESSED, stands_alone
from forge.errors import UnsupportedError
from forge.events.event import Event, encode_event
from forge.events.format import HEADER_SIZE, FormatContext
from forge.events.gtid import AnonymousGtid, Gtid
from forge.events.layout import Body
from forge.events.mariadb_gtid import MariadbGtid
from forge.events.query import Query
from forge.events.row_image import present_columns
from forge.events.rows import ROWS_BODIES, RowsBody, UpdateRows, UpdateRowsV1
from forge.events.table_map import TableMap
from forge.events.xid import Xid
from forge.plan.changes import ChangeKind, RowChange
from forge.plan.grouping.logged_groups import logged_groups
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.plan.statement_text import StatementText
from forge.plan.statements import RowsStatement
from forge.plan.tables import Table
from forge.plan.transactions import Transaction
from forge.servers import ServerLine

#: Header times that no session has: which time an event has is seen from them.
_TIMES: Final = (1, 2, 3, 4)
_FORMAT: Final = FormatContext(checksum=False)


@dataclass(frozen=True, slots=True)
class Shape:
    """What statements have in common whose events differ in numbers only.

    ``assigned``: the columns that the text names, None for all.  ``zoned``: it is an INSERT whose first row has a
    moment, for which the server asks for the session's time zone.  ``in_block``: it runs between BEGIN and COMMIT.
    """

    kind: ChangeKind
    assigned: frozenset[int] | None
    zoned: bool = False
    in_block: bool = False


#: The envelope of each shape, and the rows event that it was made of.
CompiledShapes: TypeAlias = dict[Shape, tuple[Envelope, Event]]


class Envelopes:
    """The envelopes of transactions that change rows of one table.

    ``compiled``: those that are known of such a plan; gets what is compiled.
    """

    def __init__(self, plan: Plan, table: Table, line: ServerLine, compiled: CompiledShapes) -> None:
        if table.partition is not None:
            raise UnsupportedError(f"rows in bulk of the partitioned table {table.full_name!r} are not supported")
        if plan.session.gtid and plan.session.gtid_tag:
            raise UnsupportedError("rows in bulk with tagged GTIDs are not supported")
        self.plan = plan
        self.table = table
        self.line = line
        self._made = compiled
        self._rows: dict[tuple[Shape, tuple[bytes, ...]], RowsTemplate] = {}

    def of(self, shape: Shape) -> Envelope:
        """The envelope of a transaction with one such statement."""
        if shape not in self._made:
            self._made[shape] = self._compiled(shape)
        return self._made[shape][0]

    def rows(self, shape: Shape, bitmaps: tuple[bytes, ...] | None) -> RowsTemplate:
        """The rows event of such a statement; ``bitmaps``: of its images, in the place of those of the session."""
        envelope = self.of(shape)
        if bitmaps is None:
            return envelope.rows
        key = (shape, bitmaps)
        if key not in self._rows:
            event = self._made[shape][1]
            body = event.body
            assert isinstance(body, ROWS_BODIES)
            # Their unused bits tell how a server made them, which is known of the session's own.
            width = body.width
            kept = tuple(
                own if present_columns(own, width) == present_columns(bitmap, width) else bitmap
                for own, bitmap in zip(bitmaps_of(body), bitmaps, strict=True)
            )
            usual = kept == bitmaps_of(body)
            self._rows[key] = (
                envelope.rows if usual else rows_template(event, shape.kind, self.table, self.plan.session, kept)
            )
        return self._rows[key]

    def zoned_columns(self) -> list[int]:
        """The columns whose values make a server ask for the session's time zone."""
        zoned = ZONED if self.line.values.takes_offsets else TIMESTAMPS
        return [index for index, column in enumerate(self.table.columns) if column.type.name in zoned]

    def _transaction(self, shape: Shape) -> Transaction:
        """A transaction of one such statement, which changes one row."""
        nothing = (None,) * len(self.table.columns)
        before = None if shape.kind == "insert" else nothing
        after = None if shape.kind == "delete" else nothing
        text = StatementText(
            assigned=None if shape.kind == "delete" else shape.assigned,
            system_variables=frozenset(("time_zone",)) if shape.zoned else frozenset(),
        )
        statement = RowsStatement(shape.kind, self.table, (RowChange(before, after),), text)
        return Transaction((statement,), self.plan.session.database or self.table.database, explicit=shape.in_block)

    def _events(self, shape: Shape) -> list[Event]:
        """The events of such a transaction, in a session where the header times are _TIMES."""
        facts = self.plan.session.facts
        # Facts of a group are found by its number, and this is the first of its log.
        changed: dict[str, Any] = {"timestamps": [list(_TIMES)], "table_ids": None}
        if facts.table_ids:
            changed["first_table_id"] = facts.table_ids[0]
        session = msgspec.structs.replace(
            self.plan.session,
            facts=msgspec.structs.replace(facts, **changed),
            compression=False,
            log_bin_compress=False,
            rows_query=False,
        )
        log = LOGS[self.line.family](dataclasses.replace(self.plan, session=session), self.line)
        (group,) = logged_groups((self._transaction(shape),), self.line)
        return list(log.group(0, group))

    def _compiled(self, shape: Shape) -> tuple[Envelope, Event]:
        events = self._events(shape)
        rows = next(number for number, event in enumerate(events) if isinstance(event.body, ROWS_BODIES))
        first = next(number for number, event in enumerate(events) if isinstance(event.body, TableMap))
        made = []
        names = iter(("begin_exec_time", "commit_exec_time"))
        for event in events:
            made.append(event_template(event, next(names) if isinstance(event.body, Query) else None))
        envelope = Envelope(
            opening=tuple(made[:first]),
            maps=tuple(made[first:rows]),
            rows=rows_template(events[rows], shape.kind, self.table, self.plan.session, None),
            closing=tuple(made[rows + 1 :]),
        )
        return envelope, events[rows]


def rows_template(
    event: Event, kind: ChangeKind, table: Table, session: Session, bitmaps: tuple[bytes, ...] | None
) -> RowsTemplate:
    """The template of a rows event of a statement of that kind; ``bitmaps``: of its images, in the place of its own."""
    body = event.body
    assert isinstance(body, ROWS_BODIES)
    bitmaps = bitmaps_of(body) if bitmaps is None else bitmaps
    changes: dict[str, Any] = dict(zip(("present", "present_after"), bitmaps, strict=False))
    head = event.replace(body=body.replace(rows=b"", row_flags=body.row_flags & ~STMT_END, **changes))
    columns = [present_columns(bitmap, body.width) for bitmap in bitmaps]
    return RowsTemplate(
        head=event_template(head),
        before=None if kind == "insert" else columns[0],
        after=None if kind == "delete" else columns[-1],
        alone=stands_alone(kind, table, session),
        flags_at=_place(head, "row_flags", 0, 0xFFFF)[0],
        compressed_code=COMPRESSED[kind].type_code if session.log_bin_compress else 0,
    )


def event_template(event: Event, exec_stamp: str | None = None, *, sessions: bool = False) -> EventTemplate:
    """The template of an event whose header time is the number of its stamp, from 1.

    ``exec_stamp``: of the exec_time of a QUERY event; ``sessions``: the number of its connection is stamped too.
    """
    stamps = [_stamp(f"time_{event.timestamp - 1}", 0, 4)]
    length_at = None
    for name, field, low, high in _VARYING.get(type(event.body), ()):
        if getattr(event.body, field) is not None:
            stamps.append(_stamp(name, *_place(event, field, low, high)))
    if exec_stamp is not None:
        stamps.append(_stamp(exec_stamp, *_place(event, "exec_time", 0, 0xFFFFFFFF)))
    body = event.body
    if sessions and isinstance(body, (Query, MariadbGtid)) and body.thread_id is not None:
        stamps.append(_stamp("thread_id", *_place(event, "thread_id", 0, 0xFFFFFFFF)))
    if isinstance(body, AnonymousGtid) and body.commit_timestamp is not None:
        # 250 takes one byte, which is cut out again.
        event = event.replace(body=body.replace(transaction_length=250))
        length_at = _place(event, "transaction_length", 0, 250)[0]
    data = encode_event(event.replace(log_pos=0), 0, _FORMAT)
    if length_at is not None:
        data = data[:length_at] + data[length_at + 1 :]
    return EventTemplate(data, tuple(stamps), length_at, positioned=event.log_pos is None)


def _stamp(name: str, offset: int, width: int) -> Stamp:
    return Stamp(STAMPS.index(name), offset, width)


def _place(event: Event, field: str, low: Any, high: Any) -> tuple[int, int]:
    """(offset, bytes) of a field in the event: where its bytes differ for two values that differ in every byte."""
    both = (event.body.replace(**{field: value}).build(_FORMAT) for value in (low, high))
    differ = [offset for offset, (one, other) in enumerate(zip(*both, strict=True)) if one != other]
    return HEADER_SIZE + differ[0], len(differ)


def bitmaps_of(body: RowsBody) -> tuple[bytes, ...]:
    """The bitmaps of the event's images, in their order."""
    return (body.present, body.present_after) if isinstance(body, (UpdateRows, UpdateRowsV1)) else (body.present,)


#: Fields whose values are a transaction's own: the stamp, the field, two values that differ in every byte.
_GTID = (
    ("last_committed", "last_committed", 0, -1),
    ("sequence_number", "sequence_number", 0, -1),
    ("commit_timestamp", "commit_timestamp", (0, None), ((1 << 55) - 1, None)),
)
_VARYING: dict[type[Body], tuple[tuple[str, str, Any, Any], ...]] = {
    AnonymousGtid: _GTID,
    Gtid: (("gno", "gno", 0, -1), *_GTID),
    MariadbGtid: (("gno", "sequence_number", 0, (1 << 64) - 1),),
    Xid: (("xid", "xid", 0, (1 << 64) - 1),),
}
