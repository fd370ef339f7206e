"""Rows of a file with their tables: what decoders are compared on, and what the canonical decode shows.

A table map is remembered under its id until the next one with that id.  A row's cells stay bytes here; their text is
made when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from forge.binlog.reader import PlacedEvent
from forge.errors import ForgeError, FormatError, UnsupportedError
from forge.events.columns import columns_of
from forge.events.event import carries_checksum
from forge.events.format import CHECKSUM_SIZE
from forge.events.layout import to_bytes
from forge.events.row_image import Image, images_of, iterate_rows, present_columns
from forge.events.rows import ROWS_BODIES, PartialUpdateRows, RowsBody
from forge.events.table_map import TableMap
from forge.values.base import Column
from forge.values.registry import codec_for

Kind = Literal["insert", "update", "delete"]

#: Table ids of row events that only end a statement (sql/log_event.h: 2^24 - 1 since 5.1.4, all bits before).
DUMMY_TABLE_IDS = frozenset((0xFFFFFF, 0xFFFFFFFFFFFF))


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a row image: ``number`` counts the table's columns from 1, ``raw`` is None for NULL."""

    number: int
    column: Column
    raw: bytes | None

    def value(self) -> Any:
        """The Python value of the cell, which is not NULL.  Raises ForgeError for bytes that have none."""
        assert self.raw is not None
        return codec_for(self.column).decode(self.column, self.raw)

    def text(self) -> str | bytes | None:
        """None for NULL; exact text; bytes where the value is bytes.  Raises ForgeError for a cell without value."""
        if self.raw is None:
            return None
        value = self.value()
        text = codec_for(self.column).text(self.column, value)
        if text is not None:
            return text
        if isinstance(value, bytes):
            return value
        raise FormatError(f"{self.type_name} cannot be {value!r}", phase="value")

    @property
    def type_name(self) -> str:
        return codec_for(self.column).type_name(self.column)

    def plain(self) -> dict[str, Any]:
        """The cell as the canonical decode shows it."""
        shown: dict[str, Any] = {"column": self.number}
        if self.column.name is not None:
            shown["name"] = text_or_hex(self.column.name)
        shown["type"] = _type_name(self.column)
        try:
            text = self.text()
        except ForgeError as error:
            assert self.raw is not None
            rule = error.rule if isinstance(error, FormatError) else str(error)
            return shown | {"hex": self.raw.hex(), "note": f"the cell as it is: {rule}"}
        return shown | ({"hex": text.hex()} if isinstance(text, bytes) else {"value": text})


def text_or_hex(text: str) -> str | dict[str, str]:
    """Text of the format's own (surrogate escapes stand for bytes that are not UTF-8) as JSON can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return {"hex": to_bytes(text).hex()}
    return text


def _type_name(column: Column) -> str:
    """The SQL type, or the wire type's number if its metadata is such that no server wrote it.

    Members of ENUM and SET stay with the table map.
    """
    try:
        name = codec_for(column).type_name(column)
        return name if column.members is None else name.partition("(")[0]
    except (ForgeError, ValueError, IndexError):
        return f"type {column.type_code}"


@dataclass(frozen=True, slots=True)
class MappedTable:
    """A TABLE_MAP event at ``offset``.  ``columns`` is None, and ``problem`` says why, if a type is not known here."""

    index: int
    offset: int
    body: TableMap
    columns: tuple[Column, ...] | None
    mariadb: bool
    problem: str | None = None

    @property
    def full_name(self) -> str:
        return f"{self.body.database}.{self.body.table}"


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row of a row event: insert has no ``before``, delete no ``after``.  ``row`` counts from 1 in its event.

    Images list the cells of the columns that are present in them, in column order.
    """

    event_index: int
    offset: int
    row: int
    database: str
    table: str
    kind: Kind
    before: tuple[Cell, ...] | None
    after: tuple[Cell, ...] | None
    mapped: MappedTable = field(repr=False, compare=False)


@dataclass(slots=True)
class TableMaps:
    """The tables that are mapped where a reader stands."""

    by_id: dict[int, MappedTable] = field(default_factory=dict)

    def note(self, placed: PlacedEvent) -> MappedTable | None:
        """Remember a TABLE_MAP event; None for any other.

        Raises FormatError if its metadata does not fit its types.
        """
        body = placed.event.body
        if not isinstance(body, TableMap):
            return None
        columns, problem = None, None
        try:
            columns = columns_of(body, mariadb=placed.format.mariadb)
        except UnsupportedError as error:
            problem = error.problem
        except FormatError as error:
            error.offset = 0
            raise error.within(base=placed.offset, event_index=placed.index) from None
        mapped = MappedTable(placed.index, placed.offset, body, columns, placed.format.mariadb, problem)
        self.by_id[body.table_id] = mapped
        return mapped

    def changes(self, placed: PlacedEvent) -> Iterator[RowChange]:
        """The rows of a row event; none for any other event.

        Raises FormatError (file offset) if the rows do not fit the mapped columns or no table is mapped,
        UnsupportedError for rows that cannot be read yet.
        """
        body = placed.event.body
        if not isinstance(body, ROWS_BODIES):
            return
        mapped = self.by_id.get(body.table_id)
        if mapped is None:
            if body.table_id in DUMMY_TABLE_IDS and not body.rows:
                return
            raise FormatError(
                f"no TABLE_MAP before this event maps table id {body.table_id}",
                phase="row",
                event_index=placed.index,
                offset=placed.offset,
            )
        if mapped.columns is None:
            raise UnsupportedError(str(mapped.problem))
        try:
            yield from _changes(placed, body, mapped, mapped.columns)
        except FormatError as error:
            raise error.within(base=_rows_offset(placed, body), event_index=placed.index) from None


def _changes(
    placed: PlacedEvent, body: RowsBody, mapped: MappedTable, columns: Sequence[Column]
) -> Iterator[RowChange]:
    kind = kind_of(body)
    before, after = (
        None if bitmap is None else present_columns(bitmap, len(columns))
        for bitmap in (images_of(body) if body.width == len(columns) else (None, None))
    )
    for number, row in enumerate(iterate_rows(body, columns), start=1):
        yield RowChange(
            placed.index,
            placed.offset,
            number,
            mapped.body.database,
            mapped.body.table,
            kind,
            _cells(row.before, before, columns),
            _cells(row.after, after, columns),
            mapped,
        )


def _cells(image: Image | None, present: Sequence[int] | None, columns: Sequence[Column]) -> tuple[Cell, ...] | None:
    if image is None or present is None:
        return None
    return tuple(Cell(index + 1, columns[index], raw) for index, raw in zip(present, image.cells, strict=True))


def _rows_offset(placed: PlacedEvent, body: RowsBody) -> int:
    end = placed.offset + len(placed.raw) - CHECKSUM_SIZE * carries_checksum(placed.event, placed.format)
    return end - len(body.rows)


def kind_of(body: RowsBody) -> Kind:
    """What a row event does."""
    if isinstance(body, PartialUpdateRows):
        return "update"
    words: dict[str, Kind] = {"WRITE": "insert", "UPDATE": "update", "DELETE": "delete"}
    return words[body.type_name.partition("_")[0]]
