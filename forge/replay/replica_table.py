"""A replica's table: its columns as they travel, its keys, and its rows as the bytes of their cells.

A row has the bytes of each column's cell, as a row event of the replica's own table would have them: two cells are the
same bytes exactly if the server's records are, which is what appliers compare.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from forge.charsets import compare_key
from forge.engine.dictionary.columns import ColumnDefinition, sort_value
from forge.engine.dictionary.table_state import TableState
from forge.errors import ScenarioError
from forge.plan.keys import key_entries, overlaps, unique_keys
from forge.plan.tables import Key, KeyPart, Row, is_transactional
from forge.values.base import Column
from forge.values.network import network_text
from forge.values.registry import codec_for
from forge.values.wire_types import WireType

#: The bytes of a row's cells, None for NULL.
Cells = tuple[bytes | None, ...]
#: What can be taken back: table, number of a row, its cells before or None.
Undo = list[tuple["ReplicaTable", int, Cells | None]]
BINARY = 63
_NETWORK_SIZES = {"UUID": 16, "INET6": 16, "INET4": 4}
_FLOATS = {WireType.FLOAT: "<f", WireType.DOUBLE: "<d"}


class ReplicaTable:
    """A table of the replica.  ``columns`` are its own, without what keys on expressions add."""

    def __init__(self, state: TableState, columns: Sequence[Column]) -> None:
        self.state = state
        self.table = state.table
        self.columns = tuple(columns)
        self.definitions: tuple[ColumnDefinition, ...] = state.columns
        self.codecs = tuple(map(codec_for, self.columns))
        self.rows: dict[int, Cells] = {}
        #: Its rows are no longer those of the engine's table.
        self.changed = False
        self.inserted = state.inserted
        self.next_auto_increment = state.next_auto_increment
        self.unique = [UniqueIndex(self, key) for key in unique_keys(self.table)]
        #: All keys in the order in which the server keeps them.
        self.keys: list[Key] = [one.key for one in self.unique]
        self.keys += [key for key in self.table.keys if key.kind == "index"]
        self.transactional = is_transactional(self.table)
        #: Rows by the cells of some columns, made when a lookup first needs one.
        self._indexes: dict[tuple[int, ...], dict[Cells, dict[int, None]]] = {}
        for number, row in state.rows.items():
            self._store(number, self.encoded(row))
        self.changed = False

    @property
    def name(self) -> str:
        return self.table.full_name

    @property
    def computed(self) -> bool:
        """Whether it has generated columns."""
        return any(one.generated is not None for one in self.definitions)

    def encoded(self, row: Row) -> Cells:
        """The cells of a row's values."""
        return tuple(
            None if value is None else codec.encode(column, value)
            for codec, column, value in zip(self.codecs, self.columns, row, strict=True)
        )

    def decoded(self, cells: Cells) -> Row:
        """The values of a row's cells."""
        return tuple(
            None if raw is None else codec.decode(column, raw)
            for codec, column, raw in zip(self.codecs, self.columns, cells, strict=True)
        )

    @property
    def named(self) -> list[tuple[int, str]]:
        """Index and name of the columns that SELECT shows: those of hashed keys have none."""
        return [(index, one.name) for index, one in enumerate(self.definitions) if one.row_hash is None]

    def text(self, index: int, raw: bytes | None) -> str | None:
        """A cell as SQL prints it; bytes as ``0x`` and hexadecimal digits."""
        if raw is None:
            return None
        column, codec, definition = self.columns[index], self.codecs[index], self.definitions[index]
        value, name, facts = codec.decode(column, raw), definition.type.name, definition.type_facts
        if name in _NETWORK_SIZES:
            return network_text(name, value.ljust(_NETWORK_SIZES[name], b"\0"))
        if facts.kind == "enum" and value > len(column.members or ()):
            return ""
        if facts.kind == "set":
            value &= (1 << len(column.members or ())) - 1
        plain = isinstance(value, (bytes, str)) and not facts.is_json
        shown = value if plain else codec.text(column, value)
        return "0x" + shown.hex().upper() if isinstance(shown, bytes) else str(value if shown is None else shown)

    @property
    def lone_index(self) -> UniqueIndex | None:
        """The one unique key, if nothing else is kept by the rows' cells."""
        return self.unique[0] if len(self.unique) == 1 and not self._indexes else None

    def unique_index(self, key: Key) -> UniqueIndex:
        """The entries of a unique key."""
        return next(one for one in self.unique if one.key is key)

    def insert(self, cells: Cells, undo: Undo | None) -> int:
        """Store a row that no unique key refuses; its number."""
        number = self.inserted
        self.inserted += 1
        self._store(number, cells)
        if undo is not None:
            undo.append((self, number, None))
        return number

    def change(self, number: int, cells: Cells, undo: Undo | None) -> None:
        """Replace a row."""
        before = self._drop(number)
        self._store(number, cells)
        if undo is not None:
            undo.append((self, number, before))

    def remove(self, number: int, undo: Undo | None) -> None:
        """Delete a row."""
        before = self._drop(number)
        if undo is not None:
            undo.append((self, number, before))

    def restore(self, number: int, before: Cells | None) -> None:
        """Give a row back what it was."""
        if number in self.rows:
            self._drop(number)
        if before is not None:
            self._store(number, before)

    def conflict(self, cells: Cells, number: int | None = None) -> tuple[int, int] | None:
        """The first unique key, by its place, that another row than ``number`` has an entry of; that row's number."""
        for place, index in enumerate(self.unique):
            for entry in index.entries(cells):
                other = index.numbers.get(entry, number)
                if other is not None and other != number:
                    return place, other
            if index.key.period is not None:
                row = self.decoded(cells)
                for other, there in self.rows.items():
                    if other != number and overlaps(self.table, index.key, row, self.decoded(there)):
                        return place, other
        return None

    def matching(self, columns: tuple[int, ...], cells: Cells) -> Iterable[int]:
        """The numbers of the rows with these cells in these columns."""
        if columns not in self._indexes:
            index: dict[Cells, dict[int, None]] = {}
            for number, row in self.rows.items():
                index.setdefault(tuple(row[one] for one in columns), {})[number] = None
            self._indexes[columns] = index
        return self._indexes[columns].get(cells, ())

    def ordered(self, numbers: Iterable[int]) -> list[int]:
        """Numbers in the order in which a scan meets the rows."""
        chosen = sorted(numbers)
        key = self.state.clustering
        if key is None or len(chosen) < 2:
            return chosen
        parts = [(part.column, self.columns[part.column], self.codecs[part.column]) for part in key.parts]

        def place(number: int) -> list[Any]:
            row = self.rows[number]
            return [
                sort_value(self.definitions[index], codec.decode(column, raw))
                for index, column, codec in parts
                if (raw := row[index]) is not None
            ]

        return sorted(chosen, key=place)

    def _store(self, number: int, cells: Cells) -> None:
        self.changed = True
        self.rows[number] = cells
        for index in self.unique:
            index.add(cells, number)
        for columns, found in self._indexes.items():
            found.setdefault(tuple(cells[one] for one in columns), {})[number] = None

    def _drop(self, number: int) -> Cells:
        self.changed = True
        cells = self.rows.pop(number)
        for index in self.unique:
            index.drop(cells)
        for columns, found in self._indexes.items():
            del found[tuple(cells[one] for one in columns)][number]
        return cells


class UniqueIndex:
    """The entries of a unique key, and the numbers of their rows."""

    def __init__(self, table: ReplicaTable, key: Key) -> None:
        self.key = key
        self.columns = tuple(part.column for part in key.parts if part.expression is None)
        #: All parts are columns.
        self.is_plain = len(self.columns) == len(key.parts)
        self.takes_null = any(map(table.table.takes_null, key.parts))
        self.numbers: dict[object, int] = {}
        self._table = table
        self._parts = [(part.column, part_reader(table, part)) for part in key.parts] if self.is_plain else []

    def entries(self, cells: Cells) -> tuple[object, ...]:
        """The entries of a row: none if a part is NULL."""
        if self.is_plain:
            entry = self.entry(cells)
            return () if entry is None else (entry,)
        return tuple(key_entries(self._table.table, self.key, self._table.decoded(cells)))

    def entry(self, cells: Sequence[bytes | None] | Mapping[int, bytes | None]) -> object | None:
        """The entry of cells by their columns; None if a part is NULL.  Only of a key on columns."""
        if len(self._parts) == 1:
            index, read = self._parts[0]
            raw = cells[index]
            return None if raw is None else raw if read is None else read(raw)
        found: list[object] = []
        for index, read in self._parts:
            raw = cells[index]
            if raw is None:
                return None
            found.append(raw if read is None else read(raw))
        return tuple(found)

    def add(self, cells: Cells, number: int) -> None:
        """A row has come."""
        for entry in self.entries(cells):
            self.numbers[entry] = number

    def drop(self, cells: Cells) -> None:
        """A row has gone."""
        for entry in self.entries(cells):
            del self.numbers[entry]


def part_reader(table: ReplicaTable, part: KeyPart) -> Callable[[bytes], object] | None:
    """What a key makes of a cell; None if equal bytes are what it calls equal."""
    column, codec = table.columns[part.column], table.codecs[part.column]
    facts = table.definitions[part.column].type_facts
    if column.type_code in _FLOATS:
        unpack = struct.Struct(_FLOATS[WireType(column.type_code)]).unpack
        return lambda raw: unpack(raw)[0] or 0.0
    collation = column.collation if facts.is_text else None
    prefix = part.prefix
    if collation in (None, BINARY) and prefix is None:
        return None

    def read(raw: bytes) -> object:
        value = codec.decode(column, raw)
        if prefix is not None:
            value = value[:prefix]
        if isinstance(value, str) and collation is not None:
            return compare_key(collation, value)
        return value

    return read


def implicit_cell(table: ReplicaTable, index: int, value: object) -> bytes:
    """The cell of a value that the engine gives a column.  Raises ScenarioError."""
    column = table.columns[index]
    if value is None:
        raise ScenarioError(f"column {column.name!r} of {table.name} has no value that is not NULL")
    return table.codecs[index].encode(column, value)
