"""Numbers of one to eight bytes, of either byte order, as uint64: what BIT and SET are on the wire."""

from __future__ import annotations

from typing import Any

import numpy as np

from forge.bulk.machine import kernel, load64, store64, swap64
from forge.bulk.plan import Bytes, Cells, Wire, slacked


def words_of(cells: Cells, width: int, big_endian: bool) -> np.ndarray[Any, Any]:
    """The cells as numbers of ``width`` bytes; 0 where there is no value."""
    out = np.empty(len(cells), np.uint64)
    _read(cells.buffer, cells.offsets, width, big_endian, out)
    return out


def wire_of(words: Bytes, width: int, big_endian: bool, largest: int) -> Wire:
    """The numbers, given as the bytes of uint64, in ``width`` bytes each; odd are those above ``largest``."""
    rows = len(words) // 8
    out = slacked(width * rows)
    odd = np.empty(rows, np.int32)
    found = _write(words, width, big_endian, np.uint64(largest), out, odd)
    return Wire(out[: width * rows], odd=odd[:found])


@kernel
def _read(buffer: Any, offsets: Any, width: Any, big_endian: Any, out: Any) -> None:
    unused = np.uint64(64 - 8 * width)
    for row in range(len(offsets)):
        offset = offsets[row]
        if offset < 0:
            out[row] = 0
            continue
        word = load64(buffer, offset)
        out[row] = (swap64(word) if big_endian else word << unused) >> unused


@kernel
def _write(words: Any, width: Any, big_endian: Any, largest: Any, out: Any, odd: Any) -> Any:
    found = 0
    unused = np.uint64(64 - 8 * width)
    for row in range(len(odd)):
        word = load64(words, 8 * row)
        if word > largest:
            odd[found] = row
            found += 1
        # What is stored behind the value is the next one's place, or slack.
        store64(out, width * row, swap64(word << unused) if big_endian else word)
    return found
