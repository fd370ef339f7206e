"""Record batches as a Parquet file, whose row groups one thread encodes while the next batches are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import BinaryIO, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

#: A row group ends with the batch that fills one of these: rows, or bytes of Arrow buffers.
_MOST_ROWS: Final = 1 << 17
_MOST_BYTES: Final = 1 << 25
#: Rows of a column that are encoded together, and bytes of a page: one that is still in a core's cache when it is
#: compressed takes less time.
_ROWS_OF_CALL: Final = 1 << 14
_BYTES_OF_PAGE: Final = 1 << 18
_LARGE_VALUE: Final = 1 << 16

#: PyArrow, Spark and DuckDB take snappy by default.  W2 is 37 MB with it and 22 MB with zstd, in more time.
Compression = Literal["snappy", "zstd", "none"]


def write_parquet(
    schema: pa.Schema, batches: Iterable[pa.RecordBatch], file: BinaryIO, compression: Compression = "snappy"
) -> None:
    """Write batches of ``schema`` to ``file``.

    Integers and times are written as differences (DELTA_BINARY_PACKED), texts and bytes by a dictionary as long as it
    is small.  Columns that begin with large values have neither a dictionary nor a least and a greatest value, each of
    which is a copy.  Raises what making the batches raises; what has been written is no Parquet file then.
    """
    groups = _groups(schema, batches)
    first = next(groups, None)
    large = set() if first is None else set(_large(first))
    leaves = [(name, kind) for name, kind in _leaves(schema) if name not in large]
    writer = pq.ParquetWriter(
        file, schema, compression=compression, write_batch_size=_ROWS_OF_CALL, data_page_size=_BYTES_OF_PAGE,
        use_dictionary=[name for name, kind in leaves if _has_dictionary(kind)] or False,
        write_statistics=[name for name, _ in leaves] or False,
        column_encoding={name: "DELTA_BINARY_PACKED" for name, kind in leaves if _is_whole(kind)} or None,
    )  # fmt: skip
    begun: Future[None] | None = None
    with ThreadPoolExecutor(max_workers=1) as thread:
        for group in chain([] if first is None else [first], groups):
            first = None
            if begun is not None:
                begun.result()
            begun = thread.submit(writer.write_table, group, max(1, group.num_rows))
            del group
    if begun is not None:
        begun.result()
    writer.close()


def _large(group: pa.Table) -> Iterator[str]:
    """The columns of texts and bytes with a value of more than 64 KiB."""
    flat = group
    while any(pa.types.is_struct(kind) for kind in flat.schema.types):
        flat = flat.flatten()
    for name, column in zip(flat.column_names, flat.columns, strict=True):
        if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
            longest = pc.max(pc.binary_length(column)).as_py()
            if longest is not None and longest > _LARGE_VALUE:
                yield name


def _leaves(fields: Iterable[pa.Field], prefix: str = "") -> Iterator[tuple[str, pa.DataType]]:
    """The columns with their paths in Parquet: ``before.id`` for a field of a struct."""
    for field in fields:
        if pa.types.is_struct(field.type):
            yield from _leaves(field.type, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name, field.type


def _has_dictionary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_binary(kind))


def _is_whole(kind: pa.DataType) -> bool:
    tests = (pa.types.is_integer, pa.types.is_timestamp, pa.types.is_date, pa.types.is_time, pa.types.is_duration)
    return any(test(kind) for test in tests)


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
