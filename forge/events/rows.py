"""Row events: WRITE, UPDATE, DELETE in version 1 (23-25: 5.1 to 5.5, MariaDB), version 2 (30-32: 5.6 on) and
PARTIAL_UPDATE (39).

The rows themselves are opaque here; ``forge.events.row_image`` splits them with the help of the TABLE_MAP.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int16ul, Struct

from forge.events.extra_row_info import chunks
from forge.events.layout import Bitmap, Body, Rest, Span, Surroundings, at_boundaries, flags
from forge.events.packed import PackedInt
from forge.events.plain import Fields
from forge.events.shapes import Shape
from forge.events.table_map import TableId
from forge.events.taking import take_bytes, take_number

#: The event is the last one of its statement.
STMT_END = 0x0001
ROW_FLAGS = (
    (STMT_END, "STMT_END"),
    (0x0002, "NO_FOREIGN_KEY_CHECKS"),
    (0x0004, "RELAXED_UNIQUE_CHECKS"),
    (0x0008, "COMPLETE_ROWS"),
    (0x0010, "USE_SQL_FOREIGN_KEY"),
    (0x0080, "NO_CHECK_CONSTRAINT_CHECKS"),
)


class _ExtraData(Span):
    """Length u16, itself included, then the extra row info (ndb, partition ids)."""

    def __init__(self) -> None:
        super().__init__(lambda this: 0)

    def take(self, data: bytes, at: int, found: Any) -> tuple[bytes, int]:
        size, start = take_number(data, at, 2)
        return take_bytes(data, start, size - 2)

    def give(self, value: bytes, fields: Any) -> bytes:
        return (len(value) + 2).to_bytes(2, "little") + value

    def labelled(self, walk: Any, name: str, flags: Any = None) -> bytes:
        extra: bytes = walk.read(self, name)
        put, start = walk.labels.put, walk.labels.at + 2
        put(start, f"{name}.length", len(extra) + 2, "u16, little-endian; counts itself")
        for place, words in chunks(extra):
            put(start + place, name, extra[walk.labels.at - start : place], words)
        return extra


_HEAD = ("table_id" / TableId(), "row_flags" / Int16ul)
_WIDTH = "width" / PackedInt()
_PRESENT = "present" / Bitmap(lambda this: this.width)
_PRESENT_AFTER = "present_after" / Bitmap(lambda this: this.width)
_ROWS = "rows" / Rest()


class AnyRows(Body):
    """What all row events have in common: the canonical decode shows their rows beside the fields."""

    __slots__ = ()

    def canonical(self, surroundings: Surroundings) -> Fields:
        return self.shown_fields("rows")

    @classmethod
    def canonical_shape(cls) -> Shape:
        return cls.shape_with({"rows": None})


@dataclass(frozen=True, slots=True, kw_only=True)
class OneBitmap(Body):
    """``present`` has a bit a column (lowest first): the columns in the before image, or in the only image."""

    table_id: int
    row_flags: int = flags(ROW_FLAGS, default=0)
    width: int = at_boundaries(0, 1, 8, 9, 250, 251)
    present: bytes
    rows: bytes

    layout: ClassVar[Struct] = Struct(*_HEAD, _WIDTH, _PRESENT, _ROWS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsV1(AnyRows, OneBitmap, features=("row_events", "rows_v1")):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRowsV1(AnyRows, type_code=24, type_name="UPDATE_ROWS_V1", features=("row_events", "rows_v1")):
    table_id: int
    row_flags: int = flags(ROW_FLAGS, default=0)
    width: int = at_boundaries(0, 1, 8, 9, 250, 251)
    present: bytes
    present_after: bytes
    rows: bytes

    layout: ClassVar[Struct] = Struct(*_HEAD, _WIDTH, _PRESENT, _PRESENT_AFTER, _ROWS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsV2(AnyRows, features=("rows_v2",)):
    """As :class:`RowsV1`, with ``extra`` row info."""

    table_id: int
    row_flags: int = flags(ROW_FLAGS, default=0)
    extra: bytes = b""
    width: int = at_boundaries(0, 1, 8, 9, 250, 251)
    present: bytes
    rows: bytes

    layout: ClassVar[Struct] = Struct(*_HEAD, "extra" / _ExtraData(), _WIDTH, _PRESENT, _ROWS)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRows(AnyRows, type_code=31, type_name="UPDATE_ROWS", features=("rows_v2",)):
    table_id: int
    row_flags: int = flags(ROW_FLAGS, default=0)
    extra: bytes = b""
    width: int = at_boundaries(0, 1, 8, 9, 250, 251)
    present: bytes
    present_after: bytes
    rows: bytes

    layout: ClassVar[Struct] = Struct(*_HEAD, "extra" / _ExtraData(), _WIDTH, _PRESENT, _PRESENT_AFTER, _ROWS)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRowsV1(RowsV1, type_code=23, type_name="WRITE_ROWS_V1"):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRowsV1(RowsV1, type_code=25, type_name="DELETE_ROWS_V1"):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRows(RowsV2, type_code=30, type_name="WRITE_ROWS"):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRows(RowsV2, type_code=32, type_name="DELETE_ROWS"):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialUpdateRows(UpdateRows, type_code=39, type_name="PARTIAL_UPDATE_ROWS", features=("partial_json",)):
    """After images may hold JSON diffs (``binlog_row_value_options=PARTIAL_JSON``, 8.0.3 on)."""


RowsBody = RowsV1 | RowsV2 | UpdateRowsV1 | UpdateRows
ROWS_BODIES = (RowsV1, RowsV2, UpdateRowsV1, UpdateRows)


# PRE_GA_WRITE_ROWS (20), PRE_GA_UPDATE_ROWS (21), PRE_GA_DELETE_ROWS (22): rows as 5.1 logged them before 5.1.18.
#
# There is one bitmap, also for updates.  The rows are those of the server's record buffer: null bits as the table's
# definition lays them out, in which the first may stand for a deleted row, and values of all columns, NULL among them
# (sql/log_event_old.cc of 5.1).  Neither is told by TABLE_MAP, so the rows stay bytes.  Readers since 8.0 refuse them.
@dataclass(frozen=True, slots=True, kw_only=True)
class PreGaRows(OneBitmap, features=("row_events",)):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class PreGaWriteRows(PreGaRows, type_code=20, type_name="PRE_GA_WRITE_ROWS"):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class PreGaUpdateRows(PreGaRows, type_code=21, type_name="PRE_GA_UPDATE_ROWS"):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class PreGaDeleteRows(PreGaRows, type_code=22, type_name="PRE_GA_DELETE_ROWS"):
    pass
