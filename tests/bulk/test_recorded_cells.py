"""Every recorded cell read in bulk and written again: the bytes are those of the server."""

from __future__ import annotations

import pytest

pytest.importorskip("numba", reason="the extra [rows] is not installed")
pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")

from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from forge.bulk.registry import column_plan
from forge.decode.decode import canonical_rows
from forge.errors import ForgeError
from forge.values.base import Column
from forge.values.wire_types import WireType
from tests.bulk.cells import ODD, Cell, array_of, cells_written
from tests.recorded import LOGS, RECORDINGS

pytestmark = pytest.mark.slow

#: Left out: text does not tell the types inside a document that SQL put there, nor what an update left between them.
_DOCUMENTS = (WireType.JSON, WireType.TYPED_ARRAY)
#: The server's line, which these columns do not know here, tells whether the years after 2038 can be written, and what
#: a GEOMETRYCOLLECTION column holds.
_OF_LINE = (WireType.TIMESTAMP, WireType.TIMESTAMP2, WireType.GEOMETRY)


@pytest.mark.parametrize("log", LOGS, ids=lambda log: str(log.relative_to(RECORDINGS)))
def test_recorded_cells_are_written_as_they_were_read(log: Path) -> None:
    cells: dict[Column, list[Cell]] = defaultdict(list)
    with suppress(ForgeError):  # Some logs end in an error; the rows before it count.
        for change in canonical_rows(log.read_bytes()):
            for cell in (*(change.before or ()), *(change.after or ())):
                if cell.raw is not None and cell.column.type_code not in _DOCUMENTS:
                    cells[cell.column].append(cell.raw)
    for column, recorded in cells.items():
        plan = column_plan(column)
        assert plan is not None
        array, odd = array_of(plan, recorded)
        kept = [row for row in range(len(recorded)) if row not in odd]
        written = cells_written(plan, array.take(pa.array(kept, pa.int64())))
        if column.type_code in _OF_LINE:
            assert all(cell in (recorded[row], ODD) for row, cell in zip(kept, written, strict=True))
        else:
            assert written == [recorded[row] for row in kept]
