"""Rows of some events only: which of the row events of a list are wanted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.binlog.selection import Selection
from forge.bulk.reading.batches import Misfit
from forge.bulk.reading.file_rows import Taker
from forge.bulk.reading.window import RowIndexes, Window
from forge.events.registry import EVENT_CODES

#: Where the type code is in an event.
_TYPE_OFFSET = 4


class ChosenEvents:
    """Gives a taker the row events that a selection wants, as forge.binlog.selection has it of the canonical decode.

    The rows of other events are not looked at, wrong ones neither.
    """

    def __init__(self, taker: Taker, wanted: Selection) -> None:
        self.table = taker.table
        self.schema = taker.schema
        self._taker = taker
        self._wanted = wanted
        self._codes = np.array([EVENT_CODES[name] for name in wanted.types], np.uint8)

    def of(self, window: Window, chosen: RowIndexes) -> Iterator[pa.RecordBatch | Misfit]:
        """As forge.bulk.reading.file_rows.Taker has it."""
        indexes = np.arange(window.rows.count, dtype=np.int64)[chosen]
        return self._taker.of(window, indexes[self._is_wanted(window, indexes)])

    def _is_wanted(self, window: Window, indexes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        wanted, rows = self._wanted, window.rows
        found = np.ones(len(indexes), np.bool_)
        places, times = rows.places[indexes], rows.times[indexes]
        if wanted.start is not None:
            found &= places >= wanted.start
        if wanted.stop is not None:
            found &= places < wanted.stop
        if wanted.since is not None or wanted.until is not None:
            found &= (times >= (wanted.since or 0)) & (wanted.until is None or times < wanted.until)
        if wanted.types:
            found &= np.isin(_types(window, rows.events[indexes]), self._codes)
        if wanted.gtids:
            found &= self._of_gtids(window, rows.groups[indexes])
        return found

    def _of_gtids(self, window: Window, groups: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        if not len(groups):
            return np.zeros(0, np.bool_)
        texts, places = window.gtids_of(groups)
        wanted = np.array([self._wanted.has_gtid(text) for text in texts.to_pylist()], np.bool_)[places]
        return np.broadcast_to(wanted, len(groups))


def _types(window: Window, events: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """The type codes of events, those of MariaDB's compressed rows as they are in the file."""
    listed = window.listed
    types = listed.events.types[events]
    if listed.compressed:
        for place, number in enumerate(listed.events.numbers[events].tolist()):
            raw = listed.compressed.get(number)
            types[place] = types[place] if raw is None else raw[_TYPE_OFFSET]
    return types
