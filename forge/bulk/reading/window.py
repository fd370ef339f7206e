"""What is known of a list of events: which of them have rows that are wanted, and what has been made of those."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.bulk.plan import Bytes
from forge.bulk.reading.events import EventList
from forge.bulk.reading.gtids import Gtids
from forge.bulk.reading.listed import Listed
from forge.bulk.reading.odd import ReadSummary
from forge.bulk.reading.survey import RowEvents
from forge.errors import ForgeError

Batch = tuple[str, pa.RecordBatch]
#: Some row events of a window: the whole of them is a slice.
RowIndexes = npt.NDArray[np.int64] | slice


@dataclass(slots=True)
class Window:
    """A list of events, the row events among them, and the GTIDs in force."""

    listed: Listed
    rows: RowEvents
    gtids: Gtids = field(default_factory=Gtids)
    #: What is counted of the batches that are made.
    counted: ReadSummary = field(default_factory=ReadSummary)
    #: The first batches, and where there are more of them, those.
    batches: list[Batch] = field(default_factory=list)
    rest: Iterator[Batch] | None = None
    #: What is wrong with the list behind its row events, and with what is behind the batches.
    wrong: ForgeError | None = None
    error: ForgeError | None = None

    @property
    def buffer(self) -> Bytes:
        return self.listed.buffer

    @property
    def events(self) -> EventList:
        return self.listed.events

    def gtids_of(self, groups: npt.NDArray[np.int64]) -> tuple[pa.Array, npt.NDArray[np.int32]]:
        """The different GTIDs of row events' groups, which ascend, and which of them each has; one stands for all."""
        return self.gtids.texts(self.listed, self.rows.gtid_events, groups)
