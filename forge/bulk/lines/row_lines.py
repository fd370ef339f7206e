"""The rows of one table as lines: JSON objects, or fields with commas between."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import ClassVar, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from forge.bulk.lines.cell_texts import Unsaid, cell_texts, is_number, number_array, numbers_of
from forge.bulk.lines.joined import CSV, JSON, PLAIN, Part, joined
from forge.bulk.plan import strings_of
from forge.bulk.reading.batches import Batches, Misfit
from forge.bulk.reading.beside import BESIDE, is_one
from forge.bulk.reading.tables import Table
from forge.bulk.reading.window import RowIndexes, Window
from forge.events.plain import csv_field

Form = Literal["csv", "jsonl"]

#: Bytes of a batch beyond which the reference path, which writes large values in pieces, has to tell the rows.
_MOST_BYTES: Final = 1 << 25
#: Bytes of rows that are told at once, so that what is made of them stays in the caches; and rows at least.
_AT_ONCE: Final = 1 << 21
_LEAST_ROWS: Final = 1 << 9
#: The texts of a column, or that of all rows, null or None for NULL; and whether they are numbers.
_Cell = tuple[pa.Array | str | None, bool]


_NOTHING: Final = strings_of([""]).cast(pa.binary())[0]


class RowLines(Batches):
    """Batches of lines, as ``forge rows`` prints them; ``line`` is their only column.

    ``fields`` are the columns of a line of CSV.
    """

    beside_types: ClassVar[dict[str, pa.DataType]] = BESIDE | {"_timestamp": pa.int64()}

    def __init__(self, table: Table, file: str, form: Form, fields: Sequence[str]) -> None:
        present = ("_present_before", "_present_after") if table.images == "both" else ("_present",)
        super().__init__(table, "text", (*BESIDE, *present), file)
        self._present = present
        self._form = form
        self._fields = fields
        #: Of each chosen column the plan, by its name in a line.
        names = [table.names[index] for index in table.chosen]
        self._halves = ("before", "after") if table.images == "both" else ("",)
        self._plans = dict(zip(names, table.plans, strict=True))
        self._bits = dict(zip(names, table.chosen, strict=True))

    def of(self, window: Window, chosen: RowIndexes) -> Iterator[pa.RecordBatch | Misfit]:
        """As forge.bulk.reading.file_rows.Taker has it.  Raises Unsaid."""
        if self.table.layouts.partial.any():
            raise Unsaid
        for made in super().of(window, chosen):
            if isinstance(made, Misfit):
                yield made
            elif made.nbytes > _MOST_BYTES:
                raise Unsaid
            else:
                rows = max(_LEAST_ROWS, len(made) * _AT_ONCE // made.nbytes)
                for first in range(0, len(made), rows):
                    yield pa.RecordBatch.from_arrays([self._lines(made.slice(first, rows))], ["line"])

    def _lines(self, batch: pa.RecordBatch) -> pa.Array:
        """The rows of each form of presence together, then in their order again."""
        bitmaps = [batch.column(name).cast(pa.binary()) for name in self._present]
        forms = bitmaps[0] if len(bitmaps) == 1 else pc.binary_join_element_wise(*bitmaps, _NOTHING)
        words = forms.dictionary_encode()
        if len(words.dictionary) == 1:
            return self._lines_of(batch, words.dictionary[0].as_py())
        numbers = numbers_of(words.indices)
        order = np.argsort(numbers, kind="stable")
        lines = [
            self._lines_of(batch.take(number_array(np.flatnonzero(numbers == number))), form)
            for number, form in enumerate(words.dictionary.to_pylist())
        ]
        return pa.concat_arrays(lines).take(number_array(np.argsort(order, kind="stable")))

    def _lines_of(self, batch: pa.RecordBatch, form: bytes) -> pa.Array:
        cells: dict[str, _Cell] = {}
        size = len(form) // len(self._halves)
        for place, half in enumerate(self._halves):
            there = int.from_bytes(form[place * size : (place + 1) * size], "little")
            columns = batch.column(half).flatten() if half else batch.columns
            for (name, plan), column in zip(self._plans.items(), columns, strict=False):
                if there >> self._bits[name] & 1:
                    cells[f"{half}.{name}" if half else name] = cell_texts(plan, column), is_number(plan)
        cells |= {name: _beside_texts(batch.column(name)) for name in BESIDE}
        if self._form == "csv":
            return _csv([cells.get(name, (None, True)) for name in (*self._fields, *BESIDE)], len(batch))
        return _json(cells, len(batch))


def _beside_texts(column: pa.Array) -> _Cell:
    is_text = pa.types.is_dictionary(column.type)
    if column.null_count == len(column) or (
        not column.null_count and is_one(numbers_of(column.indices if is_text else column))
    ):
        value = column[0].as_py()
        return None if value is None else str(value), not is_text
    return column.cast(pa.string()), not is_text


def _json(cells: dict[str, _Cell], rows: int) -> pa.Array:
    """Keys and values; what is the same for all rows stands before the next part."""
    parts: list[Part] = []
    said = "{"
    for name, (texts, number) in cells.items():
        said += f"{json.dumps(name, ensure_ascii=False)}: "
        if isinstance(texts, pa.Array):
            parts.append(Part(said.encode(), texts, PLAIN if number else JSON))
            said = ", "
        else:
            value = "null" if texts is None else texts if number else json.dumps(texts, ensure_ascii=False)
            said += f"{value}, "
    return joined([*parts, Part(f"{said[:-2]}}}\n".encode(), None)], b"null", rows)


def _csv(cells: list[_Cell], rows: int) -> pa.Array:
    parts: list[Part] = []
    said = ""
    for texts, number in cells:
        if isinstance(texts, pa.Array):
            parts.append(Part(said.encode(), texts, PLAIN if number else CSV))
            said = ","
        else:
            said += ("" if texts is None else texts if number else csv_field(texts)) + ","
    return joined([*parts, Part(f"{said[:-1]}\r\n".encode(), None)], b"", rows)


def header_line(fields: Sequence[str]) -> bytes:
    """The names of a line of CSV."""
    return f"{','.join(map(csv_field, (*fields, *BESIDE)))}\r\n".encode()
