"""The rows of one definition of a table as the lines of forge.decode.printed, column by column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from forge.bulk.lines.cell_texts import Unsaid, cell_texts, number_array, numbers_of, spans
from forge.bulk.lines.joined import HEX, PLAIN, QUOTED, Part, joined
from forge.bulk.lines.told import Told
from forge.bulk.plan import Cells, ColumnPlan, strings_of
from forge.bulk.reading.batches import Batches, Misfit
from forge.bulk.reading.beside import is_one
from forge.bulk.reading.odd import text_of
from forge.bulk.reading.tables import Table
from forge.bulk.reading.window import RowIndexes, Window
from forge.decode.cells import Cell
from forge.decode.printed import INDENT, is_quoted
from forge.events.plain import printable, text_or_hex, words
from forge.values.numeric.floats import float_text
from forge.values.wire_types import WireType

#: Bytes of a batch beyond which the reference path has to tell the rows, in pieces.
_MOST_BYTES: Final = 1 << 25
#: Bytes of rows that are told at once, so that what is made of them stays in the caches; and rows at least.
_AT_ONCE: Final = 1 << 21
_LEAST_ROWS: Final = 1 << 9
#: The marks of a row's images, before and after, by the operation (forge.bulk.reading.beside).
_MARKS: Final = (("", "+"), ("<", ">"), ("-", ""))
#: Between these Arrow writes the digits of a float as the server does.
_LEAST: Final = 1e-4
_END: Final = 1e10
_FLOATS: Final = (WireType.FLOAT, WireType.DOUBLE)
#: Bytes that are shown as they are, and printable ones that are escaped.
_ESCAPED_BYTES: Final = b"'\\"
_PLAIN_BYTES: Final = bytes(byte for byte in range(0x20, 0x7F) if byte not in _ESCAPED_BYTES)


class RowTexts(Batches):
    """Notes the lines of rows, and makes empty batches."""

    def __init__(self, table: Table) -> None:
        super().__init__(table, "text", (), "")
        self.told: Told = []
        self._nothing_more = pa.RecordBatch.from_pylist([], self.schema)
        columns = [table.columns[index] for index in table.chosen]
        self._labels = [
            f"@{index + 1}" if column.name is None else words(text_or_hex(column.name))
            for index, column in enumerate(columns)
        ]
        self._is_quoted = [is_quoted(Cell(1, column, None).type_name) for column in columns]

    def of(self, window: Window, chosen: RowIndexes) -> Iterator[pa.RecordBatch | Misfit]:
        """As forge.bulk.reading.file_rows.Taker has it.  Raises Unsaid."""
        return super().of(window, chosen)

    def _batch(self, made: Any, groups: npt.NDArray[np.int64], said: list[npt.NDArray[Any]]) -> pa.RecordBatch:
        table = self.table
        if table.layouts.partial[made.different_layouts].any():
            raise Unsaid
        made.window.counted.rows += made.count
        events = np.repeat(made.picked, made.per_event)
        different = made.different_layouts
        if is_one(different):
            self._tell(self._halves(made, different[:1]), int(different[0]), events)
            return self._nothing_more
        of_rows = np.repeat(made.layouts, made.per_event)
        halves = self._halves(made, np.unique(different))
        for layout in np.unique(different).tolist():
            rows = np.flatnonzero(of_rows == layout)
            taken = number_array(rows)
            picked = [half and [column.take(taken) for column in half] for half in halves]
            self._tell(picked, layout, events[rows])
        return self._nothing_more

    def _halves(self, made: Any, layouts: npt.NDArray[np.int64]) -> list[list[pa.Array]]:
        """The columns of the images before and after; none for an image that no layout has."""
        there = self.table.layouts.present_counts[layouts] >= 0
        halves = [self._columns(made, half) if there[:, half].any() else [] for half in (0, 1)]
        if sum(column.nbytes for half in halves for column in half) > _MOST_BYTES:
            raise Unsaid
        return halves

    def _odd(self, made: Any, place: int, plan: ColumnPlan, cells: Cells, odd: Any) -> list[str]:
        texts = [text_of(plan, cells, row)[0] for row in odd.tolist()]
        # A cell without a value is shown as its bytes, with a mark.
        if any(text.startswith("0x") for text in texts):
            raise Unsaid
        return texts

    def _tell(self, halves: Sequence[Sequence[pa.Array]], layout: int, events: npt.NDArray[np.int64]) -> None:
        size = sum(column.nbytes for half in halves for column in half)
        at_once = max(_LEAST_ROWS, len(events) * _AT_ONCE // max(size, 1))
        for first in range(0, len(events), at_once):
            rows = min(at_once, len(events) - first)
            piece = [[column.slice(first, rows) for column in half] for half in halves]
            self.told.append((self._lines(piece, layout, rows), events[first : first + rows]))

    def _lines(self, halves: Sequence[Sequence[pa.Array]], layout: int, rows: int) -> pa.Array:
        layouts = self.table.layouts
        marks = _MARKS[int(layouts.operations[layout])]
        parts: list[Part] = []
        said = ""
        for half, mark in enumerate(marks):
            if not mark:
                continue
            said += f"{INDENT} {mark}"
            there = int.from_bytes(layouts.bitmaps[layout, half].tobytes(), "little")
            for place, index in enumerate(self.table.chosen):
                if not there >> index & 1:
                    continue
                said += f" {self._labels[place]}="
                parts.append(Part(said.encode(), *self._texts(place, halves[half][place])))
                said = ""
            if not there:
                said += " (no columns)"
            said += "\n"
        return joined([*parts, Part(said.encode(), None)], b"NULL", rows)

    def _texts(self, place: int, array: pa.Array) -> tuple[pa.Array, int]:
        """The texts of a column's cells, and how they stand in the line."""
        plan = self.table.plans[place]
        code, kind = plan.column.type_code, array.type
        if pa.types.is_binary(kind):
            return array, HEX
        if code in _FLOATS and pa.types.is_floating(kind):
            return shown_floats(array, single=code == WireType.FLOAT), PLAIN
        texts = cell_texts(plan, array)
        if code == WireType.YEAR:
            return pc.utf8_lpad(texts, 4, "0"), PLAIN
        quoted = self._is_quoted[place]
        by_codec = not pa.types.is_string(kind) and (quoted or pa.types.is_fixed_size_binary(kind))
        if by_codec and pc.any(pc.starts_with(texts, "0x")).as_py():
            raise Unsaid
        return (shown_texts(texts), QUOTED) if quoted else (texts, PLAIN)


def shown_floats(array: pa.Array, *, single: bool) -> pa.Array:
    values = numbers_of(array)
    size = np.abs(values)
    texts = array.cast(pa.string())
    is_other = (size != 0) & ~((size >= _LEAST) & (size < _END))
    if array.null_count:
        is_other &= array.is_valid().to_numpy(zero_copy_only=False)
    if not is_other.any():
        return texts
    others = np.flatnonzero(is_other)
    shown = [float_text(value, single) for value in values[others].tolist()]
    if None in shown:
        raise Unsaid
    mask = pa.Array.from_buffers(
        pa.bool_(), len(array), [None, pa.py_buffer(np.packbits(is_other, bitorder="little"))], 0
    )
    return pc.replace_with_mask(texts, mask, strings_of([text or "" for text in shown]))


def shown_texts(texts: pa.Array) -> pa.Array:
    """As forge.events.plain.printable, of each."""
    whole = spans(texts)[1].tobytes()
    other = whole.translate(None, _PLAIN_BYTES)
    if not other:
        return texts
    if not other.translate(None, _ESCAPED_BYTES).decode().isprintable():
        made = strings_of([printable(text or "") for text in texts.to_pylist()])
        return pc.if_else(texts.is_valid(), made, pa.nulls(len(texts), pa.string())) if texts.null_count else made
    if b"\\" in other:
        texts = pc.replace_substring(texts, "\\", "\\\\")
    return pc.replace_substring(texts, "'", "\\'") if b"'" in other else texts
