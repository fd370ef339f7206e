"""The rows of every recorded log: read cell by cell into Arrow, and written again to the same bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the extra `rows` is not installed")
pytest.importorskip("pyarrow", reason="the extra `rows` is not installed")

import numpy as np
import pyarrow as pa

from forge.binlog.logged import logged_events
from forge.binlog.mapped import ends_a_statement, mapped_columns
from forge.bulk.plan import NULL, slacked
from forge.bulk.registry import column_plan
from forge.bulk.writing.row_images import ImageCells, row_sizes, write_rows_at
from forge.bulk.writing.wire_columns import ColumnWriter
from forge.errors import FormatError, UnsupportedError
from forge.events.row_image import ChangedRow, Image, build_rows, images_of, parse_rows, present_columns, row_bytes
from forge.events.rows import ROWS_BODIES, PartialUpdateRows, RowsBody
from forge.events.table_map import TableMap
from forge.values.base import Column
from forge.values.dialect import dialect_of
from forge.values.registry import codec_for
from forge.values.wire_types import WireType
from tests.bulk.cells import array_of
from tests.recorded import LOGS, RECORDINGS

pytestmark = pytest.mark.slow


def rows_events(data: bytes) -> Iterator[tuple[RowsBody, tuple[Column, ...]]]:
    """The rows events of a log with the columns of their tables, as far as it can be read."""
    tables: dict[int, tuple[Column, ...]] = {}
    try:
        for logged in logged_events(data):
            body = logged.body
            if isinstance(body, TableMap):
                columns = mapped_columns(logged.placed, body, inner=logged.inner > 0)
                dialect = dialect_of("mariadb-11.8" if logged.placed.format.mariadb else "mysql-9.7")
                tables[body.table_id] = tuple(replace(column, dialect=dialect) for column in columns)
            elif isinstance(body, ROWS_BODIES) and not ends_a_statement(body):
                yield body, tables[body.table_id]
    except (FormatError, UnsupportedError):
        return


def array_for(column: Column, cells: Sequence[bytes | None]) -> pa.Array:
    """The column in Arrow; as text where Arrow cannot say a cell."""
    plan = column_plan(column)
    assert plan is not None
    array, odd = array_of(plan, [NULL if cell is None else cell for cell in cells])
    if not odd:
        return array
    codec = codec_for(column)
    return pa.array(
        [None if cell is None else codec.text(column, codec.decode(column, cell)) for cell in cells], pa.string()
    )


def with_new_documents(row: ChangedRow, bitmaps: Sequence[bytes | None], columns: Sequence[Column]) -> ChangedRow:
    """The row with documents as they are made of their texts: without what an update left behind in one, and types
    that JSON text does not have.
    """
    images: list[Image | None] = []
    for image, bitmap in zip((row.before, row.after), bitmaps, strict=True):
        if image is None or bitmap is None:
            images.append(None)
            continue
        present = [columns[index] for index in present_columns(bitmap, len(columns))]
        cells = tuple(new_document(*each) for each in zip(present, image.cells, strict=True))
        images.append(replace(image, cells=cells))
    return ChangedRow(*images)


def new_document(column: Column, cell: bytes | None) -> bytes | None:
    if cell is None or column.type_code != WireType.JSON:
        return cell
    codec = codec_for(column)
    return codec.encode(column, codec.accept(column, codec.text(column, codec.decode(column, cell))))


def written(images: Sequence[Sequence[Image]], present: Sequence[Sequence[Column]]) -> bytes:
    """The rows with these images (all before, then all after)."""
    made = []
    for rows, columns in zip(images, present, strict=True):
        by_column = list(zip(*(row.cells for row in rows), strict=True)) if columns else []
        cells = [
            ColumnWriter(column).write(array_for(column, cells), 0)[0]
            for column, cells in zip(columns, by_column, strict=True)
        ]
        made.append(ImageCells(cells, padding=rows[0].padding > 0))
    sizes = row_sizes(made, len(images[0]))
    out = slacked(int(sizes.sum()))
    write_rows_at(made, 0, np.cumsum(sizes) - sizes, out)
    return out[: int(sizes.sum())].tobytes()


@pytest.mark.parametrize("path", LOGS, ids=[str(path.relative_to(RECORDINGS)) for path in LOGS])
def test_rows_that_are_read_are_written_to_the_recorded_bytes(path: Path) -> None:
    for body, columns in rows_events(path.read_bytes()):
        if isinstance(body, PartialUpdateRows):
            continue  # Diffs of documents, which no value of a column stands for.
        try:
            rows = parse_rows(body, columns)
        except (FormatError, UnsupportedError):
            continue  # Columns from before 5.6, whose width no event tells.
        images = [
            ([image for row in rows if (image := row.before if number == 0 else row.after) is not None], bitmap)
            for number, bitmap in enumerate(images_of(body))
            if bitmap is not None
        ]
        present = [[columns[index] for index in present_columns(bitmap, body.width)] for _, bitmap in images]
        expected = row_bytes(body)
        if any(column.type_code == WireType.JSON for column in columns):
            expected = build_rows([with_new_documents(row, images_of(body), columns) for row in rows])
        assert written([rows for rows, _ in images], present) == expected
