"""JSON columns: cells, declared literals, JSON text."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import FormatError, ScenarioError
from forge.values.base import Column
from forge.values.json.binary import SqlInteger, encode_document
from forge.values.json.codec import JSON
from forge.values.json.text import format_double, format_json, parse_json, parse_number

COLUMN = Column(245, b"\x04")


def test_a_cell_is_a_length_of_four_bytes_and_the_document() -> None:
    document = JSON.accept(COLUMN, "[]")
    assert JSON.encode(COLUMN, document) == bytes.fromhex("050000000200000400")
    assert JSON.decode(COLUMN, bytes.fromhex("050000000200000400")) == document
    assert JSON.width(COLUMN, b"??" + bytes.fromhex("050000000200000400") + b"??", 2) == 9


def test_an_empty_cell_is_json_null() -> None:
    value = JSON.decode(COLUMN, bytes(4))
    assert value == b""
    assert JSON.text(COLUMN, value) == "null"
    assert JSON.encode(COLUMN, value) == bytes(4)


@pytest.mark.parametrize("cell", ["0500000002000004", "0100000002", "01", "", "0600000002000004 0000"])
def test_cells_that_are_cut_or_wrong_raise_format_errors(cell: str) -> None:
    with pytest.raises(FormatError):
        JSON.decode(COLUMN, bytes.fromhex(cell))


def test_the_width_of_a_cell_past_the_end_is_refused() -> None:
    for data in (b"\x05\x00", b"\xff\xff\xff\xff\x02", b"\x05\x00\x00\x00\x02"):
        with pytest.raises(FormatError):
            JSON.width(COLUMN, data, 0)


def test_an_offset_in_a_document_counts_from_the_start_of_the_cell() -> None:
    with pytest.raises(FormatError) as caught:
        JSON.decode(COLUMN, bytes.fromhex("02000000" + "0403"))
    assert caught.value.offset == 5


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a": [true, null], "b": 1}'),
        ("{}", "{}"),
        ('"word"', '"word"'),
        (["word", Decimal("1.50"), 1.0, 2], '["word", 1.5, 1.0, 2]'),
        (2**64, "1.8446744073709552e19"),
        (7, "7"),
        (True, "true"),
        (None, "null"),
        ([SqlInteger(7, True)], "[7]"),
        ((1, 2), "[1, 2]"),
        (bytes.fromhex("0c0161"), '"a"'),
    ],
)
def test_documents_are_declared_as_text_as_python_objects_or_as_bytes(declared: Any, text: str) -> None:
    assert JSON.text(COLUMN, JSON.accept(COLUMN, declared)) == text


def test_a_string_is_json_text_as_in_sql_and_its_fault_has_a_position() -> None:
    with pytest.raises(ScenarioError, match="position 8"):
        JSON.accept(COLUMN, '{"a": 1 x}')
    with pytest.raises(ScenarioError, match="did you mean '\"word\"'"):
        JSON.accept(COLUMN, "word")


@pytest.mark.parametrize(
    "text",
    ["", " ", "NaN", "Infinity", "-Infinity", "'a'", "01", "1.", ".5", "+1", "1e", "[1,]", "1 2", '"\t"', '"\\x"',
     '"\\ud800"', '"\\udc00"', "1e309", "0e309", "-1e999999", "[" * 101 + "]" * 101, "[" * 100_000,
     "9" * 400 + "e-300", "/**/1", "\ufeff1", '{"a" 1}', "{1: 2}"],
)  # fmt: skip
def test_what_the_server_refuses_as_json_text_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError):
        JSON.accept(COLUMN, text)


@pytest.mark.parametrize("declared", [{1: 2}, [date(2024, 1, 1)], {"a": object()}, {"a": {1, 2}}, [float("nan")]])
def test_python_objects_that_json_lacks_are_refused(declared: Any) -> None:
    with pytest.raises(ScenarioError):
        JSON.accept(COLUMN, declared)


def test_python_objects_that_contain_themselves_are_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ScenarioError, match="deeper than 100"):
        JSON.accept(COLUMN, endless)


def test_bytes_that_are_no_document_are_refused_when_declared_and_kept_when_encoded() -> None:
    with pytest.raises(ScenarioError, match="not a JSON document"):
        JSON.accept(COLUMN, b"\x0d")
    assert JSON.encode(COLUMN, b"\x0d") == b"\x01\0\0\0\x0d"


@pytest.mark.parametrize(
    ("text", "printed"),
    [("-0", "0"), ("-0.0", "-0.0"), ("1E5", "100000.0"), ("0.1e-330", "0.0"),
     ("-9223372036854775809", "-9.223372036854776e18"), ("0.001e310", "1e307"), ("100000000000000000000", "1e20")],
)  # fmt: skip
def test_numbers_are_read_as_the_server_reads_them(text: str, printed: str) -> None:
    assert format_json(parse_number(text)) == printed


@pytest.mark.parametrize(
    ("double", "printed"),
    [(1e14, "100000000000000.0"), (1e15, "1e15"), (1e-15, "0.000000000000001"), (1e-16, "1e-16"), (5e-324, "5e-324"),
     (1234567890123456.0, "1.234567890123456e15"), (1234567890123456.8, "1234567890123456.8"), (-0.0, "-0.0"),
     (1.7976931348623157e308, "1.7976931348623157e308"), (123456.0, "123456.0"),
     (12345678901234567.0, "1.2345678901234568e16")],
)  # fmt: skip
def test_doubles_print_as_the_server_prints_them(double: float, printed: str) -> None:
    assert format_double(double) == printed


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_double_reads_back_as_a_double_of_the_same_bits(double: float) -> None:
    number = parse_json(format_double(double))
    assert isinstance(number, float)
    assert encode_document(number) == encode_document(double)


@given(st.text())
def test_the_text_of_a_string_reads_back_as_the_string(text: str) -> None:
    assert parse_json(format_json(text)) == text
