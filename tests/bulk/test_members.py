"""ENUM and SET in bulk."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")
pytest.importorskip("numba", reason="the extra [rows] is not installed")

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from forge.bulk.plan import ABSENT, NULL
from forge.bulk.registry import column_plan
from forge.charsets import collation
from forge.errors import FormatError, ScenarioError
from forge.testing import values as strategies
from forge.values.base import Column
from forge.values.registry import codec_for
from forge.values.text.enums import MemberCodec
from forge.values.wire_types import WireType
from tests.bulk.cells import ODD, Cell, array_of, cells_written, plan_of, values_decoded, values_read

pytestmark = pytest.mark.slow

LATIN1, UTF8_CI = collation("latin1_swedish_ci").id, collation("utf8mb4_0900_ai_ci").id
ENUM, SET = b"\xf7", b"\xf8"


def enum(*members: bytes, collation: int = UTF8_CI, size: int = 1) -> Column:
    return Column(WireType.STRING, ENUM + bytes([size]), members=members, collation=collation)


def columns() -> st.SearchStrategy[Column]:
    """Declared ones, and ones with members such as damaged events tell, or none."""
    texts = st.one_of(st.sampled_from((b"", b"a", b"A", b"1", b"2", b"\xe9", b"\0")), st.binary(max_size=3))
    damaged = st.builds(
        Column,
        type_code=st.just(WireType.STRING),
        metadata=st.sampled_from((ENUM + b"\1", ENUM + b"\2", *(SET + bytes([size]) for size in (1, 2, 3, 4, 8)))),
        members=st.one_of(st.none(), st.lists(texts, max_size=5).map(tuple)),
        collation=st.sampled_from((None, 63, LATIN1, UTF8_CI, collation("utf32_general_ci").id)),
    )
    return st.one_of(strategies.member_columns(), damaged)


def shown(column: Column, cell: Cell) -> Any:
    """The number or, of an ENUM, the member as the canonical decode shows it; ODD for a number that is no member's."""
    if isinstance(cell, int):
        return None
    codec = codec_for(column)
    assert isinstance(codec, MemberCodec)
    number = codec.decode(column, cell)
    if column.metadata[:1] == SET or column.members is None:
        return number
    text = codec.members_text(column, number)
    if text is None:
        return ODD
    try:
        return text if codec.number_of(column, text) == number else ODD
    except ScenarioError:
        return ODD


@given(data=st.data())
def test_any_cell_is_read_as_the_canonical_decode_shows_it(data: st.DataObject) -> None:
    column = data.draw(columns())
    plan, codec = plan_of(column), codec_for(column)
    numbers = [*range(4), len(column.members or ()), len(column.members or ()) + 1, (1 << 8 * plan.wire) - 1]
    cells: list[Cell] = [codec.encode(column, number) for number in numbers if number < 1 << 8 * plan.wire]
    some = st.binary(min_size=plan.wire, max_size=plan.wire)
    cells += data.draw(st.lists(st.one_of(some, st.sampled_from((NULL, ABSENT))), max_size=20))
    expected = [shown(column, cell) for cell in cells]
    assert values_read(column, cells) == expected
    if plan.can_be_odd:
        array, odd = array_of(plan, cells)
        texts = plan.as_text(array)
        for row, cell in enumerate(cells):
            if isinstance(cell, bytes) and row not in odd:
                assert texts[row].as_py() == codec.text(column, codec.decode(column, cell))
    else:
        assert expected == values_decoded(column, cells)


@given(data=st.data())
def test_what_was_read_is_written_as_it_was(data: st.DataObject) -> None:
    column = data.draw(columns())
    plan, codec = plan_of(column), codec_for(column)
    numbers = st.integers(0, min(codec.accept(column, len(column.members or ())), (1 << 8 * plan.wire) - 1))
    cells: list[Cell] = [
        NULL if number is None else codec.encode(column, number)
        for number in data.draw(st.lists(st.one_of(numbers, st.none()), max_size=20))
    ]
    cells = [cell for cell in cells if shown(column, cell) != ODD]
    array, _ = array_of(plan, cells)
    assert cells_written(plan, array) == [None if isinstance(cell, int) else cell for cell in cells]


def test_members_are_text_of_the_columns_character_set() -> None:
    column = enum(b"caf\xe9", b"th\xe9", collation=LATIN1)
    assert values_read(column, [b"\2", b"\1", b"\0", b"\3", NULL]) == ["thé", "café", "", ODD, None]


def test_a_member_without_text_is_odd_and_so_is_one_that_counts_as_another() -> None:
    column = enum(b"a", b"\xff", b"a", b"A", b"")
    assert values_read(column, [b"\1", b"\2", b"\3", b"\4", b"\5", b"\0"]) == ["a", ODD, ODD, "A", "", ODD]


@pytest.mark.parametrize(("count", "index"), [(127, "int8"), (128, "int16"), (32767, "int16"), (32768, "int32")])
def test_the_index_is_as_wide_as_the_members_and_the_empty_value_need(count: int, index: str) -> None:
    column = enum(*(b"m%d" % number for number in range(count)), size=1 if count < 256 else 2)
    plan = plan_of(column)
    assert plan.arrow_type == pa.dictionary(getattr(pa, index)(), pa.string())
    last = count.to_bytes(plan.wire, "little")
    assert values_read(column, [last, b"\0" * plan.wire]) == [f"m{count - 1}", ""]


def test_another_dictionary_is_matched_by_text_as_the_collation_compares() -> None:
    plan = plan_of(enum(b"new", b"paid"))
    kind = plan.arrow_type
    first = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None, 3, 4], pa.int8()), ["PAID", "lost", "new", "", "2"])
    assert first.type == kind
    assert cells_written(plan, first) == [b"\2", ODD, b"\1", None, b"\0", b"\2"]
    second = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), ["new", None])
    assert cells_written(plan, second) == [ODD, b"\1"]
    assert cells_written(plan, first.slice(2)) == [b"\1", None, b"\0", b"\2"]
    assert cells_written(plan, second.slice(2)) == []


def test_plain_texts_are_matched_as_a_dictionary_is() -> None:
    plan = plan_of(enum(b"new", b"paid", b"a member of 25 characters", b"a member of XX characters"))
    given = ["PAID", "lost", "new", None, "", "2", "neW", "a member of XX characters", "a member of 25 characters"]
    expected = [b"\2", ODD, b"\1", None, b"\0", b"\2", b"\1", b"\4", b"\3"]
    for kind in (pa.string(), pa.large_string()):
        texts = pa.array(given, kind)
        of_texts = plan.of_type(kind)
        for _ in range(2):  # What was matched once is known then.
            assert cells_written(of_texts, texts.cast(of_texts.arrow_type)) == expected
        assert cells_written(of_texts, texts.cast(of_texts.arrow_type).slice(2)) == expected[2:]
    assert cells_written(plan.of_type(pa.string()), pa.array([], pa.string())) == []


@given(data=st.data())
def test_plain_texts_are_written_as_those_of_a_dictionary(data: st.DataObject) -> None:
    some = st.text("aAé1 ", max_size=20)
    members = data.draw(st.lists(some, min_size=1, max_size=8, unique=True))
    plan = plan_of(enum(*(member.encode() for member in members), size=data.draw(st.sampled_from((1, 2)))))
    texts = st.one_of(st.none(), st.sampled_from(members), st.sampled_from(members).map(str.swapcase), some)
    array = pa.array(data.draw(st.lists(texts, max_size=50)), pa.string())
    indices = array.dictionary_encode()
    of_dictionary = pa.DictionaryArray.from_arrays(indices.indices.cast(plan.arrow_type.index_type), indices.dictionary)
    assert cells_written(plan.of_type(pa.string()), array) == cells_written(plan, of_dictionary)


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        (Column(WireType.STRING, ENUM + b"\1"), [0, 255, 256, 65535], [b"\0", b"\xff", ODD, ODD]),
        (Column(WireType.STRING, ENUM + b"\2"), [0, 65535], [b"\0\0", b"\xff\xff"]),
        (Column(WireType.STRING, SET + b"\1", members=(b"a", b"b")), [3, 4, 2**64 - 1], [b"\3", ODD, ODD]),
        (Column(WireType.STRING, SET + b"\3"), [2**24 - 1, 2**24], [b"\xff\xff\xff", ODD]),
    ],
)
def test_a_number_that_the_column_cannot_hold_is_odd(column: Column, values: list[int], expected: list[Any]) -> None:
    plan = plan_of(column)
    assert cells_written(plan, pa.array(values, plan.arrow_type)) == expected


@pytest.mark.parametrize("metadata", [ENUM + b"\3", SET + b"\5", SET])
def test_metadata_that_no_such_column_has_are_a_format_error(metadata: bytes) -> None:
    with pytest.raises(FormatError) as caught:
        column_plan(Column(WireType.STRING, metadata))
    assert caught.value.phase == "metadata"
