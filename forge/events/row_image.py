"""The rows inside a row event: images of cells, split and joined with the help of the TABLE_MAP's columns.

An image is a null bitmap over the columns that are present in it, then their values (sql/rpl_record.cc, pack_row()).
The event's bitmap says which columns are present.  The unused bits of the null bitmap are 0 on MySQL 8.0 and later, 1
before and on MariaDB (corpora/recordings).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forge.errors import FormatError, UnsupportedError
from forge.events.mariadb_compressed import COMPRESSED_ROWS, decompress_block
from forge.events.rows import PartialUpdateRows, RowsBody, UpdateRows, UpdateRowsV1
from forge.values.base import Column
from forge.values.registry import codec_for
from forge.values.wire_types import WireType

#: TIMESTAMP, TIME and DATETIME of before 5.6.
OLD_TEMPORALS = frozenset((WireType.TIMESTAMP, WireType.TIME, WireType.DATETIME))


@dataclass(frozen=True, slots=True)
class Image:
    """Cells of one image: the bytes of the cell, or None for NULL, one a present column.

    ``padding`` are the unused bits of the null bitmap, as a number (0 if all are clear).
    After images of PARTIAL_UPDATE_ROWS start with ``value_options``; if its lowest bit is set, ``partial_bits`` (a bit
    a JSON column of the table, lowest first) say which JSON cells are diffs (their length, then the diffs) and not
    documents.
    """

    cells: tuple[bytes | None, ...]
    padding: int = 0
    value_options: int | None = None
    partial_bits: bytes = b""


@dataclass(frozen=True, slots=True)
class ChangedRow:
    """``before`` is None for a written row, ``after`` for a deleted one."""

    before: Image | None
    after: Image | None


def present_columns(bitmap: bytes, width: int) -> tuple[int, ...]:
    """Indexes of the columns whose bit is set; bits beyond ``width`` are not columns."""
    return tuple(index for index in range(width) if bitmap[index // 8] >> (index % 8) & 1)


def images_of(body: RowsBody) -> tuple[bytes | None, bytes | None]:
    """The bitmaps (before, after) of the event's images."""
    if isinstance(body, (UpdateRows, UpdateRowsV1)):
        return body.present, body.present_after
    writes = body.type_name.startswith("WRITE")
    return (None, body.present) if writes else (body.present, None)


def parse_rows(body: RowsBody, columns: Sequence[Column]) -> tuple[ChangedRow, ...]:
    """The rows of the event.

    Raises FormatError (phase "row", offset within ``body.rows``) if they do not fit the columns,
    UnsupportedError for a column type without a codec.
    """
    return tuple(iterate_rows(body, columns))


def iterate_rows(body: RowsBody, columns: Sequence[Column]) -> Iterator[ChangedRow]:
    """As :func:`parse_rows`, one row at a time."""
    if not any(column.type_code in OLD_TEMPORALS for column in columns):
        yield from _iterate_rows(body, columns)
        return
    try:
        rows = list(_iterate_rows(body, columns))
    except FormatError:
        # MariaDB's forms with fractions are wider, and no event says by how much: no row is read as if it had none.
        raise UnsupportedError(
            "rows with temporal types from before 5.6: the event does not say how many fractional digits they have"
        ) from None
    yield from rows


def _iterate_rows(body: RowsBody, columns: Sequence[Column]) -> Iterator[ChangedRow]:
    if body.width != len(columns):
        raise FormatError(
            f"the event has {body.width} columns, but its table map has {len(columns)}", phase="row", offset=0
        )
    before, after = images_of(body)
    partial = isinstance(body, PartialUpdateRows)
    readers = [
        None if before is None else _ImageReader(before, columns),
        None if after is None else _ImageReader(after, columns, partial=partial),
    ]
    data, offset = row_bytes(body), 0
    while True:
        start = offset
        images: list[Image | None] = []
        for reader in readers:
            image = None
            if reader is not None:
                image, offset = reader.read(data, offset)
            images.append(image)
        yield ChangedRow(*images)
        # An image without columns has no bytes: MySQL logs INSERT INTO t () VALUES () of all defaults like that.
        if offset >= len(data) or offset == start:
            break
    if offset != len(data):
        raise FormatError(f"{len(data) - offset} bytes after the last row", phase="row", offset=offset)


def row_bytes(body: RowsBody) -> bytes:
    """The rows of the event, decompressed if MariaDB compressed them.  Raises FormatError."""
    return decompress_block(body.rows) if isinstance(body, COMPRESSED_ROWS) else body.rows


PARTIAL_JSON = 1


class _ImageReader:
    def __init__(self, bitmap: bytes, columns: Sequence[Column], *, partial: bool = False) -> None:
        present = present_columns(bitmap, len(columns))
        self.columns = [columns[index] for index in present]
        self.codecs = [codec_for(column) for column in self.columns]
        self.null_size = (len(present) + 7) // 8
        self.partial = partial
        self.json_columns = sum(column.type_code == WireType.JSON for column in columns)

    def read(self, data: bytes, offset: int) -> tuple[Image, int]:
        options, bits = None, b""
        if self.partial:
            options, bits, offset = self._read_options(data, offset)
        if offset + self.null_size > len(data):
            raise FormatError("the row ends inside its null bitmap", phase="row", offset=offset)
        nulls, bitmap = int.from_bytes(data[offset : offset + self.null_size], "little"), offset
        offset += self.null_size
        cells: list[bytes | None] = []
        for index, (column, codec) in enumerate(zip(self.columns, self.codecs, strict=True)):
            # A byte at a time: shifting the bits of very many columns takes their square.
            if data[bitmap + (index >> 3)] >> (index & 7) & 1:
                cells.append(None)
                continue
            # A diff has the same four bytes of length in front as a document.
            width = codec.width(column, data, offset)
            cells.append(data[offset : offset + width])
            offset += width
        return Image(tuple(cells), nulls >> len(self.columns), options, bits), offset

    def _read_options(self, data: bytes, offset: int) -> tuple[int, bytes, int]:
        if offset >= len(data):
            raise FormatError("the row ends before its value options", phase="row", offset=offset)
        options = data[offset]
        if options > PARTIAL_JSON:
            raise FormatError(f"unknown value options {options}", phase="row", offset=offset)
        size = (self.json_columns + 7) // 8 if options & PARTIAL_JSON else 0
        if offset + 1 + size > len(data):
            raise FormatError("the row ends inside its partial bits", phase="row", offset=offset + 1)
        return options, data[offset + 1 : offset + 1 + size], offset + 1 + size


def partial_columns(image: Image, columns: Sequence[Column]) -> frozenset[int]:
    """Indexes of the table's columns whose cells in this image are diffs."""
    bits = image.partial_bits
    if not bits:
        return frozenset()
    json_columns = [index for index, column in enumerate(columns) if column.type_code == WireType.JSON]
    return frozenset(index for place, index in enumerate(json_columns) if bits[place >> 3] >> (place & 7) & 1)


def build_image(image: Image) -> bytes:
    count = len(image.cells)
    nulls = sum(1 << index for index, cell in enumerate(image.cells) if cell is None) | image.padding << count
    head = b"" if image.value_options is None else bytes([image.value_options]) + image.partial_bits
    return head + nulls.to_bytes((count + 7) // 8, "little") + b"".join(c for c in image.cells if c is not None)


def build_rows(rows: Sequence[ChangedRow]) -> bytes:
    """The inverse of :func:`parse_rows`."""
    return b"".join(build_image(image) for row in rows for image in (row.before, row.after) if image is not None)


def full_padding(columns: int) -> int:
    """All unused bits of a null bitmap over that many columns."""
    return (1 << (-columns % 8)) - 1


def bitmap_of(columns: Sequence[int], width: int, *, padding: bool) -> bytes:
    """A columns-present bitmap; ``padding`` sets the bits beyond ``width``."""
    bits = sum(1 << index for index in columns)
    if padding:
        bits |= full_padding(width) << width
    return bits.to_bytes((width + 7) // 8, "little")
