"""Binary JSON documents: the model's types, and malformed bytes."""

from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import FormatError, ScenarioError
from forge.values.json.binary import Opaque, SqlInteger, decode_document, encode_document, encode_varlen
from forge.values.json.opaque import opaque_date, opaque_datetime, opaque_decimal, opaque_text, opaque_time
from forge.values.json.text import format_json
from forge.values.json.usual_text import document_text

INTEGERS = st.integers(-(2**63), 2**64 - 1)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    INTEGERS,
    st.integers(-70000, 70000),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.builds(SqlInteger, st.integers(0, 2**32 - 1), st.just(True)),
    st.builds(SqlInteger, st.integers(2**32, 2**63 - 1), st.just(False)),
    st.builds(Opaque, st.sampled_from([15, 16, 252]), st.binary(max_size=200)),
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=6), st.dictionaries(st.text(max_size=5), inner, max_size=6)),
    max_leaves=25,
)


@given(DOCUMENTS)
def test_a_document_decodes_to_the_value_that_it_encodes(value: Any) -> None:
    document = encode_document(value)
    decoded = decode_document(document)
    assert decoded == value
    assert encode_document(decoded) == document
    assert format_json(decoded) == document_text(document)


def text_of(document: bytes, made: Callable[[bytes], str]) -> str:
    """The text, or what is wrong: a format error and nothing else."""
    try:
        return made(document)
    except FormatError as error:
        return f"{error.rule} at {error.offset}"


@given(DOCUMENTS, st.data())
def test_damaged_documents_decode_or_raise_a_format_error(value: Any, data: st.DataObject) -> None:
    document = bytearray(encode_document(value))
    for _ in range(data.draw(st.integers(1, 3))):
        document[data.draw(st.integers(0, len(document) - 1))] = data.draw(st.integers(0, 255))
    for damaged in (bytes(document), bytes(document[: data.draw(st.integers(0, len(document)))])):
        assert text_of(damaged, document_text) == text_of(damaged, lambda one: format_json(decode_document(one)))


@given(st.binary(max_size=80))
def test_arbitrary_bytes_decode_or_raise_a_format_error(data: bytes) -> None:
    for code in (b"\x00", b"\x01", b"\x02", b"\x03", b"\x0f", b""):
        with suppress(FormatError):  # and nothing else
            format_json(decode_document(code + data))


def test_no_bytes_at_all_are_json_null() -> None:
    assert decode_document(b"") is None


def test_keys_are_ordered_by_length_before_bytes() -> None:
    document = encode_document({"bb": 1, "a": 1, "ab": 2, "": 3, "aaa": 4, "é": 5})
    assert list(decode_document(document)) == ["", "a", "ab", "bb", "é", "aaa"]


@pytest.mark.parametrize(
    ("number", "document"),
    [(2**32 - 1, "09ffffffff00000000"), (2**32, "0a0000000001000000"), (2**63, "0a0000000000000080")],
)
def test_numbers_of_json_text_are_unsigned_from_two_to_the_32(number: int, document: str) -> None:
    assert encode_document(number).hex() == document
    assert decode_document(bytes.fromhex(document)) == number


@pytest.mark.parametrize(
    ("value", "document"),
    [
        (SqlInteger(5, True), "060500"),
        (SqlInteger(70000, True), "0870110100"),
        (SqlInteger(5_000_000_000, False), "0900f2052a01000000"),
        (opaque_decimal(Decimal("1.50")), "0ff60403028132"),
        (opaque_decimal(Decimal("0.5")), "0ff60402018005"),
        (opaque_decimal(Decimal("-0.05")), "0ff60403027ffa"),
        (opaque_decimal(Decimal("0.5"), whole_digits=0), "0ff603010185"),
        (opaque_decimal(Decimal("1.50"), whole_digits=9), "0ff6070b028000000132"),
        (opaque_decimal(Decimal("123456789012345678901234567890")), "0ff6101e00807b1b3a0c14149aa4350dfb38d2"),
        (opaque_date(date(2024, 2, 29)), "0f0a080000000000bab219"),
        (opaque_datetime(datetime(2024, 2, 29, 12, 34, 56, 789000)), "0f0c08080a0cb8c8bab219"),
        (opaque_datetime(datetime(2024, 2, 29, 12, 34, 56, 789000), 7), "0f0708080a0cb8c8bab219"),
        (opaque_time(-timedelta(hours=12, minutes=34, seconds=56, microseconds=789000)), "0f0b08f8f5f34737ffffff"),
        (opaque_time(-timedelta(microseconds=1)), "0f0b08ffffffffffffffff"),
    ],
)
def test_values_of_sql_types_have_the_recorded_bytes(value: Any, document: str) -> None:
    assert encode_document(value).hex() == document
    assert decode_document(bytes.fromhex(document)) == value


@given(st.decimals(allow_nan=False, allow_infinity=False, places=5, min_value=-(10**20), max_value=10**20))
def test_opaque_decimals_print_the_digits_that_they_were_made_of(number: Decimal) -> None:
    assert opaque_text(opaque_decimal(number)) == (f"{number if number else abs(number):f}", False)


@pytest.mark.parametrize(
    ("length", "varlen"), [(0, "00"), (127, "7f"), (128, "8001"), (65521, "f1ff03"), (2**32 - 1, "ffffffff0f")]
)
def test_lengths_are_groups_of_seven_bits(length: int, varlen: str) -> None:
    assert encode_varlen(length).hex() == varlen


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        2**64,
        -(2**63) - 1,
        SqlInteger(-1, True),
        SqlInteger(2**63, False),
        "\ud800",
        {"\udfff": 1},
        {1: 2},
        {"k" * 65536: 1},
        [object()],
        Opaque(256, b""),
    ],
)
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(ScenarioError):
        encode_document(value)


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_a_hundred_levels_are_the_limit_in_both_directions() -> None:
    document = encode_document(_nested(100))
    assert decode_document(document) == _nested(100)
    with pytest.raises(ScenarioError, match="deeper than 100"):
        encode_document(_nested(101))
    size = len(document) - 1 + 7
    deeper = b"\x02" + bytes((1, 0)) + size.to_bytes(2, "little") + b"\x02\x07\x00" + document[1:]
    with pytest.raises(FormatError, match="deeper than 100"):
        decode_document(deeper)


def _bomb(levels: int) -> bytes:
    """Arrays of two elements that are one and the same array."""
    body = bytes.fromhex("0000 0400")
    for _ in range(levels):
        body = b"\x02\x00" + (10 + len(body)).to_bytes(2, "little") + b"\x02\x0a\x00" * 2 + body
    return b"\x02" + body


MALFORMED = {
    "unknown type": "0d00",
    "type without value": "05",
    "short double": "0b000000",
    "a double that is not a number": "0b000000000000f87f",
    "literal 3": "0403",
    "string past the end": "0c0561",
    "length of six bytes": "0cffffffffff0100",
    "length that never ends": "0c80",
    "opaque without type": "0f",
    "opaque past the end": "0f0f0561",
    "string that is not utf8": "0c02c328",
    "surrogate in utf8": "0c03eda080",
    "head of a container": "0001",
    "container larger than the document": "02000005 00",
    "container smaller than its entries": "020100 0400 050100",
    "count larger than the container": "02ffff 0700 050100",
    "value offset inside the entries": "020100 0900 0c0400 0161",
    "value offset behind the container": "020100 0900 0c0900 0161",
    "key offset behind the object": "000100 0c00 0c000100 050100 61",
    "key longer than the object": "000100 0c00 0b000200 050100 61",
    "equal keys": "000200 1400 12000100 13000100 040100 040100 6161",
    "keys that share bytes": "000200 1400 12000200 13000100 040100 040100 6162",
    "a value that shares bytes with a key": "000100 0e00 0b000200 0c0c00 610161",
    "values that share bytes": "020200 0c00 0c0a00 0c0a00 0161",
    "a large array in a small one": "020100 0f00 030700 0000000008000000",
    "a container that contains itself": "020100 0700 020000",
    "bytes behind the document": "05010000",
    "bytes behind the root container": "02000004 0000",
    "a decimal without digits": "0ff60100",
    "doubling arrays": _bomb(60).hex(),
}


@pytest.mark.parametrize("document", [pytest.param(value, id=name) for name, value in MALFORMED.items()])
def test_malformed_documents_are_refused(document: str) -> None:
    with pytest.raises(FormatError) as caught:
        format_json(decode_document(bytes.fromhex(document.replace(" ", ""))))
    assert caught.value.phase == "value"


def test_entries_that_name_one_long_key_many_times_are_refused_before_it_is_read_as_often() -> None:
    count, length = 5000, 20000
    heap = 8 + count * 6 + count * 5
    keys = b"".join(heap.to_bytes(4, "little") + length.to_bytes(2, "little") for _ in range(count))
    body = count.to_bytes(4, "little") + (heap + length).to_bytes(4, "little") + keys + b"\x04\0\0\0\0" * count
    with pytest.raises(FormatError, match="overlap"):
        decode_document(b"\x01" + body + b"k" * length)


@pytest.mark.parametrize(
    ("data", "offset"),
    [("0f0c0400000000", 3), ("0f070100", 3), ("0ff60405000000", 5), ("0ff603420180", 3), ("0ff6030a0280", 5)],
)
def test_opaque_values_of_another_size_are_refused_where_they_stand(data: str, offset: int) -> None:
    with pytest.raises(FormatError) as caught:
        decode_document(bytes.fromhex(data))
    assert caught.value.offset == offset
