"""What the tables of a recording hold at the end, as the decoded file tells it.

The decoded rows are replayed: an insert adds a row, a delete takes away its before image, an update replaces one by the
other.  Where the file alone does not tell what a value is (``binlog_row_metadata`` below FULL; MariaDB's UUID and INET
types), the declaration does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from forge.binlog.logged import logged_events
from forge.decode.cells import Cell, RowChange
from forge.decode.table_maps import TableMaps
from forge.errors import ForgeError, FormatError
from forge.events.columns import completed
from forge.record.contents import UNTOLD, Contents, Form, Shown, TableContents
from forge.values.base import Column
from forge.values.network import NetworkCodec
from forge.values.registry import codec_for
from forge.values.text.column_charset import BINARY_COLLATION
from forge.values.wire_types import WireType


def contents_of_decode(files: Sequence[bytes], declared: Mapping[str, Sequence[Column]] | None = None) -> Contents:
    """The rows that every table holds at the end of a session's files, if it had none before, by replaying their row
    changes.

    ``declared`` are columns, by full name of their table, that add what the file does not tell; only those tables are
    replayed then.  Cells that no image told are ``UNTOLD``; a table is left out where they leave open which row an
    image stands for.  Raises FormatError as the canonical decode does, and for
    a row that is changed but not there: data definition statements are not replayed.
    """
    wires = declared or {}
    tables: dict[str, _Replay] = {}
    # A relay log may be rotated between a TABLE_MAP and its rows.
    maps = TableMaps()
    for change in (change for data in files for change in _changes(data, wires, maps)):
        name = f"{change.database}.{change.table}"
        if declared is not None and name not in declared:
            continue
        if name not in tables:
            assert change.mapped.columns is not None
            tables[name] = _Replay(name, change.mapped.columns)
        tables[name].apply(change)
    contents = {name: table.contents() for name, table in tables.items() if not table.is_guessed}
    for name, wire in wires.items():
        if name not in tables:
            contents[name] = TableContents([column.name or "" for column in wire], [_form(c) for c in wire], [])
    return contents


def _changes(data: bytes, declared: Mapping[str, Sequence[Column]], maps: TableMaps) -> Iterator[RowChange]:
    """The rows of the canonical decode, with what the declared columns add to those of the file."""
    for logged in logged_events(data):
        mapped = maps.note(logged)
        if mapped is not None and mapped.columns is not None and mapped.full_name in declared:
            columns = completed(mapped.columns, declared[mapped.full_name])
            maps.by_id[mapped.body.table_id] = replace(mapped, columns=columns)
        yield from maps.changes(logged)


Raws = tuple[Any, ...]


class _Replay:
    """The rows of one table while its changes are applied; a row is the bytes of its cells."""

    def __init__(self, name: str, columns: Sequence[Column]) -> None:
        self.name = name
        self.columns = columns
        #: Rows and how many of each there are, in the order of their first appearance.
        self.rows: dict[Raws, int] = {}
        #: An image stood for one of several rows.
        self.is_guessed = False

    def apply(self, change: RowChange) -> None:
        assert change.mapped.columns is not None
        if len(change.mapped.columns) != len(self.columns):
            raise FormatError(
                f"{self.name} has another number of columns than before",
                phase="row", event_index=change.event_index, offset=change.offset,
            )  # fmt: skip
        row: Raws = (UNTOLD,) * len(self.columns)
        if change.before is not None:
            row = self._taken(change.before, change)
        if change.after is not None:
            cells = list(row)
            for cell in change.after:
                # The diffs of a partial update are not applied here.
                cells[cell.number - 1] = UNTOLD if cell.partial else cell.raw
            self.rows[tuple(cells)] = self.rows.get(tuple(cells), 0) + 1

    def _taken(self, before: Iterable[Cell], change: RowChange) -> Raws:
        """The row that an image stands for, taken out of the table."""
        wanted = {cell.number - 1: cell.raw for cell in before}
        whole = tuple(wanted.get(index, UNTOLD) for index in range(len(self.columns)))
        row: Raws | None = whole if whole in self.rows else None
        if row is None:
            fitting = [row for row in self.rows if all(row[index] in (raw, UNTOLD) for index, raw in wanted.items())]
            # A cell that no image told fits everywhere.
            self.is_guessed |= len(fitting) > 1
            row = fitting[0] if fitting else None
        if row is None:
            raise FormatError(
                f"row {change.row} of the event changes a row that {self.name} does not have",
                phase="row", event_index=change.event_index, offset=change.offset,
            )  # fmt: skip
        self.rows[row] -= 1
        if not self.rows[row]:
            del self.rows[row]
        return tuple(wanted.get(index, cell) for index, cell in enumerate(row))

    def contents(self) -> TableContents:
        forms = [_form(column) for column in self.columns]
        rows = [
            [_shown(column, raw) for column, raw in zip(self.columns, row, strict=True)]
            for row, count in self.rows.items()
            for _ in range(count)
        ]
        return TableContents([column.name or "" for column in self.columns], forms, rows)


#: Types whose cells are compared by their bytes.
_AS_BYTES = (WireType.VECTOR, WireType.GEOMETRY)


def _form(column: Column) -> Form:
    """Only for columns whose type is not declared; a comparison goes by the form that the server was asked for."""
    if column.type_code == WireType.FLOAT:
        return "float"
    return "hex" if column.type_code in _AS_BYTES or column.collation == BINARY_COLLATION else "text"


def _shown(column: Column, raw: Any) -> Shown:
    """The text of a cell as the canonical decode gives it; hex of its bytes where it has none, and of GEOMETRY."""
    if raw is None or raw == UNTOLD:
        return None if raw is None else UNTOLD
    cell = Cell(1, column, raw)
    try:
        value = cell.value()
        declared = column.declared.name if column.declared is not None else ""
        codec = codec_for(column)
        if isinstance(codec, NetworkCodec):
            return codec.address(value)
        if column.type_code in _AS_BYTES or (declared == "VECTOR" and isinstance(value, bytes)):
            return bytes(value).hex()
        text = cell.text()
        if declared == "YEAR" and column.declared is not None and column.declared.length == 2:
            text = str(text)[-2:]
    except ForgeError as error:
        return f"{raw.hex()} ({error})"
    return text.hex() if isinstance(text, bytes) else text
