"""The rows of one file: what its tables are, which events are theirs, and in which order they are handed out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, Protocol

import numpy as np
import pyarrow as pa

from forge.binlog.mapped import ends_a_statement, mapped_columns, unmapped
from forge.binlog.reader import PlacedEvent
from forge.bulk.reading.batches import Misfit
from forge.bulk.reading.gtids import Gtids
from forge.bulk.reading.listed import Listed, in_file, payload_error
from forge.bulk.reading.lister import EventLister
from forge.bulk.reading.odd import ReadSummary
from forge.bulk.reading.row_walk import Layout
from forge.bulk.reading.side_by_side import SideBySide
from forge.bulk.reading.splits import Split
from forge.bulk.reading.survey import NEW_LAYOUT, NEW_MAP, NO_MAP, SHORT, Known, RowEvents
from forge.bulk.reading.tables import Table, layout_of
from forge.bulk.reading.window import Batch, RowIndexes, Window
from forge.bulk.reused import Reused
from forge.errors import ForgeError, FormatError, UnsupportedError
from forge.events.event import decode_event_strictly
from forge.events.format import HEADER_SIZE, checksummed
from forge.events.plain import name_text
from forge.events.row_image import iterate_rows
from forge.events.rows import ROWS_BODIES
from forge.events.table_map import TableMap
from forge.values.base import Column

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring


class Taker(Protocol):
    """Who is given the rows of one table, list by list."""

    table: Table
    #: Of all that it makes of them; the same for all definitions of a table that may follow one another.
    schema: pa.Schema

    def of(self, window: Window, chosen: RowIndexes) -> Iterator[pa.RecordBatch | Misfit]:
        """Batches of the chosen row events (indexes into the window's), then a Misfit if one of them does not fit.

        Two threads take two windows at once.
        """


class Tables(Protocol):
    """Who knows which tables are wanted."""

    def wants(self, name: str) -> bool:
        """Whether rows of that table are asked for."""

    def taker_of(self, name: str, columns: tuple[Column, ...], place: str, path: Path) -> Taker:
        """Who takes the rows of a table definition, which stands at that place."""


#: Batches of a window that are made before they are asked for.
_MOST_MADE: Final = 8
#: A second thread helps from the start with a file of so many bytes, with another one when it has taken so many
#: seconds: the first windows of two threads take as long as four of one.
_LONG: Final = 1 << 24
_LONG_TIME: Final = 0.012
#: Two threads that meet more new tables than that in a window wait for each other.
_MOST_MET: Final = 100
#: Bytes of a row event before its rows at most: extra data, which tells its length in 2 bytes, and bitmaps of 65,535
#: columns.
_MOST_BEFORE_ROWS: Final = 1 << 18


class _MisfitFound(Exception):
    """The rows of an event, by its index in the list, do not fit its table.  It never leaves this module."""

    def __init__(self, event: int) -> None:
        self.event = event


class FileRows:
    """The batches of one file, or of a split of it."""

    def __init__(
        self,
        tables: Tables,
        path: Path,
        split: Split | None = None,
        summary: ReadSummary | None = None,
        *,
        side_by_side: bool = True,
        keyring: Keyring | None = None,
        watch: Callable[[Listed], None] | None = None,
        part: int = 1,
    ) -> None:
        """``side_by_side``: a second thread helps with a long file; ``watch`` is shown the lists of events in order."""
        self._tables, self._watch, self._path = tables, watch or (lambda _: None), path
        self._summary = ReadSummary() if summary is None else summary
        self._lister = EventLister(path, split, keyring, part)
        self._is_helped, self._began = side_by_side, 0.0
        #: Definitions and layouts that the last window brought.
        self._met = 0
        #: Bytes of the file that have been read.
        self.read_bytes = 0
        self._known = Known()
        #: Those in force behind the last window that was surveyed.
        self._gtids = Gtids(None if split is None else split.mark.gtid)
        self._free_rows: Reused[RowEvents] = Reused()
        self._slots: dict[bytes, int] = {}
        #: Of each slot: why it has no taker.
        self._problems: list[ForgeError | None] = []
        self._columns: list[tuple[Column, ...]] = []
        #: The definitions that differ in name or columns.
        self._takers: list[Taker] = []
        self._known_takers: dict[tuple[str, tuple[Column, ...]], int] = {}
        #: Those that were met, by the type of the event and the number of columns.
        self._layouts: dict[tuple[int, int], dict[Layout, None]] = {}
        #: A number for the name of each table that has a taker.
        self._names: dict[str, int] = {}

    def batches(self) -> Iterator[Batch]:
        """(table, batch), in the order of the log.  A second thread makes every other window of a long file.

        Raises FormatError with the file as forge.binlog.reader.read_events does, after the rows before the bad bytes;
        bodies that no row depends on are not looked at.  OSError if the file cannot be read.
        """
        for window in self.windows():
            yield from window

    def windows(self) -> Iterator[Iterator[Batch]]:
        """The same window by window, those without rows too: its batches are to be taken before the next."""
        self._began = time.monotonic()
        try:
            with closing(self._lister.lists()) as lists:
                work = SideBySide(self._windows(lists), self._verify, self._survey, self._make, self._is_long)
                with closing(work.done()) as windows:
                    for window in windows:
                        yield in_file(self._of_window(window), self._path)
        except FormatError as error:
            raise error.in_file(str(self._path)) from None
        self.read_bytes = self._lister.read_bytes

    def _is_long(self) -> bool:
        if not self._is_helped or not self._lister.is_full or self._met > _MOST_MET:
            return False
        return self._lister.size >= _LONG or time.monotonic() >= self._began + _LONG_TIME

    def _of_window(self, window: Window) -> Iterator[Batch]:
        self.read_bytes = window.listed.read_bytes
        self._summary.add(window.counted)
        yield from window.batches
        if window.rest is not None:
            window.counted.clear()
            for pair in window.rest:
                self._summary.add(window.counted)
                window.counted.clear()
                yield pair
        if window.error is not None:
            raise window.error

    def _windows(self, lists: Iterator[Listed]) -> Iterator[Window]:
        for listed in lists:
            yield Window(listed, self._free_rows.take() or RowEvents(listed.events.capacity))

    def _verify(self, window: Window) -> None:
        window.wrong = window.listed.verify()

    def _survey(self, window: Window) -> None:
        """Find the row events, and learn what is new in the window."""
        rows, listed = window.rows, window.listed
        self._watch(listed)
        window.gtids = self._gtids
        rows.clear()
        first, id_size = 0, listed.format.table_id_size
        self._met = 0
        while True:
            why, event = rows.survey(listed.buffer, listed.events, first, self._lister.classes, self._known, id_size)
            if event == listed.events.count:
                break
            self._met += 1
            try:
                first = self._new(why, listed, event)
            except ForgeError as met:
                window.wrong = met
                break
        if rows.gtids:
            try:
                self._gtids = self._gtids.behind(listed, rows.gtid_events[: rows.gtids])
            except ForgeError as met:
                window.wrong = met

    def _make(self, window: Window) -> None:
        """The batches, but for those beyond what one window should hold: they are made when they are asked for."""
        made = self._made(window)
        for _ in range(_MOST_MADE if self._is_helped else 0):
            try:
                pair = next(made, None)
            except ForgeError as error:
                window.error = error
                return
            if pair is None:
                return
            window.batches.append(pair)
        window.rest = made

    def _made(self, window: Window) -> Iterator[Batch]:
        try:
            yield from self._of_runs(window)
        except _MisfitFound as found:
            rows = window.rows
            slot = int(rows.slots[np.searchsorted(rows.events[: rows.count], found.event)])
            raise self._misfit(window.listed, found.event, slot) from None
        if window.wrong is not None:
            raise window.wrong
        self._lister.give_back(window.listed, window.counted.rows)
        self._free_rows.add(window.rows)

    def _of_runs(self, window: Window) -> Iterator[Batch]:
        rows = window.rows
        if not rows.count:
            return
        runs = rows.runs(self._known)
        if len(runs) == 1:
            yield from self._of_run(window, *runs[0])
            return
        # Nothing behind a misfit counts, of the other tables neither: all are walked before one is handed out.
        pairs: list[Batch] = []
        first = window.events.count
        for taker, chosen in runs:
            try:
                pairs.extend(self._of_run(window, taker, chosen))
            except _MisfitFound as found:
                first = min(first, found.event)
        if first == window.events.count:
            yield from pairs
            return
        window.counted.clear()
        before = [(taker, chosen[rows.events[chosen] <= first]) for taker, chosen in runs]
        for taker, chosen in sorted(before, key=lambda run: first in rows.events[run[1]]):
            yield from self._of_run(window, taker, chosen)

    def _of_run(self, window: Window, taker: int, chosen: RowIndexes) -> Iterator[Batch]:
        """The batches of some row events of one table.  Raises _MisfitFound."""
        taking = self._takers[taker]
        for made in taking.of(window, chosen):
            if isinstance(made, Misfit):
                raise _MisfitFound(made.event)
            yield taking.table.name, made

    def _placed(self, listed: Listed, event: int, most: int | None = None) -> PlacedEvent:
        """The event by the reference path, or what its first ``most`` bytes say.  Raises FormatError."""
        events = listed.events
        begin, size = int(events.begins[event]), int(events.sizes[event])
        place, number = int(events.places[event]), int(events.numbers[event])
        raw = listed.compressed.get(number)
        format = listed.format
        if raw is None:
            taken = size if most is None else min(size, most)
            raw = listed.buffer[begin : begin + taken].tobytes()
            format = checksummed(format, bool(events.tails[event]) and taken == size)
        try:
            decoded = decode_event_strictly(raw, place, format)
        except FormatError as error:
            if self._is_inner(listed, event):
                payload = self._lister.event_at(place)
                raise payload_error(payload, error, place, number, listed.format) from None
            raise error.within(base=place, event_index=number) from None
        return PlacedEvent(number, place, raw, decoded, format)

    def _is_inner(self, listed: Listed, event: int) -> bool:
        """Whether the event was in a payload."""
        events = listed.events
        unpacked = int(events.begins[event]) >= events.unpacked_from
        return unpacked and int(events.numbers[event]) not in listed.compressed

    def _new(self, why: int, listed: Listed, event: int) -> int:
        """Learn what the survey did not know: the event to go on with."""
        if why == NEW_LAYOUT and self._layout_is_known(listed, event):
            return event
        placed = self._placed(listed, event, _MOST_BEFORE_ROWS if why == NEW_LAYOUT else None)
        inner = self._is_inner(listed, event)
        body = placed.event.body
        if why == NEW_MAP:
            assert isinstance(body, TableMap)
            self._map(placed, body, inner)
            return event
        assert isinstance(body, ROWS_BODIES)
        if why == NO_MAP:
            if ends_a_statement(body):
                return event + 1
            raise unmapped(placed, body)
        if why == NEW_LAYOUT:
            slot = self._known.slot_of(body.table_id)
            if not self._layout(placed, slot):
                self._refuse(self._placed(listed, event), slot, inner)
            return event
        assert why == SHORT
        raise FormatError("the event is too short", phase="body", offset=placed.offset, event_index=placed.index)

    def _map(self, placed: PlacedEvent, body: TableMap, inner: bool) -> None:
        definition = placed.raw[HEADER_SIZE + placed.format.table_id_size : placed.unchecked_size]
        slot = self._slots.get(definition)
        if slot is None:
            slot = self._slots[definition] = self._define(placed, body, definition, inner)
        self._known.bind(body.table_id, slot)

    def _define(self, placed: PlacedEvent, body: TableMap, definition: bytes, inner: bool) -> int:
        name = f"{name_text(body.database)}.{name_text(body.table)}"
        wanted = self._tables.wants(name)
        problem: ForgeError | None = None
        taker = -1
        columns: tuple[Column, ...] = ()
        if wanted:
            place = f"event {placed.index}, offset {placed.offset} of {self._path}"
            try:
                columns = mapped_columns(placed, body, inner=inner)
            except UnsupportedError as error:
                problem = error
            try:
                taker = -1 if problem else self._taker(name, columns, place)
            except (FormatError, UnsupportedError) as error:
                problem = error  # Metadata that no column of the type has: it is the first row that fails.
        self._columns.append(columns)
        self._problems.append(problem)
        return self._known.add_slot(
            definition, wanted=wanted, taker=taker, name=self._names.setdefault(name, len(self._names))
        )

    def _taker(self, name: str, columns: tuple[Column, ...], place: str) -> int:
        number = self._known_takers.get((name, columns))
        if number is None:
            self._takers.append(self._tables.taker_of(name, columns, place, self._path))
            number = self._known_takers[name, columns] = len(self._takers) - 1
        return number

    def _layout(self, placed: PlacedEvent, slot: int) -> bool:
        """Learn what stands before the rows, all that is looked at of the event; whether they can be read."""
        if self._problems[slot] is not None:
            return False
        table = self._takers[self._known.takers[slot]].table
        layout = layout_of(placed, len(table.columns))
        if layout is None:
            return False
        self._known.add_layout(slot, layout.type_code, layout.header, table.add_layout(layout))
        self._layouts.setdefault((layout.type_code, len(table.columns)), {})[layout] = None
        return True

    def _layout_is_known(self, listed: Listed, event: int) -> bool:
        """Whether the bytes before the rows are those of an event of another table with as many columns."""
        events = listed.events
        begin, end = int(events.begins[event]), int(events.begins[event] + events.sizes[event] - events.tails[event])
        flags_at = begin + HEADER_SIZE + listed.format.table_id_size
        slot = self._known.slot_of(int.from_bytes(listed.buffer[begin + HEADER_SIZE : flags_at].tobytes(), "little"))
        if self._problems[slot] is not None:
            return False
        table = self._takers[self._known.takers[slot]].table
        for layout in self._layouts.get((int(events.types[event]), len(table.columns)), ()):
            behind = flags_at + 2 + len(layout.header)
            if behind <= end and listed.buffer[flags_at + 2 : behind].tobytes() == layout.header:
                self._known.add_layout(slot, layout.type_code, layout.header, table.add_layout(layout))
                return True
        return False

    def _refuse(self, placed: PlacedEvent, slot: int, inner: bool) -> NoReturn:
        """Raise what is wrong with rows that have no layout."""
        if self._columns[slot]:
            self._reference_error(placed, self._columns[slot], inner)
        problem = self._problems[slot]
        if isinstance(problem, FormatError):
            raise problem.of_event(placed.offset, placed.index)
        if problem is not None:
            raise problem
        raise AssertionError("rows of another width are refused")

    def _misfit(self, listed: Listed, event: int, slot: int) -> ForgeError:
        placed = self._placed(listed, event)
        try:
            self._reference_error(placed, self._columns[slot], self._is_inner(listed, event))
        except ForgeError as error:
            return error
        return FormatError(
            "the rows do not fit the columns", phase="row", offset=placed.offset, event_index=placed.index
        )

    def _reference_error(self, placed: PlacedEvent, columns: tuple[Column, ...], inner: bool) -> None:
        """What the reference path says of rows that do not fit."""
        body = placed.event.body
        assert isinstance(body, ROWS_BODIES)
        try:
            for _ in iterate_rows(body, columns):
                pass
        except FormatError as error:
            if inner:
                raise error.of_event(placed.offset, placed.index) from None
            end = placed.offset + placed.unchecked_size
            raise error.within(base=end - len(body.rows), event_index=placed.index) from None
