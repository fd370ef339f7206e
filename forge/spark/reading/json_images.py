"""Images of changes as JSON texts.

A JSON object has a member for each column that the image has, with the value that Arrow has of the cell: numbers are
numbers, texts are texts, bytes are ``0x`` and hex digits, DECIMAL is text, a TIME is a text such as ``-12:00:00.5``,
a geometry an object of ``srid`` and ``wkb``, a vector an array.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from forge.bulk.plan import ColumnPlan, spans_of
from forge.bulk.reading.tables import Table

_HEX = np.frombuffer(b"".join(b"%02x" % byte for byte in range(256)), np.uint16)
_SECOND = 1_000_000
#: What cannot stand in a JSON string as it is.
_SPECIAL = r'[\x00-\x1f"\\]'
_ESCAPES = {character: json.dumps(character)[1:-1] for character in ("\\", '"', *map(chr, range(0x20)))}


def json_images(images: pa.StructArray, bitmaps: pa.Array, table: Table) -> pa.Array:
    """Images as texts; null where a change has none.  ``bitmaps`` say which columns an image has."""
    rows = len(images)
    if images.null_count == rows:
        return pa.nulls(rows, pa.string())
    bits = np.frombuffer(bitmaps.buffers()[1], np.uint8).reshape(-1, bitmaps.type.byte_width)
    present = np.unpackbits(bits[bitmaps.offset :][:rows], axis=1, count=len(table.columns), bitorder="little") != 0
    present |= ~images.is_valid().to_numpy(zero_copy_only=False)[:, None]
    parts: list[Any] = ["{"]
    everything = bool(present.all())
    for place, plan in enumerate(table.plans):
        name = json.dumps(images.type.field(place).name, ensure_ascii=False) + ":"
        cells = pc.fill_null(_fragments(images.field(place), plan), "null")
        if everything:
            parts += [f",{name}" if place else name, cells]
        else:
            cells = pc.binary_join_element_wise(f",{name}", cells, "")
            parts.append(pc.if_else(pa.array(present[:, place]), cells, ""))
    texts = pc.binary_join_element_wise(*parts, "}", "")
    if not isinstance(texts, pa.Array):  # A table without columns has no arrays.
        texts = pa.repeat(texts, rows)
    if not everything:
        texts = pc.replace_substring_regex(texts, r"^\{,", "{")
    return pc.if_else(images.is_valid(), texts, pa.scalar(None, pa.string())) if images.null_count else texts


def _fragments(array: pa.Array, plan: ColumnPlan | None = None) -> pa.Array:
    """The values as JSON; null for null."""
    kind = array.type
    if pa.types.is_integer(kind):
        return array.cast(pa.string())
    if pa.types.is_floating(kind):
        return _numbers(array)
    if pa.types.is_string(kind):
        return _in_quotes(_escaped(array))
    if pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return _hex(array.cast(pa.binary()))
    if pa.types.is_decimal(kind):
        return _in_quotes(_digits(array))
    if pa.types.is_duration(kind):
        return _in_quotes(_clock(array, getattr(plan, "fsp", 6)))
    if pa.types.is_struct(kind):
        parts: list[Any] = ["{"]
        for place, field in enumerate(kind):
            parts += [f'{"," if place else ""}"{field.name}":', _fragments(array.field(place))]
        return pc.if_else(array.is_valid(), pc.binary_join_element_wise(*parts, "}", ""), None)
    if pa.types.is_list(kind):
        numbers = pa.ListArray.from_arrays(array.offsets, _numbers(array.values), mask=_mask(array))
        return pc.binary_join_element_wise("[", pc.binary_join(numbers, ","), "]", "")
    return _in_quotes(array.cast(pa.string()))


def _mask(array: pa.Array) -> pa.Array | None:
    return array.is_null() if array.null_count else None


def _escaped(texts: pa.Array) -> pa.Array:
    """What stands between the quotes of JSON strings."""
    if pc.any(pc.match_substring_regex(texts, _SPECIAL), min_count=0).as_py():
        for character, escape in _ESCAPES.items():
            texts = pc.replace_substring(texts, character, escape)
    return texts


def _in_quotes(texts: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise('"', texts, '"', "")


def _numbers(array: pa.Array) -> pa.Array:
    """Numbers; NaN and infinities, which JSON lacks, are texts."""
    texts = array.cast(pa.string())
    finite = pc.is_finite(array)
    return texts if pc.all(finite, min_count=0).as_py() else pc.if_else(finite, texts, _in_quotes(texts))


def _digits(array: pa.Array) -> pa.Array:
    """Decimals with all of their digits: Arrow writes small ones with an exponent."""
    if array.type.scale <= 6:
        return array.cast(pa.string())
    return pa.array([None if value is None else format(value, "f") for value in array.to_pylist()], pa.string())


def _hex(array: pa.BinaryArray) -> pa.Array:
    spans = spans_of(array)
    assert spans.starts is not None
    assert spans.lengths is not None
    ends = np.append(spans.starts, spans.starts[-1:] + spans.lengths[-1:])
    first, last = (int(ends[0]), int(ends[-1])) if len(ends) else (0, 0)
    digits = _HEX[spans.values[first:last]]
    offsets = pa.py_buffer((2 * (ends - first)).astype(np.int32))
    valid = None
    if array.null_count:
        valid = pa.py_buffer(np.packbits(array.is_valid().to_numpy(zero_copy_only=False), bitorder="little"))
    texts = pa.StringArray.from_buffers(len(array), offsets, pa.py_buffer(digits), valid)
    return pc.binary_join_element_wise('"0x', texts, '"', "")


def _clock(array: pa.Array, digits: int) -> pa.Array:
    """Durations as TIME values, with that many digits after the point."""
    micros = array.cast(pa.int64())
    positive = pc.abs(micros)
    seconds = pc.divide(positive, _SECOND)
    fields = [
        pc.divide(seconds, 3600),
        pc.subtract(pc.divide(seconds, 60), pc.multiply(pc.divide(seconds, 3600), 60)),
        pc.subtract(seconds, pc.multiply(pc.divide(seconds, 60), 60)),
    ]
    sign = pc.if_else(pc.less(micros, 0), "-", "")
    hours, minutes, rest = (pc.utf8_lpad(field.cast(pa.string()), 2, "0") for field in fields)
    clock = pc.binary_join_element_wise(sign, hours, ":", minutes, ":", rest, "")
    if not digits:
        return clock
    fraction = pc.subtract(positive, pc.multiply(seconds, _SECOND))
    fraction = pc.utf8_slice_codeunits(pc.utf8_lpad(fraction.cast(pa.string()), 6, "0"), 0, digits)
    return pc.binary_join_element_wise(clock, ".", fraction, "")
