"""Arrow arrays of numbers and times that kernels drew."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.errors import UnsupportedError

Mask = npt.NDArray[np.bool_]
Whole = npt.NDArray[np.int64]

_DAY = 86_400_000_000


def validity_bitmap(nulls: Mask | None) -> pa.Buffer | None:
    """The Arrow bitmap of rows of which these are NULL; None for none."""
    if nulls is None or not nulls.any():
        return None
    return pa.py_buffer(np.packbits(~nulls, bitorder="little"))


def fixed_array(kind: pa.DataType, values: Any, rows: int, nulls: Mask | None) -> pa.Array:
    """An array of a type of fixed width."""
    return pa.Array.from_buffers(kind, rows, [validity_bitmap(nulls), pa.py_buffer(np.ascontiguousarray(values))])


def text_scalar(text: str) -> pa.Scalar:
    """A text beside arrays.  ``pa.scalar``, and text that Arrow is given, import pandas: half a second of a worker."""
    data = text.encode()
    ends = np.array([0, len(data)], np.int32)
    return pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(ends), pa.py_buffer(data)])[0]


def number_array(kind: pa.DataType, values: Whole, digits: int, nulls: Mask | None) -> pa.Array:
    """Numbers of ``digits`` digits behind the point as an array of a numeric type.  Raises UnsupportedError for others.

    ``values`` are the numbers without the point.
    """
    rows = len(values)
    if pa.types.is_integer(kind):
        whole = values // 10**digits if digits else values
        return fixed_array(kind, whole.astype(kind.to_pandas_dtype()), rows, nulls)
    if pa.types.is_floating(kind):
        return fixed_array(kind, (values / 10.0**digits).astype(kind.to_pandas_dtype()), rows, nulls)
    if pa.types.is_decimal(kind):
        same = kind if kind.scale == digits else pa.decimal128(19, digits)
        words = np.empty((rows, same.bit_width // 64), np.int64)
        words[:, 0] = values
        words[:, 1:] = (values >> 63)[:, None]
        return fixed_array(same, words, rows, nulls).cast(kind)
    raise UnsupportedError(f"numbers of the Arrow type {kind} are not generated")


def time_array(kind: pa.DataType, micros: Whole, step: int, nulls: Mask | None) -> pa.Array:
    """Microseconds since 1970 as an array of a type of dates, times or numbers; ``step``: of the column's last digit.

    Raises UnsupportedError for other types.
    """
    rows = len(micros)
    if pa.types.is_date32(kind):
        return fixed_array(kind, (micros // _DAY).astype(np.int32), rows, nulls)
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        value = micros if pa.types.is_timestamp(kind) else micros % _DAY
        return fixed_array(kind, value - value % step, rows, nulls)
    if pa.types.is_int16(kind):  # YEAR
        years = micros.astype("datetime64[us]").astype("datetime64[Y]").astype(np.int64) + 1970
        return fixed_array(kind, years.astype(np.int16), rows, nulls)
    if pa.types.is_integer(kind):
        return fixed_array(kind, (micros // 1_000_000).astype(kind.to_pandas_dtype()), rows, nulls)
    raise UnsupportedError(f"times of the Arrow type {kind} are not generated")


def text_array(characters: npt.NDArray[np.uint8]) -> pa.Array:
    """Texts of ASCII characters, one a row of the array."""
    rows, width = characters.shape
    ends = np.arange(rows + 1, dtype=np.int32) * width
    return pa.StringArray.from_buffers(rows, pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(characters)))


def with_nulls(array: pa.Array, nulls: Mask | None) -> pa.Array:
    """The array with these rows NULL, beside those that are."""
    if nulls is None or not nulls.any():
        return array
    return array.take(pa.Array.from_buffers(
        pa.int64(), len(array), [validity_bitmap(nulls), pa.py_buffer(np.arange(len(array)))]
    ))  # fmt: skip
