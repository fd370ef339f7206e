"""Event bodies taken field by field, as their layouts declare them, without construct's streams and contexts.

A layout that is declared here has a method ``taker``, which gives a function (data, place, fields so far) -> (value,
place behind it) that raises LayoutError.  What is taken builds to the very bytes again, unless a taker has noted that
it met a form that ``build`` would not write (:meth:`Fields.note_other_form`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple

from construct import Array, Bytes, BytesInteger, Const, Construct, FormatField, GreedyRange, Renamed, Sequence, Struct

from forge.events.format import FormatContext
from forge.layouts import NotFixedError, fixed_layout

#: Bytes of a part of a body that is kept.
_KEPT_SIZE: Final = 4096


class LayoutError(ValueError):
    """Bytes that a layout does not have: what is wrong, and the place at which that is known."""

    def __init__(self, rule: str, at: int = 0) -> None:
        super().__init__(rule)
        self.at = at


class Fields(dict[str, Any]):
    """The fields that were taken so far, as the functions of a layout ask for them: by key or by attribute."""

    __getattr__ = dict.__getitem__

    def note_other_form(self) -> None:
        """Note that ``build`` would write other bytes."""
        self["_other_form"] = True

    @property
    def has_other_form(self) -> bool:
        return "_other_form" in self


class Parameters(NamedTuple):
    """What a whole body is parsed with: ``this._params`` of a layout's functions."""

    format: FormatContext


Take = Callable[[bytes, int, Fields], tuple[Any, int]]


def ends_inside(data: bytes, at: int, size: int) -> LayoutError:
    """The error of a field of that size for which there are too few bytes."""
    return LayoutError(f"it ends inside a field of {size} bytes, {len(data) - at} left", len(data))


def take_number(data: bytes, at: int, size: int) -> tuple[int, int]:
    """An unsigned little-endian integer."""
    end = at + size
    if end > len(data):
        raise ends_inside(data, at, size)
    return int.from_bytes(data[at:end], "little"), end


def take_bytes(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    """Bytes whose number stood before them; no more are allocated than the event has."""
    end = at + size
    if size < 0:
        raise LayoutError(f"{size} bytes announced, but only 0 left", at)
    if end > len(data):
        raise LayoutError(f"{size} bytes announced, but only {len(data) - at} left", len(data))
    return data[at:end], end


@lru_cache(maxsize=512)
def taker_of(layout: Construct[Any, Any]) -> Take:
    """How the layout is taken.  Raises NotFixedError for one that is not known."""
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
    if isinstance(layout, Array):
        return _sequence([taker_of(layout.subcon)] * layout.count)
    if isinstance(layout, BytesInteger) and callable(layout.length) and layout.swapped and not layout.signed:
        length = layout.length
        return lambda data, at, found: take_number(data, at, length(found))
    if isinstance(layout, Bytes) and isinstance(layout.length, int):
        return _number_of_bytes(layout.length)
    if isinstance(layout, (FormatField, BytesInteger)):
        return _number(layout)
    raise NotFixedError(repr(layout))


@lru_cache(maxsize=128)
def body_taker(layout: Struct, kept_from: str | None = None) -> Callable[[bytes, FormatContext], Fields]:
    """The fields of a whole body, which must be consumed exactly.

    From the field ``kept_from`` on, none of them depends on those before; they are kept by their bytes.
    """
    parts = [(part.name, taker_of(part)) for part in layout.subcons]
    names = [name for name, _ in parts]
    first = len(parts) if kept_from is None else names.index(kept_from)

    def take(data: bytes, format: FormatContext) -> Fields:
        found = Fields(_params=Parameters(format))
        at = 0
        for name, part in parts[:first]:
            found[name], at = part(data, at, found)
        if kept_from is not None:
            of_rest = kept if len(data) - at <= _KEPT_SIZE else take_rest
            try:
                found.update(of_rest(data[at:], format))
            except LayoutError as error:
                raise LayoutError(str(error), at + error.at) from None
        elif at != len(data):
            raise LayoutError(f"{len(data) - at} bytes too many", at)
        return found

    def take_rest(data: bytes, format: FormatContext) -> Fields:
        found = Fields(_params=Parameters(format))
        at = 0
        for name, part in parts[first:]:
            found[name], at = part(data, at, found)
        if at != len(data):
            raise LayoutError(f"{len(data) - at} bytes too many", at)
        return found

    kept = lru_cache(maxsize=256)(take_rest)
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
    """All that is left, as far as whole items go."""

    def take(data: bytes, at: int, found: Fields) -> tuple[tuple[Any, ...], int]:
        items = []
        while at < len(data):
            try:
                item, at = each(data, at, found)
            except LayoutError:
                break
            items.append(item)
        return tuple(items), at

    return take


def _number_of_bytes(size: int) -> Take:
    def take(data: bytes, at: int, found: Fields) -> tuple[bytes, int]:
        end = at + size
        if end > len(data):
            raise ends_inside(data, at, size)
        return data[at:end], end

    return take


def _number(layout: Construct[Any, Any]) -> Take:
    fixed = fixed_layout(layout)
    size, read = fixed.size, fixed.read
    if fixed.code is None:
        whole = _number_of_bytes(size)

        def take_other(data: bytes, at: int, found: Fields) -> tuple[Any, int]:
            raw, end = whole(data, at, found)
            return read(raw)[0], end

        return take_other
    unpack = struct.Struct("<" + fixed.code).unpack_from

    def take(data: bytes, at: int, found: Fields) -> tuple[Any, int]:
        try:
            return unpack(data, at)[0], at + size
        except struct.error:
            raise ends_inside(data, at, size) from None

    return take


def _constant(value: bytes) -> Take:
    whole = _number_of_bytes(len(value))

    def take(data: bytes, at: int, found: Fields) -> tuple[bytes, int]:
        if not data.startswith(value, at):
            other, end = whole(data, at, found)
            raise LayoutError(f"parsing expected {value!r} but parsed {other!r}", end)
        return value, at + len(value)

    return take
