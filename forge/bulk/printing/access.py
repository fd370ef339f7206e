"""Loads and stores of the words in a table that a kernel is handed."""

from __future__ import annotations

from typing import Any

import numpy as np

from forge.bulk.machine import inline, load64, signed, store64, unsigned


@inline
def get(words: Any, place: Any) -> Any:
    """The number at that place of a memory of words."""
    return signed(load64(words, 8 * place))


@inline
def put(words: Any, place: Any, number: Any) -> None:
    store64(words, 8 * place, unsigned(np.int64(number)))


@inline
def memory_at(words: Any, place: Any) -> Any:
    """The memory whose address and size stand there."""
    return signed(load64(words, 8 * place)), signed(load64(words, 8 * place + 8))
