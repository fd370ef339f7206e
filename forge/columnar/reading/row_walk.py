"""Where every cell of the rows is: one walk over row events of one table, whatever their operation and images.

Every type is either of a fixed width or has a length in front (forge.values), so that a row is split by its null
bitmap and a number a column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from forge.columnar.machine import kernel, load8, load16, load32, signed
from forge.columnar.plan import ABSENT, NULL, Bytes, Numbers

#: Why a walk returned: through, no room for more rows, or the rows of this event do not fit the columns.
THROUGH, FULL, MISFIT = range(3)

BEFORE, AFTER = 0, 1
_NOWHERE = -1


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

    ``targets[column]`` is the row of ``offsets`` that a wanted column fills, -1 for others; ``shown`` says for a layout
    which image goes to which half of ``offsets``.
    """

    def __init__(self, wires: list[int], json_columns: list[int], targets: list[int]) -> None:
        columns = len(wires)
        self.wires = np.array(wires, np.int64)
        self.targets = np.array(targets, np.int64)
        self.json_places = np.full(columns, -1, np.int64)
        for place, column in enumerate(json_columns):
            self.json_places[column] = place
        self.json_bytes = (len(json_columns) + 7) // 8
        self.present = np.zeros((0, 2, columns), np.int64)
        #: Columns present in an image; -1 for no such image.
        self.present_counts = np.zeros((0, 2), np.int64)
        self.absent = np.zeros((0, 2, columns), np.int64)
        self.absent_counts = np.zeros((0, 2), np.int64)
        self.shown = np.zeros((0, 2), np.int64)
        self.partial = np.zeros(0, np.uint8)

    def add(self, layout: Layout, shown: tuple[int, int]) -> int:
        """The layout's number; ``shown``: the halves that the before and the after image fill, -1 for none.

        A half whose image the layout does not have is filled with ABSENT.
        """
        columns = len(self.wires)
        present, absent = np.zeros((1, 2, columns), np.int64), np.zeros((1, 2, columns), np.int64)
        present_counts, absent_counts = np.full((1, 2), -1, np.int64), np.zeros((1, 2), np.int64)
        for image, indexes in enumerate((layout.before, layout.after)):
            if indexes is not None:
                present[0, image, : len(indexes)] = indexes
                present_counts[0, image] = len(indexes)
            there = frozenset(indexes or ())
            missing = [self.targets[c] for c in range(columns) if self.targets[c] >= 0 and c not in there]
            absent[0, image, : len(missing)] = missing
            absent_counts[0, image] = len(missing)
        self.present = np.concatenate((self.present, present))
        self.present_counts = np.concatenate((self.present_counts, present_counts))
        self.absent = np.concatenate((self.absent, absent))
        self.absent_counts = np.concatenate((self.absent_counts, absent_counts))
        self.shown = np.concatenate((self.shown, np.array([shown], np.int64)))
        self.partial = np.append(self.partial, np.uint8(layout.partial))
        return len(self.partial) - 1


class CellPlaces:
    """Where the cells of up to ``capacity`` rows are: ``offsets[half, target, row]``, and ``lengths`` likewise.

    ``per_event[k]`` rows are of the ``k``-th event that was walked.  Reused from batch to batch.
    """

    def __init__(self, halves: int, targets: int, capacity: int) -> None:
        self.offsets: Numbers = np.empty((halves, max(targets, 1), capacity), np.int32)
        self.lengths: Numbers = np.zeros((halves, max(targets, 1), capacity), np.int32)
        self.capacity = capacity

    def walk(
        self,
        buffer: Bytes,
        begins: npt.NDArray[np.int64],
        ends: npt.NDArray[np.int64],
        layouts: npt.NDArray[np.int64],
        resume: tuple[int, int],
        known: Layouts,
        fill_absent: Bytes,
        per_event: npt.NDArray[np.int64],
    ) -> tuple[int, int, int, int]:
        """(why it returned, event, offset, rows); ``resume`` is (event, offset), with offset -1 for its beginning.

        ``fill_absent[half, target]``: whether rows of layouts without that column say so.
        """
        shapes = (known.present, known.present_counts, known.absent, known.absent_counts, known.shown, known.partial)
        columns = (known.wires, known.targets, known.json_places, known.json_bytes)
        out = (self.offsets, self.lengths, per_event)
        return _row_walk(  # type: ignore[no-any-return]
            buffer, begins, ends, layouts, resume[0], resume[1], *shapes, *columns, fill_absent, *out
        )


@kernel
def _row_walk(
    buffer: Any,
    begins: Any,
    ends: Any,
    layouts: Any,
    event: Any,
    at: Any,
    present: Any,
    present_counts: Any,
    absent: Any,
    absent_counts: Any,
    shown: Any,
    partial: Any,
    wires: Any,
    targets: Any,
    json_places: Any,
    json_bytes: Any,
    fill_absent: Any,
    offsets: Any,
    lengths: Any,
    per_event: Any,
) -> Any:
    rows = np.int64(0)
    capacity = offsets.shape[2]
    why = THROUGH
    while event < len(begins):
        layout = layouts[event]
        end = ends[event]
        first_row = rows
        more = True
        if at < 0:
            at = begins[event]
        while more:
            if rows == capacity:
                why = FULL
                break
            start = at
            for image in range(2):
                count = present_counts[layout, image]
                if count < 0:
                    continue
                half = shown[layout, image]
                diffs = np.int64(0)
                diffs_at = np.int64(-1)
                if image == AFTER and partial[layout]:
                    if at >= end or load8(buffer, at) > np.uint64(1):
                        why = MISFIT
                        break
                    diffs = signed(load8(buffer, at))
                    at += 1
                    if diffs:
                        diffs_at = at
                        at += json_bytes
                bitmap = at
                at += (count + 7) >> 3
                if at > end:
                    why = MISFIT
                    break
                nulls = np.uint64(0)
                for place in range(count):
                    if place & 7 == 0:
                        nulls = load8(buffer, bitmap + (place >> 3))
                    column = present[layout, image, place]
                    target = targets[column] if half >= 0 else np.int64(-1)
                    if nulls & np.uint64(1):
                        nulls >>= np.uint64(1)
                        if target >= 0:
                            offsets[half, target, rows] = NULL
                            lengths[half, target, rows] = 0
                        continue
                    nulls >>= np.uint64(1)
                    wire = wires[column]
                    if wire > 0:
                        if target >= 0:
                            offsets[half, target, rows] = at
                        at += wire
                        if at > end:
                            why = MISFIT
                            break
                    else:
                        begin = at - wire
                        if begin > end:
                            why = MISFIT
                            break
                        if wire == -1:
                            length = signed(load8(buffer, at))
                        elif wire == -2:
                            length = signed(load16(buffer, at))
                        elif wire == -3:
                            length = signed(load32(buffer, at) & np.uint64(0xFFFFFF))
                        else:
                            length = signed(load32(buffer, at))
                        at = begin + length
                        if at > end:
                            why = MISFIT
                            break
                        if target >= 0:
                            offsets[half, target, rows] = begin
                            if diffs_at >= 0 and json_places[column] >= 0:
                                bit = json_places[column]
                                if signed(load8(buffer, diffs_at + (bit >> 3))) >> (bit & 7) & 1:
                                    length = -1 - length
                            lengths[half, target, rows] = length
                if why != THROUGH:
                    break
            if why != THROUGH:
                break
            rows += 1
            # An image without columns has no bytes: there is one such row.
            more = at < end and at > start
        if why == THROUGH and at != end:
            why = MISFIT
        per_event[event] = rows - first_row
        for image in range(2):
            half = shown[layout, image]
            if half >= 0:
                for place in range(absent_counts[layout, image]):
                    target = absent[layout, image, place]
                    if fill_absent[half, target] == 1:
                        for row in range(first_row, rows):
                            offsets[half, target, row] = ABSENT
                            lengths[half, target, row] = 0
        if why != THROUGH:
            break
        event += 1
        at = np.int64(-1)
    return why, event, at, rows
