"""The cells of a column as the texts of the canonical decode."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from forge.bulk.plan import ColumnPlan, strings_of, values_of
from forge.bulk.reading.odd import replaced
from forge.errors import ForgeError
from forge.values.base import Column
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import codec_for
from forge.values.wire_types import WireType

#: Arrow writes a DECIMAL with more digits behind the point as a power of ten, where it is small.
_PLAIN_SCALE: Final = 6
#: Between these neither Python nor Arrow writes a power of ten, where they begin with it at others.
_LEAST: Final = 1e-4
_END: Final = 1e10
_HOUR: Final = 3_600_000_000
#: Words and scalars.  To make one of a value of Python, pyarrow imports pandas, where that is installed: a second.
_ENDS, _SIGNS = strings_of(["", ".0"]), strings_of(["", "-"])
_NOTHING, _MINUS, _POINT, _HEX = (strings_of([word])[0] for word in ("", "-", ".", "0x"))
#: The two hexadecimal digits of every byte.
_DIGITS: Final = np.frombuffer("".join(f"{byte:02x}" for byte in range(256)).encode(), np.uint16)


class Unsaid(Exception):
    """The reference path has to tell these rows.  It never leaves ``forge rows``."""


def is_number(plan: ColumnPlan) -> bool:
    """Whether the texts of the column are numbers."""
    kind = plan.arrow_type
    return pa.types.is_floating(kind) or (pa.types.is_integer(kind) and plan.column.type_code != WireType.STRING)


def cell_texts(plan: ColumnPlan, array: pa.Array) -> pa.Array:
    """A string array: null for NULL, bytes as ``0x`` and their digits.  ``array`` is of the plan's type, or texts.

    Raises Unsaid for a type that is not usual.
    """
    kind = array.type
    if pa.types.is_string(kind):
        return array
    if pa.types.is_floating(kind):
        return _float_texts(array)
    if is_number(plan):
        return array.cast(pa.string())
    if pa.types.is_decimal(kind):
        return array.cast(pa.string()) if kind.scale <= _PLAIN_SCALE else _decimal_texts(array)
    if pa.types.is_duration(kind):
        return _time_texts(array, plan.fsp if plan.wire > 2 and hasattr(plan, "fsp") else 0)
    if pa.types.is_binary(kind):
        return _hex_texts(array)
    if pa.types.is_integer(kind) or pa.types.is_fixed_size_binary(kind):
        return _by_codec(plan, array)
    raise Unsaid


def _float_texts(array: pa.Array) -> pa.Array:
    """The shortest that give the number back, as JSON of Python has them."""
    values = numbers_of(array)
    size = np.abs(values)
    is_whole = number_array((np.floor(values) == values).astype(np.int8))
    texts = array.cast(pa.string())
    shown = pc.binary_join_element_wise(texts, _ENDS.take(is_whole), _NOTHING)
    is_other = (size != 0) & ~((size >= _LEAST) & (size < _END))
    if not is_other.any():
        return shown
    others = [row for row in np.flatnonzero(is_other).tolist() if texts[row].is_valid]
    return replaced(shown, others, [json.dumps(float(texts[row].as_py())) for row in others])


def _decimal_texts(array: pa.Array) -> pa.Array:
    scale = array.type.scale
    whole = pa.decimal128 if pa.types.is_decimal128(array.type) else pa.decimal256
    digits = array.view(whole(array.type.precision, 0)).cast(pa.string())
    sign = pc.if_else(pc.starts_with(digits, "-"), _MINUS, _NOTHING)
    digits = pc.utf8_lpad(pc.utf8_ltrim(digits, "-"), scale + 1, "0")
    before, behind = pc.utf8_slice_codeunits(digits, 0, -scale), pc.utf8_slice_codeunits(digits, -scale)
    return pc.binary_join_element_wise(sign, before, _POINT, behind, _NOTHING)


def _time_texts(array: pa.Array, fsp: int) -> pa.Array:
    """``hh:mm:ss`` with ``fsp`` digits behind it; hours may be three digits."""
    micros = numbers_of(array)
    hours, rest = np.divmod(np.abs(micros), _HOUR)
    sign = _SIGNS.take(number_array((micros < 0).astype(np.int8)))
    behind = number_array(rest).view(pa.time64("us")).cast(pa.string())
    behind = pc.utf8_slice_codeunits(behind, 2, 8 + fsp + (fsp > 0))
    before = pc.utf8_lpad(number_array(hours).cast(pa.string()), 2, "0")
    return _where_valid(array, pc.binary_join_element_wise(sign, before, behind, _NOTHING))


def _hex_texts(array: pa.Array) -> pa.Array:
    starts, data = spans(array)
    digits = _DIGITS[data]
    ends = (2 * (starts - starts[0])).astype(np.int32)
    shown = pa.StringArray.from_buffers(len(array), pa.py_buffer(ends), pa.py_buffer(digits))
    return _where_valid(array, pc.binary_join_element_wise(_HEX, shown, _NOTHING))


def _where_valid(array: pa.Array, texts: pa.Array) -> pa.Array:
    return pc.if_else(array.is_valid(), texts, pa.nulls(len(array), pa.string())) if array.null_count else texts


def _by_codec(plan: ColumnPlan, array: pa.Array) -> pa.Array:
    """Each value that is there once is asked for."""
    column = plan.column

    def text(value: Any) -> str:
        raw = value.to_bytes(plan.wire, "little") if isinstance(value, int) else value
        return _codec_text(column, column.declared, raw)

    return of_words(array.dictionary_encode(), lambda words: strings_of(map(text, words.to_pylist())))


@lru_cache(maxsize=1024)
def _codec_text(column: Column, declared: SqlType | None, raw: bytes) -> str:
    """The text of a cell; ``declared`` is the column's, which is no part of what it is known by."""
    codec = codec_for(column)
    try:
        found = codec.text(column, codec.decode(column, raw))
    except ForgeError:
        found = None
    return f"0x{raw.hex()}" if found is None else found


def of_words(array: pa.DictionaryArray, made: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """What ``made`` makes of the words of a dictionary array, in the place of each."""
    return made(array.dictionary).take(array.indices)


def spans(array: pa.Array) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """Where each value of a string or binary array begins, with the end; and the bytes from the first one on."""
    _, offsets, data = array.buffers()
    starts = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
    held = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return starts, held[starts[0] : starts[-1]]


def numbers_of(array: pa.Array) -> npt.NDArray[Any]:
    """The values of an array of numbers, those of NULLs among them."""
    kind = array.type.to_pandas_dtype() if not pa.types.is_duration(array.type) else np.int64
    return values_of(array, array.type.bit_width // 8).view(kind)


def number_array(values: npt.NDArray[Any]) -> pa.Array:
    """An array of numbers without NULL."""
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)], 0)
