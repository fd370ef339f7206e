"""The tables that a file maps, as readers of their rows need them: plans of the columns, layouts of the events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.binlog.reader import PlacedEvent
from forge.bulk.plan import ColumnPlan
from forge.bulk.reading.row_walk import Layout, Layouts
from forge.bulk.registry import column_plan
from forge.errors import ScenarioError, UnsupportedError, nearest
from forge.events.columns import names_of_records
from forge.events.format import HEADER_SIZE
from forge.events.mariadb_compressed import uncompressed
from forge.events.row_image import images_of, present_columns
from forge.events.rows import ROWS_BODIES, PartialUpdateRows
from forge.values.base import Column
from forge.values.registry import codec_for
from forge.values.wire_types import WireType

#: Which image a row shows; rows with one image show that one.
Images = Literal["after", "before", "both"]
#: What the documents of JSON columns are: text as the server prints it, or binary as it is stored.
JsonForm = Literal["text", "binary"]

_JSON = (WireType.JSON, WireType.TYPED_ARRAY)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is asked of the rows: their images, the columns by name (None: all), names for columns that have none, and
    the form of JSON documents.
    """

    images: Images = "after"
    columns: tuple[str, ...] | None = None
    names: tuple[str, ...] | None = None
    json: JsonForm = "text"


@dataclass(slots=True)
class Table:
    """One table definition: what its TABLE_MAP says, and what was chosen of it.

    ``chosen`` are the indexes of the columns that batches have, in their order.
    """

    name: str
    columns: tuple[Column, ...]
    names: tuple[str, ...]
    chosen: tuple[int, ...]
    plans: tuple[ColumnPlan, ...]
    layouts: Layouts
    images: Images

    @property
    def halves(self) -> int:
        return 2 if self.images == "both" else 1

    @property
    def walked(self) -> int:
        """Halves whose cells are looked for: those that are shown, and the before image if diffs can apply to it."""
        with_diffs = self.images == "after" and any(plan.reads_diffs for plan in self.plans)
        return 2 if with_diffs else self.halves

    @property
    def lines(self) -> int:
        """Lines of cells that a walk fills (forge.bulk.reading.row_walk)."""
        return self.walked * max(len(self.chosen), 1)

    def add_layout(self, layout: Layout) -> int:
        """The number of a layout of this table's row events."""
        before, after = self._shown(layout)
        if layout.partial and self.walked > self.halves:
            before = 1
        return self.layouts.add(layout, (before, after))

    def _shown(self, layout: Layout) -> tuple[int, int]:
        """The halves that the before and the after image fill, -1 for none."""
        if self.images == "both":
            return 0, 1
        after = layout.before is None or (layout.after is not None and self.images == "after")
        return (-1, 0) if after else (0, -1)


def table_of(name: str, columns: tuple[Column, ...], chosen: Chosen) -> Table:
    """The table of a TABLE_MAP with these columns.

    Raises ScenarioError for chosen columns that it does not have, UnsupportedError for types without codec or kernel,
    FormatError for metadata that no such type has.
    """
    names = _names(name, columns, chosen)
    indexes = _indexes(name, names, chosen.columns)
    plans: list[ColumnPlan] = []
    for column in columns:
        plan = column_plan(column)
        if plan is None:
            codec_for(column)
            raise UnsupportedError(f"no kernel reads columns of the wire type {column.type_code}")
        plans.append(plan.of_type(pa.binary()) if chosen.json == "binary" and column.type_code in _JSON else plan)
    targets = [indexes.index(column) if column in indexes else -1 for column in range(len(columns))]
    json_columns = [index for index, column in enumerate(columns) if column.type_code == WireType.JSON]
    layouts = Layouts([plan.wire for plan in plans], json_columns, targets, max(len(indexes), 1))
    return Table(name, columns, names, indexes, tuple(plans[i] for i in indexes), layouts, chosen.images)


def _names(table: str, columns: tuple[Column, ...], chosen: Chosen) -> tuple[str, ...]:
    """The columns' names (forge.events.columns.names_of_records), or those that were given.

    Raises ScenarioError for given names that are too many or too few, or not all different.
    """
    if chosen.names is not None:
        if len(chosen.names) != len(columns):
            raise ScenarioError(f"{len(chosen.names)} names were given for {table}, which has {len(columns)} columns")
        if names_of_records(chosen.names) != chosen.names:
            raise ScenarioError(
                f"the names for the columns of {table} are not all different, or those of columns beside rows"
            )
        return chosen.names
    return names_of_records(column.name for column in columns)


def _indexes(table: str, names: tuple[str, ...], wanted: tuple[str, ...] | None) -> tuple[int, ...]:
    if wanted is None:
        return tuple(range(len(names)))
    for name in wanted:
        if name not in names:
            raise ScenarioError(
                f"{table} has no column {name!r}", expected=", ".join(names), suggestion=nearest(name, names)
            )
    return tuple(names.index(name) for name in wanted)


def layout_of(placed: PlacedEvent, columns: int) -> Layout | None:
    """The layout of a row event of a table with so many columns; None if the event has another number of columns."""
    body = uncompressed(placed.event.body)
    assert isinstance(body, ROWS_BODIES)
    if body.width != columns:
        return None
    before, after = (None if bitmap is None else present_columns(bitmap, columns) for bitmap in images_of(body))
    # As it stands in the log, if it does: a number of columns may take more bytes than it needs.
    stands = body is placed.event.body
    data = placed.raw[HEADER_SIZE : placed.unchecked_size] if stands else body.build(placed.format)
    header = data[placed.format.table_id_size + 2 : len(data) - len(body.rows)]
    return Layout(body.type_code, header, before, after, isinstance(body, PartialUpdateRows))


def fill_absent(table: Table, used: tuple[int, ...]) -> npt.NDArray[np.uint8]:
    """For every line: 1 if the column is in one of the layouts but not in all, 0 if it is
    there in all, 2 if in none.
    """
    layouts = table.layouts
    missing = np.zeros(table.lines, np.int64)
    for layout in used:
        for image in range(2):
            missing[layouts.absent[layout, image, : layouts.absent_counts[layout, image]]] += 1
    return np.where(missing == 0, 0, np.where(missing == len(used), 2, 1)).astype(np.uint8)
