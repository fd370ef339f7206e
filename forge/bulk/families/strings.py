"""CHAR, VARCHAR and TEXT: utf8, whatever their character set.  BINARY, VARBINARY and BLOB: binary.

A column whose character set is not known is binary, as for the canonical decode.  Odd are bytes that are not text of
the set when read; and when written, text that the set does not have and what is longer than the column allows: a
server cuts spaces there, or refuses the value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from forge.bulk.gather import spans, texts
from forge.bulk.machine import copy, kernel
from forge.bulk.plan import SPANS, TEXTS, Bytes, Cells, ColumnPlan, Numbers, Read, Spans, Wire, slacked, spans_of
from forge.bulk.text.form import UNLIMITED, either, located
from forge.bulk.text.registry import text_form
from forge.charsets import Charset
from forge.values.base import Column
from forge.values.registry import codec_for
from forge.values.text.column_charset import BINARY_COLLATION, charset_of
from forge.values.text.strings import TextCodec
from forge.values.wire_types import WireType


class TextPlan(ColumnPlan):
    """Text in a character set, of ``most`` characters; ``is_char``: without the spaces at its end."""

    can_be_odd = True
    spans_as = TEXTS

    def __init__(
        self, column: Column, codec: TextCodec, charset: Charset, *, most: int | None, is_char: bool = False
    ) -> None:
        super().__init__(column, pa.string(), -codec.prefix(column))
        self._form = text_form(charset.name)
        self._limit = codec.limit(column)
        self._most = UNLIMITED if most is None else most
        self._pad = np.frombuffer(charset.encode(" "), np.uint8) if is_char else None

    def read(self, cells: Cells) -> Read:
        return self.read_spans(texts(cells))

    def read_spans(self, spans: Spans) -> Read:
        ends, data, odd = self._form.read(spans)
        return Read((ends, data), odd)

    def write(self, array: pa.Array) -> Wire:
        wire = self._form.write(spans_of(array), self._most)
        return without_pad(within(wire, self._limit), self._pad)


class BinaryPlan(ColumnPlan):
    """Bytes as they are; ``is_padded``: BINARY, whose 00 bytes at the end are not stored."""

    def __init__(self, column: Column, codec: TextCodec, *, is_padded: bool = False) -> None:
        super().__init__(column, pa.binary(), -codec.prefix(column))
        self._limit = codec.limit(column)
        self._pad = np.zeros(1, np.uint8) if is_padded else None
        self.spans_as = None if is_padded else SPANS

    def read(self, cells: Cells) -> Read:
        return self.read_spans(spans(cells)) if self._pad is None else Read(_padded(cells, self._limit))

    def write(self, array: pa.Array) -> Wire:
        return without_pad(within(spans_of(array), self._limit), self._pad)


def within(wire: Wire, limit: int) -> Wire:
    """The same with values of more than ``limit`` bytes odd."""
    _, _, lengths = located(wire)
    if not len(lengths) or int(lengths.max()) <= limit:
        return wire
    return replace(wire, odd=either(wire.odd, np.flatnonzero(lengths > limit).astype(np.int32)))


def without_pad(wire: Wire, pad: Bytes | None) -> Wire:
    """The same without the characters ``pad`` at the ends of values."""
    if pad is None:
        return wire
    values, starts, lengths = located(wire)
    stored = np.empty_like(lengths)
    _without_pad(values, starts, lengths, pad, stored)
    return replace(wire, lengths=stored)


@kernel
def _without_pad(values: Any, starts: Any, lengths: Any, pad: Any, out: Any) -> None:
    size = len(pad)
    for row in range(len(lengths)):
        length = np.int64(lengths[row])
        is_pad = True
        while is_pad and length >= size:
            end = starts[row] + length
            for index in range(size):
                is_pad = is_pad and values[end - size + index] == pad[index]
            if is_pad:
                length -= size
        out[row] = length


def _padded(cells: Cells, size: int) -> tuple[Numbers, Bytes]:
    ends = np.empty(len(cells) + 1, np.int32)
    total = int(_padded_ends(cells.offsets, cells.lengths, size, ends))
    out = slacked(total)
    _copy_padded(cells.buffer, cells.offsets, cells.lengths, ends, out)
    return ends, out[:total]


@kernel
def _padded_ends(offsets: Any, lengths: Any, size: Any, ends: Any) -> Any:
    total = np.int64(0)
    ends[0] = 0
    for row in range(len(offsets)):
        if offsets[row] >= 0:
            total += max(np.int64(lengths[row]), np.int64(size))
        ends[row + 1] = total
    return total


@kernel
def _copy_padded(buffer: Any, offsets: Any, lengths: Any, ends: Any, out: Any) -> None:
    for row in range(len(offsets)):
        if offsets[row] < 0:
            continue
        length = np.int64(lengths[row])
        begin, end = np.int64(ends[row]), np.int64(ends[row + 1])
        copy(out, begin, buffer, np.int64(offsets[row]), length)
        for at in range(begin + length, end):
            out[at] = 0


def plan(column: Column) -> ColumnPlan:
    codec = codec_for(column)
    assert isinstance(codec, TextCodec)
    charset = charset_of(column)
    is_fixed = column.type_code == WireType.STRING
    if charset is None:
        return BinaryPlan(column, codec, is_padded=is_fixed and column.collation == BINARY_COLLATION)
    return TextPlan(column, codec, charset, most=codec.characters(column), is_char=is_fixed)
