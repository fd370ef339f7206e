"""The cells of changes: their columns in wire form, and how many rows the reference codecs had to make."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from forge.bulk.writing.changes import Changes, ImageColumns
from forge.bulk.writing.row_images import ImageCells, Sizes, row_sizes
from forge.bulk.writing.templates import RowsTemplate
from forge.bulk.writing.wire_columns import ColumnWriter
from forge.errors import ScenarioError
from forge.plan.tables import Table
from forge.servers import ServerLine
from forge.values.base import Column

#: Parts that are made while one is used.
_AHEAD: Final = 2


@dataclass(frozen=True, slots=True)
class RowsToWrite:
    """Changes, the rows event that they are written to, the images of the rows, and the bytes that each row takes."""

    changes: Changes
    template: RowsTemplate
    images: Sequence[ImageCells]
    sizes: Sizes


class _Made(NamedTuple):
    """Rows, and how many of them have a cell that was made by the reference codec."""

    rows: RowsToWrite
    by_reference: int


class CellWriter:
    """Makes the images of changes of one table's rows."""

    def __init__(self, table: Table, columns: Sequence[Column], line: ServerLine, workers: Executor) -> None:
        self.table = table
        self.padding = line.rows.null_padding
        self._columns = columns
        self._workers = workers
        self._writers: dict[int, ColumnWriter] = {}
        #: Rows in which a cell was made by the reference codec.
        self.by_reference = 0

    def least_bytes(self, changes: Changes, rows: RowsTemplate) -> int:
        """Bytes that the rows' images have at least: the cells of a fixed width."""
        least = 0
        for image, indexes in ((changes.before, rows.before), (changes.after, rows.after)):
            for index in indexes or ():
                array = None if image is None else image.arrays.get(index)
                plan = self._writer(index).plan
                if array is not None and plan is not None and plan.wire > 0:
                    least += plan.wire * (len(array) - array.null_count)
        return least

    def images_of(
        self, parts: Iterable[Changes], template: Callable[[Changes], RowsTemplate], first_row: int
    ) -> Iterator[RowsToWrite]:
        """What is to be written of each part; that of the next ones is made while one is used.

        ``first_row``: the number of the first row in all that is written, for errors.
        """
        waiting = iter(parts)
        part = next(waiting, None)
        ahead: deque[Future[_Made]] = deque()
        while part is not None or ahead:
            following = next(waiting, None) if part is not None else None
            if part is not None and following is None and not ahead:
                yield self._counted(self._made(part, template(part), first_row))
                return
            if part is not None:
                ahead.append(self._workers.submit(self._made, part, template(part), first_row))
                first_row += part.rows
                part = following
            if part is None or len(ahead) > _AHEAD:
                yield self._counted(ahead.popleft().result())

    def _counted(self, made: _Made) -> RowsToWrite:
        self.by_reference += made.by_reference
        return made.rows

    def _made(self, changes: Changes, rows: RowsTemplate, first_row: int) -> _Made:
        by_reference: set[int] = set()
        images = []
        for image, indexes in ((changes.before, rows.before), (changes.after, rows.after)):
            if image is not None and indexes is not None:
                cells = [
                    self._writer(index).write(self._array(image, index, first_row), first_row) for index in indexes
                ]
                by_reference.update(row for _, odd in cells for row in odd)
                images.append(ImageCells([column for column, _ in cells], self.padding))
        return _Made(RowsToWrite(changes, rows, images, row_sizes(images, changes.rows)), len(by_reference))

    def _writer(self, index: int) -> ColumnWriter:
        if index not in self._writers:
            self._writers[index] = ColumnWriter(self._columns[index])
        return self._writers[index]

    def _array(self, image: ImageColumns, index: int, first_row: int) -> pa.Array:
        array = image.arrays.get(index)
        column = self.table.columns[index]
        if array is None:
            raise ScenarioError(
                f"the batches have no column {column.name!r}, which the row images of {self.table.full_name} have"
            )
        if array.null_count and not column.nullable:
            row = first_row + int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
            raise ScenarioError(f"row {row + 1}, column {column.name!r}: NULL in a column that is NOT NULL")
        return array
