"""The rows of an INSERT of many generated rows, and the cells of its columns, as functions of the row's number.

Where it is known of a generator's literals that the column takes them as they are, no cell is looked at before it is
needed.  The others are computed once, and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

from msgspec import Struct

from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.key_sets import KeySet
from forge.engine.requests.cells import ColumnPlace, GeneratedColumn, is_generator
from forge.engine.rows.cells import cell_value, not_null, value_of_literal
from forge.engine.rows.context import DmlContext
from forge.errors import ScenarioError
from forge.plan.keys import key_entries
from forge.plan.tables import Key, Row, Table
from forge.values.base import Value
from forge.values.clipping import Clipped


class ColumnCells(Struct, frozen=True):
    """The cells of a column, by the number of the row.  Errors have come up before there is one."""

    value: Callable[[int], Value | None]
    #: As the statement's text has it; None for columns that it does not name.
    literal: Callable[[int], Clipped] | None
    #: Literals among those of the rows, of each form and with each word that stands in one, and their values.
    examples: tuple[Clipped, ...]
    #: The values of all rows in order, where they are such a range.
    series: range | None = None


class RowNumbers(Struct, frozen=True):
    """The numbers of the rows that a statement inserts."""

    first: int
    count: int

    @property
    def all(self) -> range:
        return range(self.first, self.first + self.count)


def constant(value: Value | None, literal: Clipped | None = None) -> ColumnCells:
    """The same cell in all rows."""
    if literal is None:
        return ColumnCells(lambda row: value, None, ())
    return ColumnCells(lambda row: value, lambda row: literal, (literal,))


def column_cells(
    column: ColumnDefinition, cell: Any, place: ColumnPlace, rows: RowNumbers, context: DmlContext
) -> ColumnCells:
    """The cells that a statement declares for a column, NULL in it taken as the column takes it.

    Raises ScenarioError if one of the rows, and perhaps if none of them, has a literal that the column refuses.
    """
    if not is_generator(cell, json=column.holds_json):
        literal = _checked(column, cell_value(column, cell, place, rows.first, context), place, context)
        return constant(literal.value, literal)
    generated = context.generate(cell, place)
    if generated.kind == "listed":
        return _listed(column, generated, place, context)
    return _sure(column, generated, rows, context) or _looked_at(column, cell, place, rows, context)


def _checked(column: ColumnDefinition, literal: Clipped, place: ColumnPlace, context: DmlContext) -> Clipped:
    """The literal with the value that is stored for NULL."""
    if literal.value is not None:
        return literal
    # Without strict mode several rows are spared what one row is not.
    return literal._replace(value=not_null(column, None, place.table, clips=context.clips))


def _listed(
    column: ColumnDefinition, generated: GeneratedColumn, place: ColumnPlace, context: DmlContext
) -> ColumnCells:
    literals = [value_of_literal(column, literal, context) for literal in generated.examples]
    checked = [_checked(column, literal, place, context) for literal in literals]
    values = [literal.value for literal in checked]
    which = generated.place
    assert which is not None
    return ColumnCells(lambda row: values[which(row)], lambda row: literals[which(row)], tuple(checked))


def _sure(
    column: ColumnDefinition, generated: GeneratedColumn, rows: RowNumbers, context: DmlContext
) -> ColumnCells | None:
    """The cells of a generator all of whose literals the column takes, as far as its examples tell."""
    facts, examples, series = column.type_facts, generated.examples, None
    if generated.kind == "series":
        start, step = examples
        ends = [start + step * row for row in (rows.first, rows.first + rows.count - 1)]
        series = range(ends[0], ends[1] + step, step) if step else None
        examples = tuple(ends)
    # YEAR is not among them: it takes 0 and 2000, and not all between.
    is_number = facts.is_integer or facts.is_approximate or facts.kind == "decimal"
    fitting = {
        "series": is_number,
        "integers": is_number,
        "letters": facts.is_text,
        "bytes": facts.is_bytes,
        "moments": facts.has_date,
    }
    if not fitting.get(generated.kind, False):
        return None
    taken = [value_of_literal(column, literal, context) for literal in examples]
    codec, wire, literal_of = column.codec, column.wire, generated.literal
    if any(clipped != Clipped(clipped.value, codec.sql(wire, clipped.value)) for clipped in taken):
        return None
    if all(_is_same(literal, clipped.value) for literal, clipped in zip(examples, taken, strict=True)):
        value = literal_of
    elif generated.kind == "moments" or (is_number and not facts.is_integer):
        # What is between two moments that a column takes it takes too, with fewer digits or without the time.
        value, series = lambda row: codec.accept(wire, literal_of(row)), None
    else:
        return None
    return ColumnCells(value, lambda row: Clipped(known := value(row), codec.sql(wire, known)), tuple(taken), series)


def _is_same(literal: Any, value: Value) -> bool:
    return type(literal) is type(value) and bool(literal == value)


def _looked_at(
    column: ColumnDefinition, cell: Any, place: ColumnPlace, rows: RowNumbers, context: DmlContext
) -> ColumnCells:
    """The cells of a generator of which nothing is known: all are made, and kept."""
    values: list[Value | None] = []
    examples: dict[tuple[str, bool], Clipped] = {}

    def literal(row: int) -> Clipped:
        return cell_value(column, cell, place, row, context)

    for row in rows.all:
        made = _checked(column, literal(row), place, context)
        # All of a literal that is not its contents: an introducer, the name of a function.
        form = made.sql.partition("'")[0] if "'" in made.sql else ""
        examples.setdefault((form, made.value is None), made)
        values.append(made.value)
    return ColumnCells(lambda row: values[row - rows.first], literal, tuple(examples.values()))


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
