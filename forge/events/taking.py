"""Event bodies taken field by field, as their layouts declare them, without construct's streams and contexts.

A layout that is declared here has a method ``taker``, which gives a function (data, place, fields so far) -> (value,
place behind it).  Whatever is not usual, an event that ends too early among it, raises one of ``UNUSUAL``; construct
then reads the body again and says what is wrong.  A body with a part that has no taker is always read by construct.

What was taken builds to the very bytes again: a taker refuses any form that ``build`` would not write.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from construct import Bytes, BytesInteger, Const, Construct, FormatField, GreedyRange, Renamed, Sequence, Struct

from forge.events.format import FormatContext
from forge.layouts import NotFixedError, fixed_layout
from forge.values.quick import UnusualError


class Fields(dict[str, Any]):
    """The fields that were taken so far, as the functions of a layout ask for them: by key or by attribute."""

    __getattr__ = dict.__getitem__


class Parameters(NamedTuple):
    """What a whole body is parsed with: ``this._params`` of a layout's functions."""

    format: FormatContext


Take = Callable[[bytes, int, Fields], tuple[Any, int]]


@lru_cache(maxsize=512)
def taker_of(layout: Construct[Any, Any]) -> Take:
    """How the layout is taken.  Raises NotFixedError for one that only construct can read."""
    if hasattr(layout, "taker"):
        own: Take = layout.taker()
        return own
    if isinstance(layout, Renamed):
        return taker_of(layout.subcon)
    if isinstance(layout, Const):
        return _constant(layout.value)
    if isinstance(layout, Sequence):
        return _sequence([taker_of(part) for part in layout.subcons])
    if isinstance(layout, GreedyRange):
        return _items(taker_of(layout.subcon))
    if isinstance(layout, BytesInteger) and callable(layout.length) and layout.swapped and not layout.signed:
        return _integer(layout.length)
    if isinstance(layout, Bytes) and isinstance(layout.length, int):
        return _number_of_bytes(layout.length)
    if isinstance(layout, (FormatField, BytesInteger)):
        return _number(layout)
    raise NotFixedError(repr(layout))


@lru_cache(maxsize=128)
def body_taker(layout: Struct) -> Callable[[bytes, FormatContext], Fields] | None:
    """The fields of a whole body, which must be consumed exactly; None for a layout that only construct can read."""
    try:
        parts = [(part.name, taker_of(part)) for part in layout.subcons]
    except NotFixedError:
        return None

    def take(data: bytes, format: FormatContext) -> Fields:
        found = Fields(_params=Parameters(format))
        at = 0
        for name, part in parts:
            found[name], at = part(data, at, found)
        if at != len(data):
            raise UnusualError
        return found

    return take


def bytes_taker(length: Callable[[Any], int]) -> Take:
    """Takes ``length(fields)`` bytes."""

    def take(data: bytes, at: int, found: Fields) -> tuple[bytes, int]:
        size = length(found)
        end = at + size
        if size < 0 or end > len(data):
            raise UnusualError
        return data[at:end], end

    return take


def _sequence(parts: list[Take]) -> Take:
    def take(data: bytes, at: int, found: Fields) -> tuple[tuple[Any, ...], int]:
        values = []
        for part in parts:
            value, at = part(data, at, found)
            values.append(value)
        return tuple(values), at

    return take


def _items(each: Take) -> Take:
    """All that is left, which whole items fill."""

    def take(data: bytes, at: int, found: Fields) -> tuple[tuple[Any, ...], int]:
        items = []
        while at < len(data):
            item, at = each(data, at, found)
            items.append(item)
        return tuple(items), at

    return take


def _number_of_bytes(size: int) -> Take:
    return bytes_taker(lambda found: size)


def _number(layout: Construct[Any, Any]) -> Take:
    fixed = fixed_layout(layout)
    size, read = fixed.size, fixed.read
    if fixed.code is not None:
        unpack = struct.Struct("<" + fixed.code).unpack_from
        return lambda data, at, found: (unpack(data, at)[0], at + size)

    def take(data: bytes, at: int, found: Fields) -> tuple[Any, int]:
        end = at + size
        if end > len(data):
            raise UnusualError
        return read(data[at:end])[0], end

    return take


def _integer(length: Callable[[Any], int]) -> Take:
    """An unsigned little-endian integer of ``length(fields)`` bytes."""
    taken = bytes_taker(length)

    def take(data: bytes, at: int, found: Fields) -> tuple[int, int]:
        raw, end = taken(data, at, found)
        return int.from_bytes(raw, "little"), end

    return take


def _constant(value: bytes) -> Take:
    def take(data: bytes, at: int, found: Fields) -> tuple[bytes, int]:
        if not data.startswith(value, at):
            raise UnusualError
        return value, at + len(value)

    return take
