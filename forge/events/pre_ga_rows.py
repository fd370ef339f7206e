"""PRE_GA_WRITE_ROWS (20), PRE_GA_UPDATE_ROWS (21), PRE_GA_DELETE_ROWS (22): rows as 5.1 logged them before 5.1.18.

There is one bitmap, also for updates.  The rows are those of the server's record buffer: null bits as the table's
definition lays them out, in which the first may stand for a deleted row, and values of all columns, NULL among them
(sql/log_event_old.cc of 5.1).  Neither is told by TABLE_MAP, so the rows stay bytes.  Readers since 8.0 refuse them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Struct

from forge.events.layout import Body, at_boundaries, flags
from forge.events.rows import ROW_FLAGS, RowsV1


@dataclass(frozen=True, slots=True, kw_only=True)
class PreGaRows(Body):
    """``present`` has a bit a column (lowest first)."""

    features: ClassVar[tuple[str, ...]] = ("row_events",)

    table_id: int
    row_flags: int = flags(ROW_FLAGS, default=0)
    width: int = at_boundaries(0, 1, 8, 9, 250, 251)
    present: bytes
    rows: bytes

    layout: ClassVar[Struct] = RowsV1.layout


@dataclass(frozen=True, slots=True, kw_only=True)
class PreGaWriteRows(PreGaRows):
    type_code: ClassVar[int] = 20
    type_name: ClassVar[str] = "PRE_GA_WRITE_ROWS"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreGaUpdateRows(PreGaRows):
    type_code: ClassVar[int] = 21
    type_name: ClassVar[str] = "PRE_GA_UPDATE_ROWS"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreGaDeleteRows(PreGaRows):
    type_code: ClassVar[int] = 22
    type_name: ClassVar[str] = "PRE_GA_DELETE_ROWS"
