"""Events that follow each other and are not made yet: where each lies, what it begins with, and its rows.

What is known of them is little, so that many are noted before any is made.  Then one kernel makes, seals and writes
them, a piece at a time, which is still in the cache when it is written; meanwhile other threads go on.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numba.core import types

from forge.bulk.machine import copy, inline, kernel, load64, memory, signed
from forge.bulk.plan import Bytes, address, slacked
from forge.bulk.writing.packing import fill_header, put_checksum
from forge.bulk.writing.row_images import BLOCK, ImageCells, Sizes, write_image
from forge.bulk.writing.templates import RowsTemplate

#: Bytes of events that are made before they are written.
_PIECE: Final = 1 << 18
#: pwrite(2) of the system's library: descriptor, address, bytes, place.
_pwrite: Any = types.ExternalFunction("pwrite", types.intp(types.int32, types.intp, types.uintp, types.int64))
#: Instead of a descriptor: all events are one piece, which is not written.
_NOWHERE: Final = -1


@dataclass(frozen=True, slots=True)
class Events:
    """Events that begin with the same bytes, and have a log_pos or not.

    ``head`` is all of an event but its checksum if it has no ``rows``; otherwise what stands before its rows, of which
    the first of each event has so many bytes (``first_rows``; empty if nobody asks).
    """

    begins: Sizes
    ends: Sizes
    positioned: bool
    head: Bytes
    rows: RowsTemplate | None
    first_rows: Sizes


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows ``first + i`` of images, which begin at ``begins[i]``."""

    images: Sequence[ImageCells]
    first: int
    begins: Sizes

    def parted(self, at: int) -> tuple[Rows, Rows]:
        """Those that begin before ``at``, and the others."""
        # NumPy gives the interpreter to other threads while it searches, and has to wait for it.
        count = bisect_left(self.begins, at)
        return (
            Rows(self.images, self.first, self.begins[:count]),
            Rows(self.images, self.first + count, self.begins[count:]),
        )


@dataclass(frozen=True, slots=True)
class Stretch:
    """Events one behind the other, from ``begin`` to ``end``, and all their rows."""

    events: Sequence[Events]
    rows: Sequence[Rows]

    @property
    def begin(self) -> int:
        return int(self.events[0].begins[0])

    @property
    def end(self) -> int:
        return int(self.events[-1].ends[-1])

    @property
    def positioned(self) -> Bytes:
        """Whether each event has a log_pos."""
        return np.repeat(np.array([events.positioned for events in self.events], np.uint8), self._counts)

    @property
    def _counts(self) -> list[int]:
        return [len(events.ends) for events in self.events]

    def write(self, hold: Callable[[int], Bytes], descriptor: int, position: int, *, checksum: bool) -> None:
        """Write the events to a file, in which ``position`` is the place of what is at 0.  Raises OSError.

        ``hold``: gives room for so many bytes.
        """
        begins, ends = self._places()
        out = hold(_PIECE + int((ends - begins).max()))
        events, runs, scratch = (begins, ends, *self._heads(), self.positioned), self._runs(), _scratch()
        at = (0, 0, 0)
        while at[0] < len(ends):
            at, begin, end, written = _make(out, descriptor, position, events, runs, at, checksum, scratch)
            # What the kernel could not write, or why.
            while written < end - begin:
                written += os.pwrite(descriptor, out[written : end - begin].data, position + begin + written)

    def bytes(self) -> Bytes:
        """The bytes of the events, without log_pos and checksum."""
        begins, ends = self._places()
        out = slacked(self.end - self.begin)
        events = (begins, ends, *self._heads(), np.zeros(len(ends), np.uint8))
        _make(out, _NOWHERE, 0, events, self._runs(), (0, 0, 0), False, _scratch())
        return out[: self.end - self.begin]

    def _places(self) -> tuple[Sizes, Sizes]:
        begins = np.concatenate([events.begins for events in self.events])
        return begins, np.concatenate([events.ends for events in self.events])

    def _heads(self) -> tuple[Sizes, Bytes, Sizes]:
        """The head of each event by its number; head ``i`` is ``heads[cuts[i] : cuts[i + 1]]``."""
        numbers = np.repeat(np.arange(len(self.events)), self._counts)
        cuts = np.cumsum([0, *(len(events.head) for events in self.events)])
        return numbers, np.concatenate([events.head for events in self.events]), cuts

    def _runs(self) -> Sizes:
        """By run of rows: how many, the first one's number in its images, and what describes their begins and images.

        There are addresses in it of what this object holds.
        """
        runs = np.zeros((len(self.rows), _RUN_WORDS), np.int64)
        for run, rows in zip(runs, self.rows, strict=True):
            count = len(rows.begins)
            run[:_RUN_IMAGES] = count, rows.first, address(rows.begins), rows.begins.nbytes, len(rows.images)
            for number, image in enumerate(rows.images):
                words = image.words
                place = _RUN_IMAGES + _IMAGE_WORDS * number
                run[place : place + _IMAGE_WORDS] = address(words), len(words), image.null_bytes, image.last_null_byte
        return runs


#: Words of a run: its rows, the number of the first one in the images, the memory of its begins, how many images; then
#: those of each image.
_RUN_IMAGES, _IMAGE_WORDS = 5, 4
_RUN_WORDS = _RUN_IMAGES + 2 * _IMAGE_WORDS


def _scratch() -> Sizes:
    return np.empty((3, BLOCK), np.int64)


@inline
def _count_before(begins: Any, first: Any, most: Any, end: Any) -> Any:
    """How many of so many rows from ``first`` on begin before ``end``."""
    low, high = np.int64(0), np.int64(most)
    while low < high:
        middle = (low + high) // 2
        if signed(load64(begins, 8 * (first + middle))) < end:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _make(
    out: Any, descriptor: Any, position: Any, events: Any, runs: Any, at: Any, checksum: Any, scratch: Any
) -> Any:
    """Make and write events from ``at`` on: the event, the run of rows, and the row of it that comes first.

    ``events``: where each begins and ends, the number of its head, all heads, where each of them begins, and whether an
    event has a log_pos.  Returns ``at`` behind what was made, where the part of it begins and ends that is not all
    written, and how much of that is: none is left unless the system did not take it.
    """
    begins, ends, numbers, heads, cuts, positioned = events
    event, run, row = at
    data, source = memory(out), memory(heads)
    starts, others = scratch[0], scratch[1:]
    # Where what ``out`` holds begins and ends.
    begin = end = begins[event] if event < len(begins) else np.int64(0)
    while event < len(begins):
        first = event
        # The system takes bytes fastest that end where a piece of the file does.
        target = ((position + begin) // _PIECE + 1) * _PIECE - position
        while event < len(begins) and (descriptor < 0 or end < target):
            head = cuts[numbers[event]]
            copy(data, begins[event] - begin, source, head, cuts[numbers[event] + 1] - head)
            end = ends[event]
            event += 1
        while run < len(runs):
            row_begins, of_image = (runs[run, 2], runs[run, 3]), runs[run, 1] + row
            most = min(runs[run, 0] - row, scratch.shape[1])
            count = _count_before(row_begins, row, most, end)
            for number in range(count):
                starts[number] = signed(load64(row_begins, 8 * (row + number))) - begin
            for image in range(runs[run, 4]):
                place = _RUN_IMAGES + _IMAGE_WORDS * image
                words = (runs[run, place], runs[run, place + 1])
                write_image(data, starts, others, count, words, of_image, runs[run, place + 2], runs[run, place + 3])
            row += count
            if row == runs[run, 0]:
                run, row = run + 1, np.int64(0)
            elif count < scratch.shape[1]:
                break
        for number in range(first, event):
            fill_header(data, begins[number] - begin, ends[number] - begin, position + begin, positioned[number])
        if checksum:  # Behind all of them: a wide load waits for narrow stores that have just been made.
            for number in range(first, event):
                put_checksum(data, begins[number] - begin, ends[number] - begin)
        if descriptor >= 0:
            cut = (position + end) // _PIECE * _PIECE - position
            if event == len(begins) or cut - begin < end - cut:  # What is left does not fit into the place before it.
                cut = end
            taken = _pwrite(np.int32(descriptor), data[0], np.uint64(cut - begin), position + begin)
            if taken < cut - begin:
                return (event, run, row), begin, end, max(taken, np.int64(0))
            copy(data, np.int64(0), data, cut - begin, end - cut)
            begin = cut
    return (event, run, row), end, end, np.int64(0)
