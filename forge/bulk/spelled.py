"""The texts that indexes stand for, one behind the other: what a dictionary array is to those who take none."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.bulk.machine import copy_text, kernel, memory
from forge.bulk.plan import Bytes, Numbers, slacked, spans_of

_INDEXES: Final = {1: np.int8, 2: np.int16, 4: np.int32}


def spelled(array: pa.DictionaryArray) -> pa.StringArray:
    """The same texts, none of which is null in the dictionary."""
    bits = array.type.index_type.bit_width
    validity, indexes = array.indices.buffers()
    if array.offset or bits > 32 or indexes is None or array.type.value_type != pa.string():
        return array.dictionary_decode()
    if not len(array.dictionary):  # All are null, and their indexes stand for nothing.
        return pa.nulls(len(array), pa.string())
    values = np.frombuffer(indexes, _INDEXES[bits // 8])[: len(array)]
    ends, data = _spelled(values, array.dictionary)
    buffers = [validity if array.null_count else None, pa.py_buffer(ends), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), len(array), buffers, array.null_count)


def _spelled(values: npt.NDArray[Any], texts: pa.StringArray) -> tuple[Numbers, Bytes]:
    known = spans_of(texts)
    assert known.starts is not None
    assert known.lengths is not None
    source = slacked(len(known.values))
    source[: len(known.values)] = known.values
    ends = np.empty(len(values) + 1, np.int32)
    total = int(_ends(values, known.lengths, ends))
    out = slacked(total)
    _spell(values, known.starts, ends, source, out)
    return ends, out[:total]


@kernel
def _ends(values: Any, lengths: Any, ends: Any) -> Any:
    end = np.int64(0)
    ends[0] = 0
    for row in range(len(values)):
        end += lengths[values[row]]
        ends[row + 1] = end
    return end


@kernel
def _spell(values: Any, starts: Any, ends: Any, texts: Any, out: Any) -> None:
    source, target = memory(texts), memory(out)
    for row in range(len(values)):
        begin, at = starts[values[row]], np.int64(ends[row])
        copy_text(target, at, source, begin, ends[row + 1] - at)
