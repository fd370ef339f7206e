"""Small payloads as servers write them: many are found, unpacked and listed at one go, whatever stands between them.

Any other payload, and one that is damaged, is left to forge.binlog.payload.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import zstandard

from forge.bulk.crc32 import crc32
from forge.bulk.machine import inline, kernel, load8, load16, load32, load64, memory, signed
from forge.bulk.plan import Bytes
from forge.bulk.reading.events import SPECIAL, EventList, put_event
from forge.events.event import SIZE_OFFSET
from forge.events.format import HEADER_SIZE
from forge.events.transaction_payload import (
    COMPRESSION_TYPE,
    PAYLOAD_SIZE,
    UNCOMPRESSED_SIZE,
    ZSTD,
    TransactionPayload,
)

#: Bytes that payloads are unpacked to at one go.
SMALL = 1 << 20
#: Payloads that are unpacked at one go.
_MOST = 1 << 10
_PAYLOAD = TransactionPayload.type_code
_FRAME_MAGIC = 0xFD2FB528


class SmallPayloads:
    """The payloads that were unpacked last."""

    def __init__(self) -> None:
        #: Where the frames are in the buffer, their bytes, and what they unpack to.
        self._frames = np.empty((_MOST, 2), np.uint64)
        self._sizes = np.empty(_MOST, np.int64)
        self._count = 0
        self._to = 0
        self._decompressor = zstandard.ZstdDecompressor()

    def unpack(self, buffer: Bytes, at: int, end: int, classes: Bytes, tail: int, to: int, room: int) -> int:
        """Unpack the payloads of ``buffer[at:end]`` to ``buffer[to : to + room]``: how many there are.

        They end with what is not small, not as servers write it, or SPECIAL.
        """
        count = int(_find(buffer, at, end, classes, tail, room, self._frames, self._sizes))
        if not count:
            return 0
        frames = zstandard.BufferWithSegments(buffer.data[:end], self._frames[:count].tobytes())
        try:
            unpacked = self._decompressor.multi_decompress_to_buffer(frames)
        except zstandard.ZstdError:
            return 0
        self._count, self._to = count, to
        for number in range(count):
            size = int(self._sizes[number])
            buffer[to : to + size] = np.frombuffer(unpacked[number], np.uint8)  # type: ignore[call-overload]
            to += size
        return count

    def add_to(
        self, events: EventList, buffer: Bytes, classes: Bytes, at: int, tail: int, place: int, number: int
    ) -> tuple[int, int, int]:
        """List the events from ``at`` on, those of the payloads in their place: (where, which number, bytes unpacked).

        It ends behind the last payload, or before the first one that holds what is not to be listed or does not fit.
        """
        unpacked, origin = (self._sizes[: self._count], self._to), (tail, place, number)
        events.count, at, number, used = _add(buffer, at, classes, origin, unpacked, events.arrays, events.count)
        return at, number, used


def frame_of(buffer: Bytes, at: int, size: int, tail: int) -> tuple[int, int, int]:
    """Of the payload of ``size`` bytes at ``at``: (where its frames begin, their bytes, what they unpack to).

    Zeros unless the head is as servers write it and the checksum holds.
    """
    begin, end, full = _frame_of(buffer, at, size, tail)
    return begin, end - begin, full


@kernel
def _frame_of(buffer: Any, at: Any, size: Any, tail: Any) -> Any:
    return _frame(memory(buffer), at, size, tail)


@kernel
def head_of(buffer: Any, size: Any, tail: Any) -> Any:
    """Of the payload of ``size`` bytes whose beginning, 64 bytes or more, the buffer holds: (where its frames begin,
    where they end, what they unpack to), zeros unless the head is as servers write it.
    """
    return _head(memory(buffer), np.int64(0), size, tail)


@inline
def _frame(data: Any, at: Any, size: Any, tail: Any) -> Any:
    """(begin, end, unpacked size) of the frames of a payload with a usual head; zeros for any other."""
    begin, end, full = _head(data, at, size, tail)
    if begin and tail and np.uint64(crc32(data, at, size - tail)) != load32(data, end):
        return np.int64(0), np.int64(0), np.int64(0)
    return begin, end, full


@inline
def _head(data: Any, at: Any, size: Any, tail: Any) -> Any:
    """The same, whatever the checksum is."""
    end = at + size - tail
    field = at + HEADER_SIZE
    kind, length, full = np.int64(-1), np.int64(-1), np.int64(-1)
    none = np.int64(0), np.int64(0), np.int64(0)
    while field + 2 < end and load8(data, field) != np.uint64(0):
        name, width = signed(load8(data, field)), signed(load8(data, field + 1))
        first = signed(load8(data, field + 2))
        if field + 2 + width > end:
            return none
        if width == 1 and first < 251:
            number = first
        elif width == 3 and first == 252:
            number = signed(load16(data, field + 3))
        elif width == 4 and first == 253:
            number = signed(load32(data, field + 3) & np.uint64(0xFFFFFF))
        elif width == 9 and first == 254:
            number = signed(load64(data, field + 3) & np.uint64(0x7FFFFFFFFFFFFFFF))
        else:
            return none
        if name == COMPRESSION_TYPE and kind < 0:
            kind = number
        elif name == PAYLOAD_SIZE and length < 0:
            length = number
        elif name == UNCOMPRESSED_SIZE and full < 0:
            full = number
        else:
            return none
        field += 2 + width
    begin = field + 1
    if begin >= end or load8(data, field) != np.uint64(0) or kind != ZSTD or length != end - begin or full <= 0:
        return none
    return begin, end, full


@inline
def _is_one_frame(data: Any, at: Any, end: Any, full: Any) -> Any:
    """Whether one zstd frame (RFC 8878, section 3.1.1) is there, which pledges that it unpacks to ``full`` bytes."""
    if at + 18 > end or load32(data, at) != np.uint64(_FRAME_MAGIC):
        return False
    head = signed(load8(data, at + 4))
    single = (head >> 5) & 1
    if head & 0x0B:  # A dictionary, or a bit that is reserved.
        return False
    at += 5 if single else 6
    pledged = np.int64(-1)
    if head >> 6 == 0 and single:
        pledged = signed(load8(data, at))
        at += 1
    elif head >> 6 == 1:
        pledged = signed(load16(data, at)) + 256
        at += 2
    elif head >> 6 == 2:
        pledged = signed(load32(data, at))
        at += 4
    elif head >> 6 == 3:
        pledged = signed(load64(data, at))
        at += 8
    if pledged != full:
        return False
    last = False
    while not last:
        if at + 3 > end:
            return False
        block = signed(load32(data, at) & np.uint64(0xFFFFFF))
        last = block & 1 != 0
        # A block of one byte that is repeated has that byte alone.
        at += 3 + (1 if (block >> 1) & 3 == 1 else block >> 3)
    return at + (4 if head & 4 else 0) == end


@kernel
def _find(buffer: Any, at: Any, end: Any, classes: Any, tail: Any, room: Any, frames: Any, sizes: Any) -> Any:
    data = memory(buffer)
    count = 0
    while at + HEADER_SIZE <= end and count < len(sizes):
        size = signed(load32(data, at + SIZE_OFFSET))
        if size < HEADER_SIZE + tail or at + size > end:
            break
        kind = load8(data, at + 4)
        if kind == _PAYLOAD:
            begin, behind, full = _frame(data, at, size, tail)
            if begin == 0 or full > room or not _is_one_frame(data, begin, behind, full):
                break
            frames[count, 0] = begin
            frames[count, 1] = behind - begin
            sizes[count] = full
            room -= full
            count += 1
        elif classes[kind] == SPECIAL:
            break
        at += size
    return count


@kernel
def _add(buffer: Any, at: Any, classes: Any, origin: Any, unpacked: Any, events: Any, count: Any) -> Any:
    tail, place, number = origin
    payloads, inner = unpacked
    start, room, most = at, inner, len(events[0])
    payload = 0
    while payload < len(payloads) and count < most:
        size = signed(load32(buffer, at + SIZE_OFFSET))
        kind = load8(buffer, at + 4)
        if kind == _PAYLOAD:
            first, begin, end = count, inner, inner + payloads[payload]
            while begin + HEADER_SIZE <= end and count < most:
                inner_size = signed(load32(buffer, begin + SIZE_OFFSET))
                inner_kind = load8(buffer, begin + 4)
                if inner_size < HEADER_SIZE or begin + inner_size > end or classes[inner_kind] == SPECIAL:
                    break
                put_event(events, count, (begin, inner_size, inner_kind, 0, place + at - start, number))
                count += 1
                begin += inner_size
            if begin != end:
                count = first
                break
            inner = end
            payload += 1
        else:
            put_event(events, count, (at, size, kind, tail, place + at - start, number))
            count += 1
        at += size
        number += 1
    return count, at, number, inner - room
