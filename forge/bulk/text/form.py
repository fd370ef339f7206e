"""The text of one character set, in bulk: to UTF-8, which Arrow has, and back.

Both ways take a whole column.  What ``forge.charsets`` refuses is odd, and so is what a kernel leaves to it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from forge.bulk.machine import kernel
from forge.bulk.plan import NO_ROWS, Bytes, Numbers, Spans, Wire

#: How many characters a value may have that is counted in bytes alone.
UNLIMITED = np.iinfo(np.int64).max
#: The last offset that an Arrow string array can hold.
LAST_OFFSET = np.int64(0x7FFFFFFF)


class Texts(NamedTuple):
    """The buffers of an Arrow string array: text ``i`` is ``data[ends[i] : ends[i + 1]]``; an odd one is any ASCII."""

    ends: Numbers
    data: Bytes
    odd: Numbers = NO_ROWS


class TextForm(ABC):
    """How a character set has text."""

    @abstractmethod
    def read(self, spans: Spans) -> Texts:
        """The texts of the values.  Their memory is the caller's to give: it may be changed or returned."""

    @abstractmethod
    def write(self, texts: Wire, most: int) -> Wire:
        """The bytes of UTF-8 texts; odd where one has more than ``most`` characters or no bytes in this set."""


def spliced(offsets: Any, data: Any, found: dict[int, bytes]) -> tuple[Any, Any]:
    """Offsets and data of a column, with values for some rows, ascending, that have no bytes yet."""
    sizes = np.diff(offsets).astype(np.int64)
    parts = []
    taken = 0
    for row, value in found.items():
        parts += [data[taken : offsets[row]], np.frombuffer(value, np.uint8)]
        taken = offsets[row]
        sizes[row] = len(value)
    joined = np.concatenate([*parts, data[taken:]])
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]).astype(offsets.dtype), joined


def is_ascii(data: Bytes, begin: int, end: int) -> bool:
    """Whether the bytes ``data[begin:end]`` are ASCII."""
    return int(data[begin:end].max(initial=0)) < 0x80


def located(wire: Wire) -> tuple[Bytes, npt.NDArray[np.int64], Numbers]:
    """The bytes of values that are not of a fixed width, where each begins, and its length."""
    assert wire.starts is not None
    assert wire.lengths is not None
    return wire.values, wire.starts, wire.lengths


def are_ascii(texts: Wire) -> bool:
    """Whether all texts are ASCII; what lies between them counts too."""
    values, starts, lengths = located(texts)
    return not len(starts) or is_ascii(values, int(starts[0]), int(starts[-1] + lengths[-1]))


@kernel
def _too_long(values: Any, starts: Any, lengths: Any, most: Any, odd: Any) -> Any:
    found = 0
    for row in range(len(lengths)):
        length = np.int64(lengths[row])
        if length <= most:
            continue
        characters = np.int64(0)
        for at in range(starts[row], starts[row] + length):
            characters += (values[at] & 0xC0) != 0x80
        if characters > most:
            odd[found] = row
            found += 1
    return found


def too_long(texts: Wire, most: int) -> Numbers:
    """The rows whose UTF-8 text has more than ``most`` characters."""
    values, starts, lengths = located(texts)
    if not len(lengths) or int(lengths.max()) <= most:
        return NO_ROWS
    odd = np.empty(len(lengths), np.int32)
    found = _too_long(values, starts, lengths, most, odd)
    return odd[:found]


def either(left: Numbers, right: Numbers) -> Numbers:
    """The rows that are in one of two ascending lists."""
    if not len(left) or not len(right):
        return right if not len(left) else left
    merged: Numbers = np.union1d(left, right)
    return merged
