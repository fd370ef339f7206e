"""JSON texts in bulk: the kernel's documents against the reference's."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")
pytest.importorskip("numba", reason="the extra [rows] is not installed")

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from forge.bulk.json.binary import Documents, documents_binary
from forge.bulk.json.powers import FIRST_POWER, LAST_POWER, powers_of_ten
from forge.bulk.text.form import spliced
from forge.errors import ScenarioError
from forge.values.json.binary import encode_document
from forge.values.json.text import parse_json

pytestmark = pytest.mark.slow

RECORDED = json.loads((Path(__file__).parent.parent / "values" / "data" / "json_recorded.json").read_text())

Batch = tuple[Any, Any]


def json_documents(data: Any, offsets: Any, valid: Any = None) -> Documents:
    """The documents of a batch, those that the kernel does not take by the reference; odd are what it refuses."""
    documents = documents_binary(data, offsets, valid)
    found: dict[int, bytes] = {}
    refused = []
    for row in documents.odd.tolist():
        try:
            found[row] = text_document(data[offsets[row] : offsets[row + 1]].tobytes())
        except ScenarioError:
            refused.append(row)
    if not found:
        return documents
    ends, joined = spliced(documents.offsets, documents.data, found)
    return Documents(ends, joined, np.array(refused, np.int32))


def text_document(data: bytes) -> bytes:
    """The document of one text by the reference.  Raises ScenarioError for what is no JSON text."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ScenarioError(f"invalid JSON text: byte {error.start} is not UTF-8") from None
    return encode_document(parse_json(text))


def batch_of(texts: Sequence[str | bytes]) -> Batch:
    """Texts behind each other, as an Arrow string column has them."""
    parts = [text.encode() if isinstance(text, str) else text for text in texts]
    return np.frombuffer(b"".join(parts), np.uint8), np.cumsum([0, *map(len, parts)]).astype(np.int32)


def documents_by_kernel(texts: Sequence[str | bytes]) -> list[bytes | None]:
    """None for odd rows."""
    offsets, data, odd = documents_binary(*batch_of(texts))
    raw, odds = data.tobytes(), set(odd.tolist())
    return [None if row in odds else raw[a:b] for row, (a, b) in enumerate(pairwise(offsets.tolist()))]


def document_by_reference(text: str | bytes) -> bytes | None:
    """None where it refuses."""
    try:
        return text_document(text.encode() if isinstance(text, str) else text)
    except ScenarioError:
        return None


NUMBERS = st.one_of(
    st.integers(-(2**65), 2**65),
    st.integers(-70000, 70000),
    st.floats(allow_nan=False, allow_infinity=False),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=30)),
    lambda inner: st.one_of(st.lists(inner, max_size=6), st.dictionaries(st.text(max_size=12), inner, max_size=6)),
    max_leaves=25,
)
TEXTS = st.builds(
    json.dumps,
    VALUES,
    ensure_ascii=st.booleans(),
    separators=st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", "\t: "), ("\r,", " :")]),
    indent=st.sampled_from([None, None, 1]),
)


@given(st.lists(TEXTS, max_size=8), st.data())
def test_the_documents_of_a_batch_are_those_of_the_reference(texts: list[str], data: st.DataObject) -> None:
    valid = np.array([data.draw(st.booleans()) for _ in texts], np.bool_)
    buffer, offsets = batch_of(texts)
    ends, joined, odd = json_documents(buffer, offsets.astype(data.draw(st.sampled_from(["i4", "i8"]))), valid)
    raw = joined.tobytes()
    for row, (text, (begin, end)) in enumerate(zip(texts, pairwise(ends.tolist()), strict=True)):
        expected = document_by_reference(text) if valid[row] else b""
        assert (row in odd) == (expected is None)
        assert raw[begin:end] == (expected or b"")


@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_the_kernel_writes_the_documents_of_the_reference(texts: list[str]) -> None:
    for document, text in zip(documents_by_kernel(texts), texts, strict=True):
        assert document is None or document == document_by_reference(text)


@given(TEXTS, st.data())
def test_a_damaged_text_has_the_document_of_the_reference_or_is_odd(text: str, data: st.DataObject) -> None:
    damaged = bytearray(text.encode())
    for _ in range(data.draw(st.integers(0, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.sampled_from(b'{}[]",:\\ue0.-19 \n\0\xe9t'))
    del damaged[data.draw(st.integers(0, len(damaged))) :]
    # What stands behind a text must not complete it.
    found, _, _ = documents_by_kernel([bytes(damaged), '"}]', "123"])
    assert found is None or found == document_by_reference(bytes(damaged))


NO_TEXTS = ["", " ", "{", "[", "[1,]", '{"a"}', '{"a":}', '{"a":1,}', '{"a" 1}', "{1:2}", "nul", "truex", "True", '"a']
NO_TEXTS += ['"', '"\\', '"\\x"', '"\\ud800"', '"\\udc00"', '"\\ud800\\u0041"', '"\\u12g4"', '"\\u"', '"\x01"', '"\t"']
NO_TEXTS += [
    "01",
    "1.",
    ".5",
    "1e",
    "1e+",
    "-",
    "+1",
    "1 2",
    "[1 2]",
    "[1}",
    '{"a":1]',
    "tru",
    "\x00",
    "1\x00",
    "\ufeff1",
]
NO_TEXTS += [
    "1e309",
    "0e309",
    "-1e400",
    "1" * 310,
    "1" + "0" * 400 + "e-200",
    "[" * 101 + "]" * 101,
    "[1]]",
    "]",
    "NaN",
]
NO_TEXTS += ["'a'", "Infinity", '{"' + "k" * 65536 + '":1}']


@pytest.mark.parametrize("text", [*NO_TEXTS, b'"\xff"', b'"\xed\xa0\x80"', b'["\xc3\xa9", "\xc3"]'])
def test_what_is_no_text_of_a_document_is_odd(text: str | bytes) -> None:
    assert document_by_reference(text) is None
    # The bytes behind would complete most of them.
    documents = documents_by_kernel(["1", text, '1"]}e5', "[2]"])
    assert documents == [b"\5\1\0", None, None, document_by_reference("[2]")]
    offsets, _, odd = json_documents(*batch_of(["1", text, "2"]))
    assert odd.tolist() == [1]
    assert offsets.tolist() == [0, 3, 3, 6]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100 + "]" * 100,
        json.dumps({f"key {number}": number for number in range(20000)}),
        json.dumps({f"{number % 977:x}": number for number in range(3000)}),
        '{"b":1,"a":2,"b":{"c":3},"a":[4],"":5,"":6}',
        "{" + ",".join(f'"k{number % 20}":{number}' for number in range(60)) + "}",
        json.dumps({"x" * (number % 40): number for number in range(300)}),
        json.dumps({"common prefix " + letter: letter for letter in "hgfedcba"}),
        *(json.dumps(["z" * size]) for size in (0, 7, 8, 64, 65, 127, 128, 16383, 16384, 65521, 65525, 65526, 2100000)),
        *(json.dumps([number] * count) for number in (1, 70000) for count in (9361, 9362, 21843, 21844, 65536)),
        json.dumps([["z" * 65530], "q", {"a": [1, 70000, 2**40]}, {}]),
        json.dumps({"k" * 65535: "\U0001f600" * 20}),
        json.dumps(['\U0001f600\0\n\\"\x7f é'] * 3) + "\n\t ",
        '"\\/\\b\\f\\n\\r\\t\\u00e9\\u20AC\\ud83d\\ude00\\u0000"',
    ],
)
def test_deep_large_and_escaped_texts(text: str) -> None:
    assert documents_by_kernel([text, text]) == [document_by_reference(text)] * 2


@pytest.mark.parametrize(("text", "document", "printed"), RECORDED["text"])
def test_recorded_texts_have_the_bytes_that_the_server_logged(text: str, document: str, printed: str) -> None:
    documents = json_documents(*batch_of([text, printed]))
    assert documents.data.tobytes().hex() == 2 * document
    assert documents.odd.tolist() == []


WHOLE = [2**power + near for power in (7, 8, 15, 16, 31, 32, 53, 63, 64, 66) for near in (-1, 0, 1)]
DECIMALS = ["-0", "0.0", "-0.0", "0e0", "0e308", "0.001e310", "-0e-999", "1e-400", "5e-324", "2.4703282292062327e-324"]
DECIMALS += ["2.4703282292062328e-324", "2.225073858507201e-308", "2.2250738585072011e-308", "2.2250738585072014e-308"]
DECIMALS += ["1.7976931348623157e308", "17976931348623157e292", "8.98846567431158e307", "9007199254740993.0", "1E+5"]
DECIMALS += [
    "9007199254740992.999999999999999999",
    "0." + "0" * 30 + "123",
    "123456789012345678901234567890",
    "1" * 300,
]
DECIMALS += ["18446744073709551615.0", "10000000000000000000", "99999999999999999999", "0.1e1", "100000.000e-3"]


@pytest.mark.parametrize("number", [*(str(sign * number) for number in WHOLE for sign in (1, -1)), *DECIMALS])
def test_borders_of_numbers_have_the_document_of_the_reference(number: str) -> None:
    for text in (number, f"[{number}]"):
        assert json_documents(*batch_of([text])).data.tobytes() == document_by_reference(text)


@pytest.mark.parametrize("power", range(-1074, 1024, 97))
def test_doubles_near_powers_of_two_are_read_as_the_reference_reads_them(power: int) -> None:
    bits = struct.unpack("<Q", struct.pack("<d", 2.0**power))[0]
    numbers = [struct.unpack("<d", struct.pack("<Q", max(bits + near, 0)))[0] for near in range(-50, 50)]
    texts = [f"{number:.{digits}e}" for number in numbers for digits in (15, 16, 17, 18, 24)]
    found = documents_by_kernel(texts)
    undecided = 0
    for text, document in zip(texts, found, strict=True):
        undecided += document is None
        assert document is None or document == document_by_reference(text)
    assert undecided < len(texts) // 20


@given(st.lists(st.tuples(st.integers(1, 10**19 - 1), st.integers(-345, 290)), min_size=1, max_size=30))
def test_digits_and_exponents_at_random_are_rounded_as_the_reference_rounds_them(pairs: list[tuple[int, int]]) -> None:
    texts = [f"{digits}e{exponent}" for digits, exponent in pairs]
    for text, document in zip(texts, documents_by_kernel(texts), strict=True):
        assert document is None or document == document_by_reference(text)


def test_the_powers_of_ten_have_128_bits_and_none_is_below_the_power() -> None:
    words = powers_of_ten().view("<u8").reshape(-1, 2).tolist()
    assert len(words) == LAST_POWER - FIRST_POWER + 1
    for exponent, (upper, lower) in enumerate(words, FIRST_POWER):
        number = upper << 64 | lower
        assert number.bit_length() == 128
        # One less, for the reading of text, borrows nothing from the upper word.
        assert lower > 0 or 0 <= exponent <= 55


def test_texts_beyond_the_buffer_are_refused() -> None:
    with pytest.raises(ValueError, match="the texts end at 3, the buffer at 2"):
        documents_binary(np.zeros(2, np.uint8), np.array([0, 3], np.int32))


def test_the_first_offset_may_be_any() -> None:
    buffer, offsets = batch_of(["[1]", "[2]", "3"])
    assert (
        documents_binary(buffer, offsets[1:]).data.tobytes() == documents_binary(*batch_of(["[2]", "3"])).data.tobytes()
    )
