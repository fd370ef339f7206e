"""How many rows of each table a log changes, and how many bytes their events have."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from forge.binlog.row_counts import OPERATIONS, RowCounts
from forge.bulk.reading.batches import Misfit
from forge.bulk.reading.listed import Listed
from forge.bulk.reading.row_walk import FULL, MISFIT, CellPlaces
from forge.bulk.reading.rows import Paths, RowReader, paths_of
from forge.bulk.reading.tables import Chosen, Table
from forge.bulk.reading.window import RowIndexes, Window
from forge.bulk.reused import Reused

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring


@dataclass(slots=True)
class TableCounts(RowCounts):
    """What happened to one table, by operation ("insert", "update", "delete"), and its definitions that differ."""

    definitions: list[Table] = field(default_factory=list)


def count_tables(
    path: Paths,
    *,
    keyring: Keyring | None = None,
    progress: Callable[[int], None] | None = None,
    counts: dict[str, TableCounts] | None = None,
    watch: Callable[[Listed], None] | None = None,
) -> dict[str, TableCounts]:
    """The tables that a log maps, or several logs, in the order of their first TABLE_MAP, with what happened to them.

    ``keyring`` opens files that are encrypted; ``counts`` is added to, and is right where an error ends the reading;
    ``watch`` is shown all events, some thousands at a time.

    Raises FormatError for bytes that break a rule of the format; UnsupportedError for types that are not known;
    OSError.
    """
    found: dict[str, TableCounts] = {} if counts is None else counts
    free: Reused[CellPlaces] = Reused()

    def taker(table: Table, _file: str) -> _Counting:
        of_table = found.setdefault(table.name, TableCounts())
        of_table.definitions.append(table)
        return _Counting(table, of_table, free)

    reader = RowReader(
        paths_of(path), table=None, chosen=Chosen(columns=()), taker=taker, keyring=keyring, progress=progress,
        watch=watch,
    )  # fmt: skip
    for _ in reader.batches():
        pass
    return found


class _Counting:
    """Takes rows, and makes no batches of them."""

    schema = pa.schema([])

    def __init__(self, table: Table, counts: TableCounts, free: Reused[CellPlaces]) -> None:
        self.table = table
        self._counts = counts
        self._free = free
        self._counting = threading.Lock()

    def of(self, window: Window, chosen: RowIndexes) -> Iterator[pa.RecordBatch | Misfit]:
        """As forge.bulk.reading.file_rows.Taker has it."""
        table, rows, events = self.table, window.rows, window.events
        places = self._free.take() or CellPlaces(1 << 14, 1 << 14)
        begins, ends = rows.begins[chosen], rows.ends[chosen]
        layouts = rows.layouts[chosen]
        operations = table.layouts.operations[layouts]
        per_event = np.zeros(len(begins), np.int64)
        event, at = 0, -1
        while event < len(begins):
            before = per_event[event]
            why, following, at, _ = places.walk(
                window.buffer, begins, ends, layouts, (event, at), table.layouts, per_event
            )
            per_event[event] += before  # The walk counts anew where it goes on inside an event.
            event = following
            if why == MISFIT:
                yield Misfit(int(rows.events[chosen][event]))
                return
            assert why == FULL or event == len(begins)
        self._free.add(places)
        sizes = events.sizes[rows.events[chosen]]
        with self._counting:
            counted = (np.bincount(operations, each, len(OPERATIONS)).tolist() for each in (per_event, None, sizes))
            for count, more in zip(self._counts.by_operation.values(), zip(*counted, strict=True), strict=True):
                count.rows += int(more[0])
                count.events += int(more[1])
                count.bytes += int(more[2])
