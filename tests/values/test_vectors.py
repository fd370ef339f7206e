"""Bytes recorded from servers, value by value."""

from __future__ import annotations

from typing import Any

import pytest

from forge import values
from forge.errors import ScenarioError
from forge.values.registry import codec_for

LONG = "12345678901234567890123456789012345.123456789012345678901234567890"
SET_33 = "SET(" + ",".join(f"'a{place}'" for place in range(1, 34)) + ")"
SET_17 = "SET(" + ",".join(f"'a{place}'" for place in range(1, 18)) + ")"
SET_9 = "SET(" + ",".join(f"'a{place}'" for place in range(1, 10)) + ")"

#: (type, declared value, cell, text).
VECTORS: list[tuple[str, Any, str, str | None]] = [
    ("TINYINT", -1, "ff", "-1"),
    ("TINYINT UNSIGNED", 255, "ff", "255"),
    ("SMALLINT", -2, "fe ff", "-2"),
    ("MEDIUMINT", -3, "fd ff ff", "-3"),
    ("MEDIUMINT UNSIGNED", 16777215, "ff ff ff", "16777215"),
    ("INT", -4, "fc ff ff ff", "-4"),
    ("INT UNSIGNED", 4294967295, "ff ff ff ff", "4294967295"),
    ("BIGINT", -5, "fb ff ff ff ff ff ff ff", "-5"),
    ("BOOL", True, "01", "1"),
    ("FLOAT", 1.5, "00 00 c0 3f", "1.5"),
    ("FLOAT", "0.1", "cd cc cc 3d", "0.1"),
    ("DOUBLE", -2.25, "00 00 00 00 00 00 02 c0", "-2.25"),
    ("DOUBLE", "1e100", "7d c3 94 25 ad 49 b2 54", "1e100"),
    ("DECIMAL(1,0)", 9, "89", "9"),
    ("DECIMAL(1,0)", -9, "76", "-9"),
    ("DECIMAL(1,0)", 0, "80", "0"),
    ("DECIMAL(2,1)", "9.9", "89 09", "9.9"),
    ("DECIMAL(2,1)", "-0.1", "7f fe", "-0.1"),
    ("DECIMAL(2,1)", "-0.0", "80 00", "0.0"),
    ("DECIMAL(3,3)", "0.999", "83 e7", "0.999"),
    ("DECIMAL(3,3)", "0.001", "80 01", "0.001"),
    ("DECIMAL(5,0)", 12345, "80 30 39", "12345"),
    ("DECIMAL(5,2)", "-1.5", "7f fe cd", "-1.50"),
    ("DECIMAL(9,0)", 999999999, "bb 9a c9 ff", "999999999"),
    ("DECIMAL(10,0)", 9999999999, "89 3b 9a c9 ff", "9999999999"),
    ("DECIMAL(10,0)", -1, "7f ff ff ff fe", "-1"),
    ("DECIMAL(10,4)", "-1234.5678", "7f fb 2d e9 d1", "-1234.5678"),
    ("DECIMAL(14,4)", "1234567890.1234", "81 0d fb 38 d2 04 d2", "1234567890.1234"),
    ("DECIMAL(18,9)", "123456789.987654321", "87 5b cd 15 3a de 68 b1", "123456789.987654321"),
    ("DECIMAL(18,9)", "-123456789.987654321", "78 a4 32 ea c5 21 97 4e", "-123456789.987654321"),
    ("DECIMAL(19,10)", "123456789.9876543210", "87 5b cd 15 3a de 68 b1 00", "123456789.9876543210"),
    ("DECIMAL(30,0)", 123456789012345678901234567890, "80 7b 1b 3a 0c 14 14 9a a4 35 0d fb 38 d2", "1234567890" * 3),
    ("DECIMAL(65,30)", LONG,
     "80 bc 61 4e 35 b7 bf 87 35 0e 34 c0 2f 07 5f 79 07 5b cd 15 00 bc 61 4e 35 b7 bf 87 03 7a", LONG),
    ("BIT(1)", 1, "01", "1"),
    ("BIT(7)", 127, "7f", "127"),
    ("BIT(9)", 0x1FF, "01 ff", "511"),
    ("BIT(9)", "b'111111111'", "01 ff", "511"),
    ("BIT(63)", 2**63 - 1, "7f ff ff ff ff ff ff ff", "9223372036854775807"),
    ("BIT(64)", 0xFEDCBA9876543210, "fe dc ba 98 76 54 32 10", "18364758544493064720"),
    ("YEAR", 2024, "7c", "2024"),
    ("YEAR", 1901, "01", "1901"),
    ("YEAR", 2155, "ff", "2155"),
    ("YEAR", 0, "00", "0000"),
    ("DATE", "2024-02-29", "5d d0 0f", "2024-02-29"),
    ("DATE", "9999-12-31", "9f 1f 4e", "9999-12-31"),
    ("DATE", "0000-00-00", "00 00 00", "0000-00-00"),
    ("TIME(0)", "12:34:56", "80 c8 b8", "12:34:56"),
    ("TIME(0)", "-12:34:56", "7f 37 48", "-12:34:56"),
    ("TIME(1)", "12:34:56.7", "80 c8 b8 46", "12:34:56.7"),
    ("TIME(1)", "-12:34:56.7", "7f 37 47 ba", "-12:34:56.7"),
    ("TIME(2)", "12:34:56.78", "80 c8 b8 4e", "12:34:56.78"),
    ("TIME(2)", "-12:34:56.78", "7f 37 47 b2", "-12:34:56.78"),
    ("TIME(3)", "12:34:56.789", "80 c8 b8 1e d2", "12:34:56.789"),
    ("TIME(3)", "-12:34:56.789", "7f 37 47 e1 2e", "-12:34:56.789"),
    ("TIME(4)", "12:34:56.7891", "80 c8 b8 1e d3", "12:34:56.7891"),
    ("TIME(4)", "-12:34:56.7891", "7f 37 47 e1 2d", "-12:34:56.7891"),
    ("TIME(5)", "12:34:56.78912", "80 c8 b8 0c 0a 80", "12:34:56.78912"),
    ("TIME(5)", "-12:34:56.78912", "7f 37 47 f3 f5 80", "-12:34:56.78912"),
    ("TIME(6)", "12:34:56.789123", "80 c8 b8 0c 0a 83", "12:34:56.789123"),
    ("TIME(6)", "-12:34:56.789123", "7f 37 47 f3 f5 7d", "-12:34:56.789123"),
    ("TIME", "838:59:59", "b4 6e fb", "838:59:59"),
    ("TIME", "0:0:0", "80 00 00", "00:00:00"),
    ("TIME(1)", "-00:00:00.1", "7f ff ff f6", "-00:00:00.1"),
    ("TIME(2)", "-00:00:00.01", "7f ff ff ff", "-00:00:00.01"),
    ("TIME(6)", "-838:59:59", "4b 91 05 00 00 00", "-838:59:59.000000"),
    ("DATETIME", "2024-02-29 12:34:56", "99 b2 ba c8 b8", "2024-02-29 12:34:56"),
    ("DATETIME(3)", "2024-02-29 12:34:56.789", "99 b2 ba c8 b8 1e d2", "2024-02-29 12:34:56.789"),
    ("DATETIME(6)", "2024-02-29 12:34:56.789123", "99 b2 ba c8 b8 0c 0a 83", "2024-02-29 12:34:56.789123"),
    ("DATETIME", "0000-00-00", "80 00 00 00 00", "0000-00-00 00:00:00"),
    ("DATETIME", "9999-12-31 23:59:59", "fe f3 ff 7e fb", "9999-12-31 23:59:59"),
    ("DATETIME(6)", "2024-00-00 00:00:00.000001", "99 b2 00 00 00 00 00 01", "2024-00-00 00:00:00.000001"),
    ("TIMESTAMP", "2024-02-29 12:34:56", "65 e0 79 f0", "2024-02-29 12:34:56"),
    ("TIMESTAMP(3)", "2024-02-29 12:34:56.789", "65 e0 79 f0 1e d2", "2024-02-29 12:34:56.789"),
    ("TIMESTAMP", "0000-00-00 00:00:00", "00 00 00 00", "0000-00-00 00:00:00"),
    ("TIMESTAMP", "2038-01-19 03:14:07", "7f ff ff ff", "2038-01-19 03:14:07"),
    ("CHAR(63)", "abc  ", "03 61 62 63", "abc"),
    ("CHAR(64)", "d", "01 00 64", "d"),
    ("CHAR(255) CHARACTER SET utf8mb3", "utf8", "04 00 75 74 66 38", "utf8"),
    ("BINARY(255)", b"g\0", "01 67", None),
    ("BINARY(3)", "a ", "02 61 20", None),
    ("CHAR(5) CHARACTER SET ucs2", "é ", "02 00 e9", "é"),
    ("CHAR(5) CHARACTER SET utf16le", "é", "02 e9 00", "é"),
    ("CHAR(5) CHARACTER SET utf32", "é", "04 00 00 00 e9", "é"),
    ("CHAR(5) CHARACTER SET gb18030", "é", "02 a8 a6", "é"),
    ("CHAR(0)", "", "00", ""),
    ("VARCHAR(63)", "i  ", "03 69 20 20", "i  "),
    ("VARCHAR(64)", "j", "01 00 6a", "j"),
    ("VARBINARY(255)", b"a", "01 61", None),
    ("VARBINARY(256)", b"a", "01 00 61", None),
    ("TINYBLOB", b"\0", "01 00", None),
    ("TEXT", "é", "02 00 c3 a9", "é"),
    ("MEDIUMTEXT CHARACTER SET latin1", "é", "01 00 00 e9", "é"),
    ("LONGBLOB", b"", "00 00 00 00", None),
    ("ENUM('x','y')", "y", "02", "y"),
    ("ENUM('x','y')", 0, "00", ""),
    (SET_9, "a1,a9", "01 01", "a1,a9"),
    (SET_9, ["a9", "a1"], "01 01", "a1,a9"),
    (SET_17, "a17", "00 00 01", "a17"),
    (SET_33, ["a1", "a33"], "01 00 00 00 01 00 00 00", "a1,a33"),
]  # fmt: skip


@pytest.mark.parametrize(("type_text", "declared", "cell", "text"), VECTORS)
def test_a_declared_value_becomes_the_recorded_cell(type_text: str, declared: Any, cell: str, text: str | None) -> None:
    column = values.column(type_text)
    codec = codec_for(column)
    raw = bytes.fromhex(cell)
    assert values.encode(type_text, declared) == raw
    assert codec.text(column, codec.decode(column, raw)) == text


#: Recorded on MariaDB 10.11 with mysql56_temporal_format=OFF; the event tells no fsp.
OLD_TEMPORALS = [
    ("TIME", "12:34:56", "40 e2 01"),
    ("TIME", "-12:34:56", "c0 1d fe"),
    ("TIME", "838:59:59", "a7 f5 7f"),
    ("TIME(1)", "12:34:56.7", "01 d3 c9 c7"),
    ("TIME(1)", "-00:00:00.1", "01 cc e0 5f"),
    ("TIME(2)", "-12:34:56.78", "11 bb a5 b2"),
    ("TIME(3)", "838:59:59.999", "01 68 0f 4a ff"),
    ("TIME(4)", "12:34:56.7891", "07 23 4c 34 d3"),
    ("TIME(5)", "00:00:00.00000", "46 52 fc a6 00"),
    ("TIME(6)", "838:59:59.999999", "05 7e 7b bc f7 ff"),
    ("DATETIME", "2024-02-29 12:34:56", "80 c5 aa 8b 68 12 00 00"),
    ("DATETIME", "9999-12-31 23:59:59", "77 87 d1 05 f1 5a 00 00"),
    ("DATETIME", "0000-00-00 00:00:00", "00 00 00 00 00 00 00 00"),
    ("DATETIME(1)", "2024-02-29 12:34:56.7", "00 a9 65 a7 fc 67"),
    ("DATETIME(2)", "9999-12-31 23:59:59.99", "20 b0 7d fb ff ff"),
    ("DATETIME(3)", "2024-02-29 12:34:56.789", "00 42 2b b5 9e 98 95"),
    ("DATETIME(4)", "2024-02-29 12:34:56.7891", "02 95 b5 18 31 f5 d3"),
    ("DATETIME(5)", "0000-00-00 00:00:00.00000", "00 00 00 00 00 00 00"),
    ("DATETIME(6)", "9999-12-31 23:59:59.999999", "04 fc ee 39 43 bf ff ff"),
    ("TIMESTAMP", "2024-02-29 12:34:56", "f0 79 e0 65"),
    ("TIMESTAMP", "0000-00-00 00:00:00", "00 00 00 00"),
    ("TIMESTAMP(1)", "2024-02-29 12:34:56.7", "65 e0 79 f0 07"),
    ("TIMESTAMP(2)", "2038-01-19 03:14:07.99", "7f ff ff ff 63"),
    ("TIMESTAMP(3)", "1970-01-01 00:00:01.000", "00 00 00 01 00 00"),
    ("TIMESTAMP(5)", "2024-02-29 12:34:56.78912", "65 e0 79 f0 01 34 40"),
    ("TIMESTAMP(6)", "0000-00-00 00:00:00.000000", "00 00 00 00 00 00 00"),
]


@pytest.mark.parametrize(("type_text", "text", "cell"), OLD_TEMPORALS)
def test_the_temporal_types_before_5_6_have_the_recorded_cells(type_text: str, text: str, cell: str) -> None:
    from forge.values.declaration.typetext import parse_type
    from forge.values.registry import column_for

    column = column_for(parse_type(type_text), server="mariadb-10.11", temporals="old")
    codec = codec_for(column)
    assert column.metadata == b""
    assert codec.encode(column, codec.accept(column, text)) == bytes.fromhex(cell)
    assert codec.decode(column, bytes.fromhex(cell)) == text


#: Recorded on MariaDB 10.11: (type, value, cell).
COMPRESSED: list[tuple[str, Any, str]] = [
    ("VARCHAR(300) CHARACTER SET latin1 COMPRESSED", "", "00 00"),
    ("VARCHAR(300) CHARACTER SET latin1 COMPRESSED", "a", "02 00 00 61"),
    ("VARCHAR(300) CHARACTER SET latin1 COMPRESSED", "a" * 99, "64 00 00" + "61" * 99),
    ("VARCHAR(300) CHARACTER SET latin1 COMPRESSED", "a" * 100, "08 00 89 64 4b 4c a4 3d 00 00"),
    ("VARCHAR(300) CHARACTER SET latin1 COMPRESSED", "a" * 300, "0a 00 8a 01 2c 4b 4c 1c 05 c4 02 00"),
    ("VARCHAR(10) COMPRESSED", "ü", "03 00 c3 bc"),
    ("VARBINARY(1000) COMPRESSED", bytes(200), "08 00 89 c8 63 60 18 1e 00 00"),
    ("TINYBLOB COMPRESSED", b"", "00"),
    ("TINYBLOB COMPRESSED", b"a" * 254, "08 89 fe 4b 4c 1c c9 00 00"),
    ("TEXT COMPRESSED", "ü" * 200, "0c 00 8a 01 90 3b bc e7 f0 28 1c 44 10 00"),
]


@pytest.mark.parametrize(("type_text", "value", "cell"), COMPRESSED)
def test_compressed_columns_have_the_recorded_cells(type_text: str, value: Any, cell: str) -> None:
    assert values.encode(type_text, value, server="mariadb-10.11") == bytes.fromhex(cell)
    assert values.decode(type_text, bytes.fromhex(cell), server="mariadb-10.11") == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e14, "100000000000000"),
        (1e15, "1e15"),
        (1.2345678e15, "1.2345678e15"),
        (1234567890123456.8, "1234567890123456.8"),
        (123456789012345.67, "123456789012345.67"),
        (1.23e-14, "0.0000000000000123"),
        (1.23e-15, "0.00000000000000123"),
        (1.23e-16, "1.23e-16"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e308"),
        (-0.0, "-0"),
        (0.30000000000000004, "0.30000000000000004"),
    ],
)
def test_the_text_of_a_double_is_what_mysql_9_7_prints(value: float, text: str) -> None:
    from forge.values.numeric.floats import float_text

    assert float_text(value) == text


@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
@pytest.mark.parametrize(
    "type_text", ["FLOAT UNSIGNED", "DOUBLE UNSIGNED", "FLOAT(10,2) UNSIGNED", "DOUBLE(10,2) UNSIGNED"]
)
@pytest.mark.parametrize("declared", ["-1e-50", "-0.001", -1e-320])
def test_the_least_negative_number_is_refused_before_it_is_rounded(type_text: str, declared: Any, server: str) -> None:
    with pytest.raises(ScenarioError, match="negative"):
        values.encode(type_text, declared, server=server)


@pytest.mark.parametrize(
    ("declared", "cell"), [(0, "64"), ("0", "64"), ("0000", "00"), (1901, "01"), (2155, "ff"), (70, "46")]
)
def test_year_2_is_stored_as_mariadb_stores_it(declared: Any, cell: str) -> None:
    assert values.encode("YEAR(2)", declared, server="mariadb-11.8").hex() == cell
