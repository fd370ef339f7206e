"""VECTOR columns: 32-bit floats, recorded on MySQL 9.7."""

import struct
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import FormatError, ScenarioError, UnsupportedError
from forge.values.base import Column
from forge.values.vector import VECTOR

COLUMN = Column(242, b"\x04", dimensions=4)


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ("[1,2.5]", "0000803f00002040"),
        (" [ 1 , 2 ] ", "0000803f00000040"),
        ("[.5,5.,+1]", "0000003f0000a0400000803f"),
        ([1, 2.5], "0000803f00002040"),
        ((Decimal("0.1"), "16777217"), "cdcccc3d0000804b"),
        ("[1.17549435e-38]", "00008000"),
        ("[-0.0]", "00000080"),
        ("[1.00000005960464477540]", "0100803f"),
        ("[1.0000000596046447753]", "0000803f"),
        (b"\x01\0\0\0", "01000000"),
        ({"hex": "0000803f"}, "0000803f"),
    ],
)
def test_vectors_are_declared_as_lists_as_text_or_as_bytes(declared: Any, value: str) -> None:
    assert VECTOR.accept(COLUMN, declared).hex() == value


def test_a_cell_is_a_length_and_the_floats() -> None:
    value = VECTOR.accept(COLUMN, [1, 2, 3])
    cell = VECTOR.encode(COLUMN, value)
    assert cell.hex() == "0c000000" + "0000803f" + "00000040" + "00004040"
    assert VECTOR.decode(COLUMN, cell) == value
    assert VECTOR.text(COLUMN, value) == "[1,2,3]"
    assert VECTOR.sql(COLUMN, value) == "x'0000803f0000004000004040'"
    pieces = VECTOR.explain(COLUMN, cell)
    assert b"".join(piece.data for piece in pieces) == cell
    assert [piece.meaning for piece in pieces] == ["12 bytes: 3 floats", "1", "2", "3"]


def test_an_empty_vector_is_logged_by_insert_ignore_and_cannot_be_declared() -> None:
    assert VECTOR.decode(COLUMN, bytes(4)) == b""
    assert VECTOR.text(COLUMN, b"") == "[]"
    with pytest.raises(UnsupportedError):
        VECTOR.sql(COLUMN, b"")
    with pytest.raises(ScenarioError):
        VECTOR.accept(COLUMN, [])


@pytest.mark.parametrize(
    "declared",
    ["", "[]", "1,2", "[1,]", "[1 2]", "[a]", "[nan]", "[inf]", [1e39], "[1e39]", [float("nan")], ["1e999999999"],
     [1, 2, 3, 4, 5], [None], [[1]], 1, None, b"\x00", {"hex": "0000c07f"}, {"hex": ""}, {"x": 1}],
)  # fmt: skip
def test_what_a_vector_cannot_hold_is_refused(declared: Any) -> None:
    with pytest.raises(ScenarioError):
        VECTOR.accept(COLUMN, declared)


@pytest.mark.parametrize("cell", ["", "04", "04000000", "040000000000803f00", "03000000000000", "040000000000c07f",
                                  "040000000000807f"])  # fmt: skip
def test_malformed_cells_are_refused(cell: str) -> None:
    with pytest.raises(FormatError):
        VECTOR.decode(COLUMN, bytes.fromhex(cell))


def test_broken_vectors_are_encoded_as_they_are_given() -> None:
    assert VECTOR.encode(COLUMN, b"\x01").hex() == "0100000001"


@pytest.mark.parametrize(("dimensions", "name"), [(None, "VECTOR"), (3, "VECTOR(3)")])
def test_the_type_has_as_many_dimensions_as_the_metadata_tell(dimensions: int | None, name: str) -> None:
    assert VECTOR.type_name(Column(242, b"\x04", dimensions=dimensions)) == name


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=4))
def test_the_text_of_a_vector_gives_its_bytes_back(numbers: list[float]) -> None:
    value = VECTOR.accept(COLUMN, numbers)
    assert value == struct.pack(f"<{len(numbers)}f", *numbers)
    assert VECTOR.accept(COLUMN, VECTOR.text(COLUMN, VECTOR.decode(COLUMN, VECTOR.encode(COLUMN, value)))) == value
