"""CHAR, VARCHAR, TEXT and their binary kin in bulk, in every character set."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")
pytest.importorskip("numba", reason="the extra [rows] is not installed")

from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from forge.bulk.machine import SLACK
from forge.bulk.plan import ABSENT, NULL, Cells
from forge.charsets import Charset, charset, charset_names, default_collation
from forge.errors import FormatError, ScenarioError
from forge.values.base import Column
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import codec_for, column_for
from forge.values.text.column_charset import charset_of
from forge.values.text.compressed import compress
from forge.values.text.strings import TextCodec, folded_metadata
from forge.values.wire_types import WireType
from tests.bulk.cells import ODD, Cell, array_of, cells_written, plan_of, values_decoded, values_read

pytestmark = pytest.mark.slow

_TEXT_SETS = [name for name in charset_names() if name != "binary"]
#: The whole tables of most sets take a while.
_QUICK_SETS = ("latin1", "sjis", "gb18030", "utf16le", "utf8mb3")
_WHOLE_SETS = [name if name in _QUICK_SETS else pytest.param(name, marks=pytest.mark.nightly) for name in _TEXT_SETS]
#: The basic plane, and some of what is above it.
_POINTS = [*range(0xD800), *range(0xE000, 0x10000), *range(0x10000, 0x110000, 97), 0x10FFFF]
_COMPRESSED = ("compressed varchar", "compressed blob")
#: No such collation.
_UNKNOWN = 60000


def _column(name: str | None, kind: str, size: int) -> Column:
    """A column of a set by its name; of no known set for None, of an unknown collation for "?"."""
    collation = None if name is None else _UNKNOWN if name == "?" else default_collation(name).id
    if kind == "char":
        return Column(WireType.STRING, folded_metadata(size), collation=collation)
    if kind == "varchar":
        return Column(WireType.VARCHAR, size.to_bytes(2, "little"), collation=collation)
    if kind == "compressed varchar":
        return Column(WireType.VARCHAR_COMPRESSED, (size + 1).to_bytes(2, "little"), collation=collation)
    if kind == "compressed blob":
        return Column(WireType.BLOB_COMPRESSED, bytes([size % 4 + 1]), collation=collation)
    return Column(WireType.BLOB, bytes([size % 4 + 1]), collation=collation)


def _columns() -> st.SearchStrategy[Column]:
    sizes = st.sampled_from([0, 1, 3, 4, 12, 16, 40, 254, 255, 256, 300, 1020])
    names = st.sampled_from([*charset_names(), "utf8mb4", "latin1", "utf16", "binary", "?", None])
    return st.builds(_column, names, st.sampled_from(["char", "varchar", "blob", *_COMPRESSED]), sizes)


def _texts() -> st.SearchStrategy[str]:
    usual = st.text(st.sampled_from("aZ9 \\~\0\x7fäßéжωקあ漢가€½ｱ　𝄞😀\uffff\ue000"), max_size=40)
    return st.one_of(usual, st.text(max_size=20), st.text(st.characters(max_codepoint=127), max_size=300))


def _stored(column: Column, data: bytes) -> bytes:
    """A cell with these bytes, as many as its prefix can say."""
    prefix = -plan_of(column).wire
    data = data[: (1 << 8 * prefix) - 1]
    return len(data).to_bytes(prefix, "little") + data


def _expected(column: Column, value: Any) -> bytes | str | None:
    """The cell that the reference makes of a declared value."""
    if value is None:
        return None
    codec = codec_for(column)
    try:
        return codec.encode(column, codec.accept(column, value))
    except ScenarioError:
        return ODD


def _reads(column: Column, cells: list[Cell]) -> None:
    """Bytes where text is expected are odd: Arrow has no text for them."""
    expected = values_decoded(column, cells)
    if plan_of(column).arrow_type == pa.string():
        expected = [ODD if isinstance(value, bytes) else value for value in expected]
    assert values_read(column, cells) == expected


@given(data=st.data())
def test_strings_are_read_as_the_codec_reads_them(data: st.DataObject) -> None:
    column = data.draw(_columns())
    known = charset_of(column) or charset("utf8mb4")
    texts = _texts().map(lambda text: b"".join(map(known.encode_or_mark, text)))
    raw = st.one_of(texts, st.binary(max_size=70), texts.map(lambda data: data[:-1]))
    if column.type_code in (WireType.VARCHAR_COMPRESSED, WireType.BLOB_COMPRESSED):
        raw = st.one_of(raw.map(compress), raw.map(lambda data: compress(data * 9)), raw)
    cells = st.one_of(raw.map(lambda data: _stored(column, data)), st.sampled_from((NULL, ABSENT)))
    _reads(column, data.draw(st.lists(cells, max_size=12)))


@given(data=st.data())
def test_strings_are_written_as_the_codec_writes_them(data: st.DataObject) -> None:
    column = data.draw(_columns())
    plan = plan_of(column)
    values = _texts() if plan.arrow_type == pa.string() else st.binary(max_size=70)
    column_values: list[str | bytes | None] = data.draw(st.lists(st.one_of(values, st.none()), max_size=12))
    codec = codec_for(column)
    assert isinstance(codec, TextCodec)
    most = codec.characters(column)
    for value, written in zip(
        column_values, cells_written(plan, pa.array(column_values, plan.arrow_type)), strict=True
    ):
        if written == ODD and most is not None and value is not None and len(value) > most:
            continue  # Too long, perhaps by spaces alone: the reference decides.
        assert written == _expected(column, value)


@pytest.mark.parametrize("name", _WHOLE_SETS)
def test_every_character_of_a_set_is_read_and_written_as_its_codec_says(name: str) -> None:
    column = _column(name, "blob", 3)
    plan, known = plan_of(column), charset(name)
    characters = [chr(point) for point in _POINTS]
    wire = plan.write(pa.array(characters, pa.string()))
    assert wire.starts is not None
    assert wire.lengths is not None
    stored, odd = wire.values.tobytes(), set(wire.odd.tolist())
    spans = zip(wire.starts.tolist(), wire.lengths.tolist(), strict=True)
    written = [None if row in odd else stored[at : at + size] for row, (at, size) in enumerate(spans)]
    assert written == [_encoded(known, character) for character in characters]
    cells: list[Cell] = [_stored(column, data) for data in written if data is not None]
    assert array_of(plan, cells)[0].to_pylist() == [known.decode(data) for data in written if data is not None]


@pytest.mark.parametrize("name", _WHOLE_SETS)
def test_every_pair_of_bytes_is_read_as_the_codec_of_its_set_says(name: str) -> None:
    column = _column(name, "blob", 0)
    plan, known = plan_of(column), charset(name)
    pairs = [bytes([byte]) for byte in range(256)]
    pairs += [bytes([first, second]) for first in range(256) for second in range(256)]
    array, odd = array_of(plan, [_stored(column, pair) for pair in pairs])
    values = [None if row in odd else text for row, text in enumerate(array.to_pylist())]
    assert values == [_decoded(known, pair) for pair in pairs]


def _encoded(known: Charset, character: str) -> bytes | None:
    """The character's bytes; None if it has none."""
    try:
        return known.encode(character)
    except ScenarioError:
        return None


def _decoded(known: Charset, data: bytes) -> str | None:
    try:
        return known.decode(data)
    except FormatError:
        return None


_LEADS = (0x41, 0x7F, 0x80, 0xBF, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF)


@pytest.mark.parametrize("name", ["utf8mb4", "utf8mb3", "ascii"])
@pytest.mark.parametrize("lead", _LEADS)
def test_a_value_by_itself_is_text_if_its_codec_says_so(name: str, lead: int) -> None:
    """One value a batch, at every place of a word: the first look at a batch decides."""
    column = _column(name, "blob", 1)
    plan, known = plan_of(column), charset(name)
    for second, third, fourth in product(
        (0x41, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC2), (0x41, 0x80, 0xBF), (0, 0x80)
    ):
        for before, size in product((0, 5, 6, 7, 8), range(1, 5)):
            data = b" " * before + bytes([lead, second, third, fourth])[:size]
            offsets, lengths = np.zeros(1, np.int32), np.array([len(data)], np.int32)
            read = plan.read(Cells(np.frombuffer(data + bytes(SLACK), np.uint8), offsets, lengths))
            assert len(read.odd) == (_decoded(known, data) is None), data


@given(name=st.sampled_from(["UUID", "INET4", "INET6"]), data=st.data())
def test_addresses_are_their_bytes(name: str, data: st.DataObject) -> None:
    column = column_for(SqlType(name), server="mariadb")
    plan = plan_of(column)
    size = 4 if name == "INET4" else 16
    raw = st.one_of(st.binary(max_size=size), st.binary(max_size=1).map(lambda byte: byte * size))
    if name == "UUID":  # No column holds others (the server reads them as another one).
        raw = raw.filter(lambda item: not (item[6:7] >= b"\x80" and item.ljust(size, b"\0")[8] < 0x80))
    cells: list[Cell] = [_stored(column, item.rstrip(b"\0")) for item in data.draw(st.lists(raw, max_size=6))]
    cells += [NULL, _stored(column, bytes([1]) * (size + 1))]
    values = values_read(column, cells)
    assert values == [*values_decoded(column, cells)[:-1], ODD]
    array = pa.array(values[:-1], plan.arrow_type)
    assert cells_written(plan, array) == [_expected(column, value) for value in values[:-1]] == [*cells[:-2], None]
