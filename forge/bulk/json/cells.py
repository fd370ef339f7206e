"""JSON cells in bulk with nothing left out: what the kernels do not take, the reference does.

A row stays odd only if the reference refuses it: the error is the one that it raises for this row.
"""

from __future__ import annotations

import numpy as np

from forge.bulk.gather import spans
from forge.bulk.json.binary import Documents
from forge.bulk.json.text import Texts, documents_text
from forge.bulk.plan import Cells
from forge.bulk.text.form import spliced
from forge.errors import FormatError
from forge.values.json.binary import decode_document
from forge.values.json.diff import Diff, apply_diffs, format_diffs, parse_diffs
from forge.values.json.text import format_json


def json_texts(cells: Cells) -> Texts:
    """The texts of a batch of JSON cells; of a partial update that of the document after it.

    Odd are the rows for which :func:`cell_text` raises FormatError, or has no text.
    """
    texts = documents_text(cells.buffer, cells.offsets, cells.lengths)
    found: dict[int, bytes] = {}
    refused = []
    for row in texts.odd.tolist():
        try:
            text = cell_text(cells, row)
        except FormatError:
            text = None
        if text is None:
            refused.append(row)
        else:
            found[row] = text.encode()
    if not found:
        return texts
    offsets, data = spliced(texts.offsets, texts.data, found)
    return Texts(offsets, data, np.array(refused, np.int32))


def json_bytes(cells: Cells) -> Documents:
    """The documents of a batch of JSON cells as they are stored; of a partial update the document after it.

    Odd are diffs that do not apply, and those whose old document is not known.
    """
    patches = np.flatnonzero((cells.lengths < 0) & (cells.offsets >= 0)).astype(np.int32)
    if not len(patches):
        ends, data, _ = spans(cells)
        return Documents(ends, data, patches)
    found: dict[int, bytes] = {}
    refused = []
    for row in patches.tolist():
        try:
            document = _patched(cells, row)
        except FormatError:
            document = None
        if document is None:
            refused.append(row)
        else:
            found[row] = document
    ends, data, _ = spans(Cells(cells.buffer, cells.offsets, np.maximum(cells.lengths, 0)))
    if found:
        ends, data = spliced(ends, data, found)
    return Documents(ends, data, np.array(refused, np.int32))


def cell_text(cells: Cells, row: int) -> str | None:
    """The text of one cell by the reference; of diffs that of the document after them, None if the old is not known.

    Raises FormatError (phase "value") for a cell that is neither, and for diffs that do not apply.
    """
    document = _stored(cells, row) if cells.lengths[row] >= 0 else _patched(cells, row)
    return None if document is None else format_json(decode_document(document))


def _stored(cells: Cells, row: int) -> bytes:
    begin, length = int(cells.offsets[row]), int(cells.lengths[row])
    return cells.buffer[begin : begin + length].tobytes()


def _patched(cells: Cells, row: int) -> bytes | None:
    """The document after the diffs of that row; None if the old one is not known."""
    diffs, before = _diffs(cells, row), cells.before
    return None if before is None or before.offsets[row] < 0 else apply_diffs(_stored(before, row), diffs)


def diffs_text(cells: Cells, row: int) -> str:
    """The functions that make the change of a partial update, as the canonical decode prints them."""
    return format_diffs(_diffs(cells, row))


def _diffs(cells: Cells, row: int) -> tuple[Diff, ...]:
    begin, length = int(cells.offsets[row]), -1 - int(cells.lengths[row])
    return parse_diffs(cells.buffer[begin : begin + length].tobytes())
