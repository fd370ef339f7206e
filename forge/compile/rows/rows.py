"""Row events of a statement: images, grouping and splitting.

Rows share an event as long as table, kind of change, columns and flags stay the same.  A row starts a new event when
post-header, extra data, width, bitmaps and rows would pass binlog_row_event_max_size (sql/binlog.cc; recorded at the
boundary); the common header and the checksum do not count.  A row is never split, and for UPDATE the two images count
together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import repeat
from typing import Any, Literal

from forge.compile.row_images import empty_columns, image_columns
from forge.compile.rows.table_map import wire_columns
from forge.events.extra_row_info import ndb_chunk, partition_chunk
from forge.events.mariadb_compressed import (
    DeleteRowsCompressed,
    UpdateRowsCompressed,
    WriteRowsCompressed,
    compress_block,
)
from forge.events.packed import pack_int
from forge.events.row_image import PARTIAL_JSON, Image, build_image, full_padding
from forge.events.rows import (
    STMT_END,
    DeleteRows,
    DeleteRowsV1,
    PartialUpdateRows,
    RowsBody,
    UpdateRows,
    UpdateRowsV1,
    WriteRows,
    WriteRowsV1,
)
from forge.plan.changes import ChangeKind, Insertions, RowChange
from forge.plan.keys import key_of_rows
from forge.plan.session import Session, row_event_limit
from forge.plan.statement_choice import marks_late
from forge.plan.statements import RowsStatement
from forge.plan.tables import Row, Table
from forge.servers import ServerLine
from forge.values.base import Column, Value
from forge.values.declaration.sqltype import SqlType
from forge.values.quick import UNUSUAL, CellWriter, no_writer
from forge.values.registry import codec_for
from forge.values.wire_types import WireType

POST_HEADER = {1: 8, 2: 10}
KINDS: dict[int, dict[str, type[RowsBody]]] = {
    1: {"insert": WriteRowsV1, "update": UpdateRowsV1, "delete": DeleteRowsV1},
    2: {"insert": WriteRows, "update": UpdateRows, "delete": DeleteRows},
}
COMPRESSED: dict[str, type[RowsBody]] = {
    "insert": WriteRowsCompressed,
    "update": UpdateRowsCompressed,
    "delete": DeleteRowsCompressed,
}
NO_FOREIGN_KEY_CHECKS = 0x0002
RELAXED_UNIQUE_CHECKS = 0x0004
NO_CHECK_CONSTRAINT_CHECKS = 0x0080


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the rows of one event have in common; unused bits of the bitmaps are those of the first row."""

    kind: ChangeKind
    table_id: int
    #: Those of the first row: a server does not look at those of later ones (recorded on 9.7).
    flags: int = field(compare=False)
    width: int
    columns: tuple[tuple[int, ...], ...]
    bitmaps: tuple[bytes, ...] = field(compare=False)
    #: No two rows share an event.
    alone: bool
    #: Extra row info: NDB's, and the partition.
    extra: bytes = b""

    def body(self, rows: Sequence[bytes], session: Session, line: ServerLine, *, last: bool) -> RowsBody:
        # MariaDB decides with the row that opens an event, and never looks at the others (recorded).
        compressed = session.log_bin_compress and len(rows[0]) >= session.log_bin_compress_min_len
        data = b"".join(rows)
        fields: dict[str, Any] = {
            "table_id": self.table_id,
            "row_flags": self.flags | (STMT_END if last or line.rows.single_rows else 0),
            "width": self.width,
            "rows": compress_block(data) if compressed else data,
        }
        fields.update(zip(("present", "present_after"), self.bitmaps, strict=False))
        version = rows_version(session, line)
        if self.extra and version > 1:
            fields["extra"] = self.extra
        if self.kind == "update" and session.row_value_options is not None:
            return PartialUpdateRows(**fields)
        return (COMPRESSED if compressed else KINDS[version])[self.kind](**fields)


def rows_version(session: Session, line: ServerLine) -> Literal[1, 2]:
    """The version of the row events; in 1, each partition has events of its own, which do not name it (8.0.33)."""
    return 1 if session.log_bin_use_v1_row_events else line.rows.version


def row_events(
    statement: RowsStatement, table_ids: Mapping[str, int], session: Session, line: ServerLine
) -> Iterator[RowsBody]:
    """The bodies of the statement's row events; the last has the flag STMT_END.

    ``table_ids``: by the full names of the tables.
    """
    waiting: tuple[_Shape, list[bytes]] | None = None
    for group in _grouped(_encoded(statement, table_ids, session, line), session, line):
        if waiting is not None:
            yield waiting[0].body(waiting[1], session, line, last=False)
        waiting = group
    if waiting is not None:
        yield waiting[0].body(waiting[1], session, line, last=True)


def stands_alone(kind: ChangeKind, table: Table, session: Session) -> bool:
    """Whether every row of the kind has an event of its own.

    A pending event takes a row only if the bitmaps are the same, and that of a MINIMAL before image never is where the
    table has hidden columns (recorded on 9.7).
    """
    return session.row_image == "minimal" and kind != "insert" and table.hidden > 0 and key_of_rows(table) is not None


def _grouped(
    rows: Iterator[tuple[_Shape, bytes]], session: Session, line: ServerLine
) -> Iterator[tuple[_Shape, list[bytes]]]:
    shape: _Shape | None = None
    pending: list[bytes] = []
    size, most = 0, row_event_limit(session, line)
    for its_shape, row in rows:
        limit = 0 if its_shape.alone or line.rows.single_rows else most
        if shape is not None and (its_shape != shape or size + len(row) > limit):
            yield shape, pending
            shape = None
        if shape is None:
            shape, pending = its_shape, []
            version = rows_version(session, line)
            size = POST_HEADER[version] + (len(shape.extra) if version > 1 else 0) + len(pack_int(shape.width))
            size += sum(map(len, shape.bitmaps))
        pending.append(row)
        size += len(row)
    if shape is not None:
        yield shape, pending


def _encoded(
    statement: RowsStatement, table_ids: Mapping[str, int], session: Session, line: ServerLine
) -> Iterator[tuple[_Shape, bytes]]:
    """Every row that the statement changed, in bytes."""
    if isinstance(statement.changes, Insertions) and not statement.further and statement.table.partition is None:
        # All rows are alike, and there may be many.
        table_id = table_ids[statement.table.full_name]
        only = _ChangeEncoder(statement, statement.changes[0], table_id, session, line, changed=False)
        yield from zip(repeat(only.shape), map(only.inserted, statement.changes.rows), strict=False)
        return
    encoders: dict[tuple[int, str, bool, bool], _ChangeEncoder] = {}
    changed: set[str] = set()
    for part, change in statement.logged():
        name = part.table.full_name
        if change.kind != "insert":
            changed.add(name)
        follows = name in changed and not (change.is_past and part.kind == "update")
        key = (id(part), change.kind, change.after_duplicate, follows)
        encoder = encoders.get(key)
        if encoder is None:
            encoder = _ChangeEncoder(part, change, table_ids[name], session, line, changed=follows)
            encoders[key] = encoder
        extra = partition_info(part.table, change, line)
        shape = replace(encoder.shape, extra=encoder.shape.extra + extra) if extra else encoder.shape
        yield shape, encoder.encode(change)


def partition_info(table: Table, change: RowChange, line: ServerLine) -> bytes:
    """The chunk of extra row info that names the row's partition; for an UPDATE the new one, then the old one."""
    if table.partition is None or line.rows.version == 1 or not line.knows("extra_row_info"):
        return b""
    rows = (row for row in (change.after, change.before) if row is not None)
    return partition_chunk(tuple(table.partition(row) for row in rows))


class _ChangeEncoder:
    """The bytes of changes of one kind: their images, one after the other."""

    def __init__(
        self,
        statement: RowsStatement,
        change: RowChange,
        table_id: int,
        session: Session,
        line: ServerLine,
        *,
        changed: bool,
    ) -> None:
        """``change`` is one of that kind; ``changed``: see :func:`image_columns`."""
        kind = change.kind
        images = image_columns(
            statement,
            kind,
            session,
            line,
            after_duplicate=change.after_duplicate,
            changed=changed,
            late=marks_late(statement, session, line),
        )
        columns = wire_columns(statement.table, session, line)
        self.before, self.after = (
            None if image is None else RowEncoder(columns, image.columns, line, empty_columns(statement.table, line))
            for image in images
        )
        self.partial = session.row_value_options is not None
        flags = line.rows.flags
        flags |= NO_FOREIGN_KEY_CHECKS if statement.foreign_keys.cascaded or not session.foreign_key_checks else 0
        flags |= 0 if session.unique_checks else RELAXED_UNIQUE_CHECKS
        flags |= 0 if session.check_constraint_checks else NO_CHECK_CONSTRAINT_CHECKS
        present = [image for image in images if image is not None]
        self.shape = _Shape(
            kind=kind,
            table_id=table_id,
            flags=flags,
            width=len(columns),
            columns=tuple(image.columns for image in present),
            bitmaps=tuple(image.bitmap for image in present),
            alone=stands_alone(kind, statement.table, session),
            extra=b"" if session.ndb_transaction_id is None else ndb_chunk(session.ndb_transaction_id),
        )

    def inserted(self, row: Row) -> bytes:
        """The bytes of a row that is inserted."""
        assert self.after is not None
        return self.after.encode(row)

    def encode(self, change: RowChange) -> bytes:
        parts = []
        if self.before is not None and change.before is not None:
            parts.append(self.before.encode(change.before))
        if self.after is not None and change.after is not None:
            partial = self.partial and change.kind == "update"
            parts.append(self.after.encode_partial(change) if partial else self.after.encode(change.after))
        return b"".join(parts)


def _no_cell(value: Value) -> bytes:
    return b""


def _writer(column: Column) -> CellWriter:
    # Members are part of what a column is known by, and may be very many.
    return _kept_writer(column, column.declared) if column.members is None else _new_writer(column)


@lru_cache(maxsize=1024)
def _kept_writer(column: Column, declared: SqlType | None) -> CellWriter:
    """That of a column; ``declared`` is the column's, which is no part of what it is known by."""
    return _new_writer(column)


def _new_writer(column: Column) -> CellWriter:
    """What writes the column's cells: the quick way for what is usual, and the codec for what is not."""
    codec = codec_for(column)
    quick = codec.writer(column)
    if quick is no_writer:
        return lambda value: codec.encode(column, value)

    def write(value: Value) -> bytes:
        try:
            return quick(value)
        except UNUSUAL:
            return codec.encode(column, value)

    return write


class RowEncoder:
    """Images of rows of one table, with some of its columns."""

    def __init__(
        self, columns: Sequence[Column], present: Sequence[int], line: ServerLine, empty: Collection[int] = ()
    ) -> None:
        """``empty``: the columns that are NULL in the image, whatever the row has."""
        self.present = [(index, columns[index], codec_for(columns[index])) for index in present]
        self.writers = [
            (1 << bit, index, _no_cell if index in empty else _writer(columns[index]))
            for bit, index in enumerate(present)
        ]
        self.padding = full_padding(len(self.present)) if line.rows.null_padding else 0
        self.null_size, self.no_nulls = (len(present) + 7) // 8, self.padding << len(present)
        self.json_columns = [index for index, column in enumerate(columns) if column.type_code == WireType.JSON]

    def encode(self, row: Row) -> bytes:
        nulls, cells = self.no_nulls, [b""]
        for bit, index, write in self.writers:
            value = None if write is _no_cell else row[index]
            if value is None:
                nulls |= bit
            else:
                cells.append(write(value))
        cells[0] = nulls.to_bytes(self.null_size, "little")
        return b"".join(cells)

    def encode_partial(self, change: RowChange) -> bytes:
        """The after image of a PARTIAL_UPDATE_ROWS event: a JSON cell is a diff where that is shorter."""
        assert change.before is not None
        assert change.after is not None
        cells: list[bytes | None] = []
        bits = 0
        for index, column, codec in self.present:
            value = change.after[index]
            cell = None if value is None else codec.encode(column, value)
            if cell is not None and value is not None and column.type_code == WireType.JSON:
                # A document that is the same again has none, whatever was done to it.
                diffs = b"" if value == change.before[index] else (change.diffs or {}).get(index)
                if diffs and 4 + len(diffs) >= len(value):
                    diffs = None
                if diffs is not None:
                    cell = len(diffs).to_bytes(4, "little") + diffs
                    bits |= 1 << self.json_columns.index(index)
            cells.append(cell)
        partial_bits = bits.to_bytes((len(self.json_columns) + 7) // 8, "little") if bits else b""
        return build_image(Image(tuple(cells), self.padding, PARTIAL_JSON if bits else 0, partial_bits))
