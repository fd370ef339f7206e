"""Record batches as Parquet: the same rows again, in groups of a bounded size."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the extra [rows] is not installed")

import pyarrow as pa
import pyarrow.parquet as pq

from forge.bulk import parquet
from forge.bulk.parquet import write_parquet

WORDS = pa.dictionary(pa.int32(), pa.string())
CELLS = pa.struct([("id", pa.int64()), ("city", pa.string())])
SCHEMA = pa.schema(
    {"number": pa.int64(), "city": pa.string(), "list": pa.list_(pa.float32()), "_gtid": WORDS, "before": CELLS}
)


def _batch(first: int, count: int) -> pa.RecordBatch:
    """Each batch has words of its own, as the reader's do."""
    numbers = range(first, first + count)
    columns = [
        pa.array(numbers, pa.int64()),
        pa.array([None if number % 7 == 0 else f"city {number % 3}" for number in numbers], pa.string()),
        pa.array([[number / 2] for number in numbers], pa.list_(pa.float32())),
        pa.array([f"{first}:1"] * count, WORDS),
        pa.array([{"id": number, "city": "x"} for number in numbers], CELLS),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def _written(batches: Iterator[pa.RecordBatch]) -> io.BytesIO:
    file = io.BytesIO()
    write_parquet(SCHEMA, batches, file)
    return file


def test_rows_come_back_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_MOST_ROWS", 25)
    batches = [_batch(first, 10) for first in range(0, 100, 10)]
    file = pq.ParquetFile(_written(iter(batches)))
    sizes = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
    assert sizes == [30, 30, 30, 10]
    assert file.read().to_pylist() == pa.Table.from_batches(batches).to_pylist()


def test_a_group_of_wide_rows_ends_by_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_MOST_BYTES", 1)
    assert pq.ParquetFile(_written(_batch(first, 10) for first in (0, 10))).num_row_groups == 2


@pytest.mark.parametrize("reader", ["duckdb", "polars"])
def test_other_readers_find_the_rows_of_all_groups(
    reader: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    library = pytest.importorskip(reader)
    monkeypatch.setattr(parquet, "_MOST_ROWS", 25)
    path = tmp_path / "rows.parquet"
    path.write_bytes(_written(_batch(first, 10) for first in range(0, 100, 10)).getvalue())
    if reader == "polars":
        read = library.read_parquet(path)["number", "city"].rows()
    else:
        read = library.connect().execute(f"SELECT number, city FROM '{path}'").fetchall()
    assert read == [(number, None if number % 7 == 0 else f"city {number % 3}") for number in range(100)]


def test_texts_have_a_dictionary_and_whole_numbers_and_times_are_differences() -> None:
    schema = pa.schema({
        "number": pa.int64(), "small": pa.int8(), "at": pa.timestamp("us"), "day": pa.date32(), "text": pa.string(),
        "bytes": pa.binary(), "bits": pa.binary(1), "word": WORDS, "price": pa.float64(), "before": CELLS,
    })  # fmt: skip
    row = {"number": 3, "small": -1, "at": dt.datetime(2024, 1, 2), "day": dt.date(2024, 1, 2), "text": "a"}
    row |= {"bytes": b"b", "bits": b"c", "word": "w", "price": 1.5, "before": {"id": 1, "city": "x"}}
    file = io.BytesIO()
    write_parquet(schema, iter([pa.RecordBatch.from_pylist([row] * 3, schema)]), file)
    group = pq.ParquetFile(file).metadata.row_group(0)
    columns = {group.column(number).path_in_schema: group.column(number) for number in range(group.num_columns)}
    with_dictionary = {name for name, column in columns.items() if column.has_dictionary_page}
    assert with_dictionary == {"text", "bytes", "word", "before.city"}
    differences = {name for name, column in columns.items() if "DELTA_BINARY_PACKED" in column.encodings}
    assert differences == {"number", "small", "at", "day", "before.id"}
    assert pq.read_table(file).to_pylist() == [row] * 3


@pytest.mark.parametrize("compression", ["snappy", "zstd", "none"])
def test_every_column_is_compressed_as_asked(compression: parquet.Compression) -> None:
    batch, file = _batch(0, 1000), io.BytesIO()
    write_parquet(SCHEMA, iter([batch]), file, compression)
    read = pq.ParquetFile(file)
    group = read.metadata.row_group(0)
    named = {group.column(number).compression for number in range(group.num_columns)}
    assert named == {"UNCOMPRESSED" if compression == "none" else compression.upper()}
    assert read.read().to_pylist() == batch.to_pylist()


def test_no_rows_make_a_file_of_no_rows() -> None:
    table = pq.read_table(_written(iter(())))
    assert (table.num_rows, table.schema.names) == (0, SCHEMA.names)


def test_an_error_of_the_rows_is_the_one_that_is_raised() -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield _batch(0, 10)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        _written(broken())


def test_a_file_that_cannot_be_written_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, _data: object, /) -> int:
            raise OSError("no space left")

    monkeypatch.setattr(parquet, "_MOST_ROWS", 10)
    with pytest.raises(OSError, match="no space left"):
        write_parquet(SCHEMA, (_batch(first, 10) for first in range(0, 100, 10)), Full())
