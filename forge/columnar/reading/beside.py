"""The columns beside a row that say where it is from: operation, file, position, event, timestamp, server, GTID."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.columnar.machine import kernel
from forge.columnar.reading.gtids import GTID_TYPE

OPERATIONS: Final = ("insert", "update", "delete")
_OPERATION = pa.array(OPERATIONS)

#: Column -> Arrow type, in the order of a batch.  ``_position`` is the file offset of the row's event, or of the
#: payload that holds it; ``_event`` that event's number; ``_timestamp`` its header's.
BESIDE: Final[dict[str, pa.DataType]] = {
    "_operation": pa.dictionary(pa.int8(), pa.string()),
    "_file": pa.dictionary(pa.int32(), pa.string()),
    "_position": pa.int64(),
    "_event": pa.int64(),
    "_timestamp": pa.timestamp("s", tz="UTC"),
    "_server_id": pa.uint32(),
    "_gtid": GTID_TYPE,
}


@kernel
def _repeat64(values: Any, counts: Any, out: Any) -> None:
    at = 0
    for index in range(len(counts)):
        value = values[index]
        for _ in range(counts[index]):
            out[at] = value
            at += 1


@kernel
def _repeat32(values: Any, counts: Any, out: Any) -> None:
    at = 0
    for index in range(len(counts)):
        value = values[index]
        for _ in range(counts[index]):
            out[at] = value
            at += 1


@kernel
def _repeat8(values: Any, counts: Any, out: Any) -> None:
    at = 0
    for index in range(len(counts)):
        value = values[index]
        for _ in range(counts[index]):
            out[at] = value
            at += 1


@kernel
def _repeat_bytes(values: Any, counts: Any, width: Any, out: Any) -> None:
    at = 0
    for index in range(len(counts)):
        for _ in range(counts[index]):
            for byte in range(width):
                out[at] = values[index, byte]
                at += 1


_REPEATS = {1: _repeat8, 4: _repeat32, 8: _repeat64}


class Repeated:
    """Values of events, each as often as the event has rows."""

    def __init__(self, counts: npt.NDArray[np.int64], rows: int) -> None:
        self.counts = counts
        self.rows = rows
        self._single = rows == len(counts) and bool((counts == 1).all())

    def __call__(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """``values[k]``, ``counts[k]`` times, for all ``k``."""
        if self._single:
            return np.ascontiguousarray(values)
        out = np.empty(self.rows, values.dtype)
        _REPEATS[values.dtype.itemsize](values, self.counts, out)
        return out

    def bitmaps(self, values: npt.NDArray[np.uint8]) -> pa.Array:
        """Rows of bytes as a fixed-size binary array."""
        width = values.shape[1]
        out = np.empty(self.rows * width, np.uint8)
        _repeat_bytes(values, self.counts, width, out)
        return pa.Array.from_buffers(pa.binary(width), self.rows, [None, pa.py_buffer(out)], 0)


def numbers(kind: pa.DataType, values: npt.NDArray[Any]) -> pa.Array:
    """An Arrow array without nulls over these values."""
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)], 0)


def operations(codes: npt.NDArray[np.int8]) -> pa.Array:
    """The words for 0 (insert), 1 (update), 2 (delete)."""
    kind = BESIDE["_operation"]
    return pa.DictionaryArray.from_buffers(kind, len(codes), [None, pa.py_buffer(codes)], _OPERATION, 0)


class Constant:
    """A dictionary of one word, for all rows of a file."""

    def __init__(self, word: str, kind: pa.DataType) -> None:
        self._words = pa.array([word], pa.string())
        self._kind = kind
        self._zeros = pa.py_buffer(np.zeros(0, np.int32))

    def rows(self, count: int) -> pa.Array:
        if self._zeros.size < 4 * count:
            self._zeros = pa.py_buffer(np.zeros(2 * count, np.int32))
        return pa.DictionaryArray.from_buffers(self._kind, count, [None, self._zeros], self._words, 0)
