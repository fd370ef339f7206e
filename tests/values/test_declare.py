"""Type text becomes a declared type, and that the wire type a server logs."""

from __future__ import annotations

import pytest

from forge import values
from forge.errors import ScenarioError, UnsupportedError
from forge.values.base import Column
from forge.values.declaration.sqltype import SqlType
from forge.values.declaration.typetext import parse_type
from forge.values.registry import codec_for, column_for
from forge.values.text.strings import folded_metadata, unfolded_length


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BOOL", SqlType("TINYINT")),
        ("integer(11) unsigned zerofill", SqlType("INT", unsigned=True, zerofill=True)),
        ("int zerofill", SqlType("INT", unsigned=True, zerofill=True)),
        ("SERIAL", SqlType("BIGINT", unsigned=True)),
        ("MiddleInt", SqlType("MEDIUMINT")),
        ("dec(10,2) unsigned", SqlType("DECIMAL", precision=10, scale=2, unsigned=True)),
        ("NUMERIC", SqlType("DECIMAL")),
        ("FIXED(5)", SqlType("DECIMAL", precision=5)),
        ("float(24)", SqlType("FLOAT")),
        ("float(25)", SqlType("DOUBLE")),
        ("float(7,3)", SqlType("FLOAT", precision=7, scale=3)),
        ("double  precision", SqlType("DOUBLE")),
        ("real", SqlType("DOUBLE")),
        ("time(3)", SqlType("TIME", fsp=3)),
        ("year(4)", SqlType("YEAR")),
        ("national character varying(10)", SqlType("VARCHAR", length=10, collation=33)),
        ("nchar(5)", SqlType("CHAR", length=5, collation=33)),
        ("VARCHAR(60) CHARACTER SET latin1", SqlType("VARCHAR", length=60, collation=8)),
        ("varchar(60) charset 'latin1' collate latin1_bin", SqlType("VARCHAR", length=60, collation=47)),
        ("char(5) ascii", SqlType("CHAR", length=5, collation=8)),
        ("char(5) byte", SqlType("BINARY", length=5)),
        ("char(5) binary", SqlType("CHAR", length=5, collation=46)),
        ("varchar(5) character set binary", SqlType("VARBINARY", length=5)),
        ("text charset binary", SqlType("BLOB")),
        ("long varchar", SqlType("MEDIUMTEXT")),
        ("long varbinary", SqlType("MEDIUMBLOB")),
        ("enum('a','it''s', 'x\\'y',\"b\"\"c\")", SqlType("ENUM", members=("a", "it's", "x'y", 'b"c'))),
        ("point srid 4326", SqlType("POINT", srid=4326)),
        ("GEOMCOLLECTION", SqlType("GEOMETRYCOLLECTION")),
        ("vector(3)", SqlType("VECTOR", length=3)),
        ("varchar(10) compressed", SqlType("VARCHAR", length=10, compressed=True)),
    ],
)
def test_type_text_and_aliases_are_read(text: str, expected: SqlType) -> None:
    assert parse_type(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("decmal(5,2)", "unknown column type 'DECMAL'; did you mean 'DECIMAL'?"),
        ("", "does not start with a type's name"),
        ("(5)", "does not start with a type's name"),
        ("int(5", "ends too early|unclosed"),
        ("enum()", "nothing in its parentheses"),
        ("enum(1)", "members that are not strings"),
        ("date(3)", "arguments that DATE does not take"),
        ("decimal(5,2,1)", "more arguments than DECIMAL takes"),
        ("float(54)", "wrong precision"),
        ("double(5)", "wrong precision; expected \\(M,D\\)"),
        ("int not null", "'not' is not an attribute of a column type"),
        ("int colate x", "'colate' is not an attribute of a column type; did you mean 'COLLATE'?"),
        ("int collate utf8mb4_bin", "INT cannot be COLLATE"),
        ("varchar(5) unsigned", "VARCHAR cannot be UNSIGNED"),
        ("varchar(5) collate latin1_swedishci", "did you mean 'latin1_swedish_ci'"),
        ("varchar(5) charset latin", "unknown character set 'latin'"),
        ("varchar(5) charset latin1 collate utf8mb4_bin", "not one of character set latin1"),
        ("varchar(5) character latin1", "CHARACTER without SET"),
        ("point srid x", "wrong SRID"),
        ("int $", "cannot be read from '\\$' on"),
        ("varchar(5) collate", "ends too early"),
    ],
)
def test_wrong_type_text_is_a_scenario_error(text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message.replace("?", "\\?") if "did you mean" in message else message):
        parse_type(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("DECIMAL(66,0)", "precision 66; expected 1 to 65"),
        ("DECIMAL(65,31)", "scale 31; expected 0 to 30"),
        ("DECIMAL(5,6)", "precision 5; expected 6 to 65"),
        ("FLOAT(5,6)", "precision 5"),
        ("FLOAT(256,3)", "precision 256"),
        ("DOUBLE(40,31)", "scale 31"),
        ("BIT(65)", "length 65; expected 1 to 64"),
        ("BIT(0)", "length 0"),
        ("TIME(7)", "fractional seconds precision 7; expected 0 to 6"),
        ("CHAR(256)", "length 256"),
        ("BINARY(256)", "length 256"),
        ("VARCHAR(16384)", "length 16384; expected 0 to 16383"),
        ("VARBINARY(65536)", "length 65536"),
        ("VARCHAR", "needs a length"),
        ("BLOB(4294967296)", "length 4294967296"),
        ("ENUM('a','a')", "equal members 'a' and 'a'"),
        ("ENUM('a','A')", "equal members 'a' and 'A'"),
        ("ENUM('a','a ')", "equal members"),
        ("SET('a,b')", "comma"),
        ("SET(" + ",".join(f"'{place}'" for place in range(65)) + ")", "65 members; expected at most 64"),
        ("ENUM(" + ",".join(f"'{place}'" for place in range(65536)) + ")", "65536 members"),
        ("ENUM('" + "x" * 256 + "')", "256 characters"),
        ("VECTOR(16384)", "dimension 16384"),
    ],
)
def test_impossible_arguments_are_scenario_errors(text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        values.column(text)


def test_enum_and_set_need_members() -> None:
    for name in ("ENUM", "SET"):
        with pytest.raises(ScenarioError, match="at least one member"):
            column_for(SqlType(name))


def test_an_unknown_type_name_suggests_the_nearest() -> None:
    with pytest.raises(ScenarioError, match="did you mean 'BIGINT'"):
        column_for(SqlType("BIGNT"))


@pytest.mark.parametrize(
    ("text", "type_code", "metadata"),
    [
        ("CHAR(0)", 254, "fe 00"),
        ("CHAR(1)", 254, "fe 04"),
        ("CHAR(63)", 254, "fe fc"),
        ("CHAR(64)", 254, "ee 00"),
        ("CHAR(255)", 254, "ce fc"),
        ("CHAR(255) CHARACTER SET utf8mb3", 254, "de fd"),
        ("BINARY(255)", 254, "fe ff"),
        ("VARCHAR(1000)", 15, "a0 0f"),
        ("VARBINARY(256)", 15, "00 01"),
        ("BIT(1)", 16, "01 00"),
        ("BIT(8)", 16, "00 01"),
        ("BIT(9)", 16, "01 01"),
        ("BIT(64)", 16, "00 08"),
        ("DECIMAL(10,4)", 246, "0a 04"),
        ("DECIMAL", 246, "0a 00"),
        ("DECIMAL(0)", 246, "0a 00"),
        ("FLOAT", 4, "04"),
        ("DOUBLE", 5, "08"),
        ("TINYTEXT", 252, "01"),
        ("LONGBLOB", 252, "04"),
        ("TEXT(63)", 252, "01"),
        ("TEXT(64)", 252, "02"),
        ("TEXT(16384)", 252, "03"),
        ("BLOB(16777216)", 252, "04"),
        ("ENUM('a','b')", 254, "f7 01"),
        ("SET('x','y','z')", 254, "f8 01"),
        ("TIMESTAMP(6)", 17, "06"),
        ("DATE", 10, ""),
        ("YEAR", 13, ""),
        ("JSON", 245, "04"),
        ("MULTIPOLYGON", 255, "04"),
        ("VECTOR(3)", 242, "04"),
    ],
)
def test_types_have_the_wire_type_and_metadata_of_mysql(text: str, type_code: int, metadata: str) -> None:
    column = values.column(text)
    assert (column.type_code, column.metadata.hex(" ")) == (type_code, metadata)


@pytest.mark.parametrize(
    ("text", "type_code", "metadata", "collation"),
    [
        ("JSON", 252, "04", 46),
        ("VECTOR(3)", 15, "0c 00", 63),
        ("UUID", 254, "fe 10", 63),
        ("INET4", 254, "fe 04", 63),
        ("VARCHAR(10) COMPRESSED", 141, "29 00", 45),
        ("TEXT COMPRESSED", 140, "02", 45),
        ("POINT", 255, "04", 63),
        ("BIT(0)", 16, "01 00", None),
        ("TEXT(0)", 252, "02", 45),
        ("DECIMAL(40,38)", 246, "28 26", None),
    ],
)
def test_mariadb_logs_its_own_wire_types(text: str, type_code: int, metadata: str, collation: int | None) -> None:
    column = values.column(text, server="mariadb-10.11")
    assert (column.type_code, column.metadata.hex(" "), column.collation) == (type_code, metadata, collation)


def test_a_column_tells_what_optional_metadata_can() -> None:
    year = column_for(SqlType("YEAR"), name="y", nullable=False)
    assert (year.unsigned, year.name, year.nullable) == (True, "y", False)
    assert column_for(SqlType("BIT")).unsigned is None
    assert column_for(SqlType("INT", zerofill=True)).unsigned is True
    assert column_for(SqlType("LINESTRING")).geometry_type == 2
    assert column_for(SqlType("VECTOR", length=3)).dimensions == 3
    assert column_for(SqlType("VECTOR", length=3)).collation == 63
    assert column_for(SqlType("ENUM", members=("é ",), collation=8)).members == (b"\xe9",)
    assert column_for(SqlType("ENUM", members=("a ",), collation=63)).members == (b"a ",)


def test_columns_that_are_alike_on_the_wire_are_equal() -> None:
    declared = column_for(SqlType("UUID"))
    assert declared == Column(254, b"\xfe\x10", collation=63)
    assert hash(declared) == hash(Column(254, b"\xfe\x10", collation=63))


@pytest.mark.parametrize("length", [0, 1, 255, 256, 511, 512, 767, 768, 1020])
def test_the_length_of_a_char_is_folded_into_its_metadata_and_back(length: int) -> None:
    assert unfolded_length(folded_metadata(length)) == length


@pytest.mark.parametrize(
    "text",
    ["TINYINT", "BIGINT UNSIGNED", "DECIMAL(10,2)", "VARCHAR(60)", "CHAR(63)", "BINARY(16)", "VARBINARY(300)",
     "LONGTEXT", "MEDIUMBLOB", "BIT(9)", "YEAR", "DATE", "TIME(3)", "DATETIME", "TIMESTAMP(6)", "ENUM('a','b')",
     "SET('a')", "FLOAT", "DOUBLE UNSIGNED", "JSON"],
)  # fmt: skip
def test_a_column_names_its_type_as_it_was_declared(text: str) -> None:
    column = values.column(text)
    assert codec_for(column).type_name(column) == text


def test_columns_of_types_without_a_codec_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"DECIMAL of MySQL before 5\.0"):
        codec_for(Column(0))
