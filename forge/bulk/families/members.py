"""ENUM and SET.

ENUM: a dictionary of the members as text, with ``''`` for the number 0 behind them: what the canonical decode shows.
Odd are numbers that have no text there: beyond the members, a member that is not text of its character set, and one
that the collation takes for another.  Without members in the event it is the number, uint16.

SET: the bitmap, uint64, whether or not each bit has a member.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from forge.bulk.gather import fixed
from forge.bulk.plan import Cells, ColumnPlan, Numbers, Read, Wire, is_text, rows_where, strings_of, values_of
from forge.bulk.words import stored, words_of
from forge.errors import ScenarioError
from forge.values.base import Column
from forge.values.registry import codec_for
from forge.values.text.enums import MemberCodec, member_texts
from forge.values.wire_types import WireType

#: Indexes of a dictionary: the narrowest of these that its length allows.
_INDEXES = (np.int8, np.int16, np.int32)

#: Whether a text has a letter or digit that every collation counts.
_COUNTS = re.compile("[0-9A-Za-z]").search


def _codec(column: Column) -> MemberCodec:
    codec = codec_for(column)
    assert isinstance(codec, MemberCodec)
    return codec


class EnumPlan(ColumnPlan):
    """Number to index by a table, and index to number."""

    can_be_odd = True

    def __init__(self, column: Column) -> None:
        self._codec = _codec(column)
        size = self._codec.size(column)
        #: The number of each text, in the order of the dictionary.
        self._number_of = self._texts(column, (1 << 8 * size) - 1)
        self.dictionary = strings_of(self._number_of)
        self.numbers = np.array(list(self._number_of.values()), np.int32)
        self._index = next(index for index in _INDEXES if len(self.numbers) <= np.iinfo(index).max + 1)
        super().__init__(column, pa.dictionary(pa.from_numpy_dtype(self._index), pa.string()), size)
        #: The index of every number that a cell can hold, or -1.
        self._indexes = np.full(1 << 8 * size, -1, self._index)
        self._indexes[self.numbers] = np.arange(len(self.numbers))
        #: The last dictionary written that is not this one, and the numbers of its texts.
        self._other: tuple[pa.Array, Numbers] = (self.dictionary, self.numbers)

    def _texts(self, column: Column, largest: int) -> dict[str, int]:
        members = column.members or ()
        found: dict[str, int] = {}
        for number, text in enumerate(member_texts(members, column.collation)[:largest], 1):
            if isinstance(text, str):
                found.setdefault(text, number)  # A member finds itself if no other before it has its text.
        # A text with a letter or digit is '' in no collation, and asking one of Unicode loads its table: a second.
        if all(map(_COUNTS, found)) or self._codec.number_of(column, "") == 0:
            found[""] = 0
        return found

    def read(self, cells: Cells) -> Read:
        indexes = self._indexes[fixed(cells, self.wire)]
        odd = rows_where((indexes < 0) & (cells.offsets >= 0))
        return Read((np.maximum(indexes, 0),), odd)

    def array(self, rows: int, validity: pa.Buffer | None, nulls: int, read: Read) -> pa.Array:
        buffers = [validity, pa.py_buffer(read.buffers[0])]
        return pa.DictionaryArray.from_buffers(self.arrow_type, rows, buffers, self.dictionary, nulls)

    def write(self, array: pa.Array) -> Wire:
        indexes = values_of(array, self._index().itemsize).view(self._index)
        return _wire(self._numbers_of(array.dictionary), indexes, self.wire)

    @cached_property
    def _of_texts(self) -> _EnumTextPlan:
        return _EnumTextPlan(self)

    def of_type(self, kind: pa.DataType) -> ColumnPlan:
        return self._of_texts if is_text(kind) else self

    def _numbers_of(self, dictionary: pa.Array) -> Numbers:
        """The number of each text, as ``accept`` finds it; -1 for those that it refuses."""
        if dictionary.equals(self.dictionary):
            return self.numbers
        other, numbers = self._other  # Another thread may have its own.
        if not dictionary.equals(other):
            numbers = np.array([self.number(text) for text in dictionary.to_pylist()], np.int32)
            self._other = (dictionary, numbers)
        return numbers

    def number(self, text: str | None) -> int:
        """That of a text, as ``accept`` finds it; -1 for one that it refuses."""
        if text in self._number_of:
            return self._number_of[text]
        try:
            return int(self._codec.accept(self.column, text))
        except ScenarioError:
            return -1


def _wire(numbers: Numbers, indexes: npt.NDArray[Any], width: int) -> Wire:
    """The cells of numbers by their index; odd are numbers below 0, and what is no index."""
    known = np.append(numbers, np.int32(-1))
    found = known[np.where((indexes >= 0) & (indexes < len(numbers)), indexes, len(numbers))]
    return Wire(found.astype(np.uint8 if width == 1 else np.uint16).view(np.uint8), odd=rows_where(found < 0))


class _EnumTextPlan(ColumnPlan):
    """The same column from plain texts, as Spark has them."""

    can_be_odd = True

    def __init__(self, plan: EnumPlan) -> None:
        super().__init__(plan.column, pa.string(), plan.wire)
        self._plan = plan
        #: The texts that were written so far, and their numbers; another thread may put its own in the place of it.
        self._known: tuple[pa.Array, Numbers] = (plan.dictionary, plan.numbers)

    def read(self, cells: Cells) -> Read:
        return self._plan.read(cells)

    def write(self, array: pa.Array) -> Wire:
        texts, numbers = self._known
        indexes = pc.index_in(array, texts)
        if indexes.null_count > array.null_count:
            others = pc.unique(array.filter(indexes.is_null())).drop_null()
            more = np.array([self._plan.number(text) for text in others.to_pylist()], np.int32)
            texts, numbers = self._known = pa.concat_arrays([texts, others]), np.concatenate((numbers, more))
            indexes = pc.index_in(array, texts)
        return _wire(numbers, indexes.fill_null(0).to_numpy(), self.wire)


class EnumNumberPlan(ColumnPlan):
    """An ENUM whose members the event does not tell."""

    def read(self, cells: Cells) -> Read:
        return Read((fixed(cells, self.wire).astype(np.uint16),))

    def write(self, array: pa.Array) -> Wire:
        numbers = values_of(array, 2).view(np.uint16)
        if self.wire == 2:
            return Wire(numbers.view(np.uint8))
        return Wire(numbers.astype(np.uint8), odd=rows_where(numbers > 0xFF))


class SetPlan(ColumnPlan):
    """Little-endian on the wire."""

    def __init__(self, column: Column) -> None:
        codec = _codec(column)
        super().__init__(column, pa.uint64(), codec.size(column))
        self._largest = min(codec.largest(column), (1 << 8 * self.wire) - 1)

    def read(self, cells: Cells) -> Read:
        return Read((words_of(cells, self.wire, big_endian=False),))

    def write(self, array: pa.Array) -> Wire:
        words = values_of(array, 8).view(np.uint64)
        return Wire(stored(words, self.wire, big_endian=False), odd=rows_where(words > self._largest))


def plan(column: Column) -> ColumnPlan:
    if column.metadata[0] == WireType.SET:
        return SetPlan(column)
    if column.members is None:
        return EnumNumberPlan(column, pa.uint16(), _codec(column).size(column))
    return EnumPlan(column)
