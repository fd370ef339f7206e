"""Record batches of the row events of a list: where the cells are, then column after column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.binlog.row_counts import OPERATIONS
from forge.bulk.gather import bitmap_of, nulls_of
from forge.bulk.plan import Cells, ColumnPlan, Read, Spans, strings_of, utf8
from forge.bulk.reading import beside
from forge.bulk.reading.odd import OnOdd, present_odd, replaced, text_of, with_nulls
from forge.bulk.reading.row_walk import FULL, MISFIT, CellPlaces
from forge.bulk.reading.tables import Table, fill_absent
from forge.bulk.reading.window import RowIndexes, Window
from forge.bulk.reused import Reused
from forge.errors import FormatError
from forge.events.row_image import OLD_TEMPORALS

#: Cells of a batch at most, so that what the walk notes of them stays within a few MiB.  Tables of many columns have
#: some rows all the same.
_MOST_CELLS = 1 << 20
_LEAST_ROWS = 1 << 8
_OPERATIONS = strings_of(OPERATIONS)
_FIRST = np.zeros(1, np.int32)


@dataclass(frozen=True, slots=True)
class Misfit:
    """The row event, by its index in the list, whose rows do not fit its columns."""

    event: int


class _Walk:
    """Where cells are, and what is left out there.  One thread uses it at a time, for one window after the other."""

    def __init__(self, table: Table) -> None:
        self.places = CellPlaces(max(_MOST_CELLS, _LEAST_ROWS * table.lines), beside.MOST_ROWS)
        self._table = table
        #: The layouts of the events before, and what they leave out (forge.bulk.reading.tables.fill_absent).
        self._used: tuple[int, ...] = ()
        self.filled = np.zeros(0, np.uint8)

    @property
    def is_uniform(self) -> bool:
        """Whether all events that are walked have the same layout."""
        return len(self._used) == 1

    def use(self, layouts: npt.NDArray[np.int64]) -> None:
        """What is walked next has these layouts."""
        used = (int(layouts[0]),) if beside.is_one(layouts) else tuple(np.unique(layouts).tolist())
        if used != self._used:
            self._used, self.filled = used, fill_absent(self._table, used)
            self.places.use(self.filled)


class Batches:
    """Batches of one table.  ``schema`` holds for all of them."""

    #: The types of the columns beside rows: numbers may have more bits, times a finer unit, texts no dictionary.
    beside_types: ClassVar[Mapping[str, pa.DataType]] = beside.BESIDE

    def __init__(self, table: Table, on_odd: OnOdd, shown: tuple[str, ...], file: str) -> None:
        self.table = table
        self._on_odd = on_odd
        self._shown = shown
        self._file = file
        self._file_word = strings_of([utf8(file)])
        self._kept = beside.Kept()
        #: Those that no thread uses.
        self._free: Reused[_Walk] = Reused()
        #: No event says how many fractional digits MariaDB's old temporal types have; they are read as without any.
        self._width_is_guessed = any(column.type_code in OLD_TEMPORALS for column in table.columns)
        self._as_text = [on_odd == "text" and plan.can_be_odd for plan in table.plans]
        widths = [plan.wire if plan.is_plain else plan.spans_as for plan in table.plans]
        #: Of the columns that need no kernel of their own: their places, and as what they are gathered.
        self._gathered = {place: width for place, width in enumerate(widths) if width is not None}
        self._empty = [pa.nulls(0, kind) for kind in self._types()]
        self.schema = self._schema()
        self._image = self.schema.field("after").type if table.images == "both" else None
        self._kinds = [(name, self.schema.field(name).type) for name in self._shown]

    def _types(self) -> list[pa.DataType]:
        return [
            pa.string() if text else plan.arrow_type for text, plan in zip(self._as_text, self.table.plans, strict=True)
        ]

    def _schema(self) -> pa.Schema:
        table = self.table
        names = [utf8(table.names[index]) for index in table.chosen]
        columns = [pa.field(name, kind) for name, kind in zip(names, self._types(), strict=True)]
        bitmap = pa.binary((len(table.columns) + 7) // 8)
        if table.images == "both":
            fields = [pa.field("before", pa.struct(columns)), pa.field("after", pa.struct(columns))]
        else:
            fields = columns
        return pa.schema(fields + [pa.field(name, self.beside_types.get(name, bitmap)) for name in self._shown])

    def of(self, window: Window, chosen: RowIndexes) -> Iterator[pa.RecordBatch | Misfit]:
        """As forge.bulk.reading.file_rows.Taker has it."""
        walk = self._free.take() or _Walk(self.table)
        try:
            yield from self._of(window, chosen, walk)
        finally:
            self._free.add(walk)

    def _of(self, window: Window, chosen: RowIndexes, walk: _Walk) -> Iterator[pa.RecordBatch | Misfit]:
        table, rows = self.table, window.rows
        begins, ends, events, groups = (values[chosen] for values in (rows.begins, rows.ends, rows.events, rows.groups))
        if not len(events):
            return
        said = [values[chosen] for values in (rows.places, rows.numbers, rows.times, rows.servers)]
        layouts = rows.layouts[chosen]
        walk.use(layouts)
        fitting = self._fitting(window, begins, ends, layouts, walk) if self._width_is_guessed else len(events)
        event, at = 0, -1
        while event < fitting:
            per_event = np.zeros(len(events), np.int64)
            first = event
            why, event, at, count = walk.places.walk(
                window.buffer, begins[:fitting], ends, layouts, (event, at), table.layouts, per_event
            )
            last = event + 1 if why in (FULL, MISFIT) else event
            if count:
                walked = slice(first, last)
                made = _Made(window, walk, events[walked], layouts[walked], per_event[walked], count)
                yield self._batch(made, groups[walked], [values[walked] for values in said])
            if why == MISFIT:
                yield Misfit(int(events[event]))
                return
        if fitting < len(events):
            yield Misfit(int(events[fitting]))

    def _fitting(
        self,
        window: Window,
        begins: npt.NDArray[np.int64],
        ends: npt.NDArray[np.int64],
        layouts: npt.NDArray[np.int64],
        walk: _Walk,
    ) -> int:
        """The first event with a row that does not fit: its rows before that are not what they seem."""
        event, at, per_event = 0, -1, np.zeros(len(begins), np.int64)
        while event < len(begins):
            why, event, at, _ = walk.places.walk(
                window.buffer, begins, ends, layouts, (event, at), self.table.layouts, per_event
            )
            if why == MISFIT:
                break
        return event

    def _batch(self, made: _Made, groups: npt.NDArray[np.int64], said: list[npt.NDArray[Any]]) -> pa.RecordBatch:
        table, count = self.table, made.count
        codes = table.layouts.operations[made.different_layouts]
        arrays = self._structs(made, codes) if table.images == "both" else self._columns(made, 0)
        made.window.counted.rows += count
        arrays += self._beside(made, codes, groups, dict(zip(beside.OF_EVENTS, said, strict=True)))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _structs(self, made: _Made, codes: npt.NDArray[np.int8]) -> list[pa.Array]:
        """The before and the after images; the image that an operation does not have is null."""
        operations = codes[:1] if beside.is_one(codes) else beside.spread(codes, made.counts, made.count)
        return [
            _struct(self._columns(made, half), self._image, operations != without, made.count)
            for half, without in ((0, 0), (1, 2))
        ]

    def _beside(
        self,
        made: _Made,
        codes: npt.NDArray[np.int8],
        groups: npt.NDArray[np.int64],
        of_events: dict[str, npt.NDArray[Any]],
    ) -> list[pa.Array]:
        arrays = []
        counts = made.counts
        for name, kind in self._kinds:
            values: npt.NDArray[Any]
            texts = None
            if name in of_events:
                values = beside.in_type(of_events[name], kind)
            elif name == "_operation":
                values, texts = codes, _OPERATIONS
            elif name == "_file":
                values, texts = _FIRST, self._file_word
            elif name == "_gtid":
                texts, values = made.window.gtids_of(groups)
            else:
                values = self._bitmaps(name, made.different_layouts)
            arrays.append(self._kept.array(name, kind, values, texts, counts, made.count))
        return arrays

    def _bitmaps(self, name: str, layouts: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        """The bitmaps of layouts, of the image that the column is about."""
        table = self.table
        image: Any = 0 if name == "_present_before" else 1
        if name == "_present":
            image = (table.layouts.shown[layouts, 1] == 0).astype(np.int64)
        chosen: npt.NDArray[np.uint8] = table.layouts.bitmaps[layouts, image]
        return chosen

    def _columns(self, made: _Made, half: int) -> list[pa.Array]:
        arrays = []
        first = half * len(self.table.plans)
        known = self._known_columns(made, first)
        for place, plan in enumerate(self.table.plans):
            if made.walk.filled[first + place] == 2:
                arrays.append(self._nothing(place, made.count))
                continue
            if plan.is_plain and not known[place][1]:
                arrays.append(plan.array(made.count, None, 0, known[place][0]))
                continue
            before = self._before(made, half, place) if plan.reads_diffs else None
            cells = made.walk.places.cells(made.window.buffer, first + place, made.count, before)
            read, nulls = known.get(place) or (plan.read(cells), int(nulls_of(cells.offsets)))
            arrays.append(self._array(made, place, plan, cells, read, nulls))
        return arrays

    def _known_columns(self, made: _Made, first: int) -> dict[int, tuple[Read, int]]:
        """By its place each of the columns that need no kernel of their own, and how many NULLs it has."""
        filled, plans = made.walk.filled, self.table.plans
        chosen = [place for place in self._gathered if filled[first + place] != 2]
        if not chosen:
            return {}
        lines = [first + place for place in chosen]
        widths = [self._gathered[place] for place in chosen]
        found, nulls = made.walk.places.gathered(made.window.buffer, lines, widths, made.count)
        reads = [
            plans[place].read_spans(values) if isinstance(values, Spans) else Read((values,))
            for place, values in zip(chosen, found, strict=True)
        ]
        return dict(zip(chosen, zip(reads, nulls, strict=True), strict=True))

    def _before(self, made: _Made, half: int, place: int) -> Cells | None:
        """The cells of the before image, where diffs in this half can apply to them."""
        other = 0 if self.table.images == "both" else 1
        line = other * len(self.table.plans) + place
        if half == other or other == self.table.walked or made.walk.filled[line] == 2:
            return None
        return made.walk.places.cells(made.window.buffer, line, made.count)

    def _nothing(self, place: int, count: int) -> pa.Array:
        empty = self._empty[place]
        if len(empty) < count:
            empty = self._empty[place] = pa.nulls(max(count, min(2 * count, beside.MOST_ROWS)), empty.type)
        return empty.slice(0, count)

    def _array(
        self, made: _Made, place: int, plan: ColumnPlan, cells: Cells, read: Read, nulls: int
    ) -> pa.Array:  # fmt: skip
        """The column of cells, ``nulls`` of which are NULL, from what their plan read."""
        count = len(cells)
        odd = present_odd(read, cells)
        texts: list[str] = []
        shown = cells
        if len(odd):
            texts = self._odd(made, place, plan, cells, odd)
            shown = with_nulls(cells, odd)
            nulls = int(nulls_of(shown.offsets))
        bitmap = pa.py_buffer(bitmap_of(shown.offsets)) if nulls else None
        array = plan.array(count, bitmap, nulls, read)
        if self._as_text[place]:
            array = plan.as_text(array)
        if texts:
            array = replaced(array, odd, texts)
        return array

    def _odd(self, made: _Made, place: int, plan: ColumnPlan, cells: Cells, odd: Any) -> list[str]:
        """The texts of odd cells, none if they become NULL.  Raises FormatError where they are errors."""
        name = self.table.names[self.table.chosen[place]]
        texts = []
        for row in odd.tolist():
            text, problem = text_of(plan, cells, row)
            if self._on_odd == "error" or (self._on_odd == "text" and not self._as_text[place]):
                raise made.value_error(f"column {name}: {problem}", row, int(cells.offsets[row])).in_file(self._file)
            texts.append(text)
        summary = made.window.counted
        summary.odd += len(odd)
        summary.by_reference += len(odd)
        summary.odd_columns[name] = summary.odd_columns.get(name, 0) + len(odd)
        return texts if self._on_odd == "text" else []


@dataclass(frozen=True, slots=True)
class _Made:
    """What a batch is made of: ``count`` rows of the ``picked`` events of a list, ``per_event`` of each."""

    window: Window
    walk: _Walk
    picked: npt.NDArray[np.int64]
    layouts: npt.NDArray[np.int64]
    per_event: npt.NDArray[np.int64]
    count: int

    @property
    def counts(self) -> npt.NDArray[np.int64] | None:
        """``per_event``; None if each event has one row."""
        is_one_each = self.count == len(self.per_event) and (self.per_event == 1).all()
        return None if is_one_each else self.per_event

    @property
    def different_layouts(self) -> npt.NDArray[np.int64]:
        """The layouts of the events; the first stands for all if they are the same."""
        return self.layouts[:1] if self.walk.is_uniform else self.layouts

    def value_error(self, rule: str, row: int, offset: int) -> FormatError:
        """An error of a cell of that row, whose bytes are at ``offset`` of the buffer."""
        event = int(self.picked[int(np.searchsorted(np.cumsum(self.per_event), row, side="right"))])
        events = self.window.events
        place, begin = int(events.places[event]), int(events.begins[event])
        # A cell that was unpacked has no place in the file but that of its event.
        plain = begin < events.unpacked_from
        return FormatError(
            rule,
            phase="value",
            offset=place + offset - begin if plain else place,
            event_index=int(events.numbers[event]),
        )


def _struct(columns: list[pa.Array], kind: pa.StructType, there: npt.NDArray[np.bool_], rows: int) -> pa.Array:
    """The rows of an image; ``there`` has one item for all of them, or one each."""
    if there.all():
        return pa.Array.from_buffers(kind, rows, [None], 0, children=columns)
    there = np.broadcast_to(there, rows)
    bitmap = pa.py_buffer(np.packbits(there, bitorder="little"))
    return pa.Array.from_buffers(kind, rows, [bitmap], int(rows - there.sum()), children=columns)
