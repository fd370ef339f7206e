"""How the kernel of forge.bulk.printing prints the rows of a table: what stands around each cell, and its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forge.bulk.printing import words
from forge.decode.cells import MappedTable, kind_of, unprefixed
from forge.errors import ForgeError
from forge.events.column_kinds import is_enum, is_set
from forge.events.plain import to_bytes
from forge.events.row_image import images_of, present_columns
from forge.events.rows import RowsBody
from forge.values.base import Column
from forge.values.registry import codec_for
from forge.values.wire_types import WireType
from forge.vendors.cell_forms import is_printed
from forge.vendors.printed_rows import HEADS, CellLine, cell_lines
from forge.vendors.quoting import in_backticks

_OF_SIZE: dict[int, int] = {
    WireType.TINY: words.INTEGER, WireType.SHORT: words.INTEGER, WireType.INT24: words.INTEGER,
    WireType.LONG: words.INTEGER, WireType.LONGLONG: words.INTEGER, WireType.FLOAT: words.FLOAT,
    WireType.DOUBLE: words.DOUBLE, WireType.YEAR: words.YEAR, WireType.DATE: words.DATE, WireType.NEWDATE: words.DATE,
}  # fmt: skip
#: The bytes of those with a fraction before that.
_FRACTIONAL: dict[int, tuple[int, int]] = {
    WireType.TIME2: (words.TIME, 3), WireType.DATETIME2: (words.DATETIME, 5), WireType.TIMESTAMP2: (words.SECONDS, 4),
}  # fmt: skip
_TEXTS = frozenset((
    WireType.VARCHAR, WireType.VAR_STRING, WireType.STRING, WireType.BLOB, WireType.GEOMETRY,
    WireType.VARCHAR_COMPRESSED, WireType.BLOB_COMPRESSED,
))  # fmt: skip
_MOST_FSP, _MOST_BITS, _MOST_DIGITS, _MOST_SCALE = 6, 64, 65, 38
_ROOM = bytes(64)
#: Bytes of a text around a cell that there is always room for.
_LONGEST = 1 << 10

#: Kind, size and what the kind has to know, of a column that the kernel prints.
CellKind = tuple[int, int, int]
#: Kind, size and so on; what stands behind the cell, and what in place of NULL.
Step = tuple[CellKind, bytes, bytes]


@dataclass(frozen=True, slots=True)
class RowForm:
    """What stands before each row, and the steps of its images; None for an image that it does not have."""

    prefix: bytes
    before: Sequence[Step] | None
    after: Sequence[Step] | None


def row_form(body: RowsBody, mapped: MappedTable, family: str, *, commented: bool) -> RowForm | None:
    """How the rows of an event are printed; None where the reference path has to do that."""
    columns = mapped.columns
    if columns is None or body.width != len(columns):
        return None
    lines = cell_lines(columns, family, commented)
    images = []
    for word, bitmap in zip((b"### WHERE\n", b"### SET\n"), images_of(body), strict=True):
        chosen = None if bitmap is None else [lines[index] for index in present_columns(bitmap, len(columns))]
        if chosen == []:
            return None
        images.append((word, chosen))
    names = (mapped.body.database, mapped.body.table)
    head = HEADS[kind_of(body)] + b".".join(in_backticks(to_bytes(name)) for name in names) + b"\n"
    after = _steps(images[1][1], b"", family)
    following = b"" if images[1][1] is None else images[1][0] + images[1][1][0].head
    before = _steps(images[0][1], following, family)
    if () in (before, after):
        return None
    first = following if images[0][1] is None else images[0][0] + images[0][1][0].head
    return RowForm(head + first, before, after)


def _steps(lines: Sequence[CellLine] | None, following: bytes, family: str) -> tuple[Step, ...] | None:
    """The steps of an image, none if a column is left to the reference path; ``following`` stands behind them."""
    if lines is None:
        return None
    steps = []
    for place, line in enumerate(lines):
        kind = _kind(line.column, family)
        behind = lines[place + 1].head if place + 1 < len(lines) else following
        if kind is None or len(behind) + len(line.null) > _LONGEST:
            return ()
        steps.append((kind, line.tail + behind, line.null + behind))
    return tuple(steps)


def _kind(column: Column, family: str) -> CellKind | None:
    if not is_printed(column, family):
        return None
    try:
        return _kind_of_printed(column, family)
    except (ForgeError, IndexError):
        return None


def _kind_of_printed(column: Column, family: str) -> CellKind | None:
    code, codec = column.type_code, codec_for(column)
    if code in _OF_SIZE:
        return _OF_SIZE[code], codec.width(column, _ROOM, 0), 0
    if code in _FRACTIONAL:
        kind, base = _FRACTIONAL[code]
        fsp = column.metadata[0]
        return (kind, base + (fsp + 1) // 2, fsp) if fsp <= _MOST_FSP else None
    if code == WireType.NEWDECIMAL:
        precision, scale = column.metadata[:2]
        if not 0 < precision <= _MOST_DIGITS or scale > min(precision, _MOST_SCALE):
            return None
        return words.DECIMAL, codec.width(column, _ROOM, 0), precision - scale << 8 | scale
    if code == WireType.BIT or is_set(column):
        size = codec.width(column, _ROOM, 0)
        count = 8 * size if is_set(column) else 8 * column.metadata[1] + column.metadata[0]
        kind = words.MEMBERS if is_set(column) else words.BITS
        return (kind, size, count) if 0 < count <= _MOST_BITS and size == (count + 7) // 8 else None
    if is_enum(column):
        return words.NUMBER, codec.width(column, _ROOM, 0), 0
    if code in _TEXTS or code == WireType.JSON:
        prefix = codec.prefix(column)
        if not 1 <= prefix <= 4 or (code in _TEXTS and len(unprefixed(column, _ROOM)) != len(_ROOM) - prefix):
            return None
        return words.JSON if code == WireType.JSON else words.TEXT, prefix, int(family != "mysql")
    return None
