"""One transaction of any number of rows: its events are written as they get full.

What is known last stands first: a GTID event says how long its transaction is, and is itself as long as that number
needs.  So the first 16 MB are held back, behind which the number takes nine bytes whatever follows, unless so many are
known to come; a transaction that is longer has its GTID event written at its end, to the place that was kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from forge.binlog.payload import PayloadForm, compress_bytes
from forge.columnar.plan import Bytes, slacked
from forge.columnar.writing.envelope import STMT_END, EventTemplate, RowsTemplate
from forge.columnar.writing.packing import pack_rows, room, seal, sealed, write_heads
from forge.columnar.writing.row_images import Sizes, write_rows_at
from forge.events.event import Event, encode_event
from forge.events.format import FormatContext
from forge.events.mariadb_compressed import compress_block
from forge.events.packed import pack_int
from forge.rows.cells import RowsToWrite
from forge.rows.output import OutputFiles

#: A length of so many bytes takes nine bytes.
LONG: Final = 1 << 24
_LONG_LENGTH: Final = 9
#: Where an event has its type.
_TYPE_AT: Final = 4


class Buffer:
    """Memory that transactions are made in, one after the other.  It is two arrays: one is written, one is filled."""

    def __init__(self) -> None:
        self.bytes: Bytes = slacked(1 << 20)
        self._other: Bytes = slacked(0)

    def hold(self, used: int, size: int) -> Bytes:
        """Room for ``size`` bytes, of which the first ``used`` are kept."""
        if len(self.bytes) < size and size > 1 << 22:
            size = max(size, LONG + (1 << 22))  # What is held back, at once.
        self.bytes = room(self.bytes, used, size)
        return self.bytes

    def turn(self, begin: int, end: int) -> None:
        """Go on in the other array; the bytes from ``begin`` to ``end`` come to its beginning.

        :meth:`OutputFiles.write_later` was the call before: so only this array is still written.
        """
        other = room(self._other, 0, end - begin)
        other[: end - begin] = self.bytes[begin:end]
        self.bytes, self._other = other, self.bytes


@dataclass(frozen=True, slots=True)
class _Whole:
    """Events that follow each other, and have a log_pos or not; of rows events the template and first rows' sizes."""

    begins: Sizes
    ends: Sizes
    positioned: bool
    rows: RowsTemplate | None
    first_rows: Sizes


_NO_SIZES: Final[Sizes] = np.empty(0, np.int64)


class OpenTransaction:
    """A transaction that rows are added to.

    ``first``: the template of its first event; ``limit``: binlog_row_event_max_size; ``checksum``: bytes behind an
    event; ``least``: as many bytes as it is known to have; ``compressed_from``: rows events whose first row has so many
    bytes are compressed, None for none.
    """

    def __init__(
        self,
        output: OutputFiles,
        buffer: Buffer,
        first: EventTemplate,
        limit: int,
        *,
        checksum: int,
        least: int = 0,
        compressed_from: int | None = None,
    ) -> None:
        self.output = output
        self.buffer = buffer
        self.first = first
        self.limit = limit
        self.checksum = checksum
        self.compressed_from = compressed_from
        self.begin = output.position
        #: Events that are whole.
        self.events = 1
        self._at = 0
        #: Where the rows event begins that takes more rows, -1 if there is none; its template; its first row's size.
        self._opened = -1
        self._template: RowsTemplate | None = None
        self._first_row = 0
        # The whole events that are not written, one behind the other.
        self._whole: list[_Whole] = []
        #: Bytes of the first event, 0 until they are known.
        self._first_size = len(first.data) + checksum if first.length_at is None else 0
        self._see_whether_long(least)

    def add_event(self, data: bytes, *, positioned: bool) -> None:
        """An event that is whole but for what sealing fills in."""
        end = self._at + len(data) + self.checksum
        out = self.buffer.hold(self._at, end)
        out[self._at : self._at + len(data)] = np.frombuffer(data, np.uint8)
        self._note(_Whole(_one(self._at), _one(end), positioned, None, _NO_SIZES))
        self._at = end

    def _note(self, events: _Whole) -> None:
        self._whole.append(events)
        self.events += len(events.ends)

    def add_rows(self, ready: RowsToWrite, head: bytes) -> None:
        """Rows of the statement whose TABLE_MAP came last; ``head``: of their event, with the transaction's numbers."""
        template, sizes = ready.template, ready.sizes
        if self._template is not template:
            self.close_rows()
            self._template = template
        limit = 0 if template.alone else self.limit
        packed = pack_rows(sizes, self._at, self._opened, len(head), limit, self.checksum)
        out = self.buffer.hold(self._at, packed.at + self.checksum)
        fresh = packed.event_begins[0 if self._opened < 0 else 1 :]
        write_heads(out, fresh, np.frombuffer(head, np.uint8))
        write_rows_at(ready.images, 0, packed.begins, out)
        firsts = _NO_SIZES
        if self.compressed_from is not None:
            firsts = sizes[np.searchsorted(packed.begins, fresh + len(head))]
            if self._opened >= 0:
                firsts = np.concatenate([_one(self._first_row), firsts])
            self._first_row = int(firsts[-1])
        positioned = template.head.positioned
        self._note(_Whole(packed.event_begins[:-1], packed.event_ends[:-1], positioned, template, firsts[:-1]))
        self._opened = int(packed.event_begins[-1])
        self._at = packed.at
        self._flush_if_known()

    def close_rows(self, *, last: bool = False) -> None:
        """The open rows event takes no more rows; ``last``: it is the statement's last."""
        if self._opened < 0:
            return
        assert self._template is not None
        if last:
            self.buffer.bytes[self._opened + self._template.flags_at] |= STMT_END
        end = self._at + self.checksum
        positioned = self._template.head.positioned
        self._note(_Whole(_one(self._opened), _one(end), positioned, self._template, _one(self._first_row)))
        self._at = end
        self._opened = -1
        self._template = None

    def _see_whether_long(self, least: int) -> None:
        if not self._first_size and least > LONG:
            self._first_size = len(self.first.data) + _LONG_LENGTH + self.checksum

    def _flush_if_known(self) -> None:
        self._see_whether_long(self._at)
        if self._first_size:
            self._flush()

    def _flush(self) -> None:
        """Write all events but the open one; the place of the first event is kept."""
        if self.output.position == self.begin:
            self.output.write(bytes(self._first_size))
        begins, ends, positioned = self._listed()
        if not len(ends):
            return
        out, kept = self.buffer.bytes, int(ends[-1])
        if self.compressed_from is not None:
            out, begins, ends = self._compressed()
        pieces = sealed(out, begins, ends, positioned, self.output.position, checksum=self.checksum > 0)
        self.output.write_later(pieces, int(ends[-1]))
        self._keep_open_event(kept)

    def _listed(self) -> tuple[Sizes, Sizes, Bytes]:
        """Where the whole events begin and end, and whether each has a log_pos."""
        begins, ends, positioned = _NO_SIZES, _NO_SIZES, np.empty(0, np.uint8)
        if self._whole:
            begins = np.concatenate([events.begins for events in self._whole])
            ends = np.concatenate([events.ends for events in self._whole])
            positioned = np.repeat(
                np.array([events.positioned for events in self._whole], np.uint8),
                [len(events.ends) for events in self._whole],
            )
        return begins, ends, positioned

    def _keep_open_event(self, end: int) -> None:
        """The whole events, up to ``end``, are done with; the one that takes more rows goes to the beginning."""
        self.buffer.turn(end, self._at)
        self._opened = 0 if self._opened >= 0 else -1
        self._at -= end
        self._whole.clear()

    def _compressed(self) -> tuple[Bytes, Sizes, Sizes]:
        """The whole events, with rows compressed where they are to be."""
        assert self.compressed_from is not None
        parts: list[bytes] = []
        sizes: list[int] = []
        for events in self._whole:
            for number, (begin, end) in enumerate(zip(events.begins, events.ends, strict=True)):
                data = self.buffer.bytes[begin : end - self.checksum].tobytes()
                if events.rows is not None and events.first_rows[number] >= self.compressed_from:
                    data = compressed_rows_event(data, events.rows)
                parts.append(data + bytes(self.checksum))
                sizes.append(len(parts[-1]))
        ends = np.cumsum(sizes, dtype=np.int64)
        return np.frombuffer(bytearray(b"".join(parts)), np.uint8), ends - np.array(sizes, np.int64), ends

    def finish(self, numbers: Sequence[int]) -> None:
        """Write what is left, and the first event."""
        if not self._first_size:
            self._first_size = first_size(self.first, self._at, self.checksum)
        self._flush()
        length = self.output.position - self.begin
        self.output.rewrite(self._first_event(numbers, length), self.begin)

    def _first_event(self, numbers: Sequence[int], length: int) -> bytes:
        return sealed_event(self.first, numbers, length, self.begin, self.checksum)


class PayloadTransaction(OpenTransaction):
    """A transaction whose events but the first travel in one compressed TRANSACTION_PAYLOAD."""

    def __init__(
        self, output: OutputFiles, buffer: Buffer, first: EventTemplate, limit: int, *, form: PayloadForm, checksum: int
    ) -> None:
        super().__init__(output, buffer, first, limit, checksum=0)
        self.form = form
        self.outer_checksum = checksum
        self._inner: list[bytes] = []

    def add_event(self, data: bytes, *, positioned: bool) -> None:
        super().add_event(data, positioned=False)

    def _flush_if_known(self) -> None:
        self._flush()

    def _flush(self) -> None:
        begins, ends, _ = self._listed()
        if not len(ends):
            return
        seal(self.buffer.bytes, begins, ends, np.zeros(len(ends), np.uint8), 0, False)
        self._inner.append(self.buffer.bytes[: ends[-1]].tobytes())
        self._keep_open_event(int(ends[-1]))

    def finish(self, numbers: Sequence[int]) -> None:
        self._flush()
        write_payload(self.output, self.first, numbers, b"".join(self._inner), self.form, self.outer_checksum)


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
