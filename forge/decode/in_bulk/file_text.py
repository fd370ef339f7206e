"""The text of one file: lines of events, whose rows are shown in bulk.

Events that hold no rows mostly have the bytes of one before, but for their header: what a line says of it is kept.
What is odd about rows is told by the reference path, event by event.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from forge.binlog.logged import LoggedEvent, logged_events
from forge.binlog.opened import opened
from forge.binlog.reader import PlacedEvent
from forge.binlog.window import LogWindow
from forge.bulk.lines.cell_texts import Unsaid, spans
from forge.bulk.lines.told import Told, in_order
from forge.bulk.reading.batches import Misfit
from forge.bulk.reading.events import ROWS_TYPES
from forge.bulk.reading.file_rows import FileRows, Taker
from forge.bulk.reading.listed import Listed
from forge.bulk.reading.tables import Chosen, Table, table_of
from forge.bulk.reading.window import RowIndexes, Window
from forge.decode.decode import canonical_event, event_without_rows
from forge.decode.in_bulk.bulk_rows import RowTexts
from forge.decode.in_bulk.numbered import NUMBERED, form_of, said_of
from forge.decode.printed import origin, render_text, summary
from forge.decode.table_maps import TableMaps
from forge.errors import counted
from forge.events.event import decode_event_strictly
from forge.events.format import HEADER_SIZE, checksummed
from forge.events.plain import text_or_hex
from forge.events.registry import EVENT_CODES, event_name
from forge.events.rows import ROWS_BODIES
from forge.events.table_map import TableMap
from forge.values.base import Column

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring

_TABLE_MAP: Final = TableMap.type_code
#: Bytes of a table's rows in a window for which it takes longer to tell them column by column.
_FEW = 1 << 12
#: Definitions of tables that are kept ready: a log of more has few rows of each.
_MOST_TABLES = 1 << 11
#: Bodies that are kept: how many, and of how many bytes.
_KEPT, _LONGEST_KEPT = 1 << 12, 1 << 12
#: Types whose bodies differ from event to event.
_DIFFERENT: Final = tuple(EVENT_CODES[name] for name in ("GTID_TAGGED", "MARIADB_GTID", "ROWS_QUERY"))
#: The places of header fields; bytes of the table id and the flags of a row event.
_SERVER_ID, _FLAGS, _ROWS_HEAD = 5, 17, 8


class FileText:
    """The text of a file.  ``rows_only``: only row events have lines."""

    def __init__(self, path: Path, keyring: Keyring | None, *, rows_only: bool) -> None:
        self._path, self._keyring, self._rows_only = path, keyring, rows_only
        self._rows = FileRows(self, path, keyring=keyring, side_by_side=False, watch=self._watch)
        self._maps = TableMaps()
        self._definitions = 0
        #: The bodies of maps by table id, as they were noted last.
        self._bodies: dict[bytes, bytes] = {}
        #: Behind the header: what a line says, by type, server, flags and body.
        self._said: dict[tuple[int, int, int, bytes], str] = {}
        #: The same of row events before and behind the number of rows, by type, flags, and what stands before the rows.
        self._said_of_rows: dict[tuple[int, int, bytes], tuple[str, str]] = {}
        #: Of events that are told by their numbers, by form and flags: what stands behind the number.
        self._forms: dict[tuple[tuple[int, ...], int], str] = {}
        self._told: Told = []
        self._listed: Listed | None = None
        #: The number of the last event whose line was handed out.
        self.done = -1
        #: Where it ended.
        self._end = 0

    def read(self) -> Iterator[bytes]:
        """The lines, some at a time.  Raises ForgeError and Unsaid, behind those up to the event ``done``."""
        with self._path.open("rb") as file:
            first = next(logged_events(LogWindow(opened(file, self._keyring))))
        for window in self._rows.windows():
            for _ in window:
                pass
            if self._listed is not None:
                yield from self._lines(self._listed, first)
                self._listed = None
        if self.done < 0:
            pieces: list[bytes] = []
            self._add_first(pieces, first)
            yield from pieces
        if self._end != self._rows.read_bytes:
            raise Unsaid

    def wants(self, name: str) -> bool:
        """As forge.bulk.reading.file_rows.Tables has it."""
        return True

    def taker_of(self, name: str, columns: tuple[Column, ...], place: str, path: Path) -> Taker:
        """As forge.bulk.reading.file_rows.Tables has it.  Raises Unsaid for the next of very many."""
        self._definitions += 1
        if self._definitions > _MOST_TABLES:
            raise Unsaid
        return _Rows(self, table_of(name, columns, Chosen("both")))

    def _watch(self, listed: Listed) -> None:
        self._listed, self._told = listed, []
        events = listed.events
        if listed.compressed or (events.count and int(events.begins[: events.count].max()) >= events.unpacked_from > 0):
            raise Unsaid  # Lines of events inside others have other numbers.

    def rows_of(self, rows: _Rows, window: Window, chosen: RowIndexes) -> Iterator[Misfit]:
        """Note the lines of rows of a table; the reference path shows those that are few, or cannot be told so."""
        if int((window.rows.ends[: window.rows.count] - window.rows.begins[: window.rows.count])[chosen].sum()) < _FEW:
            return
        texts = rows.texts
        texts.told = []
        try:
            for made in texts.of(window, chosen):
                if isinstance(made, Misfit):
                    yield made
        except (Unsaid, pa.ArrowException):
            return
        self._told += texts.told

    def _lines(self, listed: Listed, first: LoggedEvent) -> Iterator[bytes]:
        """The lines of a list of events."""
        pieces: list[bytes] = []
        try:
            self._add(pieces, listed, first)
        finally:
            # What is wrong is said behind them.
            yield b"".join(pieces)

    def _add(self, pieces: list[bytes], listed: Listed, first: LoggedEvent) -> None:
        events, buffer, count = listed.events, listed.buffer, listed.events.count
        numbers, places, types, begins, sizes, tails = (
            values[:count].tolist()
            for values in (events.numbers, events.places, events.types, events.begins, events.sizes, events.tails)
        )
        heads = buffer[events.begins[:count].astype(np.int64)[:, None] + np.arange(HEADER_SIZE)]
        times, servers = (heads[:, at : at + 4].copy().view("<u4").ravel().tolist() for at in (0, _SERVER_ID))
        flags = heads[:, _FLAGS : _FLAGS + 2].copy().view("<u2").ravel().tolist()
        names = {code: event_name(code) for code in set(types)}
        texts, rows_of, ends_of = _by_event(self._told, count)
        data = memoryview(buffer.data)
        for index in range(count):
            number, code, at = numbers[index], types[index], begins[index]
            if number != self.done + 1:
                if self.done >= 0 or number != 1:
                    raise Unsaid  # Behind an event that is in no list.
                self._add_first(pieces, first)
            body = data[at + HEADER_SIZE : at + sizes[index] - tails[index]]
            rows = rows_of[index]
            if not rows and code in ROWS_TYPES:
                shown = canonical_event(self._logged(listed, index), self._maps)
                pieces.append(f"{render_text(shown)}\n".encode())
            else:
                if rows:
                    fore, hind = self._around(listed, index, (code, flags[index], bytes(body[:_ROWS_HEAD])))
                    said = f"{fore}{counted(rows, 'row')}{hind}"
                else:
                    said = self._said_of(listed, index, (code, servers[index], flags[index], bytes(body)))
                if rows or not self._rows_only:
                    header = origin(names[code], times[index], servers[index])
                    pieces.append(f"{f'{number:>9} {places[index]:>10}  {header}  {said}'.rstrip()}\n".encode())
                if rows:
                    pieces.append(texts[ends_of[index] : ends_of[index + 1]])
            self.done, self._end = number, places[index] + sizes[index]

    def _add_first(self, pieces: list[bytes], first: LoggedEvent) -> None:
        """FORMAT_DESCRIPTION, which is in no list."""
        if not self._rows_only:
            pieces.append(f"{render_text(event_without_rows(first, None))}\n".encode())
        self.done, self._end = 0, first.offset + len(first.raw)

    def _said_of(self, listed: Listed, index: int, key: tuple[int, int, int, bytes]) -> str:
        """What a line says of an event behind its header.  Raises FormatError."""
        code, _, _, body = key
        form = form_of(code, body) if code in NUMBERED else None
        if form is not None and (flags := self._forms.get((form, key[2]))) is not None:
            return said_of(code, body) + flags
        said = self._said.get(key)
        is_new_map = False
        if code == _TABLE_MAP:
            table_id = body[: listed.format.table_id_size]
            is_new_map = self._bodies.get(table_id) != body
        if said is None or is_new_map:
            logged = self._logged(listed, index)
            mapped = self._maps.note(logged)
            said = summary(event_without_rows(logged, mapped))
            if is_new_map:
                self._bodies[table_id] = body
                self._said_of_rows.clear()
            if form is not None and said.startswith(plain := said_of(code, body)):
                self._forms[form, key[2]] = said.removeprefix(plain)
            elif len(body) <= _LONGEST_KEPT and code not in _DIFFERENT:
                if len(self._said) == _KEPT:
                    self._said.clear()
                self._said[key] = said
        return said

    def _around(self, listed: Listed, index: int, key: tuple[int, int, bytes]) -> tuple[str, str]:
        """What a line says of a row event before and behind the number of its rows."""
        found = self._said_of_rows.get(key)
        if found is None:
            logged = self._logged(listed, index)
            body = logged.body
            assert isinstance(body, ROWS_BODIES)
            mapped = self._maps.by_id[body.table_id].body
            named = {"database": text_or_hex(mapped.database), "table": text_or_hex(mapped.table), "rows": ()}
            fore, nothing, hind = summary(event_without_rows(logged, None) | named).rpartition(counted(0, "row"))
            assert nothing
            found = self._said_of_rows[key] = fore, hind
        return found

    def _logged(self, listed: Listed, index: int) -> LoggedEvent:
        """The event by the reference path.  Raises FormatError."""
        events = listed.events
        begin, size = int(events.begins[index]), int(events.sizes[index])
        place, number = int(events.places[index]), int(events.numbers[index])
        raw = listed.buffer[begin : begin + size].tobytes()
        format = checksummed(listed.format, bool(events.tails[index]))
        return LoggedEvent(PlacedEvent(number, place, raw, decode_event_strictly(raw, place, format), format))


class _Rows:
    """The taker of one definition of a table."""

    schema = pa.schema([])

    def __init__(self, text: FileText, table: Table) -> None:
        self._text, self.table = text, table

    @cached_property
    def texts(self) -> RowTexts:
        """What makes the lines: of a table whose rows are always few, nothing does."""
        return RowTexts(self.table)

    def of(self, window: Window, chosen: RowIndexes) -> Iterator[pa.RecordBatch | Misfit]:
        """As forge.bulk.reading.file_rows.Taker has it."""
        return self._text.rows_of(self, window, chosen)


def _by_event(told: Told, count: int) -> tuple[bytes, list[int], list[int]]:
    """The lines of all rows; of each event how many it has, and where its lines begin, with the end."""
    texts, events = in_order(told)
    rows = np.bincount(events, minlength=count)
    starts, data = spans(texts) if len(texts) else (np.zeros(1, np.int32), np.zeros(0, np.uint8))
    begins = (starts - starts[0])[np.concatenate(([0], np.cumsum(rows)))]
    return data.tobytes(), rows.tolist(), begins.tolist()
