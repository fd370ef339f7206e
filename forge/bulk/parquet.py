"""Record batches as a Parquet file, whose row groups are encoded by two threads while the next batches are made."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import BinaryIO, Final, Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from forge.bulk.parquet_footer import MAGIC, Footer

#: A row group ends with the batch that fills one of these: rows, or bytes of Arrow buffers.
_MOST_ROWS: Final = 1 << 17
_MOST_BYTES: Final = 1 << 25
#: Groups that are encoded at a time; one more is being filled.
_AT_ONCE: Final = 2
#: Values are encoded so many at a time, in one call for each column: rows, and about so many bytes of them.  A page
#: ends only between two calls; one that is still in a core's cache when it is compressed takes less time.
_ROWS_OF_CALL: Final = 1 << 14
_BYTES_OF_CALL: Final = 1 << 20
_BYTES_OF_PAGE: Final = 1 << 18
#: A column has a dictionary if so many rows of the first group have at most a quarter as many different values.
#: Elsewhere a dictionary costs more time than writing the values, and is given up when it is full (1 MB).
_SAMPLE: Final = 1 << 14
#: Bits of so many bytes are as short as their numbers in a dictionary, and no row is looked for by their order.
_FEW: Final = 4
#: A column with a value of so many bytes has no least and greatest values in the group.  Of such they would be left out
#: anyway, but not before each was copied several times.
_LARGE: Final = 1 << 20

#: PyArrow, Spark and DuckDB take snappy unless told otherwise.  W2 is 37 MB with it and 22 MB with zstd, in more time.
Compression = Literal["snappy", "zstd", "none"]


def write_parquet(
    schema: pa.Schema, batches: Iterable[pa.RecordBatch], file: BinaryIO, compression: Compression = "snappy"
) -> None:
    """Write batches of ``schema`` to ``file``.

    Columns have a dictionary where it pays, judged by the first rows; other integers, and those that grow from row to
    row, are written as differences (DELTA_BINARY_PACKED).  Raises what making the batches raises; what has been written
    is no Parquet file then.
    """
    groups = _groups(schema, batches)
    begun: deque[Future[pa.Buffer]] = deque()
    out = _Joined(file)
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as threads:
        first = next(groups, schema.empty_table())
        encoding = threads.submit(_encoding_of, first)
        begun.append(threads.submit(_encoded, first, encoding, compression))
        del first
        for group in groups:
            done = begun.popleft().result() if len(begun) == _AT_ONCE else None
            begun.append(threads.submit(_encoded, group, encoding, compression))
            del group
            if done is not None:
                out.add(done)
        while begun:
            out.add(begun.popleft().result())
    out.end()


class _Joined:
    """A file of row groups that were encoded each as a file of its own."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._footer = Footer()
        self._position = file.write(MAGIC)

    def add(self, group: pa.Buffer) -> None:
        body = self._footer.add(memoryview(group), self._position)
        self._file.write(body)
        self._position += len(body)

    def end(self) -> None:
        self._file.write(self._footer.to_bytes())


class _Encoding(NamedTuple):
    """What is done with columns, by their paths in Parquet: ``before.id`` for a field of a struct.

    ``differences`` are the integers that are written so; ``ranged`` the columns that have their least and greatest
    values in each group, where these are not large.
    """

    dictionaries: list[str]
    differences: dict[str, str]
    ranged: list[str]


def _encoded(group: pa.Table, judged: Future[_Encoding], compression: Compression) -> pa.Buffer:
    """A Parquet file of one row group."""
    encoding = judged.result()
    rows = max(1, group.num_rows)
    of_call = min(_ROWS_OF_CALL, max(1, _BYTES_OF_CALL * rows // max(1, group.nbytes)))
    columns = group.flatten()
    ranged = [name for name in encoding.ranged if not _has_large(columns[name])]
    stream = pa.BufferOutputStream()
    with pq.ParquetWriter(
        stream, group.schema, compression=compression, use_dictionary=encoding.dictionaries or False,
        write_batch_size=of_call, data_page_size=_BYTES_OF_PAGE, column_encoding=encoding.differences or None,
        write_statistics=ranged or False,
    ) as writer:  # fmt: skip
        writer.write_table(group, row_group_size=rows)
    return stream.getvalue()


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


def _encoding_of(group: pa.Table) -> _Encoding:
    """Judged by the first rows of a group."""
    sample = group.slice(0, _SAMPLE).flatten()
    dictionaries, differences, ranged = [], {}, []
    for name, column in zip(sample.column_names, sample.columns, strict=True):
        is_integer = pa.types.is_integer(column.type)
        if pa.types.is_dictionary(column.type):
            dictionaries.append(name)
            continue
        if pa.types.is_fixed_size_binary(column.type) and column.type.byte_width <= _FEW:
            continue
        ranged.append(name)
        if not (is_integer and _grows(column)) and _repeats(column):
            dictionaries.append(name)
        elif is_integer:
            differences[name] = "DELTA_BINARY_PACKED"
    return _Encoding(dictionaries, differences, ranged)


def _has_large(column: pa.ChunkedArray) -> bool:
    if not (pa.types.is_binary(column.type) or pa.types.is_string(column.type)):
        return False
    return column.nbytes >= _LARGE and any(
        chunk.nbytes >= _LARGE and (pc.max(pc.binary_length(chunk)).as_py() or 0) >= _LARGE for chunk in column.chunks
    )


def _repeats(column: pa.ChunkedArray) -> bool:
    if pa.types.is_nested(column.type) or _has_large(column):
        return False
    return 4 * int(pc.count_distinct(column, mode="all").as_py()) <= len(column)


def _grows(column: pa.ChunkedArray) -> bool:
    """Whether no value is less than the one before."""
    return bool(pc.all(pc.greater_equal(column.slice(1), column.slice(0, max(0, len(column) - 1)))).as_py())
