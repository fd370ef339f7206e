"""The columns beside a row that say where it is from: operation, file, position, event, timestamp, server, GTID."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.columnar.machine import kernel
from forge.columnar.reading.gtids import GTID_TYPE

OPERATIONS: Final = ("insert", "update", "delete")

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
def _repeat(values: Any, counts: Any, out: Any) -> None:
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


def _is_one(values: npt.NDArray[Any]) -> bool:
    """Whether all values are the first.  Columns of places, where the last is another, are told at a glance."""
    if len(values) == 1:
        return True
    first, last = values[0], values[-1]
    different = first != last if values.ndim == 1 else first.tobytes() != last.tobytes()
    return not different and bool((values == first).all())


class Spread:
    """Values of events as values of rows: ``values[k]``, ``counts[k]`` times, for all ``k``.

    A value that all events have is kept from batch to batch.
    """

    def __init__(self) -> None:
        self._kept: dict[str, npt.NDArray[Any]] = {}

    def rows(self, name: str, values: npt.NDArray[Any], counts: npt.NDArray[np.int64], rows: int) -> npt.NDArray[Any]:
        """The values of a column; never changed afterwards."""
        if _is_one(values):
            kept = self._kept.get(name)
            if kept is None or len(kept) < rows or kept[0].tobytes() != values[0].tobytes():
                kept = self._kept[name] = np.full((2 * rows, *values.shape[1:]), values[0], values.dtype)
            return kept[:rows]
        if rows == len(counts) and (counts == 1).all():
            return values
        out = np.empty((rows, *values.shape[1:]), values.dtype)
        if values.ndim == 2:
            _repeat_bytes(values, counts, values.shape[1], out.reshape(-1))
        else:
            _repeat(values, counts, out)
        return out


def numbers(kind: pa.DataType, values: npt.NDArray[Any]) -> pa.Array:
    """An Arrow array without nulls over these values."""
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)], 0)


def words(kind: pa.DataType, indexes: npt.NDArray[Any], texts: pa.Array) -> pa.Array:
    """A dictionary array without nulls."""
    return pa.DictionaryArray.from_buffers(kind, len(indexes), [None, pa.py_buffer(indexes)], texts, 0)


def words_or_nulls(kind: pa.DataType, indexes: npt.NDArray[Any], texts: pa.Array) -> pa.Array:
    """A dictionary array whose nulls are those of ``texts``: few readers take them inside a dictionary."""
    if not texts.null_count:
        return words(kind, indexes, texts)
    # The bitmap as it is: pyarrow imports pandas, where it is installed, to make NumPy arrays of booleans.
    bitmap = np.frombuffer(texts.buffers()[0], np.uint8)
    valid = np.unpackbits(bitmap, bitorder="little")[texts.offset : texts.offset + len(texts)].astype(np.bool_)
    there = valid[indexes]
    places = (np.maximum(np.cumsum(valid) - 1, 0).astype(np.int32))[indexes]
    buffers = [pa.py_buffer(np.packbits(there, bitorder="little")), pa.py_buffer(places)]
    nulls = int(len(there) - there.sum())
    return pa.DictionaryArray.from_buffers(kind, len(indexes), buffers, texts.drop_null(), nulls)
