"""Where every cell of the rows is: one walk over row events of one table, whatever their operation and images.

Every type is either of a fixed width or has a length in front (forge.values), so that a row is split by its null
bitmap and a number a column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from forge.bulk.gather import gathered
from forge.bulk.machine import forced_inline, in_place, inline, kernel, load8, load32, load64, memory, signed, store32
from forge.bulk.plan import ABSENT, Bytes, Cells, Numbers

#: Why a walk returned: through, no room for more rows, or the rows of this event do not fit the columns.
THROUGH, FULL, MISFIT = range(3)

BEFORE, AFTER = 0, 1
#: Columns of an image whose bits are one number.
_MOST_AT_ONCE = 64
#: Of a column that is present in an image, as the walk reads it: its wire, where in memory its line begins (-1: it is
#: not wanted), the bits of a length prefix, and its number among the JSON columns (-1: it is none).
_LINE, _PREFIX, _JSON = 8, 16, 24
_STEP = 32
#: Cells between two lines: at a distance of a power of two, the cells of a row would share one set of the cache.
_APART = 5 * 16


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands in front of the rows of an event.

    ``before`` and ``after`` are the indexes of the columns that are present, None where the event has no such image;
    ``header`` are the bytes behind the event's flags.
    """

    type_code: int
    header: bytes
    before: tuple[int, ...] | None
    after: tuple[int, ...] | None
    partial: bool = False


class Layouts:
    """The layouts of one table, as the kernel reads them.

    ``targets[column]`` is the place of a wanted column among those of a half, -1 for others.  Half ``h`` of a table
    with ``n`` wanted columns fills the *lines* ``h * n`` to ``h * n + n - 1`` of what a walk finds.
    """

    def __init__(self, wires: list[int], json_columns: list[int], targets: list[int], wanted: int) -> None:
        columns = len(wires)
        self._wanted = wanted
        self._wires = wires
        self._targets = targets
        self._json_places = {column: place for place, column in enumerate(json_columns)}
        self.json_bytes = (len(json_columns) + 7) // 8
        #: Of the columns present in an image: the wire, the line, and the number among the JSON columns; -1 for none.
        self.steps = np.zeros((0, 2, columns, 3), np.int64)
        #: How many columns are present in an image; -1 for no such image.
        self.present_counts = np.zeros((0, 2), np.int64)
        #: The lines of wanted columns that an image does not have.
        self.absent = np.zeros((0, 2, columns), np.int64)
        self.absent_counts = np.zeros((0, 2), np.int64)
        #: The half that an image goes to.
        self.shown = np.zeros((0, 2), np.int64)
        self.partial = np.zeros(0, np.uint8)
        #: Bytes of a row without NULLs where all rows without have as many, else 0; where its second bitmap is.
        self.sizes = np.zeros((0, 2), np.int64)
        #: The presence bitmaps (before, after), and the operation (forge.bulk.reading.beside).
        self.bitmaps = np.zeros((0, 2, (columns + 7) // 8), np.uint8)
        self.operations = np.zeros(0, np.int8)
        self._numbers: dict[Layout, int] = {}

    def add(self, layout: Layout, shown: tuple[int, int]) -> int:
        """The layout's number; ``shown``: the halves that the before and the after image fill, -1 for none.

        A half whose image the layout does not have is filled with ABSENT.
        """
        if layout in self._numbers:
            return self._numbers[layout]
        columns = len(self._wires)
        steps, absent = np.zeros((1, 2, columns, 3), np.int64), np.zeros((1, 2, columns), np.int64)
        present_counts, absent_counts = np.full((1, 2), -1, np.int64), np.zeros((1, 2), np.int64)
        image_sizes = [0, 0]
        is_fixed = not layout.partial
        for image, (indexes, half) in enumerate(zip((layout.before, layout.after), shown, strict=True)):
            lines = [half * self._wanted + target if half >= 0 and target >= 0 else -1 for target in self._targets]
            if indexes is not None:
                wires = [self._wires[column] for column in indexes]
                is_fixed = is_fixed and 0 < len(wires) <= _MOST_AT_ONCE and all(wire > 0 for wire in wires)
                image_sizes[image] = (len(wires) + 7) // 8 + sum(wires)
                places = [self._json_places.get(column, -1) for column in indexes]
                for place, column in enumerate(indexes):
                    steps[0, image, place] = wires[place], lines[column], places[place]
                present_counts[0, image] = len(indexes)
            there = frozenset(indexes or ())
            missing = [line for column, line in enumerate(lines) if line >= 0 and column not in there]
            absent[0, image, : len(missing)] = missing
            absent_counts[0, image] = len(missing)
        self.steps = np.concatenate((self.steps, steps))
        self.present_counts = np.concatenate((self.present_counts, present_counts))
        self.absent = np.concatenate((self.absent, absent))
        self.absent_counts = np.concatenate((self.absent_counts, absent_counts))
        self.shown = np.concatenate((self.shown, np.array([shown], np.int64)))
        self.partial = np.append(self.partial, np.uint8(layout.partial))
        size = (sum(image_sizes) if is_fixed else 0, image_sizes[0])
        self.sizes = np.concatenate((self.sizes, np.array([size], np.int64)))
        bitmaps = b"".join(_bitmap(image, self.bitmaps.shape[2]) for image in (layout.before, layout.after))
        self.bitmaps = np.concatenate(
            (self.bitmaps, np.frombuffer(bitmaps, np.uint8).reshape(1, *self.bitmaps.shape[1:]))
        )
        operation = 0 if layout.before is None else 2 if layout.after is None else 1
        self.operations = np.append(self.operations, np.int8(operation))
        number = self._numbers[layout] = len(self.partial) - 1
        return number


def _bitmap(indexes: tuple[int, ...] | None, size: int) -> bytes:
    return sum(1 << index for index in indexes or ()).to_bytes(size, "little")


class CellPlaces:
    """Where the cells of up to ``capacity`` rows are: offsets and lengths, line by line.

    ``cells`` is the room for all lines.  Reused from batch to batch.
    """

    def __init__(self, cells: int, most_rows: int) -> None:
        self._cells = cells
        self._most_rows = most_rows
        self._room: Numbers = np.empty((2, 0), np.int32)
        self.use(np.zeros(1, np.uint8))

    def use(self, filled: Bytes) -> None:
        """Lay out the room for the lines that walks will fill: those that are not 2 in ``filled`` (fill_absent)."""
        there = filled != 2
        lines = max(1, int(there.sum()))
        self._filled = filled
        self._lines = np.cumsum(there) - 1
        self.capacity = min(self._most_rows, self._cells // lines)
        wide = self.capacity + _APART
        if self._room.shape[1] < lines * wide:
            self._room = np.empty((2, lines * wide), np.int32)
        self._offsets, self._lengths = self._room[:, : lines * wide].reshape(2, lines, wide)
        #: Where in memory each line begins.
        self._begins = self._lines * self._offsets.strides[0]
        self._known: npt.NDArray[np.int64] | None = None

    def _steps(self, known: Layouts) -> Bytes:
        """What the walk reads of the columns in every image of every layout."""
        all_steps = known.steps  # Another thread may add a layout to them.
        if self._known is not all_steps:
            self._known = all_steps
            wires, lines, numbers = (all_steps[..., word] for word in range(3))
            begins = np.where(lines < 0, -1, self._begins[lines])
            prefixes = (1 << 8 * np.maximum(-wires, 0)) - 1
            self._described = np.stack((wires, begins, prefixes, numbers), -1).view(np.uint8).reshape(-1)
        return self._described

    def cells(self, buffer: Bytes, line: int, rows: int, before: Cells | None = None) -> Cells:
        """The cells that the last walk found for a line."""
        place = self._lines[line]
        return Cells(buffer, self._offsets[place, :rows], self._lengths[place, :rows], before)

    def gathered(
        self, buffer: Bytes, lines: Sequence[int], widths: Sequence[int], rows: int
    ) -> tuple[list[Any], list[int]]:
        """The values of lines whose cells are of these widths (forge.bulk.gather.gathered)."""
        places = [int(self._lines[line]) for line in lines]
        return gathered(buffer, self._offsets, self._lengths, places, widths, rows)

    def walk(
        self,
        buffer: Bytes,
        begins: npt.NDArray[np.int64],
        ends: npt.NDArray[np.int64],
        layouts: npt.NDArray[np.int64],
        resume: tuple[int, int],
        known: Layouts,
        per_event: npt.NDArray[np.int64],
    ) -> tuple[int, int, int, int]:
        """(why it returned, event, offset, rows); ``resume`` is (event, offset), with offset -1 for its beginning.

        ``per_event[k]`` becomes the number of rows of the ``k``-th event that was walked.
        """
        image_steps = _STEP * known.steps.shape[2]
        shapes = _Shapes(
            self._steps(known), image_steps, known.present_counts, known.sizes, known.partial, known.json_bytes,
            known.absent, known.absent_counts,
        )  # fmt: skip
        offsets, lengths = self._room.view(np.uint8)
        room = _Room(offsets, lengths, self._begins, self._filled, self.capacity)
        return _row_walk(buffer, (begins, ends, layouts), resume, shapes, room, per_event)  # type: ignore[no-any-return]


class _Shapes(NamedTuple):
    """Layouts as the kernel takes them: what :class:`Layouts` holds, with the steps as CellPlaces._steps has them."""

    steps: Any
    image_steps: Any
    present_counts: Any
    sizes: Any
    partial: Any
    json_bytes: Any
    absent: Any
    absent_counts: Any


class _Room(NamedTuple):
    """Where offsets and lengths go: two buffers, where each line begins in them and whether it is filled, and for how
    many rows.
    """

    offsets: Any
    lengths: Any
    lines: Any
    filled: Any
    capacity: Any


@in_place
def _put_run(shapes: Any, layout: Any, out: Any, row: Any, start: Any, size: Any, count: Any) -> None:
    """The places of the cells of ``count`` rows without NULLs, of ``size`` bytes each, from ``start`` on."""
    steps = memory(shapes.steps)
    cell = np.int64(start)
    for image in range(2):
        step = (2 * layout + image) * shapes.image_steps
        cell += (shapes.present_counts[layout, image] + 7) >> 3
        for _ in range(shapes.present_counts[layout, image]):
            line = signed(load64(steps, step + _LINE)) + 4 * row
            if line >= 4 * row:
                for index in range(count):
                    store32(out, line + 4 * index, np.uint64(cell + index * size))
            cell += signed(load64(steps, step))
            step += _STEP


@in_place
def _put_absent(shapes: Any, layout: Any, room: Any, first_row: Any, rows: Any) -> None:
    """Fill the lines of columns that the layout does not have, where others do."""
    out_offsets, out_lengths = memory(room.offsets), memory(room.lengths)
    for image in range(2):
        for place in range(shapes.absent_counts[layout, image]):
            line = shapes.absent[layout, image, place]
            if room.filled[line] == 1:
                begin = room.lines[line]
                for row in range(first_row, rows):
                    store32(out_offsets, begin + 4 * row, np.uint64(np.int64(ABSENT)))
                    store32(out_lengths, begin + 4 * row, np.uint64(0))


@forced_inline
def _image(
    data: Any, at: Any, end: Any, steps: Any, step: Any, columns: Any, json_bytes: Any, row: Any, out: Any
) -> Any:
    """The place behind an image of so many columns; -1 if it does not fit.  ``json_bytes``: -1 unless it is partial."""
    out_offsets, out_lengths = out
    diffs_at = np.int64(-1)
    if json_bytes >= 0:
        if at >= end or load8(data, at) > np.uint64(1):
            return np.int64(-1)
        has_diffs = load8(data, at) != np.uint64(0)
        at += 1
        if has_diffs:
            diffs_at = at
            at += json_bytes
    bitmap = at
    at += (columns + 7) >> 3
    if at > end:
        return np.int64(-1)
    nulls = np.uint64(0)
    for place in range(columns):
        if place & 63 == 0:
            nulls = load64(data, bitmap + (place >> 3))
        # Of a value's numbers those of NULL are made without a branch: -1 and 0 are masks.
        is_null = -signed(nulls & np.uint64(1))
        nulls >>= np.uint64(1)
        wire, line = signed(load64(steps, step)), signed(load64(steps, step + _LINE))
        if wire > 0:
            if line >= 0:
                store32(out_offsets, line + 4 * row, np.uint64(at | is_null))
            at += wire & ~is_null
        else:
            begin = at + (-wire & ~is_null)
            if begin > end:
                return np.int64(-1)
            prefix = load64(steps, step + _PREFIX) & np.uint64(~is_null)
            length = signed(load32(data, at) & prefix)
            at = begin + length
            if line >= 0:
                if diffs_at >= 0 and is_null == 0:
                    bit = signed(load64(steps, step + _JSON))
                    if bit >= 0 and signed(load8(data, diffs_at + (bit >> 3))) >> (bit & 7) & 1:
                        length = -1 - length
                store32(out_offsets, line + 4 * row, np.uint64(begin | is_null))
                store32(out_lengths, line + 4 * row, np.uint64(length))
        step += _STEP
    return at if at <= end else np.int64(-1)


@kernel
def _row_walk(buffer: Any, chosen: Any, resume: Any, shapes: Any, room: Any, per_event: Any) -> Any:
    begins, ends, layouts = chosen
    event, at = resume
    sizes, present_counts, partial = shapes.sizes, shapes.present_counts, shapes.partial
    data, steps = memory(buffer), memory(shapes.steps)
    out = memory(room.offsets), memory(room.lengths)
    rows = np.int64(0)
    why = THROUGH
    while event < len(begins):
        layout, end, first_row = layouts[event], ends[event], rows
        size, second = sizes[layout, 0], sizes[layout, 1]
        first_mask = _low_bits(present_counts[layout, 0])
        second_mask = _low_bits(present_counts[layout, 1])
        if at < 0:
            at = begins[event]
        more = True
        while more:
            if rows == room.capacity:
                why = FULL
                break
            start = at
            count = np.int64(0)
            if size > 0:
                # Rows of one size, as long as nothing is NULL.
                most = min((end - at) // size, room.capacity - rows)
                while count < most and (
                    load64(data, at) & first_mask | load64(data, at + second) & second_mask
                ) == np.uint64(0):
                    count += 1
                    at += size
            if count:
                _put_run(shapes, layout, out[0], rows, start, size, count)
                rows += count
                more = at < end
                continue
            for image in range(2):
                columns = present_counts[layout, image]
                if columns >= 0:
                    json_bytes = shapes.json_bytes if image == AFTER and partial[layout] else np.int64(-1)
                    step = (2 * layout + image) * shapes.image_steps
                    at = _image(data, at, end, steps, step, columns, json_bytes, rows, out)
                    if at < 0:
                        why = MISFIT
                        break
            if why != THROUGH:
                break
            rows += 1
            # An image without columns has no bytes: there is one such row.
            more = at < end and at > start
        if why == THROUGH and at != end:
            why = MISFIT
        per_event[event] = rows - first_row
        _put_absent(shapes, layout, room, first_row, rows)
        if why != THROUGH:
            break
        event += 1
        at = np.int64(-1)
    return why, event, at, rows


@inline
def _low_bits(count: Any) -> Any:
    """So many ones, up to 64; none for a negative count."""
    return np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - count) if count > 0 else np.uint64(0)
