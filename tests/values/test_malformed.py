"""Bytes that no server writes end in a FormatError with rule and offset."""

from __future__ import annotations

import tracemalloc
import zlib

import pytest

from forge import values
from forge.errors import FormatError, UnsupportedError
from forge.values.base import Column
from forge.values.registry import codec_for, metadata_size

#: (type, cell, offset of the error, part of the rule)
CELLS = [
    ("INT", "00", 1, "INT has 4 bytes"),
    ("INT", "00 00 00 00 00", 4, "INT has 4 bytes"),
    ("DECIMAL(9,0)", "ff ff ff ff", 0, "9 digits"),
    ("DECIMAL(18,9)", "80 00 00 00 ff ff ff ff", 4, "9 digits"),
    ("DECIMAL(1,0)", "8a", 0, "1 digits"),
    ("DATE", "a0 01 00", 0, "DATE cannot be 0000-13-00"),
    ("DATE", "ff ff ff", 0, "DATE cannot be"),
    ("TIME", "80 00 3c", 0, "TIME cannot be 00:00:60"),
    ("TIME", "80 0f 00", 0, "TIME cannot be 00:60:00"),
    ("TIME", "00 00 00", 0, "TIME cannot be -2048:00:00"),
    ("TIME(2)", "80 00 00 64", 3, "fraction"),
    ("TIME(1)", "80 00 00 05", 3, "fraction"),
    ("TIME(6)", "80 00 00 0f 42 40", 3, "fraction"),
    ("DATETIME", "00 00 00 00 00", 0, "DATETIME cannot be -"),
    ("DATETIME", "ff ff ff ff ff", 0, "DATETIME cannot be"),
    ("DATETIME", "80 00 01 80 00", 0, "24:00:00"),
    ("DATETIME(3)", "80 00 00 00 00 27 10", 5, "fraction"),
    ("TIMESTAMP(6)", "00 00 00 00 ff ff ff", 4, "fraction"),
    ("VARCHAR(10)", "", 0, "1-byte length"),
    ("VARCHAR(10)", "05 61", 0, "says 5 bytes, 1 are left"),
    ("VARCHAR(10)", "01 61 62", 2, "says 1 bytes, the cell has 2"),
    ("LONGBLOB", "ff ff ff ff 00", 0, "says 4294967295 bytes"),
    ("LONGTEXT", "ff ff", 0, "4-byte length"),
    ("ENUM('a')", "01 00", 1, "1 bytes"),
    ("SET('a')", "", 0, "1 bytes"),
]


@pytest.mark.parametrize(("type_text", "cell", "offset", "rule"), CELLS)
def test_a_malformed_cell_is_a_format_error_with_rule_and_offset(
    type_text: str, cell: str, offset: int, rule: str
) -> None:
    with pytest.raises(FormatError) as caught:
        values.decode(type_text, bytes.fromhex(cell))
    assert rule in caught.value.rule
    assert (caught.value.offset, caught.value.phase) == (offset, "value")


#: (type code, metadata) that no server writes.
METADATA = [
    (4, b"\x08"),
    (5, b"\x04"),
    (246, b"\x00\x00"),
    (246, b"\x42\x00"),
    (246, b"\x05\x06"),
    (16, b"\x00\x00"),
    (16, b"\x08\x00"),
    (16, b"\x01\x08"),
    (19, b"\x07"),
    (18, b"\xff"),
    (17, b"\x07"),
    (252, b"\x00"),
    (252, b"\x05"),
    (254, b"\x00\x00"),
    (254, b"\xf7\x03"),
    (254, b"\xf8\x05"),
    (254, b"\xfd\x01"),
    (140, b"\x09"),
    (141, b"\x00\x00"),
]


@pytest.mark.parametrize(("type_code", "metadata"), METADATA)
def test_impossible_metadata_is_a_format_error(type_code: int, metadata: bytes) -> None:
    column = Column(type_code, metadata)
    with pytest.raises(FormatError) as caught:
        codec_for(column).width(column, bytes(64), 0)
    assert caught.value.phase == "metadata"


@pytest.mark.parametrize(
    ("stored", "rule"),
    [
        ("01 61", "cannot start with 01"),
        ("88 00", "cannot start with 88"),
        ("8d 00 00 00 00 01 00", "cannot start with 8d"),
        ("f9 01 00", "cannot start with f9"),
        ("89", "cannot start with 89"),
        ("89 01 ff ff", "does not inflate"),
        ("89 02 4b 04 00", "does not inflate to that length"),
    ],
)
def test_broken_compressed_values_are_format_errors(stored: str, rule: str) -> None:
    data = bytes.fromhex(stored)
    with pytest.raises(FormatError, match=rule):
        values.decode("TEXT COMPRESSED", len(data).to_bytes(2, "little") + data, server="mariadb")


def test_a_compressed_value_never_makes_more_than_its_header_says() -> None:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = b"\x89\x10" + deflate.compress(bytes(1 << 26)) + deflate.flush()
    tracemalloc.start()
    try:
        with pytest.raises(FormatError):
            values.decode("LONGBLOB COMPRESSED", len(bomb).to_bytes(4, "little") + bomb, server="mariadb")
        assert tracemalloc.get_traced_memory()[1] < 1 << 21
    finally:
        tracemalloc.stop()


def test_a_compressed_value_with_a_zlib_wrapper_is_read() -> None:
    wrapped = b"\x81\x64" + zlib.compress(b"a" * 100)
    cell = len(wrapped).to_bytes(2, "little") + wrapped
    assert values.decode("BLOB COMPRESSED", cell, server="mariadb") == b"a" * 100


@pytest.mark.parametrize("type_code", [0, 6, 21, 139, 243, 244, 249, 250, 251])
def test_an_unknown_type_code_is_named(type_code: int) -> None:
    with pytest.raises(UnsupportedError, match=str(type_code)):
        codec_for(Column(type_code))
    assert metadata_size(type_code) is None


def test_text_that_is_not_of_its_character_set_stays_bytes() -> None:
    column = values.column("VARCHAR(10)")
    codec = codec_for(column)
    value = codec.decode(column, b"\x02\xff\xfe")
    assert value == b"\xff\xfe"
    assert codec.text(column, value) is None
    assert codec.encode(column, value) == b"\x02\xff\xfe"


def test_char_without_a_known_collation_is_bytes_as_stored() -> None:
    column = Column(254, b"\xfe\x05")
    codec = codec_for(column)
    assert codec.decode(column, b"\x02ab") == b"ab"
    assert codec.encode(column, b"ab ") == b"\x03ab "
    assert codec.type_name(column) == "CHAR(5 bytes)"


def test_members_without_metadata_are_their_numbers() -> None:
    enum, a_set = Column(254, b"\xf7\x01"), Column(254, b"\xf8\x02")
    assert codec_for(enum).text(enum, 3) == "3"
    assert codec_for(a_set).text(a_set, 0x101) == "257"
    assert codec_for(a_set).accept(a_set, "257") == 257


def test_a_value_longer_than_its_column_is_read_and_made_again() -> None:
    column = values.column("VARCHAR(5)")
    codec = codec_for(column)
    cell = b"\x1e" + b"x" * 30
    assert codec.encode(column, codec.decode(column, cell)) == cell
