"""One transaction of any number of rows: its events are written as they get full.

What is known last stands first: a GTID event says how long its transaction is, and is itself as long as that number
needs.  So the first 16 MB are held back, behind which the number takes nine bytes whatever follows, unless so many are
known to come; a transaction that is longer has its GTID event written at its end, to the place that was kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from forge.binlog.payload import PayloadForm, compress_bytes
from forge.bulk.plan import Bytes, slacked
from forge.bulk.writing.cells import RowsToWrite
from forge.bulk.writing.output import OutputFiles
from forge.bulk.writing.packing import pack_rows, seal
from forge.bulk.writing.row_images import Sizes
from forge.bulk.writing.stretch import Events, Rows, Stretch
from forge.bulk.writing.templates import STMT_END, EventTemplate, RowsTemplate
from forge.events.event import Event, encode_event
from forge.events.format import FormatContext
from forge.events.mariadb_compressed import compress_block
from forge.events.packed import pack_int

#: A length of so many bytes takes nine bytes.
LONG: Final = 1 << 24
_LONG_LENGTH: Final = 9
#: Where an event has its type.
_TYPE_AT: Final = 4
#: Bytes of events that are made together.
_TOGETHER: Final = 1 << 21
_NO_SIZES: Final[Sizes] = np.empty(0, np.int64)


class OpenTransaction:
    """A transaction that rows are added to.

    ``first``: the template of its first event; ``limit``: binlog_row_event_max_size; ``checksum``: bytes behind an
    event; ``least``: as many bytes as it is known to have; ``compressed_from``: rows events whose first row has so many
    bytes are compressed, None for none.

    Places are counted from behind the first event.
    """

    def __init__(
        self,
        output: OutputFiles,
        first: EventTemplate,
        limit: int,
        *,
        checksum: int,
        least: int = 0,
        compressed_from: int | None = None,
    ) -> None:
        self.output = output
        self.first = first
        self.limit = limit
        self.checksum = checksum
        self.compressed_from = compressed_from
        self.begin = output.position
        #: Events that are whole.
        self.events = 1
        self._at = 0
        #: Where the rows event begins that takes more rows, -1 if there is none; its template, head, first row's size.
        self._opened = -1
        self._template: RowsTemplate | None = None
        self._head = b""
        self._first_row = 0
        # The whole events that are not written, one behind the other, and rows of these and of the open one.
        self._whole: list[Events] = []
        self._rows: list[Rows] = []
        #: Where the first event begins that is not written.
        self._waiting_from = 0
        #: Bytes of the first event, 0 until they are known.
        self._first_size = len(first.data) + checksum if first.length_at is None else 0
        self._see_whether_long(least)

    def add_event(self, data: bytes, *, positioned: bool) -> None:
        """An event that is whole but for what sealing fills in."""
        end = self._at + len(data) + self.checksum
        self._note(Events(_one(self._at), _one(end), positioned, _constant(data), None, _NO_SIZES))
        self._at = end

    def _note(self, events: Events) -> None:
        if len(events.ends):
            self._whole.append(events)
            self.events += len(events.ends)

    def add_rows(self, ready: RowsToWrite, head: bytes) -> None:
        """Rows of the statement whose TABLE_MAP came last; ``head``: of their event, with the transaction's numbers."""
        template, sizes = ready.template, ready.sizes
        if self._template is not template:
            self.close_rows()
            self._template = template
            self._head = head
        limit = 0 if template.alone else self.limit
        packed = pack_rows(sizes, self._at, self._opened, len(head), limit, self.checksum)
        self._rows.append(Rows(ready.images, 0, packed.begins))
        firsts = _NO_SIZES
        if self.compressed_from is not None:
            fresh = packed.event_begins[0 if self._opened < 0 else 1 :]
            firsts = sizes[np.searchsorted(packed.begins, fresh + len(head))]
            if self._opened >= 0:
                firsts = np.concatenate([_one(self._first_row), firsts])
            self._first_row = int(firsts[-1])
        begins, ends = packed.event_begins[:-1], packed.event_ends[:-1]
        self._note(Events(begins, ends, template.head.positioned, _constant(head), template, firsts[:-1]))
        self._opened = int(packed.event_begins[-1])
        self._at = packed.at
        self._flush_if_full()

    def close_rows(self, *, last: bool = False) -> None:
        """The open rows event takes no more rows; ``last``: it is the statement's last."""
        if self._opened < 0:
            return
        assert self._template is not None
        head = bytearray(self._head)
        if last:
            head[self._template.flags_at] |= STMT_END
        end = self._at + self.checksum
        positioned = self._template.head.positioned
        self._note(
            Events(_one(self._opened), _one(end), positioned, _constant(head), self._template, _one(self._first_row))
        )
        self._at = end
        self._opened = -1
        self._template = None

    def _see_whether_long(self, least: int) -> None:
        if not self._first_size and least > LONG:
            self._first_size = len(self.first.data) + _LONG_LENGTH + self.checksum

    def _flush_if_full(self) -> None:
        self._see_whether_long(self._at)
        if self._first_size and self._at - self._waiting_from >= _TOGETHER:
            self._flush()

    def _flush(self) -> None:
        """Write all events but the open one; the place of the first event is kept."""
        if self.output.position == self.begin:
            self.output.reserve(self._first_size)
        while (stretch := self._taken(_TOGETHER)) is not None:
            if self.compressed_from is None:
                self._write_later(stretch)
            else:
                self._write_compressed(stretch, self.compressed_from)

    def _write_later(self, stretch: Stretch) -> None:
        output, checksum = self.output, self.checksum > 0
        position = output.reserve(stretch.end - stretch.begin) - stretch.begin
        output.later(lambda: stretch.write(output.scratch, output.descriptor, position, checksum=checksum))

    def _taken(self, most: int) -> Stretch | None:
        """Whole events, which are done with: about ``most`` bytes of them; None if there are none."""
        if not self._whole:
            return None
        begin, count = self._waiting_from, 1
        while count < len(self._whole) and self._whole[count].ends[-1] - begin <= most:
            count += 1
        whole, self._whole = self._whole[:count], self._whole[count:]
        self._waiting_from = int(whole[-1].ends[-1])
        parted = [rows.parted(self._waiting_from) for rows in self._rows]
        self._rows = [left for _, left in parted if len(left.begins)]
        return Stretch(whole, [taken for taken, _ in parted if len(taken.begins)])

    def _write_compressed(self, stretch: Stretch, compressed_from: int) -> None:
        """Write the events, with rows compressed where they are to be."""
        plain = stretch.bytes()
        parts: list[bytes] = []
        for events in stretch.events:
            for number, (begin, end) in enumerate(zip(events.begins.tolist(), events.ends.tolist(), strict=True)):
                data = plain[begin - stretch.begin : end - stretch.begin - self.checksum].tobytes()
                if events.rows is not None and events.first_rows[number] >= compressed_from:
                    data = compressed_rows_event(data, events.rows)
                parts.append(data + bytes(self.checksum))
        ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
        begins = np.concatenate([[0], ends[:-1]])
        out = np.frombuffer(bytearray(b"".join(parts)), np.uint8)
        seal(out, begins, ends, stretch.positioned, self.output.position, self.checksum > 0)
        self.output.write(out.data)

    def finish(self, numbers: Sequence[int]) -> None:
        """Write what is left, and the first event."""
        if not self._first_size:
            self._first_size = first_size(self.first, self._at, self.checksum)
        self._flush()
        length = self.output.position - self.begin
        self.output.put(memoryview(self._first_event(numbers, length)), self.begin)

    def _first_event(self, numbers: Sequence[int], length: int) -> bytes:
        return sealed_event(self.first, numbers, length, self.begin, self.checksum)


class PayloadTransaction(OpenTransaction):
    """A transaction whose events but the first travel in one compressed TRANSACTION_PAYLOAD."""

    def __init__(
        self, output: OutputFiles, first: EventTemplate, limit: int, *, form: PayloadForm, checksum: int
    ) -> None:
        super().__init__(output, first, limit, checksum=0)
        self.form = form
        self.outer_checksum = checksum
        self._inner: list[bytes] = []

    def _flush_if_full(self) -> None:
        self._flush()

    def _flush(self) -> None:
        while (stretch := self._taken(_TOGETHER)) is not None:
            self._inner.append(stretch.bytes().tobytes())

    def finish(self, numbers: Sequence[int]) -> None:
        self._flush()
        write_payload(self.output, self.first, numbers, b"".join(self._inner), self.form, self.outer_checksum)


def _constant(data: bytes | bytearray) -> Bytes:
    return np.frombuffer(bytes(data), np.uint8)


def _one(size: int) -> Sizes:
    return np.array([size], np.int64)


def write_payload(
    output: OutputFiles, first: EventTemplate, numbers: Sequence[int], inner: bytes, form: PayloadForm, checksum: int
) -> None:
    """A transaction of its first event and a payload of the others."""
    time = int.from_bytes(first.stamped(numbers)[:4], "little")
    server_id = int.from_bytes(first.data[5:9], "little")
    event = Event(body=compress_bytes(inner, form), timestamp=time, server_id=server_id)
    format = FormatContext(checksum=checksum > 0)
    following = len(encode_event(event, 0, format))
    size = first_size(first, following, checksum)
    begin = output.position
    output.write(sealed_event(first, numbers, size + following, begin, checksum))
    output.write(encode_event(event, output.position, format))


def first_size(first: EventTemplate, following: int, checksum: int) -> int:
    """Bytes of the first event of a transaction with so many bytes behind it."""
    without = len(first.data) + checksum
    if first.length_at is None:
        return without
    # The field is as long as the number that it is part of.
    return without + next(width for width in (1, 3, 4, 9) if len(pack_int(without + following + width)) <= width)


def sealed_event(template: EventTemplate, numbers: Sequence[int], length: int, begin: int, checksum: int) -> bytes:
    """The event of a transaction of ``length`` bytes, at ``begin`` in its file."""
    data = template.stamped(numbers, pack_int(length) if template.length_at is not None else b"")
    out = slacked(len(data) + checksum)
    out[: len(data)] = np.frombuffer(data, np.uint8)
    end = len(data) + checksum
    positioned = np.array([template.positioned], np.uint8)
    seal(out, np.array([0], np.int64), np.array([end], np.int64), positioned, begin, checksum > 0)
    return out[:end].tobytes()


def compressed_rows_event(data: bytes, template: RowsTemplate) -> bytes:
    """A rows event (no checksum) with its rows as a compressed block."""
    head = len(template.head.data)
    compressed = bytearray(data[:head] + compress_block(data[head:]))
    compressed[_TYPE_AT] = template.compressed_code
    return bytes(compressed)
