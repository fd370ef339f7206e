"""Binary JSON documents in bulk: the kernel's texts against the reference's."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")
pytest.importorskip("numba", reason="the extra [rows] is not installed")

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from forge.bulk.json.cells import cell_text, diffs_text, json_texts
from forge.bulk.json.text import documents_text, unchecked_documents
from forge.bulk.plan import ABSENT, NULL, Cells
from forge.decode.decode import canonical_rows
from forge.errors import FormatError, UnsupportedError
from forge.values.json.binary import Opaque, decode_document, encode_document
from forge.values.json.diff import Diff, Operation, build_diffs, format_diffs
from forge.values.json.text import format_double, format_json
from forge.values.wire_types import WireType
from tests.recorded import LOGS
from tests.strategies.documents import json_documents

pytestmark = pytest.mark.slow

RECORDED = json.loads((Path(__file__).parent.parent / "values" / "data" / "json_recorded.json").read_text())
Batch = tuple[Any, Any, Any]


def batch_of(documents: Sequence[bytes | int]) -> Batch:
    """Documents behind each other, as a rows event has them; NULL or ABSENT in the place of one."""
    cells = [b"" if isinstance(document, int) else document for document in documents]
    ends = np.cumsum([0, *map(len, cells)])
    off = ends[:-1].astype(np.int32)
    for row, document in enumerate(documents):
        if isinstance(document, int):
            off[row] = document
    return np.frombuffer(b"".join(cells) + bytes(64), np.uint8).copy(), off, np.diff(ends).astype(np.int32)


def texts_by_kernel(documents: Sequence[bytes | int]) -> list[str | None]:
    """None for odd rows."""
    offsets, data, odd = documents_text(*batch_of(documents))
    raw = data.tobytes()
    odds = set(odd.tolist())
    ends = offsets.tolist()
    return [None if row in odds else raw[ends[row] : ends[row + 1]].decode() for row in range(len(documents))]


def text_by_reference(document: bytes) -> str | None:
    """None where it refuses."""
    try:
        return format_json(decode_document(document))
    except FormatError:
        return None


def opaques() -> st.SearchStrategy[bytes]:
    """Opaque values of every type, well-formed or not."""
    temporal = st.integers(-(2**63), 2**63 - 1).map(lambda packed: struct.pack("<q", packed))
    plausible = st.builds(
        lambda year, month, day, clock: struct.pack("<q", ((year * 13 + month) << 5 | day) << 41 | clock),
        *(st.integers(0, most) for most in (9999, 12, 31)),
        st.integers(0, 2**41 - 1).map(lambda clock: clock & ~0xFFFFFF | (clock & 0xFFFFFF) % 1000000),
    )
    digits = st.builds(lambda p, s, data: bytes((p, s)) + data, st.integers(0, 67), st.integers(0, 32), st.binary())
    of_type = st.one_of(
        st.builds(Opaque, st.sampled_from((7, 10, 11, 12)), st.one_of(temporal, plausible, st.binary(max_size=9))),
        st.builds(Opaque, st.just(246), digits),
        st.builds(Opaque, st.just(253), st.one_of(st.binary(max_size=20), st.text(max_size=20).map(str.encode))),
        st.builds(Opaque, st.integers(0, 255), st.binary(max_size=150)),
    )
    return of_type.map(lambda value: encode_document([value, 1, value]))


@given(st.lists(st.one_of(json_documents(), opaques(), st.sampled_from((NULL, ABSENT, b""))), max_size=8))
def test_the_texts_of_a_batch_are_those_of_the_reference(documents: list[bytes | int]) -> None:
    offsets, data, odd = json_texts(Cells(*batch_of(documents)))
    raw, ends = data.tobytes(), offsets.tolist()
    for row, document in enumerate(documents):
        expected = "" if isinstance(document, int) else text_by_reference(document)
        assert (row in odd) == (expected is None)
        assert raw[ends[row] : ends[row + 1]].decode() == (expected or "")


@given(st.lists(json_documents(), min_size=1, max_size=8))
def test_what_the_server_writes_is_odd_for_an_opaque_value_alone(documents: list[bytes]) -> None:
    for text, document in zip(texts_by_kernel(documents), documents, strict=True):
        assert text == text_by_reference(document) or (text is None and b"\x0f" in document)


@given(json_documents(), st.data())
def test_a_damaged_document_has_the_text_of_the_reference_or_is_odd(document: bytes, data: st.DataObject) -> None:
    damaged = bytearray(document)
    for _ in range(data.draw(st.integers(0, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    del damaged[data.draw(st.integers(1, len(damaged))) :]
    text = texts_by_kernel([bytes(damaged)])[0]
    assert text is None or text == text_by_reference(bytes(damaged))


@given(st.lists(st.binary(min_size=1, max_size=60), min_size=1, max_size=5), st.sampled_from(range(16)))
def test_bytes_at_random_have_the_text_of_the_reference_or_are_odd(bodies: list[bytes], code: int) -> None:
    documents = [bytes((code,)) + body for body in bodies]
    for text, document in zip(texts_by_kernel(documents), documents, strict=True):
        assert text is None or text == text_by_reference(document)


def unchecked(documents: Sequence[bytes]) -> set[int]:
    """The rows whose documents the kernel that makes no text leaves."""
    buffer, off, lengths = batch_of(documents)
    return set(unchecked_documents(buffer, off.astype(np.int64), lengths).tolist())


@given(st.lists(json_documents(), min_size=1, max_size=8))
def test_what_has_a_text_is_found_without_making_it(documents: list[bytes]) -> None:
    """But for opaque values, whose text has to be made."""
    left = unchecked(documents)
    assert all(b"\x0f" in documents[row] for row in left)


@given(json_documents(), st.data())
def test_a_damaged_document_is_left_to_the_text(document: bytes, data: st.DataObject) -> None:
    damaged = bytearray(document)
    for _ in range(data.draw(st.integers(0, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    del damaged[data.draw(st.integers(1, len(damaged))) :]
    assert unchecked([bytes(damaged)]) or texts_by_kernel([bytes(damaged)]) != [None]


@given(st.lists(st.binary(min_size=1, max_size=60), min_size=1, max_size=5), st.sampled_from(range(16)))
def test_bytes_at_random_are_left_to_the_text_unless_they_have_one(bodies: list[bytes], code: int) -> None:
    documents = [bytes((code,)) + body for body in bodies]
    left = unchecked(documents)
    assert all(text is not None or row in left for row, text in enumerate(texts_by_kernel(documents)))


def test_documents_at_the_end_of_their_memory_are_left_to_the_text() -> None:
    document = encode_document({"a": "text"})
    values = np.frombuffer(document, np.uint8)
    assert unchecked_documents(values, np.zeros(1, np.int64), np.array([len(document)], np.int32)).tolist() == [0]


@pytest.mark.parametrize("keys", [("\u00e4", "\u00f6"), ("a", "\u20ac")])
def test_keys_and_values_that_are_not_ascii_are_looked_at_one_by_one(keys: tuple[str, str]) -> None:
    document = encode_document(dict.fromkeys(keys, "\u00fc"))
    assert not unchecked([document])
    for at in (index for index, byte in enumerate(document) if byte >= 0xC3):
        broken = document[:at] + b"\xff" + document[at + 1 :]
        assert unchecked([broken]) == {0}


def test_a_character_that_two_keys_share_is_none() -> None:
    document = encode_document({"aa": 1, "bbb": 2}).replace(b"aabbb", b"a\xc3\xa4bb")
    assert text_by_reference(document) is None
    assert unchecked([document]) == {0}


def nested(levels: int) -> bytes:
    """Arrays in each other, which encode_document would refuse from 101 on."""
    body = struct.pack("<HHBH", 1, 7, 4, 0)
    for _ in range(levels - 1):
        body = struct.pack("<HHBH", 1, 7 + len(body), 2, 7) + body
    return b"\2" + body


@pytest.mark.parametrize(
    "document",
    [
        nested(100),
        encode_document({f"key {number}": number for number in range(20000)}),
        encode_document([{"a": "x" * 70000}, {"b": [1, 70000, 1 << 40]}, "y" * 300, {}]),
        encode_document({"": 1, "a": 2, "ab": {"": {}}, "\U0001f600": '\U0001f600\0\x1f\x7f"\\/\n'}),
        encode_document(["\x01" * 1000, "\U0010ffff" * 9, "é" * 63, "é" * 64]),
    ],
)
def test_deep_and_large_documents(document: bytes) -> None:
    assert texts_by_kernel([document, document]) == [text_by_reference(document)] * 2


def two_entries(first: int, second: int, size: int = 15) -> bytes:
    """An array of two strings "a" at the given places, of which 10 and 12 are right."""
    return b"\2" + struct.pack("<HHBHBH", 2, size, 12, first, 12, second) + b"\1a\1a\0"


@pytest.mark.parametrize(
    "document",
    [
        nested(101),
        two_entries(10, 10),
        two_entries(10, 11),
        two_entries(4, 12),
        two_entries(10, 15),
        two_entries(10, 12, 16),
        two_entries(10, 12, 8),
        b"\0" + struct.pack("<HHHHHHBHBH", 2, 20, 18, 1, 19, 1, 4, 0, 4, 1) + b"aa",
        b"\2" + struct.pack("<HHBHIIBI", 1, 20, 3, 7, 1, 13, 4, 0),
        encode_document(1.5)[:1] + struct.pack("<d", float("inf")),
        b"\x0c\xff\xff\xff\xff\x7f",
        b"\x0c\x03\xed\xa0\x80",
        b"\4\3",
        b"\5\1",
        b"\5\1\0\0",
        b"\x0d",
    ],
)
def test_a_document_that_the_reference_refuses_is_odd(document: bytes) -> None:
    assert text_by_reference(document) is None
    assert texts_by_kernel([encode_document(1), document, encode_document("b")]) == ["1", None, '"b"']


def test_parts_in_another_order_and_gaps_have_the_text_of_the_reference() -> None:
    documents = [two_entries(12, 10), two_entries(10, 12) + b"", encode_document([1])]
    texts = json_texts(Cells(*batch_of(documents)))
    assert texts.data.tobytes().decode() == '["a", "a"]["a", "a"][1]'
    assert texts.odd.tolist() == []


@given(json_documents())
def test_a_partial_update_of_an_unknown_document_is_odd(document: bytes) -> None:
    diffs = [Diff(Operation.REPLACE, "$.a", document), Diff(Operation.REMOVE, "$.b")]
    buffer, off, length = batch_of([document, build_diffs(diffs), b"\7"])
    length[1:] = -1 - length[1:]
    cells = Cells(buffer, off, length)
    offsets, data, odd = json_texts(cells)
    assert odd.tolist() == [1, 2]
    assert offsets.tolist() == [0, len(data), len(data), len(data)]
    assert cell_text(cells, 1) is None
    assert diffs_text(cells, 1) == format_diffs(diffs)
    with pytest.raises(FormatError, match="7 is not an operation"):
        cell_text(cells, 2)


@given(json_documents())
def test_a_partial_update_of_a_known_document_is_the_document_after_it(document: bytes) -> None:
    old = encode_document({"a": 1, "b": [2]})
    parts = [build_diffs([Diff(Operation.REPLACE, path, document)]) for path in ("$.a", "$.b[0]", "$.c")]
    before = Cells(*batch_of([old, old, old, NULL]))
    buffer, off, length = batch_of([*parts, parts[0]])
    cells = Cells(buffer, off, -1 - length, before)
    offsets, data, odd = json_texts(cells)
    assert odd.tolist() == [2, 3]
    shown = [data[begin:end].tobytes().decode() for begin, end in pairwise(offsets.tolist())]
    value = text_by_reference(document)
    assert shown == [
        f'{{"a": {value}, "b": [2]}}',
        f'{{"a": 1, "b": [{value}]}}',
        "",
        "",
    ]
    with pytest.raises(FormatError, match="no place for REPLACE"):
        cell_text(cells, 2)


def test_a_cell_beyond_the_buffer_is_refused_and_slack_is_not_asked_for() -> None:
    document = encode_document("text")
    buffer = np.frombuffer(document, np.uint8).copy()
    off, length = np.zeros(1, np.int32), np.array([len(document)], np.int32)
    assert documents_text(buffer, off, length).data.tobytes() == b'"text"'
    with pytest.raises(ValueError, match="a cell ends at 7, the buffer at 6"):
        documents_text(buffer, off, length + 1)


def doubles_around(numbers: Sequence[float]) -> list[float]:
    """The numbers and their neighbours that are finite."""
    array = np.array(numbers)
    with np.errstate(over="ignore"):
        near = np.concatenate([array, np.nextafter(array, np.inf), np.nextafter(array, -np.inf)])
    return [float(number) for number in near[np.isfinite(near)]]


@pytest.mark.parametrize(
    "numbers",
    [
        doubles_around([2.0**power for power in range(-1074, 1024)]),
        doubles_around([float(f"1e{power}") for power in range(-323, 309)]),
        doubles_around([float(f"{digits}e{power}") for power in range(-20, 25) for digits in ("12345", "9.95")]),
        [number / 7 for number in range(-500, 500)] + [number / 100 for number in range(2000)],
        [float(number) for number in range(2**53 - 20, 2**53 + 20)] + [-0.0, 5e-324, 1.7976931348623157e308],
    ],
    ids=["powers of two", "powers of ten", "scaled", "quotients", "whole"],
)
def test_doubles_have_the_text_of_the_reference(numbers: list[float]) -> None:
    texts = texts_by_kernel([b"\x0b" + struct.pack("<d", number) for number in numbers])
    assert texts == list(map(format_double, numbers))


@given(st.lists(st.integers(0, 2**64 - 1), max_size=20))
def test_doubles_of_random_bits_have_the_text_of_the_reference(bits: list[int]) -> None:
    documents = [b"\x0b" + struct.pack("<Q", number) for number in bits]
    assert texts_by_kernel(documents) == list(map(text_by_reference, documents))


@pytest.mark.parametrize("kind", ["text", "sql", "patched"])
def test_recorded_documents_have_the_text_that_the_server_printed(kind: str) -> None:
    offsets, data, odd = json_texts(Cells(*batch_of([bytes.fromhex(record[-2]) for record in RECORDED[kind]])))
    assert not len(odd)
    shown = [data[begin:end].tobytes().decode() for begin, end in pairwise(offsets.tolist())]
    assert shown == [record[-1] for record in RECORDED[kind]]


@pytest.mark.slow
def test_the_json_cells_of_all_recordings_have_the_text_of_the_canonical_decode() -> None:
    found = []
    for path in LOGS:
        data = path.read_bytes()
        if bytes([WireType.JSON]) in data:
            with suppress(UnsupportedError):  # MariaDB's temporal types from before 5.6
                for change in canonical_rows(data):
                    found += [cell for image in (change.before, change.after) for cell in image or ()]
    found = [cell for cell in found if cell.column.type_code == WireType.JSON]
    assert any(cell.partial for cell in found)
    buffer, off, length = batch_of([NULL if cell.raw is None else cell.raw[4:] for cell in found])
    partial = np.array([cell.partial for cell in found])
    before = Cells(*batch_of([NULL if cell.base is None else cell.base[4:] for cell in found]))
    offsets, data, odd = json_texts(Cells(buffer, off, np.where(partial, -1 - length, length), before))
    texts = [cell.updated() if cell.partial else cell.text() or "" for cell in found]
    assert odd.tolist() == [row for row, text in enumerate(texts) if text is None]
    shown = [data[begin:end].tobytes().decode() for begin, end in pairwise(offsets.tolist())]
    assert shown == [text or "" for text in texts]
