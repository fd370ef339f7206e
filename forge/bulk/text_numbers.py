"""A number for each of some texts: a table in which a kernel looks up the texts of a column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.bulk.machine import inline, kernel, load8, load16, load32, load64, memory, signed
from forge.bulk.plan import Bytes, Numbers, slacked, validity_of

#: Odd factors with about half of their bits set.
_OF_FIRST: Final = np.uint64(0x9E3779B97F4A7C15)
_OF_LAST: Final = np.uint64(0xC2B2AE3D27D4EB4F)
_OF_LENGTH: Final = np.uint64(0x165667B19E3779F9)
#: Where the first and the last eight bytes of a text are kept, and its place in ``_data`` and length.
_FIRST, _LAST, _BEGIN, _LENGTH = 0, 1, 2, 3


class TextNumbers:
    """What the texts of ``number_of`` stand for; a negative number for none.  It is never changed."""

    def __init__(self, number_of: Mapping[str, int]) -> None:
        self.number_of = dict(number_of)
        texts = [text.encode() for text in self.number_of]
        self._numbers = np.array([*self.number_of.values(), 0], np.int32)
        self._data = slacked(sum(map(len, texts)))
        self._data[: len(self._data)] = np.frombuffer(b"".join(texts).ljust(len(self._data), b"\0"), np.uint8)
        #: The number of the text that a hash leads to, or -1; half of them at least.
        self._slots = np.full(2 << len(texts).bit_length(), -1, np.int32)
        self._known = np.zeros((len(texts) + 1, 4), np.uint64)
        _enter(self._data, np.array([len(text) for text in texts], np.int64), self._known, self._slots)

    def with_others(self, number_of: Mapping[str, int]) -> TextNumbers:
        """The same with more texts."""
        return TextNumbers({**self.number_of, **number_of})

    def find(
        self, array: pa.StringArray, begun: int, out: npt.NDArray[Any], odd: Numbers, found: int
    ) -> tuple[int, int]:
        """Put the numbers of the texts to ``out``, from row ``begun`` to the first whose text is not known.

        A row that stands for none gets 0, and its place to ``odd``, from ``found`` on; so does, but for its place, a
        NULL.  Gives that first row, or how many there are, and how many places ``odd`` has then.
        """
        _, offsets, data = array.buffers()
        if offsets is None or not len(array):
            return len(array), found
        ends: Numbers = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
        texts: Bytes = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
        for values in (ends, texts):
            values.flags.writeable = False  # Kernels are compiled once for arrays to write to and once for others.
        validity, first_bit = validity_of(array)
        row, count = _find(
            ends,
            texts,
            validity,
            first_bit,
            begun,
            self._slots,
            self._known,
            self._data,
            self._numbers,
            out,
            odd,
            found,
        )
        return int(row), int(count)


@inline
def _ends_of(data: Any, begin: Any, length: Any) -> Any:
    """The first and the last eight bytes of a text; of a shorter one all of it.  Nothing beside it is read."""
    if length >= 8:
        return load64(data, begin), load64(data, begin + length - 8)
    if length >= 4:
        return load32(data, begin) | load32(data, begin + length - 4) << np.uint64(32), np.uint64(0)
    if length >= 2:
        return load16(data, begin) | load16(data, begin + length - 2) << np.uint64(32), np.uint64(0)
    if length == 1:
        return load8(data, begin), np.uint64(0)
    return np.uint64(0), np.uint64(0)


@inline
def _hash(first: Any, last: Any, length: Any) -> Any:
    mixed = first * _OF_FIRST ^ last * _OF_LAST ^ np.uint64(length) * _OF_LENGTH
    return mixed ^ mixed >> np.uint64(29) ^ mixed >> np.uint64(47)


@inline
def _is_between(data: Any, begin: Any, other: Any, at: Any, length: Any) -> Any:
    """Whether two texts of that length whose ends are the same are so between them."""
    place = np.int64(8)
    while place + 8 < length:
        if load64(data, begin + place) != load64(other, at + place):
            return False
        place += 8
    return True


@kernel
def _enter(data: Any, lengths: Any, known: Any, slots: Any) -> None:
    texts = memory(data)
    most = np.uint64(len(slots) - 1)
    begin = np.int64(0)
    for text in range(len(lengths)):
        length = lengths[text]
        first, last = _ends_of(texts, begin, length)
        known[text, _FIRST], known[text, _LAST] = first, last
        known[text, _BEGIN], known[text, _LENGTH] = np.uint64(begin), np.uint64(length)
        slot = _hash(first, last, length) & most
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & most
        slots[slot] = text
        begin += length


@kernel
def _find(
    ends: Any,
    texts: Any,
    validity: Any,
    first_bit: Any,
    begun: Any,
    slots: Any,
    known: Any,
    data: Any,
    numbers: Any,
    out: Any,
    odd: Any,
    found: Any,
) -> Any:
    source, own, bits = memory(texts), memory(data), memory(validity)
    most = np.uint64(len(slots) - 1)
    for row in range(begun, len(ends) - 1):
        out[row] = 0
        bit = first_bit + row
        if len(validity) and not (load8(bits, bit >> 3) >> np.uint64(bit & 7)) & np.uint64(1):
            continue
        begin = np.int64(ends[row])
        length = np.int64(ends[row + 1]) - begin
        first, last = _ends_of(source, begin, length)
        slot = _hash(first, last, length) & most
        text = slots[slot]
        while text >= 0 and not (
            known[text, _FIRST] == first
            and known[text, _LAST] == last
            and known[text, _LENGTH] == np.uint64(length)
            and _is_between(source, begin, own, signed(known[text, _BEGIN]), length)
        ):
            slot = (slot + np.uint64(1)) & most
            text = slots[slot]
        if text < 0:
            return row, found
        number = numbers[text]
        if number < 0:
            odd[found] = row
            found += 1
        else:
            out[row] = number
    return len(ends) - 1, found
