"""Numbers of one to eight bytes, of either byte order, as uint64: BIT, SET and old temporal types are stored so."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from forge.bulk.gather import fixed
from forge.bulk.plan import Bytes, Cells


def words_of(cells: Cells, width: int, *, big_endian: bool) -> npt.NDArray[np.uint64]:
    """The cells as numbers of ``width`` bytes; 0 where there is no value."""
    words, unused = fixed(cells, 8), np.uint64(64 - 8 * width)
    return (words.byteswap() if big_endian else words << unused) >> unused


def stored(words: npt.NDArray[np.uint64], width: int, *, big_endian: bool) -> Bytes:
    """The numbers in ``width`` bytes each."""
    if big_endian:
        words = (words << np.uint64(64 - 8 * width)).byteswap()
    return np.ascontiguousarray(words.view(np.uint8).reshape(-1, 8)[:, :width]).reshape(-1)
