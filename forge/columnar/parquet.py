"""Record batches as a Parquet file, written in a thread of its own while the next batches are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import BinaryIO, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

#: A row group ends with the batch that fills one of these: rows, or bytes of Arrow buffers.  Two groups are in memory.
_MOST_ROWS: Final = 1 << 17
_MOST_BYTES: Final = 1 << 26
#: A column has a dictionary if so many rows of the first group have at most a quarter as many different values.
#: Elsewhere a dictionary costs more time than writing the values, and is given up when it is full (1 MB).
_SAMPLE: Final = 1 << 14


def write_parquet(schema: pa.Schema, batches: Iterable[pa.RecordBatch], file: BinaryIO) -> None:
    """Write batches of ``schema`` to ``file``, compressed with zstd.

    Columns have a dictionary where it pays, judged by the first rows.  Raises what making the batches raises; what has
    been written is no Parquet file then.
    """
    groups = _groups(schema, batches)
    first = next(groups, schema.empty_table())
    with (
        pq.ParquetWriter(file, schema, compression="zstd", use_dictionary=_repetitive(first) or False) as writer,
        ThreadPoolExecutor(max_workers=1) as thread,
    ):
        written = _submitted(thread, writer, first)
        for group in groups:
            written.result()
            written = _submitted(thread, writer, group)
        written.result()


def _submitted(thread: ThreadPoolExecutor, writer: pq.ParquetWriter, group: pa.Table) -> Future[None]:
    written: Future[None] = thread.submit(writer.write_table, group, row_group_size=max(1, group.num_rows))
    return written


def _groups(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= _MOST_ROWS or size >= _MOST_BYTES:
            yield pa.Table.from_batches(held, schema)
            held, rows, size = [], 0, 0
    if held:
        yield pa.Table.from_batches(held, schema)


def _repetitive(group: pa.Table) -> list[str]:
    """The columns with few different values, by their paths in Parquet: ``before.id`` for a field of a struct."""
    sample = group.slice(0, _SAMPLE).flatten()
    return [
        name
        for name, column in zip(sample.column_names, sample.columns, strict=True)
        if pa.types.is_dictionary(column.type) or _repeats(column)
    ]


def _repeats(column: pa.ChunkedArray) -> bool:
    if pa.types.is_nested(column.type):
        return False
    return 4 * int(pc.count_distinct(column, mode="all").as_py()) <= len(column)
