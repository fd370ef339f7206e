"""The SQL of a file, whose plain rows are said in bulk; everything else takes the steps of forge.changed.log_sql.

The events of a window that are no row events are taken one by one, and the statements of its rows come between them.
A window with data definition, or with rows under other checks than usual, is taken one by one as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from forge.binlog.logged import LoggedEvent
from forge.binlog.reader import PlacedEvent
from forge.bulk.lines.cell_texts import Unsaid, number_array, spans
from forge.bulk.lines.told import Told, in_order
from forge.bulk.plan import strings_of
from forge.bulk.reading.batches import Misfit
from forge.bulk.reading.choice import ChosenEvents
from forge.bulk.reading.events import ROWS_TYPES
from forge.bulk.reading.file_rows import FileRows, Taker
from forge.bulk.reading.listed import Listed
from forge.bulk.reading.tables import Chosen, Table, table_of
from forge.bulk.reading.window import RowIndexes, Window
from forge.changed.bulk_statements import BulkStatements, StatementBatches
from forge.changed.known_tables import defines
from forge.changed.log_sql import LogSql
from forge.changed.looked_at import bytes_at, event_of, raw_of
from forge.events.columns import completed
from forge.events.format import HEADER_SIZE, checksummed
from forge.events.plain import name_text
from forge.events.query import QueryFields
from forge.events.table_map import TableMap
from forge.values.base import Column

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring

_TABLE_MAP = TableMap.type_code
#: Flags of row events with which checks are off, and where the flags are.
_CHECKS_OFF, _FLAGS_AT = 0x06, HEADER_SIZE + 6
_ROWS = tuple(ROWS_TYPES)
#: Windows are quarters of the usual ones: statements and what they are joined of take several times the bytes of rows.
_PART = 4
#: Bytes of statements that become texts of the interpreter at a time.
_AT_ONCE = 1 << 17
#: Types that say nothing: texts beside rows, and what stands between transactions.
_SILENT = (3, 4, 27, 28, 29, 35, 160, 161, 163)


@dataclass(slots=True)
class _Window:
    """What is made of a window before it is written."""

    #: The events that are taken one by one, by their index in the list.
    events: list[tuple[int, LoggedEvent]] = field(default_factory=list)
    told: Told = field(default_factory=list)
    #: All events are taken one by one.
    is_odd: bool = False
    #: The number of the last event, and whether it is inside a payload.
    last: int = -1
    is_inside: bool = False
    listed: Listed | None = None


class BulkSql:
    """The SQL of one file.  ``file`` is its name in comments."""

    def __init__(self, log: LogSql, path: Path, file: str, keyring: Keyring | None) -> None:
        self._log, self._path, self._file = log, path, file
        self._rows = FileRows(self, path, keyring=keyring, side_by_side=False, watch=self._watch, part=_PART)
        self._now = _Window()
        #: The bodies of maps by table id, and the tables by name, as they were noted last.
        self._bodies: dict[bytes, bytes] = {}
        self._maps: dict[str, TableMap] = {}
        #: The number of the last event that was written; whether others may have the same: those of a payload.
        self.done, self.is_inside = -1, False

    def read(self) -> Iterator[str]:
        """The statements.  Raises ForgeError, behind those up to the event ``done``."""
        self._log.begin(self._file)
        for window in self._rows.windows():
            for _ in window:
                pass
            yield from self._written()
            if self._now.events and self._log.is_behind(self._now.events[-1][1]):
                return

    def wants(self, name: str) -> bool:
        """As forge.bulk.reading.file_rows.Tables has it."""
        return self._log.asked.events.has_name(name)

    def taker_of(self, name: str, columns: tuple[Column, ...], place: str, path: Path) -> Taker:
        """As forge.bulk.reading.file_rows.Tables has it."""
        sql = self._log.table_of(self._maps[name])
        # Of a window with several definitions the last one is noted.
        told = columns if sql is None else completed(columns, sql.columns)
        taker = _Rows(self, table_of(name, told, Chosen("both")))
        events = self._log.asked.events
        return taker if events.is_all else ChosenEvents(taker, events)

    # What is made of a window.

    def _watch(self, listed: Listed) -> None:
        """The next events: table maps are noted, and what is no row event is kept."""
        now = self._now = _Window(listed=listed)
        events, count = listed.events, listed.events.count
        types = events.types[:count]
        now.last = int(events.numbers[count - 1])
        now.is_inside = int(events.begins[count - 1]) >= events.unpacked_from and now.last not in listed.compressed
        rows = np.flatnonzero(np.isin(types, _ROWS))
        flags = bytes_at(listed.buffer, events.begins[rows].astype(np.int64) + _FLAGS_AT, 1)
        now.is_odd = bool((flags & _CHECKS_OFF).any())
        kept = ~np.isin(types, (*_ROWS, *_SILENT))
        for index in np.flatnonzero(kept).tolist():
            if types[index] == _TABLE_MAP and not self._is_new(listed, index):
                continue
            logged = logged_of(listed, index)
            body = logged.body
            if isinstance(body, TableMap):
                self._log.note(logged)
                self._maps[f"{name_text(body.database)}.{name_text(body.table)}"] = body
            elif isinstance(body, QueryFields) and defines(body.text()):
                now.is_odd = True
            now.events.append((index, logged))
        if now.is_odd:
            silent = np.isin(types, _SILENT)
            now.events = [(index, logged_of(listed, index)) for index in np.flatnonzero(~silent).tolist()]

    def _is_new(self, listed: Listed, index: int) -> bool:
        """Whether the map is another one than the last of its table id."""
        raw = raw_of(listed, index)
        number, body = (
            raw[HEADER_SIZE : HEADER_SIZE + 6],
            raw[HEADER_SIZE + 6 : len(raw) - int(listed.events.tails[index])],
        )
        if self._bodies.get(number) == body:
            return False
        self._bodies[number] = body
        return True

    def rows_of(self, table: Table, window: Window, chosen: RowIndexes) -> Iterator[Misfit]:
        """Note the statements of row events of a table."""
        now = self._now
        if now.is_odd:
            return
        before = len(now.told)
        try:
            sql = self._log.table_of(self._maps[table.name])
            if sql is None or sql.columns != table.columns:
                raise Unsaid
            rows = self._log.asked.rows
            statements = BulkStatements(table, sql, rows.cells, flashback=rows.flashback)
            for made in StatementBatches(table, self._file, statements, now.told).of(window, chosen):
                if isinstance(made, Misfit):
                    yield made
        except (Unsaid, pa.ArrowException):
            del now.told[before:]
            for index in window.rows.events[: window.rows.count][chosen].tolist():
                said = self._log.statements_of(logged_of(window.listed, index))
                now.told.append((strings_of(said), np.full(len(said), index, np.int64)))
            return
        self._log.written += sum(len(texts) for texts, _ in now.told[before:])

    # What is written of it.

    def _written(self) -> Iterator[str]:
        now, log = self._now, self._log
        texts, events = in_order(now.told)
        at = 0
        for index, logged in now.events:
            upto = int(np.searchsorted(events, index)) if len(events) else 0
            if upto > at:
                yield from self._said(texts.slice(at, upto - at), self._event(now, events[at]))
                at = upto
            yield from log.step(logged)
        if at < len(events):
            yield from self._said(texts.slice(at), self._event(now, events[at]))
        self.done, self.is_inside = now.last, now.is_inside

    def _event(self, now: _Window, index: int) -> Callable[[], LoggedEvent]:
        """The row event, while the window's bytes are there: up to the next window."""
        assert now.listed is not None
        return partial(logged_of, now.listed, int(index))

    def _said(self, texts: pa.Array, first: Callable[[], LoggedEvent]) -> Iterator[str]:
        """Statements, of which the interpreter has few at a time: its texts take up to four bytes for a character."""
        rows = max(1, len(texts) * _AT_ONCE // max(len(spans(texts)[1]), 1))
        for at in range(0, len(texts), rows):
            part = texts.slice(at, rows)
            if self._log.asked.rows.flashback:
                part = part.take(number_array(np.arange(len(part) - 1, -1, -1)))
            yield from self._log.write(spans(part)[1].tobytes().decode("utf-8", "surrogateescape"), first)


class _Rows:
    """The taker of one definition of a table."""

    schema = pa.schema([])

    def __init__(self, sql: BulkSql, table: Table) -> None:
        self._sql, self.table = sql, table

    def of(self, window: Window, chosen: RowIndexes) -> Iterator[pa.RecordBatch | Misfit]:
        """As forge.bulk.reading.file_rows.Taker has it."""
        return self._sql.rows_of(self.table, window, chosen)


def logged_of(listed: Listed, index: int) -> LoggedEvent:
    """An event of a list by the reference path.  Raises FormatError."""
    events = listed.events
    place, number = int(events.places[index]), int(events.numbers[index])
    raw, event = raw_of(listed, index), event_of(listed, index)
    inner = int(events.begins[index]) >= events.unpacked_from and number not in listed.compressed
    format = checksummed(listed.format, bool(events.tails[index]))
    return LoggedEvent(PlacedEvent(number, place, raw, event, format), int(inner))
