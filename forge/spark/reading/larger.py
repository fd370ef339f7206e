"""Batches of the size that is cheapest for Spark: each batch has overhead, and large ones need new memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

#: Rows of a batch, and its bytes: whatever comes first.
_ROWS = 1 << 13
_BYTES = 1 << 22


def larger(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in fewer batches; those of one batch have one schema."""
    held: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        if held and held[0].schema != batch.schema:
            yield _joined(held)
            held, rows, size = [], 0, 0
        held.append(batch)
        rows += len(batch)
        if rows < _ROWS:  # To count bytes takes as long as to make them for a while.
            size += batch.nbytes
        if rows >= _ROWS or size >= _BYTES:
            yield _joined(held)
            held, rows, size = [], 0, 0
    if held:
        yield _joined(held)


def _joined(held: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(held) == 1:
        return held[0]
    columns = [pa.concat_arrays([batch.column(place) for batch in held]) for place in range(held[0].num_columns)]
    return pa.RecordBatch.from_arrays(columns, schema=held[0].schema)
