"""Fixed layouts as they are translated, held against construct."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import construct
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.events.event import HEADER
from forge.events.registry import EVENT_TYPES
from forge.layouts import FixedLayout, NotFixedError, fixed_layout
from forge.values.numeric import bits, decimals, integers
from forge.values.numeric.decimals import MAX_PRECISION, MAX_SCALE
from forge.values.temporal import current
from forge.values.text import enums


def declared() -> Iterator[Any]:
    """Every fixed layout of the column types, the header, and the event bodies that are fixed."""
    yield HEADER
    yield from (construct.Float32l, construct.Float64l, construct.Byte, current.DATE_LAYOUT)
    for seconds in (current.DATETIME_LAYOUT, current.TIME_LAYOUT, construct.Int32ub):
        yield from (current.with_fraction(seconds, fsp) for fsp in range(7))
    for size in (1, 2, 3, 4, 8):
        yield from (integers.layout(size, unsigned) for unsigned in (False, True))
        yield enums.layout(size)
    yield from (bits.layout(size) for size in range(1, 9))
    for precision in range(1, MAX_PRECISION + 1):
        yield from (decimals.layout(precision, scale) for scale in range(min(precision, MAX_SCALE) + 1))
    for body in EVENT_TYPES.values():
        try:
            fixed_layout(body.layout)
        except NotFixedError:
            continue
        yield body.layout


LAYOUTS = [(layout, fixed_layout(layout)) for layout in declared()]


def leaves(found: Any) -> list[Any]:
    """The values of what construct has parsed, in order."""
    if isinstance(found, construct.Container):
        return [leaf for name, value in found.items() if name != "_io" for leaf in leaves(value)]
    if isinstance(found, construct.ListContainer):
        return [leaf for value in found for leaf in leaves(value)]
    return [found]


@given(data=st.data())
def test_a_translated_layout_reads_and_writes_what_construct_does(data: st.DataObject) -> None:
    layout, translated = data.draw(st.sampled_from(LAYOUTS))
    raw = data.draw(st.binary(min_size=translated.size, max_size=translated.size))
    values = list(translated.read(raw))
    assert repr(values) == repr(
        [int(leaf) if leaf is True or leaf is False else leaf for leaf in leaves(layout.parse(raw))]
    )
    assert translated.size == layout.sizeof()
    if translated.cuts:
        number = int.from_bytes(raw, "big")
        assert [number >> shift & mask for shift, mask in translated.cuts] == values
    if not any(value != value for value in values):  # the bits of NaN are not kept by everybody
        assert translated.write(values) == raw


def test_the_layouts_of_rows_and_headers_are_all_fixed() -> None:
    assert len(LAYOUTS) > 1000
    assert all(isinstance(translated, FixedLayout) for _, translated in LAYOUTS)


@pytest.mark.parametrize(
    ("layout", "code"),
    [
        (construct.Int32ul, "L"),
        (construct.Int32ub, None),
        (construct.Byte, "B"),
        (construct.BytesInteger(8, signed=True, swapped=True), "q"),
        (construct.BytesInteger(3, swapped=True), None),
        (construct.Float64l, "d"),
    ],
)
def test_a_little_endian_number_has_a_code_for_struct(layout: Any, code: str | None) -> None:
    assert fixed_layout(layout).code == code


@pytest.mark.parametrize(
    ("layout", "values"),
    [
        (construct.Int16ul, [1 << 16]),
        (construct.Int16ul, [-1]),
        (construct.BytesInteger(3, swapped=True), [1 << 24]),
        (current.DATE_LAYOUT, [2024, 16, 1]),
        (current.DATE_LAYOUT, [-1, 1, 1]),
    ],
)
def test_a_value_that_does_not_fit_is_not_written(layout: Any, values: list[int]) -> None:
    with pytest.raises(OverflowError):
        fixed_layout(layout).write(values)


@pytest.mark.parametrize(
    "layout",
    [
        construct.Bytes(construct.this.size),
        construct.GreedyBytes,
        construct.Struct("a" / construct.Int16ul, "b" / construct.Int16ub),
        construct.Struct("a" / construct.BytesInteger(3, swapped=True), "b" / construct.BytesInteger(3, swapped=True)),
        construct.BitStruct("a" / construct.BitsInteger(8, signed=True)),
        construct.Computed(7),
    ],
)
def test_what_is_not_fixed_is_refused(layout: Any) -> None:
    with pytest.raises(NotFixedError):
        fixed_layout(layout)
