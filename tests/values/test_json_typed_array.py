"""Typed arrays: JSON documents in columns whose metadata describe the elements."""

import pytest

from forge.errors import UnsupportedError
from forge.values.base import Column
from forge.values.json.typed_array import TYPED_ARRAY
from forge.values.registry import codec_for


@pytest.mark.parametrize(
    ("metadata", "unsigned", "name"),
    [
        ("08", True, "BIGINT UNSIGNED ARRAY"),
        ("08", False, "BIGINT ARRAY"),
        ("0e", None, "DATE ARRAY"),
        ("1303", None, "TIME(3) ARRAY"),
        ("1206", None, "DATETIME(6) ARRAY"),
        ("f60a04", None, "DECIMAL(10,4) ARRAY"),
        ("0f280000", None, "VARCHAR(40) ARRAY"),
        ("f6", None, "type 246 ARRAY"),
        ("", None, "type 0 ARRAY"),
    ],
)
def test_the_metadata_name_the_elements(metadata: str, unsigned: bool | None, name: str) -> None:
    column = Column(20, bytes.fromhex(metadata), unsigned=unsigned)
    assert codec_for(column) is TYPED_ARRAY
    assert TYPED_ARRAY.type_name(column) == name


def test_the_length_has_four_bytes_whatever_the_element() -> None:
    column = Column(20, bytes.fromhex("08"))
    value = TYPED_ARRAY.accept(column, [1, 2])
    cell = TYPED_ARRAY.encode(column, value)
    assert cell.hex() == "0b000000" + "0202000a00050100050200"
    assert TYPED_ARRAY.width(column, cell, 0) == len(cell)
    assert TYPED_ARRAY.decode(column, cell) == value
    assert TYPED_ARRAY.text(column, value) == "[1, 2]"


def test_sql_cannot_write_the_hidden_column() -> None:
    with pytest.raises(UnsupportedError, match="multi-valued index"):
        TYPED_ARRAY.sql(Column(20, b"\x08"), b"\x04\x00")
