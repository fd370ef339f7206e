"""What tests of column plans share: cells made of the bytes of codecs, and what a plan reads and writes, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from forge.bulk.gather import bitmap_of, nulls_of
from forge.bulk.machine import SLACK
from forge.bulk.plan import ABSENT, NULL, Cells, ColumnPlan
from forge.bulk.registry import column_plan
from forge.errors import FormatError
from forge.values.base import Column
from forge.values.registry import codec_for

#: A whole cell as a codec makes it (its length prefix included), or NULL, or ABSENT.
Cell = bytes | int
#: Instead of a value or a cell: the plan leaves the row to the reference codec.
ODD: Final = "(odd)"
#: Stands between cells and behind them: a plan that reads it as a part of a value gets a wrong one.
_BETWEEN = b"\xa5\x5a\xff"


def plan_of(column: Column) -> ColumnPlan:
    """The plan of a column that must have one."""
    plan = column_plan(column)
    assert plan is not None, column
    return plan


def cells_of(plan: ColumnPlan, cells: Sequence[Cell]) -> Cells:
    """Cells as the row walk finds them; each must be whole."""
    prefix = max(-plan.wire, 0)
    data, offsets, lengths = bytearray(_BETWEEN), [], []
    for cell in cells:
        if isinstance(cell, int):
            assert cell in (NULL, ABSENT)
            offsets.append(cell)
            lengths.append(0)
            continue
        assert len(cell) == plan.wire if plan.wire > 0 else len(cell) >= prefix
        offsets.append(len(data) + prefix)
        lengths.append(len(cell) - prefix if prefix else 0)
        data += cell + _BETWEEN
    buffer = np.frombuffer(bytes(data + _BETWEEN * SLACK), np.uint8).copy()
    return Cells(buffer, np.array(offsets, np.int32), np.array(lengths, np.int32))


def array_of(plan: ColumnPlan, cells: Sequence[Cell]) -> tuple[pa.Array, set[int]]:
    """The Arrow array that a plan reads, and which rows are odd.  The array is checked by Arrow, odd rows as well."""
    found = cells_of(plan, cells)
    nulls = int(nulls_of(found.offsets))
    read = plan.read(found)
    odd = read.odd.tolist()
    assert odd == sorted(set(odd))
    bitmap = pa.py_buffer(bitmap_of(found.offsets)) if nulls else None
    array = plan.array(len(cells), bitmap, nulls, read)
    array.validate(full=True)
    assert array.type == plan.arrow_type
    return array, set(odd)


def values_read(column: Column, cells: Sequence[Cell]) -> list[Any]:
    """What the column's plan makes of the cells, as Python values: ODD, None for a row that has no value."""
    array, odd = array_of(plan_of(column), cells)
    return [ODD if row in odd else array[row].as_py() for row in range(len(cells))]


def values_decoded(column: Column, cells: Sequence[Cell]) -> list[Any]:
    """What the column's codec makes of them, as Python values; ODD for malformed cells."""
    return [None if isinstance(cell, int) else _decoded(column, cell) for cell in cells]


def _decoded(column: Column, cell: bytes) -> Any:
    codec = codec_for(column)
    try:
        return codec.python_value(column, codec.decode(column, cell))
    except FormatError:
        return ODD


def cells_written(plan: ColumnPlan, array: pa.Array) -> list[bytes | str | None]:
    """The whole cells that a plan writes: ODD, None for NULL.  The same comes of the array behind other rows."""
    cells = _cells_written(plan, array)
    others = pa.concat_arrays([array, array])
    assert _cells_written(plan, others.slice(len(array))) == cells
    return cells


def _cells_written(plan: ColumnPlan, array: pa.Array) -> list[bytes | str | None]:
    wire = plan.write(array)
    odd = wire.odd.tolist()
    assert odd == sorted(set(odd))
    cells: list[bytes | str | None] = []
    for row in range(len(array)):
        if not array[row].is_valid:
            cells.append(None)
        elif row in odd:
            cells.append(ODD)
        elif plan.wire > 0:
            cells.append(wire.values[row * plan.wire : (row + 1) * plan.wire].tobytes())
        else:
            assert wire.starts is not None
            assert wire.lengths is not None
            begin, length = int(wire.starts[row]), int(wire.lengths[row])
            assert 0 <= begin <= begin + length <= len(wire.values)
            cells.append(length.to_bytes(-plan.wire, "little") + wire.values[begin : begin + length].tobytes())
    return cells
