"""The events around rows, compiled once by the reference path, as templates for every transaction.

Which numbers of an event vary, and where they stand, is read off events that were compiled with other facts: the
layouts stay declared in one place (forge.events).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec

from forge.bulk.writing.templates import (
    STAMPS,
    STMT_END,
    Envelope,
    EventTemplate,
    RowsTemplate,
    Stamp,
    StatementTemplate,
)
from forge.compile.files.compilation import LOGS
from forge.compile.query.clock_status import TIMESTAMPS, ZONED
from forge.compile.rows.rows import COMPRESSED, stands_alone
from forge.engine.rows.foreign_keys import isolates
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
from forge.plan.effects import ForeignKeyEffects
from forge.plan.grouping.logged_groups import logged_groups
from forge.plan.plan import Plan
from forge.plan.statement_text import StatementText
from forge.plan.statements import RowsStatement
from forge.plan.tables import Table
from forge.plan.transactions import Transaction
from forge.servers import ServerLine

#: Header times that no session has: which time an event has is seen from them.
_TIMES: Final = (1, 2, 3, 4)
_FORMAT: Final = FormatContext(checksum=False)


@dataclass(frozen=True, slots=True)
class Statement:
    """What statements have in common whose events differ in numbers only.

    ``table``: its number among those of the envelopes.  ``assigned``: the columns that the text names, None for all.
    ``zoned``: its first row is given a moment, for which servers ask for the session's time zone.
    """

    kind: ChangeKind
    table: int = 0
    assigned: frozenset[int] | None = None
    zoned: bool = False


#: By the statements of a transaction, and whether it runs between BEGIN and COMMIT: the envelope, and the rows events
#: that it was made of.
Compiled: TypeAlias = dict[tuple[tuple[Statement, ...], bool], tuple[Envelope, tuple[Event, ...]]]


class Envelopes:
    """The envelopes of transactions that change rows of these tables.

    ``table_ids``: of each table, None for the session's.  ``sessions``: the connection's number is stamped, too.
    ``compiled``: what is known of such a plan; gets what is compiled.
    """

    def __init__(
        self,
        plan: Plan,
        tables: Sequence[Table],
        line: ServerLine,
        *,
        table_ids: Sequence[int] | None = None,
        sessions: bool = False,
        compiled: Compiled | None = None,
    ) -> None:
        self.plan = plan
        self.tables = tables
        self.line = line
        self._table_ids = table_ids
        self._sessions = sessions
        self._parents = {foreign.parent for table in tables for foreign in table.foreign_keys}
        self._compiled: Compiled = {} if compiled is None else compiled
        self._rows: dict[tuple[Statement, bool, tuple[bytes, ...]], RowsTemplate] = {}

    def of(self, *statements: Statement, in_block: bool = False) -> Envelope:
        """The envelope of a transaction of these statements."""
        return self._known(statements, in_block)[0]

    def rows(self, statement: Statement, bitmaps: tuple[bytes, ...] | None, *, in_block: bool = False) -> RowsTemplate:
        """The rows event of a statement; ``bitmaps``: of its images, in the place of those of the session."""
        envelope, [event] = self._known((statement,), in_block)
        usual = envelope.statements[0].rows
        if bitmaps is None:
            return usual
        key = (statement, in_block, bitmaps)
        if key not in self._rows:
            body = event.body
            assert isinstance(body, ROWS_BODIES)
            own, width = bitmaps_of(body), body.width
            # Their unused bits tell how a server made them, which is known of the session's own.
            kept = tuple(
                mine if present_columns(mine, width) == present_columns(given, width) else given
                for mine, given in zip(own, bitmaps, strict=True)
            )
            self._rows[key] = usual if kept == own else self._rows_template(event, statement, kept)
        return self._rows[key]

    def zoned_columns(self, table: int = 0) -> list[int]:
        """The columns whose values make a server ask for the session's time zone."""
        zoned = ZONED if self.line.values.takes_offsets else TIMESTAMPS
        return [index for index, column in enumerate(self.tables[table].columns) if column.type.name in zoned]

    def _known(self, statements: tuple[Statement, ...], in_block: bool) -> tuple[Envelope, tuple[Event, ...]]:
        key = (statements, in_block)
        if key not in self._compiled:
            self._compiled[key] = self._made(statements, self._events(statements, in_block))
        return self._compiled[key]

    def _events(self, statements: Sequence[Statement], in_block: bool) -> list[Event]:
        """The events of such a transaction, in a session where the header times are _TIMES."""
        facts = self.plan.session.facts
        ids = self._table_ids
        if ids is None and facts.table_ids:
            ids = facts.table_ids[:1]
        of_statements = None if ids is None else [ids[statement.table] for statement in statements]
        # Facts of a group are found by its number, and this is the first of its log.
        session = msgspec.structs.replace(
            self.plan.session,
            facts=msgspec.structs.replace(facts, timestamps=[list(_TIMES)], table_ids=of_statements),
            compression=False,
            log_bin_compress=False,
        )
        log = LOGS[self.line.family](msgspec.structs.replace(self.plan, session=session), self.line)
        database = session.database or self.tables[0].database
        transaction = Transaction(
            tuple(map(self._statement, statements)), database, explicit=in_block or len(statements) > 1
        )
        (group,) = logged_groups((transaction,), self.line)
        return list(log.group(0, group))

    def _statement(self, statement: Statement) -> RowsStatement:
        """One that changes one row."""
        table, kind = self.tables[statement.table], statement.kind
        nothing = (None,) * len(table.columns)
        change = RowChange(None if kind == "insert" else nothing, None if kind == "delete" else nothing)
        text = StatementText(
            assigned=None if kind == "delete" else statement.assigned,
            system_variables=frozenset(("time_zone",)) if statement.zoned else frozenset(),
        )
        effects = self._foreign_keys(table, kind)
        return RowsStatement(kind, table, (change,), text, foreign_keys=effects)

    def _foreign_keys(self, table: Table, kind: ChangeKind) -> ForeignKeyEffects:
        checks = self.plan.session.foreign_key_checks
        parent = (table.database, table.name) in self._parents
        checked = checks and bool(table.foreign_keys) and kind != "delete"
        return ForeignKeyEffects(
            checks_parents=checks, is_parent=parent, is_related=isolates(self.line, parent=parent, checked=checked)
        )

    def _made(self, statements: Sequence[Statement], events: Sequence[Event]) -> tuple[Envelope, tuple[Event, ...]]:
        places = [place for place, event in enumerate(events) if isinstance(event.body, ROWS_BODIES)]
        first = next(place for place, event in enumerate(events) if isinstance(event.body, TableMap))
        names = iter(("begin_exec_time", "commit_exec_time"))
        templates = [
            event_template(event, next(names) if isinstance(event.body, Query) else None, sessions=self._sessions)
            for event in events
        ]
        made, begin = [], first
        for place, statement in zip(places, statements, strict=True):
            rows = self._rows_template(events[place], statement, None)
            made.append(StatementTemplate(tuple(templates[begin:place]), rows))
            begin = place + 1
        envelope = Envelope(tuple(templates[:first]), tuple(made), tuple(templates[begin:]))
        return envelope, tuple(events[place] for place in places)

    def _rows_template(self, event: Event, statement: Statement, bitmaps: tuple[bytes, ...] | None) -> RowsTemplate:
        """``bitmaps``: of the images, in the place of the event's own."""
        table, kind, session = self.tables[statement.table], statement.kind, self.plan.session
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
