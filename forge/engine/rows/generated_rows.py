"""Rows that are computed when they are asked for, and the entries that they have in keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from forge.engine.dictionary.key_sets import KeySet
from forge.engine.rows.generated_columns import ColumnCells, RowNumbers
from forge.errors import ScenarioError
from forge.plan.keys import key_entries
from forge.plan.tables import Key, Row, Table
from forge.values.base import Value


class GeneratedRows(Sequence[Row]):
    """The rows of a statement in the order of their numbers, each a function of its number."""

    def __init__(self, rows: RowNumbers, cells: Sequence[ColumnCells]) -> None:
        self.numbers = rows.all
        self._cells = [each.value for each in cells]

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, place: int | slice) -> Row | tuple[Row, ...]:
        if isinstance(place, slice):
            return tuple(self[index] for index in range(*place.indices(len(self))))
        number = self.numbers[place]
        return tuple(cell(number) for cell in self._cells)

    def __iter__(self) -> Iterator[Row]:
        return zip(*(map(cell, self.numbers) for cell in self._cells), strict=True)


def entries_of(table: Table, key: Key, cells: Sequence[ColumnCells], rows: RowNumbers) -> KeySet:
    """The entries of all rows in a key of columns.  Raises ScenarioError if two rows have the same."""
    columns = [part.column for part in key.parts]
    series = cells[columns[0]].series
    if len(columns) == 1 and series is not None:
        return series
    row: list[Value | None] = [None] * len(table.columns)
    entries: set[object] = set()
    made = 0
    for values in zip(*(map(cells[column].value, rows.all) for column in columns), strict=True):
        for column, value in zip(columns, values, strict=True):
            row[column] = value
        for entry in key_entries(table, key, tuple(row)):
            entries.add(entry if len(entry) > 1 else entry[0])
            made += 1
    if len(entries) != made:
        raise ScenarioError(f"two rows have the same entry in key {key.name}")
    return entries
