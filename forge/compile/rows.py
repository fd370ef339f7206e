"""Row events of a statement: images, grouping and splitting.

A row starts a new event when post-header, extra data, width, bitmaps and rows would pass binlog_row_event_max_size
(sql/binlog.cc; recorded at the boundary); the common header and the checksum do not count.  A row is never split, and
for UPDATE the two images count together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from forge.compile.images import image_columns
from forge.compile.model import Row, RowChange, RowsStatement, Session
from forge.compile.table_map import wire_columns
from forge.events.layout import pack_int
from forge.events.row_image import Image, build_image, full_padding
from forge.events.rows import DeleteRows, DeleteRowsV1, RowsBody, UpdateRows, UpdateRowsV1, WriteRows, WriteRowsV1
from forge.servers import ServerLine
from forge.values.base import Column
from forge.values.registry import codec_for

POST_HEADER = {1: 8, 2: 10}
KINDS: dict[int, dict[str, type[RowsBody]]] = {
    1: {"insert": WriteRowsV1, "update": UpdateRowsV1, "delete": DeleteRowsV1},
    2: {"insert": WriteRows, "update": UpdateRows, "delete": DeleteRows},
}
STMT_END = 0x0001
NO_FOREIGN_KEY_CHECKS = 0x0002
RELAXED_UNIQUE_CHECKS = 0x0004


def row_events(statement: RowsStatement, table_id: int, session: Session, line: ServerLine) -> Iterator[RowsBody]:
    """The bodies of the statement's row events; the last has the flag STMT_END."""
    columns = wire_columns(statement.table, session, line)
    width = len(columns)
    before, after = image_columns(statement, session, line)
    encoders = [None if image is None else RowEncoder(columns, image.columns, line) for image in (before, after)]
    bitmaps = [image.bitmap for image in (before, after) if image is not None]
    fixed = POST_HEADER[line.rows_version] + len(pack_int(width)) + sum(len(bitmap) for bitmap in bitmaps)
    rows = (_changed(change, *encoders) for change in statement.changes)
    groups = list(_grouped(rows, fixed, session))
    flags = line.row_flags
    flags |= 0 if session.foreign_key_checks else NO_FOREIGN_KEY_CHECKS
    flags |= 0 if session.unique_checks else RELAXED_UNIQUE_CHECKS
    kind = KINDS[line.rows_version][statement.kind]
    for number, data in enumerate(groups, start=1):
        fields: dict[str, Any] = {
            "table_id": table_id,
            "row_flags": flags | (STMT_END if number == len(groups) else 0),
            "width": width,
            "rows": data,
        }
        names = ("present", "present_after")
        fields.update(zip(names, bitmaps, strict=False))
        yield kind(**fields)


def _changed(change: RowChange, before: RowEncoder | None, after: RowEncoder | None) -> bytes:
    """The bytes of one changed row: its images, one after the other."""
    parts = []
    for encoder, row in ((before, change.before), (after, change.after)):
        if encoder is not None and row is not None:
            parts.append(encoder.encode(row))
    return b"".join(parts)


def _grouped(rows: Iterator[bytes], fixed: int, session: Session) -> Iterator[bytes]:
    pending: list[bytes] = []
    size = fixed
    for row in rows:
        if pending and size + len(row) > session.binlog_row_event_max_size:
            yield b"".join(pending)
            pending, size = [], fixed
        pending.append(row)
        size += len(row)
    if pending:
        yield b"".join(pending)


class RowEncoder:
    """Images of rows of one table, with some of its columns."""

    def __init__(self, columns: Sequence[Column], present: Sequence[int], line: ServerLine) -> None:
        self.present = [(index, columns[index], codec_for(columns[index])) for index in present]
        self.padding = full_padding(len(self.present)) if line.null_padding else 0

    def encode(self, row: Row) -> bytes:
        cells = []
        for index, column, codec in self.present:
            value = row[index]
            cells.append(None if value is None else codec.encode(column, value))
        return build_image(Image(tuple(cells), self.padding))
