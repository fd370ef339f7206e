"""forge.values for the authors of other tools: encode, decode, explain by type text."""

from __future__ import annotations

import ipaddress
import subprocess
import sys
import uuid
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from forge import values
from forge.errors import FormatError, ScenarioError
from forge.values.base import Column
from forge.values.declaration.sqltype import SqlType


@pytest.mark.parametrize(
    ("type_text", "given", "returned"),
    [
        ("BIGINT UNSIGNED", 2**64 - 1, 2**64 - 1),
        ("INT", Decimal("2.5"), 3),
        ("INT", Decimal("-2.5"), -3),
        ("DECIMAL(5,2)", 1.005, Decimal("1.01")),
        ("DECIMAL(5,2)", Decimal("-0.005"), Decimal("-0.01")),
        ("DECIMAL(5,2)", "1e2", Decimal("100.00")),
        ("FLOAT", 0.1, 0.10000000149011612),
        ("DATE", date(2024, 2, 29), date(2024, 2, 29)),
        ("DATE", "2024-00-00", "2024-00-00"),
        ("DATE", datetime(2024, 12, 31, 23, 59, 59, 500_000), date(2025, 1, 1)),
        ("DATETIME(3)", datetime(2024, 2, 29, 12, 34, 56, 789_600), datetime(2024, 2, 29, 12, 34, 56, 790_000)),
        ("DATETIME", "2024-12-31T23:59:59.5", datetime(2025, 1, 1)),
        ("DATETIME", "0000-00-00", "0000-00-00 00:00:00"),
        ("TIMESTAMP", datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))), datetime(2024, 1, 1, tzinfo=UTC)),
        ("TIMESTAMP", "2024-01-01 00:00:00+00:30", datetime(2023, 12, 31, 23, 30, tzinfo=UTC)),
        ("TIMESTAMP(2)", "0000-00-00", "0000-00-00 00:00:00.00"),
        ("TIME(6)", "-838:59:59.000001", -timedelta(hours=838, minutes=59, seconds=59, microseconds=1)),
        ("TIME(3)", timedelta(days=-1, microseconds=500), timedelta(days=-1)),
        ("TIME", time(1, 2, 3), timedelta(hours=1, minutes=2, seconds=3)),
        ("TIME", "1 10:00", timedelta(hours=34)),
        ("YEAR", 69, 2069),
        ("BIT(9)", b"\x01\xff", 511),
        ("BIT(9)", {"hex": "01ff"}, 511),
        ("VARCHAR(5)", 5, "5"),
        ("VARCHAR(5)", Decimal("1.50"), "1.50"),
        ("VARCHAR(10)", date(2024, 2, 29), "2024-02-29"),
        ("VARCHAR(3)", "abc  ", "abc"),
        ("VARCHAR(3)", {"hex": "ff"}, b"\xff"),
        ("BINARY(4)", b"ab", b"ab\0\0"),
        ("BLOB", "é", b"\xc3\xa9"),
        ("ENUM('a','b')", "B", 2),
        ("SET('a','b','c')", ["c", "a"], 5),
        ("SET('a','b','c')", "", 0),
        ("JSON", '{"a": [1, 2.5]}', '{"a": [1, 2.5]}'),
    ],
)
def test_values_go_in_as_declared_and_come_out_as_python_types(type_text: str, given: Any, returned: Any) -> None:
    actual = values.decode(type_text, values.encode(type_text, given))
    assert (type(actual), actual) == (type(returned), returned)
    assert values.decode(type_text, values.encode(type_text, actual)) == actual


@pytest.mark.parametrize(
    ("type_text", "given"),
    [
        ("UUID", "123e4567-e89b-12d3-a456-426655440000"),
        ("UUID", uuid.UUID("123e4567-e89b-12d3-a456-426655440000")),
        ("INET4", ipaddress.IPv4Address("1.2.3.0")),
        ("INET6", "2001:db8::1"),
        ("INET6", bytes(16)),
    ],
)
def test_mariadbs_network_types_are_stored_as_binary(type_text: str, given: Any) -> None:
    cell = values.encode(type_text, given, server="mariadb-10.11")
    size = {"INET4": 4}.get(type_text, 16)
    column = Column(254, bytes([0xFE, size]), collation=63)
    assert values.encode(column, values.decode(column, cell)) == cell


@pytest.mark.parametrize(
    ("type_text", "given", "message"),
    [
        ("TINYINT", 128, "cannot hold this number: 128; expected -128 to 127"),
        ("TINYINT", None, "NULL has no bytes"),
        ("INT", "5x", "a number"),
        ("INT", "1e999999999", "less than 1000 digits"),
        ("INT", [1], "a number"),
        ("INT UNSIGNED", Decimal("-0.1"), "negative"),
        ("DECIMAL(5,2)", "999.995", "more than 3 digits"),
        ("DECIMAL(5,2)", float("nan"), "a number"),
        ("DECIMAL(5,2) UNSIGNED", "-0.001", "negative"),
        ("FLOAT", 3.5e38, "cannot hold"),
        ("DOUBLE", float("inf"), "cannot hold"),
        ("FLOAT(7,3)", 9999.9996, "cannot hold"),
        ("DATE", "2024-02-30", "cannot hold this date"),
        ("DATE", "2023-02-29", "cannot hold this date"),
        ("DATE", True, "a date such as"),
        ("DATETIME", "9999-12-31 23:59:59.5", "cannot hold this date"),
        ("TIMESTAMP", "1970-01-01 00:00:00", "1970-01-01 00:00:01 to 2038-01-19 03:14:07"),
        ("TIMESTAMP", "2038-01-19 03:14:08", "2038-01-19 03:14:07"),
        ("TIMESTAMP", "2024-00-00", "cannot hold this date"),
        ("TIME", "839:00:00", "-838:59:59 to 838:59:59"),
        ("TIME", "10:60:00", "cannot hold this time"),
        ("TIME", timedelta(days=10**6), "cannot hold this time"),
        ("TIME", date(2024, 2, 29), "a time such as"),
        ("YEAR", 1900, "1901 to 2155"),
        ("BIT(4)", 16, "0 to 15"),
        ("VARCHAR(3)", "abcd", "cannot hold 4 characters"),
        ("CHAR(3) CHARACTER SET ucs2", "abc ", "cannot hold 4 characters"),
        ("VARBINARY(3)", "abcd", "cannot hold 4 bytes"),
        ("TINYTEXT", "é" * 128, "cannot hold 256 bytes"),
        ("VARCHAR(3) CHARACTER SET latin1", "日", "latin1 cannot hold"),
        ("VARCHAR(3)", {"hex": "f"}, "not hex"),
        ("VARCHAR(3)", {"a": 1}, "cannot be the mapping"),
        ("ENUM('yes','no')", "nope", "no member 'nope'; did you mean"),
        ("ENUM('yes','no')", 3, "0 to 2"),
        ("SET('a','b')", "a,c", "no member 'c'"),
        ("SET('a','b')", 4, "0 to 3"),
    ],
)
def test_values_that_a_strict_server_refuses_are_scenario_errors(type_text: str, given: Any, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        values.encode(type_text, given)


def test_mariadbs_json_is_text_and_its_vector_is_binary() -> None:
    document = values.encode("JSON", {"é": [1, Decimal("2.5")]}, server="mariadb-11.8")
    assert values.decode("LONGTEXT", document) == '{"é": [1, 2.5]}'
    with pytest.raises(ScenarioError, match="JSON cannot hold this text"):
        values.encode("JSON", "nope", server="mariadb-11.8")
    # Recorded on MariaDB 11.8.
    assert values.encode("VECTOR(3)", [1, 2.5, -1], server="mariadb-11.8").hex() == "0c0000803f00002040000080bf"
    with pytest.raises(ScenarioError, match="cannot hold 2 numbers"):
        values.encode("VECTOR(3)", [1, 2], server="mariadb-11.8")


HUGE = {
    "int": 10**5000,
    "large": Decimal("1e999999999"),
    "small": Decimal("-1e-999999999"),
    "text": "9" * 5000,
    "bytes": b"\xff" * 5000,
}


@pytest.mark.parametrize("huge", HUGE.values(), ids=HUGE.keys())
@pytest.mark.parametrize("type_text", ["INT", "DECIMAL(65,30)", "FLOAT", "BIT(64)", "YEAR", "DATE", "TIME", "CHAR(5)",
                                       "ENUM('a')", "SET('a')", "TINYTEXT"])  # fmt: skip
def test_huge_values_are_refused_at_once(type_text: str, huge: Any) -> None:
    with pytest.raises(ScenarioError) as caught:
        values.encode(type_text, huge)
    assert len(str(caught.value)) < 300


def test_mariadb_cuts_fractions_where_mysql_rounds() -> None:
    assert values.decode("TIME", values.encode("TIME", "12:34:56.9")) == timedelta(hours=12, minutes=34, seconds=57)
    cut = values.encode("TIME", "12:34:56.9", server="mariadb-10.11")
    assert values.decode("TIME", cut) == timedelta(hours=12, minutes=34, seconds=56)


def test_mariadb_11_5_has_timestamps_to_2106() -> None:
    cell = values.encode("TIMESTAMP", "2106-02-07 06:28:15", server="mariadb-11.8")
    assert values.decode("TIMESTAMP", cell) == datetime(2106, 2, 7, 6, 28, 15, tzinfo=UTC)
    with pytest.raises(ScenarioError, match="2038"):
        values.encode("TIMESTAMP", "2106-02-07 06:28:15", server="mariadb-10.11")


def test_a_type_may_be_given_as_declaration_or_column() -> None:
    assert values.encode(SqlType("INT"), 1) == b"\x01\0\0\0"
    assert values.decode(Column(3), b"\x01\0\0\0") == 1


def test_explain_takes_a_cell_apart() -> None:
    pieces = values.explain("TIME(3)", bytes.fromhex("7f3747e12e"))
    assert [(piece.offset, piece.data.hex()) for piece in pieces] == [(0, "7f3747"), (3, "e12e")]
    assert "-12:34:56" in pieces[0].meaning
    assert "fraction .789" in pieces[1].meaning
    decimal = values.explain("DECIMAL(10,4)", bytes.fromhex("7ffb2de9d1"))
    assert [piece.data.hex() for piece in decimal] == ["7ffb2d", "e9d1"]
    assert "negative" in decimal[0].meaning
    with pytest.raises(FormatError):
        values.explain("TIME(3)", b"\x7f")


def test_importing_the_package_does_not_load_the_codecs() -> None:
    code = "import sys, forge.values, forge.values.base; sys.exit('construct' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class Unprintable:
    def __repr__(self) -> str:
        raise ValueError("no")


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


ODD_VALUES: tuple[Any, ...] = (
    10**400, -(10**5000), float("nan"), float("inf"), -0.0, Decimal("sNaN"), Decimal("Infinity"), Decimal("1e999999"),
    "\ud800", "\x00", "x" * 70_000, "[" * 10_000, "9" * 5_000, b"\xff\xfe", b"x" * 70_000, bytearray(b"ab"), [], [None],
    ["a"] * 10_000, nested(50_000), {}, {"hex": "zz"}, {"hex": 5}, {1: 2}, date.max, datetime.max, time(1, tzinfo=UTC),
    datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))), timedelta.max, timedelta.min, uuid.UUID(int=5),
    ipaddress.ip_address("::1"), Unprintable(), object(), 1j, range(3),
)  # fmt: skip


@pytest.mark.parametrize(
    ("type_text", "server"),
    [
        *[
            (name, "mysql")
            for name in (
                "INT", "DECIMAL(65,30)", "FLOAT(7,3)", "BIT(64)", "YEAR", "DATE", "TIME(6)", "DATETIME", "TIMESTAMP(3)",
                "CHAR(5)", "VARCHAR(300) CHARACTER SET cp932", "BINARY(3)", "TEXT CHARACTER SET utf32", "LONGBLOB",
                "ENUM('a')", "SET('a','b')", "JSON", "POINT SRID 4326", "VECTOR(3)",
            )
        ],
        *[(name, "mariadb-11.8") for name in ("UUID", "INET6", "JSON", "VECTOR(2)", "TEXT COMPRESSED", "DATE")],
    ],
)  # fmt: skip
def test_odd_values_are_taken_or_scenario_errors_with_a_short_message(type_text: str, server: str) -> None:
    for value in ODD_VALUES:
        try:
            cell = values.encode(type_text, value, server=server)
        except ScenarioError as error:
            assert len(str(error)) < 500
        else:
            assert values.encode(type_text, values.decode(type_text, cell, server=server), server=server) == cell


@pytest.mark.parametrize(
    ("charset", "data"), [("cp932", "8790"), ("sjis", "5c"), ("eucjpms", "adf0"), ("ujis", "a1c0")]
)
def test_bytes_of_a_character_with_two_sequences_stay_these_bytes(charset: str, data: str) -> None:
    # Recorded on 9.7, 10.11 and 11.8: x'8790' in a cp932 column is not stored as 81e0, to which its character encodes.
    cell = values.encode(f"VARCHAR(4) CHARACTER SET {charset}", {"hex": data})
    assert cell.hex() == f"{len(data) // 2:02x}{data}"
    assert isinstance(values.decode(f"VARCHAR(4) CHARACTER SET {charset}", cell), str)


def test_a_compressed_varchar_of_the_client_s_set_counts_bytes() -> None:
    # Recorded on MariaDB 10.11 and 11.8: what needs no conversion is copied if its bytes fit.
    assert values.encode("VARCHAR(3) COMPRESSED", "twelveletter", server="mariadb-11.8").hex()[:6] == "0d0074"
    with pytest.raises(ScenarioError):
        values.encode("VARCHAR(3) COMPRESSED", "thirteenlette", server="mariadb-11.8")
    with pytest.raises(ScenarioError):
        values.encode("VARCHAR(3) CHARACTER SET utf8mb3 COMPRESSED", "four", server="mariadb-11.8")
