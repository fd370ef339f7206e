"""Record batches as Parquet: the same rows again, in groups of a bounded size."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the extra [rows] is not installed")

import pyarrow as pa
import pyarrow.parquet as pq

from forge.bulk import parquet, parquet_footer
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


def test_a_file_says_of_its_groups_what_one_writer_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty groups: a list of fifteen and more has a longer head."""
    monkeypatch.setattr(parquet, "_MOST_ROWS", 10)
    ours = pq.read_metadata(_written(_batch(first, 10) for first in range(0, 200, 10)))
    whole = io.BytesIO()
    repeated = ["_gtid", "before.city"]
    differences = dict.fromkeys(["number", "before.id"], "DELTA_BINARY_PACKED")
    ranged = ["number", "city", "before.id", "before.city"]
    with pq.ParquetWriter(
        whole, SCHEMA, use_dictionary=repeated, column_encoding=differences, write_statistics=ranged
    ) as writer:
        for first in range(0, 200, 10):
            writer.write_batch(_batch(first, 10))
    # Its footer alone may be shorter or longer by a byte.
    expected = pq.read_metadata(whole).to_dict() | {"serialized_size": ours.serialized_size}
    assert ours.to_dict() == expected
    assert ours.metadata == pq.read_metadata(whole).metadata


def test_groups_have_no_number_from_32768_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_MOST_ROWS", 10)
    monkeypatch.setattr(parquet_footer, "_MOST_ORDINALS", 2)
    batches = [_batch(first, 10) for first in range(0, 40, 10)]
    assert pq.read_table(_written(iter(batches))).to_pylist() == pa.Table.from_batches(batches).to_pylist()


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


def test_columns_that_repeat_have_a_dictionary() -> None:
    group = pq.ParquetFile(_written(iter([_batch(0, 1000)]))).metadata.row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    with_dictionary = {column.path_in_schema for column in columns if column.has_dictionary_page}
    assert with_dictionary == {"city", "_gtid", "before.city"}


def test_repeated_integers_have_a_dictionary_unless_they_grow_and_bitmaps_have_none() -> None:
    schema = pa.schema(
        {"few": pa.int64(), "grows": pa.int64(), "bits": pa.binary(1), "address": pa.binary(16), "word": WORDS}
    )
    rows = [
        {"few": number % 3, "grows": number // 100, "bits": b"\x0f", "address": bytes(16), "word": "w"}
        for number in range(1000)
    ]
    file = io.BytesIO()
    write_parquet(schema, iter([pa.RecordBatch.from_pylist(rows, schema)]), file)
    group = pq.ParquetFile(file).metadata.row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    assert [column.has_dictionary_page for column in columns] == [True, False, False, True, True]
    assert [column.is_stats_set for column in columns] == [True, True, False, True, False]
    assert pq.read_table(file).to_pylist() == rows


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


def test_a_column_with_a_large_value_has_no_least_and_greatest_ones() -> None:
    schema = pa.schema({"number": pa.int64(), "body": pa.binary(), "after": pa.struct([("text", pa.string())])})

    def statistics(text: str) -> list[bool]:
        rows = [{"number": 1, "body": text.encode(), "after": {"text": "x"}}]
        file = io.BytesIO()
        write_parquet(schema, iter([pa.RecordBatch.from_pylist(rows, schema)]), file)
        read = pq.ParquetFile(file)
        assert read.read().to_pylist() == rows
        return [read.metadata.row_group(0).column(number).is_stats_set for number in range(3)]

    assert statistics("short") == [True, True, True]
    assert statistics("q" * (1 << 20)) == [True, False, True]
