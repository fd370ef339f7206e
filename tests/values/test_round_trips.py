"""Values survive their bytes, and bytes their values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import FormatError
from forge.testing import values as strategies
from forge.values.base import Column, Value
from forge.values.registry import codec_for
from tests.values.families import family


@family
@given(data=st.data())
def test_a_value_comes_back_from_its_cell(columns: st.SearchStrategy[Column], data: st.DataObject) -> None:
    column = data.draw(columns)
    value: Value = data.draw(strategies.values_for(column))
    codec = codec_for(column)
    cell = codec.encode(column, value)
    assert_same(codec.decode(column, cell), value)
    assert codec.width(column, b"\xff" + cell + b"\xff", 1) == len(cell)


@family
@given(data=st.data())
def test_the_text_of_a_value_declares_it(columns: st.SearchStrategy[Column], data: st.DataObject) -> None:
    column = data.draw(columns)
    value: Value = data.draw(strategies.values_for(column))
    codec = codec_for(column)
    text = codec.text(column, value)
    if text is None:
        assert isinstance(value, bytes)
        assert_same(codec.accept(column, {"hex": value.hex()}), value)
    else:
        assert_same(codec.accept(column, text), value)
        # The number 0 is 2000 in a YEAR(2), as to a server.
        short = column.declared is not None and column.declared.name == "YEAR" and column.declared.length == 2
        assert_same(codec.accept(column, value), 2000 if short and value == 0 else value)


@family
@given(data=st.data())
def test_any_bytes_make_a_value_or_a_format_error(columns: st.SearchStrategy[Column], data: st.DataObject) -> None:
    column = data.draw(columns)
    codec = codec_for(column)
    cell = codec.encode(column, data.draw(strategies.values_for(column)))
    raw = data.draw(st.one_of(st.binary(max_size=24), mutated(cell)))
    try:
        width = codec.width(column, raw, 0)
        value = codec.decode(column, raw[:width])
    except FormatError as error:
        assert error.offset is not None
        assert 0 <= error.offset <= max(len(raw), 1)
        return
    assert width <= len(raw)
    assert_same(codec.decode(column, codec.encode(column, value)), value)


@family
@given(data=st.data())
def test_the_pieces_of_an_explanation_are_the_cell(columns: st.SearchStrategy[Column], data: st.DataObject) -> None:
    column = data.draw(columns)
    codec = codec_for(column)
    cell = codec.encode(column, data.draw(strategies.values_for(column)))
    pieces = codec.explain(column, cell)
    assert b"".join(piece.data for piece in pieces) == cell
    assert [piece.offset for piece in pieces] == [
        sum(len(before.data) for before in pieces[:index]) for index in range(len(pieces))
    ]


@family
@given(data=st.data())
def test_a_cell_of_the_wrong_length_is_a_format_error(columns: st.SearchStrategy[Column], data: st.DataObject) -> None:
    column = data.draw(columns)
    codec = codec_for(column)
    cell = codec.encode(column, data.draw(strategies.values_for(column)))
    shorter = cell[: data.draw(st.integers(0, len(cell) - 1))]
    with pytest.raises(FormatError):
        codec.decode(column, shorter)
    with pytest.raises(FormatError):
        codec.width(column, shorter, 0)
    with pytest.raises(FormatError):
        codec.decode(column, cell + b"\0")


def mutated(cell: bytes) -> st.SearchStrategy[bytes]:
    def change(place: int, byte: int) -> bytes:
        return cell[:place] + bytes([byte]) + cell[place + 1 :]

    return st.builds(change, st.integers(0, len(cell) - 1), st.integers(0, 255))


def assert_same(actual: Any, expected: Any) -> None:
    """Equal in type and text as well: 1.0 is not 1.00, -0.0 is not 0.0."""
    if expected != expected:
        assert actual != actual
        return
    assert (type(actual), repr(actual)) == (type(expected), repr(expected))
