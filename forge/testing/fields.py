"""Hypothesis strategies for the fields of events, found by the layouts that the fields have.

They aim at boundaries: the ends of numbers, the sizes at which a packed length grows, bytes that are not text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from construct import Array, BytesInteger, Construct, Container, FormatField, Sequence, Subconstruct
from construct import Bytes as FixedBytes
from hypothesis import strategies as st

from forge.events.counted_items import Items, NamedItems
from forge.events.format import FormatContext
from forge.events.gtid import Uuid, WithOriginal
from forge.events.gtid_list import DomainGtids
from forge.events.layout import Bitmap, Body, Text, When, WhileMore, ZeroTerminated
from forge.events.load_statement import AsTuple, ColumnNames
from forge.events.mariadb_gtid import FlagsExtra, XaId
from forge.events.optional_metadata import MetadataRecord, OptionalMetadata, record
from forge.events.packed import PackedInt
from forge.events.previous_gtids import GtidSet
from forge.events.status_vars import StatusBlock
from forge.events.table_metadata import Descriptors
from forge.events.type_length_values import TypeLengthValues

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
        context = Container(_params=Container(format=FormatContext()))
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


def strategy_of(layout: Construct, context: Container) -> Strategy:
    """Values that a field of that layout can hold; ``context`` has the fields before it."""
    for kind, make in _BY_LAYOUT.items():
        if isinstance(layout, kind):
            return make(layout, context)
    if isinstance(layout, Subconstruct):
        return strategy_of(layout.subcon, context)
    return blocks()


def _number(layout: FormatField, context: Container) -> Strategy:
    bits = 8 * layout.length
    return signed(bits) if layout.fmtstr[-1].islower() else unsigned(bits)


def _bytes_number(layout: BytesInteger, context: Container) -> Strategy:
    # A length that depends on the file's format is that of table ids.
    return unsigned(8 * layout.length if isinstance(layout.length, int) else 48)


def _bitmap(layout: Bitmap, context: Container) -> Strategy:
    size = layout.length(context)
    return st.binary(min_size=size, max_size=size)


def _tuple(layout: AsTuple, context: Container) -> Strategy:
    inner = layout.subcon
    parts = [inner.subcon] * inner.count if isinstance(inner, Array) else inner.subcons
    return st.tuples(*(strategy_of(part, context) for part in parts))


def _with_original(layout: WithOriginal, context: Container) -> Strategy:
    # The top bit says whether the second number follows.
    number = unsigned(8 * layout.width - 1)
    return st.tuples(number, st.none() | number)


def _sequence(layout: Sequence, context: Container) -> Strategy:
    return st.tuples(*(strategy_of(part, context) for part in layout.subcons))


def _always(strategy: Callable[[], Strategy]) -> Callable[[Any, Container], Strategy]:
    return lambda layout, context: strategy()


def status_variables() -> st.SearchStrategy[tuple[tuple[str, Any], ...]]:
    each = st.one_of(
        st.tuples(st.just("flags2"), unsigned(32)),
        st.tuples(st.just("sql_mode"), unsigned(64)),
        st.tuples(st.just("catalog"), texts()),
        st.tuples(st.just("auto_increment"), st.tuples(unsigned(16), unsigned(16))),
        st.tuples(st.just("charset"), st.tuples(unsigned(16), unsigned(16), unsigned(16))),
        st.tuples(st.just("time_zone"), texts()),
        st.tuples(st.just("invoker"), st.tuples(texts(), texts())),
        st.tuples(st.just("updated_databases"), st.lists(names(), max_size=16).map(tuple)),
        st.tuples(st.just("updated_databases"), st.just(254)),
        st.tuples(st.just("microseconds"), unsigned(24)),
        st.tuples(st.just("ddl_xid"), unsigned(64)),
        st.tuples(st.just("mariadb_gtid_flags"), st.sampled_from(((2,), (4, 15), (16,)))),
        st.tuples(
            st.just("character_set_collations"), st.lists(st.tuples(unsigned(16), unsigned(16)), max_size=3).map(tuple)
        ),
    )
    ending = st.one_of(st.just(()), st.binary(max_size=9).map(lambda rest: (("unread", b"\x7f" + rest),)))
    return st.builds(lambda variables, rest: (*variables, *rest), st.lists(each, max_size=6).map(tuple), ending)


def gtid_sets() -> st.SearchStrategy[tuple[bool, tuple[Any, ...]]]:
    # Ascending, and not next to each other.
    bounds = st.lists(st.integers(1, (1 << 62) - 1), max_size=6, unique=True).map(sorted)
    intervals = bounds.map(
        lambda of: tuple((2 * first, 2 * last) for first, last in zip(of[::2], of[1::2], strict=False))
    )
    uuids = st.uuids().map(str)
    plain = st.lists(st.tuples(uuids, st.just(""), intervals), max_size=3).map(tuple)
    tagged = st.lists(st.tuples(uuids, st.text("abc_", max_size=8), intervals), max_size=3).map(tuple)
    return st.one_of(st.tuples(st.just(False), plain), st.tuples(st.just(True), tagged))


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


def _tuples_of(item: Strategy, most: int = 4) -> Strategy:
    return st.lists(item, max_size=most).map(tuple)


def _descriptors() -> Strategy:
    numbers = (unsigned(8), unsigned(32), unsigned(8), unsigned(16), unsigned(16))
    return st.tuples(*numbers, texts(), texts(), texts())


#: Layout -> what makes the strategy; the first that fits is taken, so a subclass stands before its base.
_BY_LAYOUT: dict[Any, Callable[[Any, Container], Strategy]] = {
    FormatField: _number,
    BytesInteger: _bytes_number,
    PackedInt: _always(packed),
    Uuid: _always(lambda: st.uuids().map(str)),
    Text: _always(texts),
    ZeroTerminated: _always(names),
    Bitmap: _bitmap,
    FixedBytes: lambda layout, context: st.binary(min_size=layout.length, max_size=layout.length),
    NamedItems: _always(lambda: _tuples_of(st.tuples(texts(), blocks()))),
    Items: _always(lambda: _tuples_of(blocks())),
    Descriptors: _always(lambda: _tuples_of(_descriptors())),
    AsTuple: _tuple,
    Sequence: _sequence,
    WithOriginal: _with_original,
    FlagsExtra: _always(lambda: unsigned(8)),
    XaId: _always(lambda: st.tuples(unsigned(32), st.binary(max_size=64), st.binary(max_size=64))),
    DomainGtids: _always(lambda: _tuples_of(st.tuples(unsigned(32), unsigned(32), unsigned(64)))),
    ColumnNames: _always(lambda: _tuples_of(texts())),
    StatusBlock: _always(status_variables),
    GtidSet: _always(gtid_sets),
    OptionalMetadata: _always(lambda: _tuples_of(metadata_records())),
    TypeLengthValues: _always(
        lambda: _tuples_of(st.tuples(st.sampled_from((1, 2, 3, 200, 251)), st.binary(max_size=9)), 3)
    ),
}
