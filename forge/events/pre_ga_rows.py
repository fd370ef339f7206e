"""PRE_GA_WRITE_ROWS (20), PRE_GA_UPDATE_ROWS (21), PRE_GA_DELETE_ROWS (22): rows as 5.1 logged them before 5.1.18.

There is one bitmap, also for updates.  The rows are those of the server's record buffer: null bits as the table's
definition lays them out, in which the first may stand for a deleted row, and values of all columns, NULL among them
(sql/log_event_old.cc of 5.1).  Neither is told by TABLE_MAP, so the rows stay bytes.  Readers since 8.0 refuse them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from forge.events.rows import OneBitmap


@dataclass(frozen=True, slots=True, kw_only=True)
class PreGaRows(OneBitmap):
    features: ClassVar[tuple[str, ...]] = ("row_events",)


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
