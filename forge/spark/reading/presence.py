"""Which columns an image has, as Spark shows it: a bitmap where some are left out, null where all are there.

Most logs have whole images (``binlog_row_image=FULL``), and a null costs Spark a fraction of what a bitmap does.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

#: The columns that have bitmaps.
PRESENCE = frozenset(("_present", "_present_before", "_present_after"))


def without_full(bitmaps: pa.Array, columns: int) -> pa.Array:
    """The bitmaps of a table with that many columns, null where an image has all of them."""
    full, width = _full(columns), bitmaps.type.byte_width
    data = bitmaps.buffers()[1].slice(bitmaps.offset * width, len(bitmaps) * width)
    if data == pa.py_buffer(full * len(bitmaps)):
        return pa.nulls(len(bitmaps), bitmaps.type)
    rows = np.frombuffer(data, np.uint8).reshape(len(bitmaps), width)
    some: npt.NDArray[np.bool_] = (rows != np.frombuffer(full, np.uint8)).any(axis=1)
    there = pa.py_buffer(np.packbits(some, bitorder="little"))
    return pa.Array.from_buffers(bitmaps.type, len(bitmaps), [there, data])


def with_full(bitmaps: pa.Array, columns: int) -> pa.Array:
    """The bitmaps that :func:`without_full` was given.  Raises pyarrow.ArrowInvalid for those of another size."""
    full = _full(columns)
    return pc.fill_null(bitmaps.cast(pa.binary(len(full))), full)


def _full(columns: int) -> bytes:
    return ((1 << columns) - 1).to_bytes((columns + 7) // 8, "little")
