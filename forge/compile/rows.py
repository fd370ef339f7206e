"""Row events of a statement: images, grouping and splitting.

A row starts a new event when post-header, extra data, width, bitmaps and rows would pass binlog_row_event_max_size
(sql/binlog.cc; recorded at the boundary); the common header and the checksum do not count.  A row is never split, and
for UPDATE the two images count together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forge.compile.model import Row, RowsStatement, Session
from forge.compile.table_map import wire_columns
from forge.errors import UnsupportedError
from forge.events.layout import pack_int
from forge.events.row_image import Image, bitmap_of, build_image, full_padding
from forge.events.rows import DeleteRows, RowsV2, UpdateRows, WriteRows
from forge.servers import ServerLine
from forge.values.base import Codec, Column
from forge.values.registry import codec_for

POST_HEADER = 10
STMT_END = 0x0001
NO_FOREIGN_KEY_CHECKS = 0x0002
RELAXED_UNIQUE_CHECKS = 0x0004


def row_events(
    statement: RowsStatement, table_id: int, session: Session, line: ServerLine
) -> Iterator[RowsV2 | UpdateRows]:
    """The bodies of the statement's row events; the last has the flag STMT_END."""
    if session.row_image != "full":
        raise UnsupportedError(f"row_image: {session.row_image} is not compiled yet; full is")
    columns = wire_columns(statement.table)
    width = len(columns)
    present = bitmap_of(range(width), width, padding=line.present_padding)
    encoder = RowEncoder(columns, padded=line.null_padding)
    bitmaps = 2 if statement.kind == "update" else 1
    fixed = POST_HEADER + len(pack_int(width)) + bitmaps * len(present)
    groups = list(_grouped((encoder.changed(c.before, c.after) for c in statement.changes), fixed, session))
    flags = line.row_flags
    flags |= 0 if session.foreign_key_checks else NO_FOREIGN_KEY_CHECKS
    flags |= 0 if session.unique_checks else RELAXED_UNIQUE_CHECKS
    for number, rows in enumerate(groups, start=1):
        row_flags = flags | (STMT_END if number == len(groups) else 0)
        if statement.kind == "update":
            yield UpdateRows(
                table_id=table_id, row_flags=row_flags, width=width, present=present, present_after=present, rows=rows
            )
        else:
            kind = WriteRows if statement.kind == "insert" else DeleteRows
            yield kind(table_id=table_id, row_flags=row_flags, width=width, present=present, rows=rows)


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
    """Full images of rows of one table."""

    def __init__(self, columns: Sequence[Column], *, padded: bool) -> None:
        self.columns = columns
        self.codecs: list[Codec] = [codec_for(column) for column in columns]
        self.padding = full_padding(len(columns)) if padded else 0

    def image(self, row: Row) -> Image:
        cells = tuple(
            None if value is None else codec.encode(column, value)
            for column, codec, value in zip(self.columns, self.codecs, row, strict=True)
        )
        return Image(cells, self.padding)

    def changed(self, before: Row | None, after: Row | None) -> bytes:
        """The bytes of one changed row: its images, one after the other."""
        return b"".join(build_image(self.image(row)) for row in (before, after) if row is not None)
