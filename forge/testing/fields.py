"""Hypothesis strategies for the fields of events, found by the layouts that the fields have.

They aim at boundaries: the ends of numbers, the sizes at which a packed length grows, bytes that are not text.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

from construct import (
    Array,
    BytesInteger,
    Construct,
    FormatField,
    Sequence,
    Subconstruct,
)
from construct import Bytes as FixedBytes
from hypothesis import strategies as st

from forge.events.derived_parts import When, WhileMore
from forge.events.format import FormatContext
from forge.events.layout import Body
from forge.events.optional_metadata import MetadataRecord, record
from forge.events.taking import Fields, Parameters

Strategy = st.SearchStrategy[Any]

#: Bytes whose length takes one byte as a packed integer, and three.
_LONG = (bytes(250), b"\xff" * 251)


def unsigned(bits: int) -> st.SearchStrategy[int]:
    """Numbers of that width, the ends often."""
    top = (1 << bits) - 1
    return st.one_of(st.sampled_from((0, 1, top // 2, top - 1, top)), st.integers(0, top))


def signed(bits: int) -> st.SearchStrategy[int]:
    half = 1 << (bits - 1)
    return st.one_of(st.sampled_from((-half, -1, 0, 1, half - 1)), st.integers(-half, half - 1))


def packed() -> st.SearchStrategy[int]:
    """Numbers at which a packed integer takes more bytes, and any others."""
    return st.one_of(st.sampled_from((0, 250, 251, 252, 255, 65535, 65536, 1 << 24)), unsigned(64))


def texts(max_bytes: int = 40) -> st.SearchStrategy[str]:
    """Text as events hold it: any bytes, decoded with surrogate escapes."""
    return st.one_of(
        st.text(max_size=max_bytes // 4),
        st.binary(max_size=max_bytes).map(lambda b: b.decode("utf-8", "surrogateescape")),
    )


def names() -> st.SearchStrategy[str]:
    """Text without NUL."""
    return texts().filter(lambda text: "\0" not in text)


def blocks() -> st.SearchStrategy[bytes]:
    """Bytes of any length."""
    return st.one_of(st.binary(max_size=30), st.binary(max_size=30), st.sampled_from(_LONG))


def field_values(body: type[Body], by_name: dict[str, Strategy]) -> st.SearchStrategy[dict[str, Any]]:
    """The fields of an event as its layout has them, but for those in ``by_name``; derived ones are left out."""
    layouts = {part.name: part.subcon for part in body.layout.subcons if part.name is not None}
    items = {item.name: item for item in dataclasses.fields(body)}  # type: ignore[arg-type]

    @st.composite
    def draw_fields(draw: st.DrawFn) -> dict[str, Any]:
        context = Fields(_params=Parameters(FormatContext()))
        goes_on = True
        for name, layout in layouts.items():
            value = None
            if name in by_name:
                value = draw(by_name[name])
            elif "boundaries" in items[name].metadata:
                value = draw(st.sampled_from(items[name].metadata["boundaries"]))
            elif isinstance(layout, WhileMore):
                # An event that ends before a field has none of those behind it.
                goes_on = goes_on and draw(st.booleans())
                value = draw(strategy_of(layout.subcon, context)) if goes_on else None
            elif isinstance(layout, When):
                value = draw(strategy_of(layout.subcon, context)) if layout.condition(context) else None
            elif "derived" not in items[name].metadata:
                value = draw(strategy_of(layout, context))
            context[name] = value
        del context["_params"]
        return {name: value for name, value in context.items() if value is not None or name in by_name}

    return draw_fields()


def tuples_of(item: Strategy, most: int = 4) -> Strategy:
    """Tuples of any number of items."""
    return st.lists(item, max_size=most).map(tuple)


def binary(most: int) -> Strategy:
    """At most so many bytes."""
    return st.binary(max_size=most)


def bytes_of(size: int) -> Strategy:
    """So many bytes."""
    return st.binary(min_size=size, max_size=size)


def strategy_of(layout: Construct, context: Any) -> Strategy:
    """Values that a field of that layout can hold; ``context`` has the fields before it.

    Parts of our own say it themselves (:class:`forge.events.giving.Part`).
    """
    if hasattr(layout, "drawn"):
        own: Strategy = layout.drawn(sys.modules[__name__], context)
        return own
    if isinstance(layout, FormatField):
        bits = 8 * layout.length
        return signed(bits) if layout.fmtstr[-1].islower() else unsigned(bits)
    if isinstance(layout, BytesInteger):
        # A length that depends on the file's format is that of table ids.
        return unsigned(8 * layout.length if isinstance(layout.length, int) else 48)
    if isinstance(layout, FixedBytes):
        return bytes_of(layout.length)
    if isinstance(layout, Array):
        item = strategy_of(layout.subcon, context)
        return st.tuples(*[item] * layout.count)
    if isinstance(layout, Sequence):
        return st.tuples(*(strategy_of(part, context) for part in layout.subcons))
    if isinstance(layout, Subconstruct):
        return strategy_of(layout.subcon, context)
    return blocks()


def metadata_records() -> st.SearchStrategy[MetadataRecord]:
    number = st.one_of(st.sampled_from((0, 250, 251, 255, 65535, 65536)), unsigned(24))
    numbers = st.lists(number, max_size=5).map(tuple)
    pairs = st.lists(st.tuples(number, number), max_size=4).map(tuple)
    members = st.lists(st.lists(st.binary(max_size=5), max_size=3).map(tuple), max_size=3).map(tuple)
    bits = st.text("01", max_size=20).map(lambda text: text.ljust(-(-len(text) // 8) * 8, "0"))
    return st.one_of(
        bits.map(lambda value: record("signedness", value)),
        st.tuples(number, pairs).map(lambda value: record("default_charset", value)),
        numbers.map(lambda value: record("column_charset", value)),
        st.lists(texts(), max_size=4).map(lambda value: record("column_name", tuple(value))),
        members.map(lambda value: record("set_members", value)),
        members.map(lambda value: record("enum_members", value)),
        pairs.map(lambda value: record("prefix_primary_key", value)),
        bits.map(lambda value: record("visibility", value)),
        st.builds(MetadataRecord, st.integers(14, 255), st.binary(max_size=6), st.sampled_from((None, 3, 4, 9))),
        # The same number in three bytes, and an item that ends after its record.
        st.sampled_from((MetadataRecord(3, b"\xfc\x08\x00"), MetadataRecord(8, b"\x01\xfd\x00", 4))),
    )
