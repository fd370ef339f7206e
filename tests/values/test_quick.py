"""The quick readers and writers of cells, held against the codecs."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import ForgeError
from forge.testing import values as strategies
from forge.values.base import Codec, Column
from forge.values.quick import UNUSUAL, CellReader
from forge.values.registry import codec_for
from forge.values.wire_types import WireType
from tests.values.families import family


def taken(reader: CellReader, data: bytes) -> tuple[Any, int]:
    """What the reader takes from the start of ``data``, and how many bytes."""
    if reader.code is not None:
        cell = struct.Struct("<" + reader.code)
        return cell.unpack_from(data)[0], cell.size
    if reader.width is not None:
        size = reader.width(data, 0)
        return data[:size], size
    size = reader.prefix + int.from_bytes(data[: reader.prefix], "little")
    return data[reader.prefix : size], size


def slow(codec: Codec, column: Column, raw: bytes) -> Any:
    """What the codec says of a whole cell: its text, or its value if that is bytes; None if it has no value."""
    try:
        value = codec.decode(column, raw)
    except ForgeError:
        return None
    text = codec.text(column, value)
    return text if text is not None or not isinstance(value, bytes) else value


@family
@given(data=st.data())
def test_a_cell_that_is_read_quickly_has_the_text_of_its_codec(
    columns: st.SearchStrategy[Column], data: st.DataObject
) -> None:
    column = data.draw(columns)
    codec, value = codec_for(column), data.draw(strategies.values_for(column))
    cell = codec.encode(column, value)
    reader = codec.reader(column)
    found, size = taken(reader, cell + b"\xff")
    assert size == len(cell)
    try:
        text = reader.text(found)
    except UNUSUAL:
        return
    assert text == slow(codec, column, cell)
    assert (reader.number is not None) == isinstance(value, int)
    if reader.number is not None:
        assert reader.number(found) == value


@family
@given(data=st.data())
def test_any_bytes_are_read_as_the_codec_reads_them_or_are_unusual(
    columns: st.SearchStrategy[Column], data: st.DataObject
) -> None:
    column = data.draw(columns)
    codec = codec_for(column)
    reader = codec.reader(column)
    raw = data.draw(st.binary(max_size=24))
    try:
        found, size = taken(reader, raw)
        text = reader.text(found)
    except UNUSUAL:
        return
    if size <= len(raw):
        assert codec.width(column, raw, 0) == size
        assert text == slow(codec, column, raw[:size])


@family
@given(data=st.data())
def test_a_value_that_is_written_quickly_makes_the_cell_of_its_codec(
    columns: st.SearchStrategy[Column], data: st.DataObject
) -> None:
    column = data.draw(columns)
    codec, value = codec_for(column), data.draw(strategies.values_for(column))
    for written in (value, codec.text(column, value)):
        try:
            cell = codec.writer(column)(written)
        except UNUSUAL:
            continue
        assert cell == codec.encode(column, value)
        assert cell == codec.encode(column, codec.accept(column, written))


@family
@given(data=st.data())
def test_anything_declared_is_written_as_the_codec_writes_it_or_is_unusual(
    columns: st.SearchStrategy[Column], data: st.DataObject
) -> None:
    column = data.draw(columns)
    codec = codec_for(column)
    declared = data.draw(
        st.one_of(
            st.integers(-(1 << 65), 1 << 65), st.floats(), st.decimals(), st.text(max_size=20), st.binary(max_size=20),
            st.booleans(), st.none(), st.from_regex(r"-?\d{1,4}(-\d\d-\d\d)?( ?\d\d:\d\d:\d\d(\.\d{1,6})?)?\n?"),
        )
    )  # fmt: skip
    try:
        cell = codec.writer(column)(declared)
    except UNUSUAL:
        return
    assert cell == codec.encode(column, codec.accept(column, declared))


def test_a_column_without_room_for_a_character_takes_no_text_quickly() -> None:
    column = Column(WireType.VARCHAR, b"\3\0", collation=255)
    with pytest.raises(ForgeError):
        codec_for(column).accept(column, "r")
    with pytest.raises(UNUSUAL):
        codec_for(column).writer(column)("r")


#: Values of everyday tables, which are to be read and written quickly.
USUAL = {
    "BIGINT": 7, "MEDIUMINT": -1, "DOUBLE": 1.5, "DECIMAL(12,2)": "-10.25", "BIT(9)": 257, "YEAR": 2024,
    "DATE": "2024-02-29", "TIME(3)": "-01:02:03.004", "DATETIME(6)": "2024-02-29 12:34:56.000001",
    "TIMESTAMP(1)": "2024-02-29 12:34:56.5", "ENUM('a','b')": 2, "SET('a','b','c')": 5, "VARCHAR(20)": "Zoë",
    "CHAR(20)": "Zoë", "TEXT": "Zoë", "VARBINARY(3)": b"\0\xff", "BLOB": b"\0\xff",
}  # fmt: skip


@pytest.mark.parametrize("type_text", USUAL)
def test_everyday_values_are_read_and_written_quickly(type_text: str) -> None:
    from forge import values

    column = values.column(type_text)
    codec = codec_for(column)
    value = codec.accept(column, USUAL[type_text])
    cell = codec.encode(column, value)
    assert codec.writer(column)(value) == cell
    reader = codec.reader(column)
    assert reader.width is None
    assert reader.text(taken(reader, cell)[0]) == slow(codec, column, cell)
