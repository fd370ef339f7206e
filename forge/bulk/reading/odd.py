"""What Arrow cannot say, or a kernel does not know: such a cell goes to the reference codec, and is never changed in
silence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from forge.bulk.plan import Cells, ColumnPlan, Read, strings_of
from forge.errors import ForgeError, FormatError
from forge.values.literals import shortened
from forge.values.registry import codec_for

#: What is done with a cell that Arrow cannot say: an error, NULL, or text for the whole column.
OnOdd = Literal["error", "null", "text"]


@dataclass(slots=True)
class ReadSummary:
    """What a reader has done so far: rows, cells that Arrow could not say, and cells that the reference path read."""

    rows: int = 0
    odd: int = 0
    by_reference: int = 0
    #: Odd cells by column.
    odd_columns: dict[str, int] = field(default_factory=dict)

    def add(self, other: ReadSummary) -> None:
        self.rows += other.rows
        self.odd += other.odd
        self.by_reference += other.by_reference
        for name, count in other.odd_columns.items():
            self.odd_columns[name] = self.odd_columns.get(name, 0) + count

    def clear(self) -> None:
        self.rows = self.odd = self.by_reference = 0
        self.odd_columns.clear()


def raw_cell(plan: ColumnPlan, cells: Cells, row: int) -> bytes:
    """The cell's bytes as the codec wants them, length prefix included; of diffs likewise."""
    begin = int(cells.offsets[row])
    if plan.wire > 0:
        return cells.buffer[begin : begin + plan.wire].tobytes()
    length = int(cells.lengths[row])
    length = -1 - length if length < 0 else length
    return cells.buffer[begin + plan.wire : begin + length].tobytes()


def text_of(plan: ColumnPlan, cells: Cells, row: int) -> tuple[str, str]:
    """(text, problem) of an odd cell: the text of the canonical decode, or ``0x`` and its bytes where it has none.

    The problem says why it is odd.
    """
    column, raw = plan.column, raw_cell(plan, cells, row)
    codec = codec_for(column)
    try:
        if plan.reads_diffs and cells.lengths[row] < 0:
            from forge.bulk.json.cells import cell_text, diffs_text

            cell_text(cells, row)  # raises what is wrong with the diffs
            return diffs_text(cells, row), "the document that a partial update changes is not logged"
        value = codec.decode(column, raw)
        text = codec.text(column, value)
    except FormatError as error:
        return f"0x{raw.hex()}", error.rule
    except ForgeError as error:
        return f"0x{raw.hex()}", str(error)
    if text is None:
        shown = value if isinstance(value, bytes) else raw
        return f"0x{shown.hex()}", f"{codec.type_name(column)} {shortened(repr(shown[:80]))} has no text"
    return text, f"{codec.type_name(column)} {text!r} has no Arrow value"


def with_nulls(cells: Cells, rows: Any) -> Cells:
    """The cells with those rows NULL."""
    offsets = cells.offsets.copy()
    offsets[rows] = np.minimum(offsets[rows], -1)
    return Cells(cells.buffer, offsets, cells.lengths)


def replaced(array: pa.Array, rows: Any, texts: list[str]) -> pa.Array:
    """A string array with other texts in those rows."""
    import pyarrow.compute as pc

    mask = np.zeros(len(array), bool)
    mask[rows] = True
    bits = pa.py_buffer(np.packbits(mask, bitorder="little"))
    return pc.replace_with_mask(array, pa.Array.from_buffers(pa.bool_(), len(mask), [None, bits]), strings_of(texts))


def present_odd(read: Read, cells: Cells) -> Any:
    """The odd rows that have a value."""
    return read.odd[cells.offsets[read.odd] >= 0] if len(read.odd) else read.odd
