"""Texts of rows, made table by table, and the events that the rows are of."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.bulk.lines.cell_texts import number_array

#: Texts, each of a row, and the indexes of their rows' events in the list.
Told = list[tuple[pa.Array, npt.NDArray[np.int64]]]


def in_order(told: Told) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """The texts of a list in the order of its events."""
    if len(told) == 1:
        return told[0]
    if not told:
        return pa.nulls(0, pa.string()), np.zeros(0, np.int64)
    texts, events = pa.concat_arrays([texts for texts, _ in told]), np.concatenate([events for _, events in told])
    if (np.diff(events) < 0).any():
        order = np.argsort(events, kind="stable")
        texts, events = texts.take(number_array(order)), events[order]
    return texts, events
