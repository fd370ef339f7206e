"""Rows and their cells: what decoders are compared on, and what the canonical decode shows.

A row's cells stay bytes here; their text is made when somebody asks for it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

from forge.binlog.reader import PlacedEvent
from forge.errors import ForgeError, FormatError
from forge.events.layout import Surroundings
from forge.events.plain import text_or_hex
from forge.events.row_image import Image, images_of, iterate_rows, partial_columns, present_columns
from forge.events.row_reader import RowReader, Taken
from forge.events.rows import ROWS_BODIES, PartialUpdateRows, RowsBody
from forge.events.table_map import TableMap
from forge.values.base import Column, TypedValue
from forge.values.declaration.sqltype import SqlType
from forge.values.quick import UNUSUAL, CellReader, UnusualError
from forge.values.registry import codec_for
from forge.values.wire_types import WireType

Kind = Literal["insert", "update", "delete"]

#: Bytes of length in front of a JSON document, and of the diffs in its place.
_JSON_PREFIX = 4
#: Characters of a name or a member that count as a cell.
_LONG = 64
#: Codes of ``struct`` for cells of one byte.
_OF_ONE_BYTE = ("b", "B", "1s")
#: BLOB, BLOB_COMPRESSED, GEOMETRY: their metadata is the size of the length.
_WITH_LENGTH_SIZE = (WireType.BLOB, WireType.BLOB_COMPRESSED, WireType.GEOMETRY)


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a row image: ``number`` counts the table's columns from 1, ``raw`` is None for NULL.

    ``partial``: the bytes are the diffs of a partial JSON update, not a value; ``base`` is then the cell of the
    before image that they apply to, None if that image does not have it.
    """

    number: int
    column: Column
    raw: bytes | None
    partial: bool = False
    base: bytes | None = None

    def value(self) -> Any:
        """The Python value of the cell, which is not NULL.  Raises ForgeError for bytes that have none."""
        assert self.raw is not None
        return codec_for(self.column).decode(self.column, self.raw)

    def diffs(self) -> tuple[Any, ...]:
        """The diffs (forge.values.json.diff) of a partial cell.  Raises FormatError."""
        from forge.values.json.diff import parse_diffs

        assert self.raw is not None
        return parse_diffs(self.raw[_JSON_PREFIX:])

    def updated(self) -> str | None:
        """The text of the document after a partial update; None where the old one is not logged.

        Raises FormatError for diffs that do not apply to it, which stop a replica.
        """
        if self.base is None:
            return None
        return codec_for(self.column).text(self.column, self.updated_raw()[_JSON_PREFIX:])

    def updated_raw(self) -> bytes:
        """The cell after a partial update of an old one that is logged.  Raises FormatError as :meth:`updated`."""
        from forge.values.json.diff import apply_diffs

        assert self.base is not None
        document = apply_diffs(self.base[_JSON_PREFIX:], self.diffs())
        return len(document).to_bytes(_JSON_PREFIX, "little") + document

    def text(self) -> str | bytes | None:
        """None for NULL; exact text; bytes where the value is bytes.  Raises ForgeError for a cell without value.

        Partial JSON is the call of JSON functions that makes the change, with ``@`` for the old value.
        """
        if self.raw is None:
            return None
        if self.partial:
            from forge.values.json.diff import format_diffs

            return format_diffs(self.diffs())
        # Members are part of what a column is known by, and may be very many.
        if self.column.members is None:
            try:
                return _quick_text(self.column, self.column.declared)(self.raw)
            except UNUSUAL:
                pass
        value = self.value()
        text = codec_for(self.column).text(self.column, value)
        if text is not None:
            return text
        if isinstance(value, bytes):
            return value
        raise FormatError(f"{self.type_name} cannot be {value!r}", phase="value")

    def prefix(self) -> int:
        """Bytes of the length in front of the cell's bytes."""
        try:
            return _JSON_PREFIX if self.partial else codec_for(self.column).prefix(self.column)
        except ForgeError:
            return 0

    def typed(self) -> TypedValue | None:
        """The value as plain programs compare it (:meth:`forge.values.base.Codec.typed`); None for NULL.

        A partial update of JSON is ``diffs``, bytes that are no value are ``broken``, with the rule that they break.
        """
        if self.raw is None:
            return None
        try:
            if self.partial:
                return {"diffs": [_plain_diff(diff) for diff in self.diffs()]}
            return codec_for(self.column).typed(self.column, self.value())
        except ForgeError as error:
            return {"broken": error.rule if isinstance(error, FormatError) else str(error)}

    @property
    def type_name(self) -> str:
        """The SQL type, or the wire type's number if its metadata is such that no server wrote it.

        Members of ENUM and SET stay with the table map.
        """
        column = self.column
        try:
            if column.members is None:
                return codec_for(column).type_name(column)
            # They may be very many, and would be written for each cell.
            return codec_for(column).type_name(replace(column, members=())).partition("(")[0]
        except (ForgeError, ValueError, IndexError):
            return f"type {self.column.type_code}"

    def plain(self) -> dict[str, Any]:
        """The cell as the canonical decode shows it."""
        shown: dict[str, Any] = {"column": self.number}
        if self.column.name is not None:
            shown["name"] = text_or_hex(self.column.name)
        shown["type"] = self.type_name
        try:
            if self.partial and self.raw is not None:
                updated = self.updated()
                document = {} if updated is None else {"value": updated}
                return shown | {"diffs": [_plain_diff(diff) for diff in self.diffs()]} | document
            text = self.text()
        except ForgeError as error:
            assert self.raw is not None
            rule = error.rule if isinstance(error, FormatError) else str(error)
            return shown | {"hex": self.raw.hex(), "note": f"the cell as it is: {rule}"}
        return shown | ({"hex": text.hex()} if isinstance(text, bytes) else {"value": text})


@lru_cache(maxsize=1024)
def _quick_text(column: Column, declared: SqlType | None) -> Callable[[bytes], str | bytes]:
    """The text of whole cells; ``declared`` is the column's, which is no part of what it is known by."""
    reader = codec_for(column).reader(column)
    text, prefix = reader.text, reader.prefix
    if reader.code is not None:
        unpack = struct.Struct("<" + reader.code).unpack
        return lambda raw: text(unpack(raw)[0])

    def prefixed(raw: bytes) -> str | bytes:
        if int.from_bytes(raw[:prefix], "little") != len(raw) - prefix:
            raise UnusualError
        return text(raw[prefix:])

    return prefixed if prefix else text


def shown_cells(index: int, column: Column, reader: CellReader) -> Callable[[Taken], list[dict[str, Any]]]:
    """The cells of a column as :meth:`Cell.plain` shows them, by their quick reader; equal ones may be one object."""
    null = Cell(index + 1, column, None).plain()
    head = {name: value for name, value in null.items() if name != "value"}
    text_of, head_copy = reader.text, head.copy

    def cells(taken: Taken) -> list[dict[str, Any]]:
        shown = []
        for one in taken:
            if one is None:
                shown.append(null)
                continue
            text: Any = text_of(one)
            cell = head_copy()
            if text.__class__ is str:
                cell["value"] = text
            else:
                cell["hex"] = text.hex()
            shown.append(cell)
        return shown

    if reader.code not in _OF_ONE_BYTE:
        return cells
    known = _Known(lambda one: cells((one,))[0])
    return lambda taken: list(map(known.__getitem__, taken))


class _Known(dict[Any, dict[str, Any]]):
    """The cells of a column that has few: each is made once."""

    def __init__(self, cell: Callable[[Any], dict[str, Any]]) -> None:
        self.cell = cell

    def __missing__(self, taken: Any) -> dict[str, Any]:
        self[taken] = cell = self.cell(taken)
        return cell


def _plain_diff(diff: Any) -> dict[str, Any]:
    from forge.values.json.binary import decode_document
    from forge.values.json.text import format_json

    shown = {"operation": diff.operation.name, "path": diff.path}
    return shown if diff.value is None else shown | {"value": format_json(decode_document(diff.value))}


def unprefixed(column: Column, raw: bytes) -> bytes:
    """The bytes of a string, BLOB or GEOMETRY cell behind their length."""
    if column.type_code in _WITH_LENGTH_SIZE:
        return raw[column.metadata[0] :]
    if column.type_code == WireType.STRING:
        longest = column.metadata[1] | ((column.metadata[0] & 0x30) ^ 0x30) << 4
    else:
        longest = int.from_bytes(column.metadata[:2], "little")
    return raw[2:] if longest > 255 else raw[1:]


def _weight(column: Column) -> int:
    members = map(len, column.members or ())
    named = sum(members) if column.metadata[:1] == bytes([WireType.SET]) else max(members, default=0)
    return 1 + (len(column.name or "") + named) // _LONG


@dataclass(frozen=True, slots=True)
class MappedTable:
    """A TABLE_MAP event at ``offset``.  ``columns`` is None, and ``problem`` says why, if a type is not known here."""

    index: int
    offset: int
    body: TableMap
    columns: tuple[Column, ...] | None
    mariadb: bool
    problem: str | None = None
    #: Reads rows as the canonical decode shows them; None if the columns are not known.
    rows: RowReader | None = field(default=None, repr=False, compare=False)
    #: The fields of the canonical decode once they were made, shared with the table's later maps of the same bytes.
    fields: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    #: How many cells a row counts for, by the bitmaps of its images (:meth:`cells_of_a_row`).
    counts: dict[tuple[bytes | None, bytes | None], int] = field(default_factory=dict, repr=False, compare=False)

    def cells_of_a_row(self, body: RowsBody) -> int:
        """The cells of a row and the row itself; one with a long name or member counts for several."""
        images = images_of(body)
        if images not in self.counts:
            columns = self.columns or ()
            present = (present_columns(bitmap, len(columns)) for bitmap in images if bitmap is not None)
            self.counts[images] = 1 + sum(_weight(columns[index]) for image in present for index in image)
        return self.counts[images]

    @property
    def full_name(self) -> str:
        return f"{self.body.database}.{self.body.table}"


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row of a row event: insert has no ``before``, delete no ``after``.  ``row`` counts from 1 in its event.

    Images list the cells of the columns that are present in them, in column order.  ``inner`` is as in LoggedEvent.
    """

    event_index: int
    offset: int
    inner: int
    row: int
    database: str
    table: str
    kind: Kind
    before: tuple[Cell, ...] | None
    after: tuple[Cell, ...] | None
    mapped: MappedTable = field(repr=False, compare=False)


def surroundings_of(placed: PlacedEvent, mapped: MappedTable | None = None) -> Surroundings:
    """What the fields of the event depend on; ``mapped`` is the table that it maps, if it is a TABLE_MAP."""
    server_id, mariadb = placed.event.server_id, placed.format.mariadb
    if mapped is None:
        return _surroundings(server_id, mariadb)
    return Surroundings(server_id, mariadb, mapped.columns, mapped.problem)


@lru_cache(maxsize=64)
def _surroundings(server_id: int, mariadb: bool) -> Surroundings:
    """Those of all events but TABLE_MAP: the same for most of a file."""
    return Surroundings(server_id, mariadb)


def row_changes(placed: PlacedEvent, inner: int, mapped: MappedTable) -> Iterator[RowChange]:
    """The rows of a row event of a table whose columns are known.  Raises FormatError with its place in the file."""
    body, columns = placed.event.body, mapped.columns
    assert isinstance(body, ROWS_BODIES)
    assert columns is not None
    kind = kind_of(body)
    before, after = (
        None if bitmap is None else present_columns(bitmap, len(columns))
        for bitmap in (images_of(body) if body.width == len(columns) else (None, None))
    )
    try:
        for number, row in enumerate(iterate_rows(body, columns), start=1):
            yield RowChange(
                placed.index,
                placed.offset,
                inner,
                number,
                mapped.body.database,
                mapped.body.table,
                kind,
                old := _cells(row.before, before, columns),
                _cells(row.after, after, columns, old or ()),
                mapped,
            )
    except FormatError as error:
        if inner:
            raise error.of_event(placed.offset, placed.index) from None
        raise error.within(base=_rows_offset(placed, body), event_index=placed.index) from None


def _cells(
    image: Image | None, present: Sequence[int] | None, columns: Sequence[Column], old: Sequence[Cell] = ()
) -> tuple[Cell, ...] | None:
    if image is None or present is None:
        return None
    partial = partial_columns(image, columns)
    bases = {cell.number - 1: cell.raw for cell in old} if partial else {}
    return tuple(
        Cell(index + 1, columns[index], raw, index in partial, bases.get(index) if index in partial else None)
        for index, raw in zip(present, image.cells, strict=True)
    )


def _rows_offset(placed: PlacedEvent, body: RowsBody) -> int:
    return placed.offset + placed.unchecked_size - len(body.rows)


def kind_of(body: RowsBody) -> Kind:
    """What a row event does."""
    if isinstance(body, PartialUpdateRows):
        return "update"
    words: dict[str, Kind] = {"WRITE": "insert", "UPDATE": "update", "DELETE": "delete"}
    return words[body.type_name.partition("_")[0]]
