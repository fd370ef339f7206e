"""The images of row events as bytes: a walk that finds where each begins and ends, and looks at no cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.bulk.gather import bitmap_of, spans
from forge.bulk.machine import kernel, load8, load16, load32, signed
from forge.bulk.plan import NULL, Bytes, Cells
from forge.bulk.reading.row_walk import AFTER, Layouts

#: Rows that there is room for at first.
_ROWS = 1 << 12


def row_images(
    buffer: Bytes,
    begins: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    layouts: npt.NDArray[np.int64],
    known: Layouts,
) -> tuple[pa.Array, pa.Array]:
    """The before and the after images of all rows of row events of one table, up to the first that does not fit.

    The rows of event ``k`` are ``buffer[begins[k]:ends[k]]``.  An image is its bytes in the log: of a partial update
    the bits of the columns with diffs, then the bitmap of NULLs, then the cells; null where a row has no such image.
    """
    rows = _ROWS
    while True:
        starts, sizes = np.zeros((2, rows), np.int64), np.zeros((2, rows), np.int64)
        shapes = (known.steps, known.present_counts, known.partial, known.json_bytes)
        found = int(_image_walk(buffer, begins, ends, layouts, *shapes, starts, sizes))
        if found >= 0:
            before, after = (_binary(buffer, starts[half, :found], sizes[half, :found]) for half in range(2))
            return before, after
        rows *= 4


def _binary(buffer: Bytes, starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> pa.Array:
    offsets = np.where(sizes < 0, NULL, starts).astype(np.int32)
    ends, data, _ = spans(Cells(buffer, offsets, np.maximum(sizes, 0).astype(np.int32)))
    buffers = [pa.py_buffer(made) for made in (bitmap_of(offsets), ends, data)]
    return pa.Array.from_buffers(pa.binary(), len(starts), buffers)


@kernel
def _image_walk(
    buffer: Any,
    begins: Any,
    ends: Any,
    layouts: Any,
    steps: Any,
    present_counts: Any,
    partial: Any,
    json_bytes: Any,
    starts: Any,
    sizes: Any,
) -> Any:
    """How many rows fit their columns; -1 if there is no room for all."""
    rows = 0
    for event in range(len(begins)):
        layout = layouts[event]
        at, end = begins[event], ends[event]
        more = True
        while more:
            if rows == starts.shape[1]:
                return -1
            first = at
            for image in range(2):
                sizes[image, rows] = -1
                count = present_counts[layout, image]
                if count < 0:
                    continue
                starts[image, rows] = at
                if image == AFTER and partial[layout]:
                    if at >= end:
                        return rows
                    at += 1 + json_bytes * signed(load8(buffer, at) & np.uint64(1))
                bitmap = at
                at += (count + 7) >> 3
                if at > end:
                    return rows
                for place in range(count):
                    if signed(load8(buffer, bitmap + (place >> 3))) >> (place & 7) & 1:
                        continue
                    wire = steps[layout, image, place, 0]
                    if wire > 0:
                        at += wire
                    else:
                        if at - wire > end:
                            return rows
                        length = signed(load32(buffer, at))
                        if wire == -1:
                            length = signed(load8(buffer, at))
                        elif wire == -2:
                            length = signed(load16(buffer, at))
                        elif wire == -3:
                            length &= 0xFFFFFF
                        at += length - wire
                    if at > end:
                        return rows
                sizes[image, rows] = at - starts[image, rows]
            rows += 1
            # An image without columns has no bytes: there is one such row.
            more = at < end and at > first
    return rows
