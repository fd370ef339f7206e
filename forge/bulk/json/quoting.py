"""Arrow strings as JSON strings, a whole column at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from forge.bulk.json.strings import SPILL, write_quoted
from forge.bulk.machine import SLACK, kernel, memory
from forge.bulk.plan import spans_of


def quoted(array: pa.StringArray) -> pa.StringArray:
    """The same texts in quotes, with what JSON does not take escaped; null stays null."""
    spans = spans_of(array)
    assert spans.starts is not None
    assert spans.lengths is not None
    lengths = np.where(array.is_valid().to_numpy(zero_copy_only=False), spans.lengths, -1)
    # Whoever made the array, 8 bytes behind it are read.
    source = np.zeros(len(spans.values) + SLACK, np.uint8)
    source[: len(spans.values)] = spans.values
    ends = np.empty(len(array) + 1, np.int32)
    out = np.empty(int(_room(source, spans.starts, lengths)) + SPILL, np.uint8)
    _quote(source, spans.starts, lengths, out, ends)
    return pa.StringArray.from_buffers(
        len(array), pa.py_buffer(ends), pa.py_buffer(out), None if array.null_count == 0 else _validity(lengths)
    )


def _validity(lengths: Any) -> pa.Buffer:
    return pa.py_buffer(np.packbits(lengths >= 0, bitorder="little"))


@kernel
def _room(source: Any, starts: Any, lengths: Any) -> Any:
    """Bytes that are enough."""
    needed = 0
    for row in range(len(starts)):
        for place in range(starts[row], starts[row] + max(lengths[row], 0)):
            byte = source[place]
            needed += 1 if byte >= 0x20 and byte != 0x22 and byte != 0x5C else 6
    return needed + 2 * len(starts)


@kernel
def _quote(source: Any, starts: Any, lengths: Any, out: Any, ends: Any) -> None:
    text, written = memory(source), memory(out)
    at = 0
    ends[0] = 0
    for row in range(len(starts)):
        if lengths[row] >= 0:
            at = write_quoted(text, starts[row], lengths[row], written, at)
        ends[row + 1] = at
