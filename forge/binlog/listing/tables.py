"""A mapped table in the listing: its columns, and its usual rows shown and read by steps made once a table map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from forge.binlog.listing.cells import cell_from_plain, cell_to_plain, column_keys
from forge.binlog.listing.text import is_safe
from forge.errors import ForgeError, ScenarioError, nearest
from forge.events.row_image import full_padding, images_of, present_columns
from forge.events.row_reader import RowReader, Taken
from forge.events.rows import RowsBody
from forge.values.base import Column
from forge.values.quick import UNUSUAL, CellReader, CellWriter, UnusualError, no_writer, same
from forge.values.registry import codec_for

Row = dict[str, Any]

#: Cells of a column whose bytes are kept from when they are shown to when they are written.
_MOST_KEPT = 1 << 10


class ListedTable:
    """``keys`` are the names that cells go by in rows, ``places`` the indexes of their columns."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = columns
        self.keys = column_keys(columns)
        self._writers: dict[tuple[tuple[int, ...], bool], ImageWriter] = {}
        self._made: dict[int, KnownCells] = {}

    @cached_property
    def places(self) -> dict[str, int]:
        return {key: index for index, key in enumerate(self.keys)}

    @cached_property
    def _reader(self) -> RowReader:
        return RowReader(self.columns, self._shown_cells)

    def _shown_cells(self, index: int, column: Column, reader: CellReader) -> Callable[[Taken], list[Any]]:
        if reader.number is same:
            return list
        if reader.code is None and reader.number is None and _cell_writer(column) is no_writer:
            known = self._made[index] = KnownCells(column, reader)
            shown: Callable[[Any], Any] = known.shown
        else:
            shown = _shown(column, reader)
        return lambda taken: [None if one is None else shown(one) for one in taken]

    def cell_writer(self, index: int) -> CellWriter:
        """What writes the usual cells of a column."""
        known = self._made.get(index)
        return _cell_writer(self.columns[index]) if known is None else known.write

    def rows(self, body: RowsBody) -> tuple[list[Row], bool]:
        """The rows as they are listed, and whether the unused bits of their null bitmaps are set.

        A cell need not be made from what is shown of it: the caller compares bytes.  Raises UnusualError for rows that
        are to be looked at cell by cell.
        """
        found = self._reader.read(body)
        bitmaps = images_of(body)
        before, after = self._named(bitmaps[0], found.before), self._named(bitmaps[1], found.after)
        if before is None or after is None:
            return before or after or [], found.padded
        return [{"before": old, "after": new} for old, new in zip(before, after, strict=True)], found.padded

    def _named(self, bitmap: bytes | None, images: list[list[Any]] | None) -> list[Row] | None:
        if bitmap is None or images is None:
            return None
        keys = [self.keys[index] for index in present_columns(bitmap, len(self.columns))]
        return [dict(zip(keys, image, strict=True)) for image in images]

    def writer(self, present: tuple[int, ...], padded: bool) -> ImageWriter:
        """The writer of images that have these columns; ``padded`` sets the unused bits of the null bitmap."""
        writer = self._writers.get((present, padded))
        if writer is None:
            writer = self._writers[present, padded] = ImageWriter(self, present, padded)
        return writer


class ImageWriter:
    """Writes the images of a table that have the ``present`` columns."""

    def __init__(self, table: ListedTable, present: Sequence[int], padded: bool) -> None:
        self.table = table
        self.keys = tuple(table.keys[index] for index in present)
        self.columns = [(table.columns[index], table.cell_writer(index)) for index in present]
        self.padding = full_padding(len(self.keys)) << len(self.keys) if padded else 0

    def write(self, image: Any) -> bytes:
        """The bytes of the image.  Raises ScenarioError for one of other columns, or with a wrong cell."""
        if image.__class__ is not dict or tuple(image) != self.keys:
            image = self._ordered(image)
        nulls, bit, cells = self.padding, 1, [b""]
        for (column, write), value in zip(self.columns, image.values(), strict=True):
            if value is None:
                nulls |= bit
            else:
                try:
                    cell: bytes | None = write(value)
                except UNUSUAL:
                    cell = cell_from_plain(column, value)
                assert cell is not None
                cells.append(cell)
            bit <<= 1
        cells[0] = nulls.to_bytes((len(self.keys) + 7) // 8, "little")
        return b"".join(cells)

    def _ordered(self, image: Any) -> Row:
        """The image with its columns in their order."""
        if not isinstance(image, dict):
            raise ScenarioError(f"a row is {image!r}", expected="a mapping of columns to values")
        places = self.table.places
        for key in image:
            if key not in places:
                raise ScenarioError(f"unknown column {key!r}", suggestion=nearest(str(key), places))
        present = set(self.keys)
        if odd := [key for key in self.keys if key not in image] or [key for key in image if key not in present]:
            first = min(places[key] for key in odd) + 1
            raise ScenarioError(
                f"the row does not match the bitmap of present columns at column {first}",
                expected="every present column once, and no other",
            )
        return {key: image[key] for key in self.keys}


def _cell_writer(column: Column) -> CellWriter:
    try:
        return codec_for(column).writer(column)
    except ForgeError:
        return no_writer


class KnownCells:
    """The cells of a column without a writer, JSON above all: the bytes that a text gives are made once.

    What is shown of a cell gives its bytes; the writer of the event's rows, which is asked next, finds them here.
    """

    def __init__(self, column: Column, reader: CellReader) -> None:
        self._column, self._codec = column, codec_for(column)
        self._text, self._prefix = reader.text, reader.prefix
        self._bytes: dict[str, bytes] = {}

    def shown(self, taken: bytes) -> Any:
        """The text, if it gives the cell's bytes, else the bytes in hexadecimal."""
        cell = len(taken).to_bytes(self._prefix, "little") + taken if self._prefix else taken
        try:
            found = self._text(taken)
            if found.__class__ is not str:
                return cell_to_plain(self._column, cell)
            if is_safe(found) and self._codec.encode(self._column, self._codec.accept(self._column, found)) == cell:
                if len(self._bytes) == _MOST_KEPT:
                    self._bytes.clear()
                self._bytes[found] = cell
                return found
        except (ForgeError, *UNUSUAL):
            return cell_to_plain(self._column, cell)
        return {"hex": cell.hex()}

    def write(self, value: Any) -> bytes:
        """The bytes of a text that was shown.  Raises UnusualError for any other value."""
        known = self._bytes.get(value) if value.__class__ is str else None
        if known is None:
            raise UnusualError
        return known


def _shown(column: Column, reader: CellReader) -> Callable[[Any], Any]:
    """What is listed of the cells of a column, from what their reader takes."""
    if reader.number is not None:
        return reader.number
    text, prefix = reader.text, reader.prefix

    def cell(taken: bytes) -> bytes:
        return len(taken).to_bytes(prefix, "little") + taken if prefix else taken

    def shown(taken: Any) -> Any:
        found = text(taken)
        if found.__class__ is str and is_safe(found):
            return found
        return {"hex": cell(taken).hex()}

    return shown
