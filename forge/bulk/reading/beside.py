"""The columns beside a row that say where it is from: operation, file, position, event, timestamp, server, GTID."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.bulk.machine import kernel
from forge.bulk.reading.gtids import GTID_TYPE

#: Rows of a batch at most.
MOST_ROWS: Final = 1 << 17

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
#: Those that are noted of each row event (forge.bulk.reading.survey.RowEvents).
OF_EVENTS: Final = ("_position", "_event", "_timestamp", "_server_id")


@kernel
def _repeat(values: Any, counts: Any, out: Any) -> None:
    at = 0
    for index in range(len(counts)):
        value = values[index]
        end = at + counts[index]
        for row in range(at, end):
            # An index that may be negative would be looked at for each, and no two stored at once.
            out[np.uintp(row)] = value
        at = end


@kernel
def _repeat_bytes(values: Any, counts: Any, width: Any, out: Any) -> None:
    at = 0
    for index in range(len(counts)):
        for _ in range(counts[index]):
            for byte in range(width):
                out[at] = values[index, byte]
                at += 1


def is_one(values: npt.NDArray[Any]) -> bool:
    """Whether all values are the first.  Of places the last one differs: no search is needed."""
    if len(values) == 1:
        return True
    first, last = values[0], values[-1]
    different = first != last if values.ndim == 1 else first.tobytes() != last.tobytes()
    return not different and bool((values == first).all())


def spread(values: npt.NDArray[Any], counts: npt.NDArray[np.int64] | None, rows: int) -> npt.NDArray[Any]:
    """Values of events as a new array of those of rows: ``values[k]``, ``counts[k]`` times each; once for None."""
    if counts is None:
        return values.copy()
    out = np.empty((rows, *values.shape[1:]), values.dtype)
    if values.ndim == 2:
        _repeat_bytes(values, counts, values.shape[1], out.reshape(-1))
    else:
        _repeat(values, counts, out)
    return out


def in_type(values: npt.NDArray[Any], kind: pa.DataType) -> npt.NDArray[Any]:
    """Numbers of events as that type has them; times are given in seconds."""
    if pa.types.is_timestamp(kind):
        return values if kind.unit == "s" else values * 1_000_000
    return values if kind.bit_width == 8 * values.itemsize else values.astype(np.int64)


class Kept:
    """Arrays of the columns, of which those whose rows are all the same are kept from batch to batch."""

    def __init__(self) -> None:
        #: The value, the texts that it is an index into, and the array.
        self._arrays: dict[str, tuple[bytes, pa.Array | None, pa.Array]] = {}

    def array(
        self, name: str, kind: pa.DataType, values: npt.NDArray[Any], texts: pa.Array | None,
        counts: npt.NDArray[np.int64] | None, rows: int,
    ) -> pa.Array:  # fmt: skip
        """A column of values of events (:func:`spread`): of numbers, or of indexes into ``texts``."""
        if not is_one(values):
            return _array(kind, spread(values, counts, rows), texts)
        value = values[0].tobytes()
        kept = self._arrays.get(name)
        if kept is None or len(kept[2]) < rows or kept[0] != value or kept[1] is not texts:
            # A reader's first batches are small where the files' are: more rows are likely, but not beyond what fits.
            most = max(rows, min(2 * rows, MOST_ROWS))
            all_rows = np.full((most, *values.shape[1:]), values[0], values.dtype)
            kept = self._arrays[name] = value, texts, _array(kind, all_rows, texts)
        return kept[2].slice(0, rows)


def _array(kind: pa.DataType, values: npt.NDArray[Any], texts: pa.Array | None) -> pa.Array:
    """Values without nulls; or a dictionary array whose nulls are those of ``texts``: few readers take them inside.

    If ``kind`` is string, its texts.
    """
    if texts is None:
        return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)], 0)
    if pa.types.is_string(kind):
        return _array(pa.dictionary(pa.from_numpy_dtype(values.dtype), kind), values, texts).dictionary_decode()
    if not texts.null_count:
        return pa.DictionaryArray.from_buffers(kind, len(values), [None, pa.py_buffer(values)], texts, 0)
    # The bitmap as it is: pyarrow imports pandas, where it is installed, to make NumPy arrays of booleans.
    bitmap = np.frombuffer(texts.buffers()[0], np.uint8)
    valid = np.unpackbits(bitmap, bitorder="little")[texts.offset : texts.offset + len(texts)].astype(np.bool_)
    there = valid[values]
    places = (np.maximum(np.cumsum(valid) - 1, 0).astype(np.int32))[values]
    buffers = [pa.py_buffer(np.packbits(there, bitorder="little")), pa.py_buffer(places)]
    nulls = int(len(there) - there.sum())
    return pa.DictionaryArray.from_buffers(kind, len(values), buffers, texts.drop_null(), nulls)
