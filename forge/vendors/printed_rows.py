"""Rows as the vendors' pseudo-SQL: ``###`` lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from forge.decode.cells import Cell, MappedTable, kind_of
from forge.errors import ForgeError
from forge.events.plain import to_bytes
from forge.events.row_image import PARTIAL_JSON, images_of, present_columns, row_bytes
from forge.events.rows import PartialUpdateRows, RowsBody
from forge.values.base import Column
from forge.values.registry import codec_for
from forge.values.wire_types import WireType
from forge.vendors.cell_forms import COUNTING, is_printed, partial_form, type_form, value_form
from forge.vendors.quoting import in_backticks

#: Types all of whose cells of a column are as long; and more bytes than one has.
_OF_ONE_SIZE = frozenset((
    WireType.TINY, WireType.SHORT, WireType.INT24, WireType.LONG, WireType.LONGLONG, WireType.FLOAT, WireType.DOUBLE,
    WireType.YEAR, WireType.DATE, WireType.NEWDATE, WireType.TIMESTAMP2, WireType.DATETIME2, WireType.TIME2,
    WireType.BIT,
))  # fmt: skip
_ROOM = 64
HEADS = {"insert": b"### INSERT INTO ", "update": b"### UPDATE ", "delete": b"### DELETE FROM "}
_CORRUPTED = {
    "mysql": b"***Corrupted replication event was detected: field data is truncated; there are only %d bytes left of"
    b" the event. Not printing the value***\n",
    "mariadb": b"***Corrupted replication event was detected. Not printing the value***\n",
}
_UNKNOWN = "Don't know how to handle column type: %d meta: 0 (0000)"


@dataclass(frozen=True, slots=True)
class CellLine:
    """The line of a column's cells: what stands around the value; ``form`` is None where the rows end."""

    number: int
    column: Column
    head: bytes
    tail: bytes
    null: bytes
    form: Callable[[bytes], bytes] | None
    width: Callable[[bytes, int], int]
    #: Bytes of each cell, where all have as many; else 0.
    size: int


class RowsEnd(Exception):
    """The rest of the event's rows is not printed: a column is not known, or the bytes do not suffice."""

    def __init__(self, unknown_null: int | None = None) -> None:
        super().__init__()
        #: Whether the column is not known, and its cell is NULL; and what mariadb-binlog says of that.
        self.null = unknown_null is not None
        self.problem = "" if unknown_null is None else f"\nError: {_UNKNOWN % unknown_null}"


@lru_cache(maxsize=64)
def cell_lines(columns: tuple[Column, ...], family: str, commented: bool) -> tuple[CellLine, ...]:
    return tuple(_cell_line(number, column, family, commented) for number, column in enumerate(columns, start=1))


def _cell_line(number: int, column: Column, family: str, commented: bool) -> CellLine:
    head = b"###   @%d=" % number
    codec = codec_for(column)

    def width(data: bytes, at: int) -> int:
        return codec.width(column, data, at)

    size = codec.width(column, bytes(_ROOM), 0) if column.type_code in _OF_ONE_SIZE else 0

    if not is_printed(column, family):
        meta = int.from_bytes(column.metadata, "little")
        unknown = b"!! Don't know how to handle column type=%d meta=%d (%04x)\n" % (column.type_code, meta, meta)
        return CellLine(number, column, head, unknown, unknown, None, width, size)
    if not commented:
        return CellLine(number, column, head, b"\n", b"NULL\n", value_form(column, family), width, size)
    form = type_form(column)
    assert form is not None
    rest = f"meta={form[1]} nullable={int(column.nullable)} is_null="
    tail, null = (f" /* {form[0]} {rest}{is_null} */\n".encode() for is_null in (0, 1))
    return CellLine(number, column, head, tail, b"NULL" + null, value_form(column, family), width, size)


def row_lines(body: RowsBody, mapped: MappedTable, family: str, *, commented: bool, at: int = 0) -> Iterator[bytes]:
    """The lines of each row from the one at ``at`` on.  What is wrong with the bytes ends them.

    Raises FormatError for rows that cannot be unpacked; RowsEnd where mariadb-binlog gives up.
    """
    columns = mapped.columns
    assert columns is not None
    kind = kind_of(body)
    names = (mapped.body.database, mapped.body.table)
    head = HEADS[kind] + b".".join(in_backticks(to_bytes(name)) for name in names)
    data = row_bytes(body)
    images = _images(body, columns, family, commented)
    if kind == "insert" and not images[0].lines:
        yield head + b" VALUES ()\n"
        return
    while True:
        start, parts = at, [head, b"\n"]
        try:
            for image in images:
                at = image.add(parts, data, at)
        except RowsEnd:
            yield b"".join(parts)
            if family == "mysql":
                return
            raise
        yield b"".join(parts)
        if at >= len(data) or at == start:
            return


def _images(body: RowsBody, columns: tuple[Column, ...], family: str, commented: bool) -> list[_ImageLines]:
    lines = cell_lines(columns, family, commented)
    empty = b"" if family == "mysql" else b" /* no columns */"
    before, after = images_of(body)
    found = []
    for word, bitmap in ((b"WHERE", before), (b"SET", after)):
        if bitmap is not None:
            present = [lines[index] for index in present_columns(bitmap, min(len(columns), 8 * len(bitmap)))]
            partial = isinstance(body, PartialUpdateRows) and word == b"SET"
            json = sum(column.type_code == WireType.JSON for column in columns) if partial else None
            word_line = b"### " + word + (b"" if present else empty) + b"\n"
            found.append(_ImageLines(word_line, present, family, lines, json))
    return found


@dataclass(frozen=True, slots=True)
class _ImageLines:
    """One of a row's images; ``json`` is the number of the table's JSON columns if cells may be diffs."""

    word: bytes
    lines: Sequence[CellLine]
    family: str
    all_lines: Sequence[CellLine]
    json: int | None

    def add(self, parts: list[bytes], data: bytes, at: int) -> int:
        """Add the lines of the image at ``at``: where it ends.  Raises RowsEnd."""
        parts.append(self.word)
        partial: frozenset[int] = frozenset()
        if self.json is not None:
            partial, at = self._diffs(data, at)
        size = (len(self.lines) + 7) // 8
        nulls = int.from_bytes(data[at : at + size], "little")
        at += size
        length = len(data)
        for place, line in enumerate(self.lines):
            null = nulls >> place & 1
            if line.form is None and not (null and self.family == COUNTING):
                parts += (line.head, line.tail)
                raise RowsEnd(line.column.type_code if null else None)
            if null or line.form is None:
                parts += (line.head, line.null)
                continue
            try:
                end = at + (line.size or line.width(data, at))
                if end > length:
                    raise IndexError
                raw = data[at:end]
                is_diff = line.number in partial
                text = partial_form(Cell(line.number, line.column, raw, True)) if is_diff else line.form(raw)
            except (ForgeError, ValueError, IndexError):
                corrupted = _CORRUPTED["mysql" if self.family == "mysql" else "mariadb"]
                parts += (line.head, corrupted % (len(data) - at) if self.family == "mysql" else corrupted)
                raise RowsEnd from None
            parts += (line.head, text, line.tail)
            at = end
        return at

    def _diffs(self, data: bytes, at: int) -> tuple[frozenset[int], int]:
        """The numbers of the columns whose cells are diffs, and where the cells begin."""
        if at >= len(data) or not data[at] & PARTIAL_JSON:
            return frozenset(), at + 1
        size = ((self.json or 0) + 7) // 8
        bits = int.from_bytes(data[at + 1 : at + 1 + size], "little")
        numbers = [line.number for line in self.all_lines if line.column.type_code == WireType.JSON]
        return frozenset(number for place, number in enumerate(numbers) if bits >> place & 1), at + 1 + size
