"""Most events of a large log by the kernel of forge.bulk.printing, in place of the printer's methods.

The printer's methods say what is printed.  The kernel learns from them: the text of each TABLE_MAP, of statements like
BEGIN, of what stands around cells.  It prints what it knows as long as nothing is odd; then the printer goes on from
the state that the kernel has come to.

The rows of a statement are printed behind the heads of all its events.  Where they are many, those heads are printed
first, and the events are read again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

from forge.binlog.window import LogWindow
from forge.bulk.printing import words
from forge.events.format import CHECKSUM_SIZE, FormatContext
from forge.events.rows import ROWS_BODIES
from forge.events.rows_query import AnnotateRows
from forge.vendors.kernel.kernel_buffer import KernelBuffer
from forge.vendors.kernel.kernel_knowledge import Knowledge
from forge.vendors.kernel.kernel_state import is_ready, is_usual, load_state, store_state
from forge.vendors.mariadb_printer import MariadbPrinter
from forge.vendors.mysql_printer import MysqlPrinter
from forge.vendors.print_options import NO_STOP
from forge.vendors.printed_rows import RowsEnd, row_lines
from forge.vendors.printer import PrintError, ends_statement
from forge.vendors.quoting import base64_lines
from forge.vendors.shown_events import ShownEvent, ShownEvents

#: Bytes of a file for which the reference path takes longer than the kernel takes to be loaded, and to be compiled.
_MANY, _VERY_MANY = 1 << 18, 1 << 25
#: How often the kernel is asked in vain before it is asked less often, and events between two times at most.
_PATIENCE, _MOST_PAUSE = 16, 63
_NO_ROW: Final = -1


def kernel_events(printer: MysqlPrinter | MariadbPrinter, window: LogWindow) -> KernelEvents | None:
    """What prints a log for the printer; None for a small one, and for options that only the reference path knows."""
    size = _VERY_MANY if window.end is None else window.end
    if size < _MANY or not is_usual(printer) or find_spec("llvmlite") is None:
        return None
    from forge.bulk.printing.object_code import is_kept

    if not is_kept() and (size < _VERY_MANY or find_spec("numba") is None):
        return None
    return KernelEvents(printer, window)


@dataclass(frozen=True, slots=True)
class _Unprinted:
    """Where the rows and the BINLOG statement go on that have begun; what there is of them, and the tables."""

    offset: int
    #: Of the row to go on with, in its event; _NO_ROW for all of them.
    row_at: int
    block_offset: int
    body: bytes
    block: bytes
    mapped: dict[int, int]


class KernelEvents:
    """The kernel at work for one file."""

    def __init__(self, printer: MysqlPrinter | MariadbPrinter, window: LogWindow) -> None:
        from forge.bulk.printing.object_code import kernel

        self._kernel = kernel()
        self._printer = printer
        self._window = window
        self._known = Knowledge(printer)
        self._words = self._known.words
        self._buffer = KernelBuffer(window, self._words)
        self._format = FormatContext()
        self._unprinted: _Unprinted | None = None
        #: How often the kernel was asked in vain, and events that are left to the printer before it is asked again.
        self._fruitless = self._pause = 0

    def printed(self, events: ShownEvents) -> Iterator[bytes]:
        """Print events as far as the kernel goes; those behind are next in ``events``."""
        if self._pause:
            self._pause -= 1
            return
        if not events.format.plain or events.format.table_id_size != 6 or not is_ready(self._printer):
            return
        self._format = events.format
        self._load()
        self._known.check_session()
        offset = yield from self._printed_from(events.offset)
        yield from self._left(offset)
        self._store()
        self._fruitless = 0 if offset > events.offset else self._fruitless + 1
        self._pause = min(max(self._fruitless - _PATIENCE, 0), _MOST_PAUSE)
        if offset > events.offset:
            self._window.go_on(offset)
            events.move(offset)

    def _run(self, offset: int) -> tuple[int, int]:
        """Have the kernel print: why it returned, and where the next event is."""
        if not self._buffer.has(offset) and not self._buffer.read(offset):
            return words.ODD, offset
        self._words[words.AT] = self._buffer.at(offset)
        why = self._kernel(self._words.address, self._words.size)
        return why, self._buffer.offset(self._words[words.AT])

    def _printed_from(self, offset: int) -> Generator[bytes, None, int]:
        """Print events: where the next one is, which the kernel does not print."""
        table = self._words
        while True:
            why, offset = self._run(offset)
            if why == words.FULL:
                is_empty = not any(
                    table[word] for word in (words.HEAD_AT, words.BODY_AT, words.BLOCK_AT, words.HELD_AT)
                )
                if is_empty and not self._known.grow():
                    if table[words.ROW_AT] == _NO_ROW:
                        return offset
                    offset = yield from self._odd_rows(offset)
                yield from self._emptied(offset)
            elif why == words.ENDS:
                yield from self._ended(offset)
            elif why == words.ODD_ROWS:
                offset = yield from self._odd_rows(offset)
            elif not self._goes_on(why, offset):
                return offset

    def _goes_on(self, why: int, offset: int) -> bool:
        """Whether what the kernel missed is there now."""
        if why == words.NO_MORE:
            return self._buffer.read(offset)
        if why == words.NEW_ZONE:
            self._known.learn_zone(self._words[words.ASKED])
            return True
        if why == words.NEW_MAP:
            event = self._buffer.event(offset, self._format)
            if event is not None and isinstance(event.body, AnnotateRows):
                event = self._buffer.event(offset + len(event.raw), self._format)
            return self._known.learn_map(event)
        return why == words.NEW_LAYOUT and self._known.learn_layout(self._buffer.event(offset, self._format))

    def _load(self) -> None:
        """Have the state of the printer."""
        table, printer, options = self._words, self._printer, self._printer.options
        table[words.TAIL] = CHECKSUM_SIZE if self._format.checksum else 0
        table[words.STOP] = options.stop_position if printer.last_file else NO_STOP
        table[words.ROW_AT] = _NO_ROW
        table[words.MOMENT] = -1
        table[words.BLOCKS], table[words.ROWS] = int(options.blocks), int(options.rows)
        load_state(table, printer)
        tables = list(printer.tables.items())[: words.MOST_MAPPED]
        self._known.map({table_id: self._known.number_of(mapped) for table_id, mapped in tables})

    def _store(self) -> None:
        """Tell the printer the state."""
        printer = self._printer
        store_state(self._words, printer)
        more = list(printer.tables.items())[words.MOST_MAPPED :] if printer.unfinished else []
        printer.tables.clear()
        printer.tables.update({table_id: self._known.tables[slot] for table_id, slot in self._known.mapped().items()})
        printer.tables.update(more)

    def _head(self) -> Iterator[bytes]:
        """What is printed at once."""
        if size := self._words[words.HEAD_AT]:
            self._words[words.HEAD_AT] = 0
            yield self._words.taken(words.HEAD, size)

    def _taken(self, memory: int, size: int) -> bytes:
        """What has been written to a text, which is empty then."""
        taken = self._words.taken(memory, self._words[size])
        self._words[size] = 0
        return taken

    def _emptied(self, offset: int) -> Iterator[bytes]:
        """Make room in the texts: what stands behind heads that are still to come is printed later."""
        table = self._words
        yield from self._head()
        if not (table[words.BODY_AT] or table[words.BLOCK_AT] or table[words.HELD_AT]) or self._unprinted is not None:
            return
        # What is wrong with a row ends mariadb-binlog, and the heads behind it are not printed.
        if table[words.HELD] or table[words.MARIADB] or not self._buffer.is_plain:
            self._hold()
            return
        row_at = table[words.ROW_AT]
        begun = row_at != _NO_ROW
        event = self._buffer.event(offset, self._format) if begun else None
        self._unprinted = _Unprinted(
            offset, row_at - self._buffer.at(offset) if begun else _NO_ROW,
            offset if event is None else offset + len(event.raw),
            self._taken(words.BODY, words.BODY_AT), self._taken(words.BLOCK, words.BLOCK_AT), self._known.mapped(),
        )  # fmt: skip
        table[words.HELD], table[words.ROWS], table[words.BLOCKS] = 1, 0, 0

    def _hold(self) -> None:
        """What has been written goes to where the printer holds it."""
        table, printer = self._words, self._printer
        if table[words.BLOCK_AT]:
            printer.block.add(self._taken(words.BLOCK, words.BLOCK_AT))
        if table[words.BODY_AT]:
            printer.rows.add(self._taken(words.BODY, words.BODY_AT))
        if isinstance(printer, MariadbPrinter) and table[words.HELD_AT]:
            printer.headers.append(self._taken(words.HELD_HEADS, words.HELD_AT))
        self._words[words.HELD] = int(self._is_held())

    def _is_held(self) -> bool:
        printer = self._printer
        return bool(printer.block or printer.rows or (isinstance(printer, MariadbPrinter) and printer.headers))

    def _left(self, offset: int) -> Iterator[bytes]:
        """What is written where the printer goes on."""
        yield from self._head()
        if self._unprinted is not None:
            for piece in self._blocks(self._unprinted, offset):
                self._printer.block.add(piece)
            for piece in self._rows(self._unprinted, offset):
                self._printer.rows.add(piece)
            self._print_all()
        self._hold()

    def _ended(self, offset: int) -> Iterator[bytes]:
        """What stands behind the heads of a statement, which ended at ``offset``."""
        yield from self._head()
        table, unprinted = self._words, self._unprinted
        if unprinted is None and (table[words.HELD] or table[words.MARIADB]):
            self._hold()
            store_state(table, self._printer)
            yield from self._printer.end_statement()
            table[words.ROW_COUNT] = 0
        else:
            if self._printer.options.blocks:
                yield b"\nBINLOG '\n"
                yield from self._blocks(unprinted, offset)
                yield self._printer.statement(b"'")
            yield from self._rows(unprinted, offset)
            self._print_all()
        table[words.HELD] = table[words.UNFINISHED] = table[words.MAPPED_COUNT] = 0

    def _print_all(self) -> None:
        """What has been left out is printed; from here on nothing is."""
        self._unprinted = None
        options = self._printer.options
        self._words[words.BLOCKS], self._words[words.ROWS] = int(options.blocks), int(options.rows)
        self._words[words.HELD] = 0

    def _blocks(self, unprinted: _Unprinted | None, end: int) -> Iterator[bytes]:
        """The BINLOG statement of the events up to ``end``, without what stands around it."""
        yield self._taken(words.BLOCK, words.BLOCK_AT) if unprinted is None else unprinted.block
        if unprinted is not None and self._printer.options.blocks:
            yield from self._again(words.BLOCKS_ALONE, unprinted, unprinted.block_offset, end)

    def _rows(self, unprinted: _Unprinted | None, end: int) -> Iterator[bytes]:
        """The rows of the events up to ``end``."""
        yield self._taken(words.BODY, words.BODY_AT) if unprinted is None else unprinted.body
        if unprinted is not None and self._printer.options.rows:
            yield from self._again(words.ROWS_ALONE, unprinted, unprinted.offset, end)

    def _again(self, alone: int, unprinted: _Unprinted, offset: int, end: int) -> Iterator[bytes]:
        """Print what was left out of the events up to ``end``, all of which the kernel has met."""
        table, mapped, place = self._words, self._known.mapped(), self._words[words.STOP]
        if not self._buffer.has(offset):
            self._buffer.read(offset)
        table[words.ALONE], table[words.HELD], table[words.STOP] = alone, 1, end
        table[words.ROWS], table[words.BLOCKS] = int(alone == words.ROWS_ALONE), int(alone == words.BLOCKS_ALONE)
        self._known.map(unprinted.mapped)
        if alone == words.ROWS_ALONE and unprinted.row_at != _NO_ROW:
            table[words.ROW_AT] = unprinted.row_at + self._buffer.at(offset)
        memory, size = (words.BODY, words.BODY_AT) if alone == words.ROWS_ALONE else (words.BLOCK, words.BLOCK_AT)
        while offset < end:
            why, offset = self._run(offset)
            is_stuck = why == words.FULL and not table[size] and not self._known.grow()
            yield self._taken(memory, size)
            if why == words.ODD_ROWS or is_stuck:
                event, lines = self._odd_lines(offset)
                yield from lines if alone == words.ROWS_ALONE else (base64_lines(event.raw),)
                offset += len(event.raw)
            elif why not in (words.FULL, words.ENDS) and not self._goes_on(why, offset):
                break
        assert offset == end
        table[words.ALONE], table[words.ROW_AT], table[words.STOP] = 0, _NO_ROW, place
        self._known.map(mapped)

    def _odd_lines(self, offset: int) -> tuple[ShownEvent, Iterator[bytes]]:
        """An event, and the rest of its rows by the reference path."""
        event = self._buffer.event(offset, self._format)
        assert event is not None
        body = event.body
        assert isinstance(body, ROWS_BODIES)
        table = self._words
        rows_at = len(event.raw) - table[words.TAIL] - len(body.rows)
        at = max(table[words.ROW_AT] - self._buffer.at(offset) - rows_at, 0)
        mapped = self._known.tables[self._known.mapped()[body.table_id]]
        table[words.ROW_AT] = _NO_ROW
        return event, row_lines(body, mapped, self._printer.family, commented=self._printer.options.verbose > 1, at=at)

    def _odd_rows(self, offset: int) -> Generator[bytes, None, int]:
        """The rest of an event's rows: where the next event is."""
        yield from self._head()
        self._hold()
        event, lines = self._odd_lines(offset)
        try:
            for piece in lines:
                self._printer.rows.add(piece)
                self._words[words.ROW_COUNT] += 1
        except RowsEnd as error:
            raise PrintError(error.problem) from None
        self._hold()
        offset += len(event.raw)
        assert isinstance(event.body, ROWS_BODIES)
        if ends_statement(event.body):
            yield from self._ended(offset)
        return offset

    def learned(self, event: ShownEvent, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """What the printer prints of an event; the kernel learns it, if it is like others that follow."""
        if not self._known.can_learn(event):
            yield from pieces
            return
        before = self._known.check_session()
        printed = b"".join(pieces)
        yield printed
        if self._known.check_session() == before:
            self._known.learn_statement(event, printed)
