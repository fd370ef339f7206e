"""Readers and writers of fixed layouts, translated once from their declaration with construct.

A layout is *fixed* if its size and the place of each field are the same for all bytes: integers, floats, bits, and
``Struct``, ``Sequence``, ``BitStruct`` and ``ByteSwapped`` of these.  construct goes through such a layout field by
field, with streams and contexts; a :class:`FixedLayout` reads it with one ``struct``, or as one integer that is cut
into bits.
The declaration stays the only place that says how the bytes lie.  tests/frame/test_fixed_layouts.py holds both equal.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from construct import (
    BitsInteger,
    BytesInteger,
    Computed,
    Construct,
    Flag,
    FormatField,
    Renamed,
    Struct,
    Transformed,
)
from construct import Sequence as SequenceOf
from construct.lib import bits2bytes, bytes2bits, swapbytes

#: The codes of ``struct`` for unsigned integers, by their bytes.
_UNSIGNED = {1: "B", 2: "H", 4: "I", 8: "Q"}

Order = Literal["little", "big"]


class NotFixedError(Exception):
    """The layout has a part whose size or meaning depends on what is read; construct has to read it."""


@dataclass(frozen=True, slots=True)
class FixedLayout:
    """A fixed layout of ``size`` bytes.

    ``read`` gives the values of its fields, in order, those inside of others among them; it takes ``size`` bytes, whose
    number it need not look at.  ``write`` gives the bytes of such values; OverflowError for one that does not fit.
    ``code`` is the whole layout as a code of ``struct`` in little-endian order, where it is one such number.
    ``cuts`` has (shift, mask) of each field in the big-endian integer that the bytes are, if all are parts of it.
    """

    size: int
    read: Callable[[bytes], Sequence[Any]]
    write: Callable[[Sequence[Any]], bytes]
    code: str | None = None
    cuts: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _Field:
    """One value: ``bits`` wide (0: the constant 0), and how ``struct`` writes it, if it does."""

    bits: int
    order: Order | None  # None: a single byte or less
    code: str | None
    signed: bool = False


@lru_cache(maxsize=512)
def fixed_layout(layout: Construct[Any, Any]) -> FixedLayout:
    """The translation of ``layout``.  Raises NotFixedError."""
    fields = _fields(layout)
    orders = {field.order for field in fields} - {None}
    if len(orders) > 1 or not fields:
        raise NotFixedError(repr(layout))
    order: Order = "little" if orders == {"little"} else "big"
    codes = [field.code for field in fields]
    signed = any(field.signed for field in fields)
    bits = sum(field.bits for field in fields)
    cuts = () if signed or bits % 8 else _cuts([field.bits for field in fields])
    visible = cuts if order == "big" else ()
    if None not in codes:
        return replace(_of_numbers("".join(map(str, codes)), order), cuts=visible)
    if len(fields) == 1 and not bits % 8:
        return replace(_of_integer(bits // 8, order, signed), cuts=visible)
    # Several little-endian numbers would lie in the other direction than the bits of one do.
    if not cuts or (order == "little" and not _is_swapped(layout)):
        raise NotFixedError(repr(layout))
    return replace(_of_bits(bits // 8, order, cuts), cuts=visible)


def _cuts(widths: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """(shift, mask) of the parts of an integer, the highest first."""
    left, cuts = sum(widths), []
    for width in widths:
        left -= width
        cuts.append((left, (1 << width) - 1))
    return tuple(cuts)


def _of_numbers(codes: str, order: Order) -> FixedLayout:
    together = struct.Struct(("<" if order == "little" else ">") + codes)

    def write(values: Sequence[Any]) -> bytes:
        try:
            return together.pack(*values)
        except struct.error as error:
            raise OverflowError(str(error)) from None

    alone = codes if len(codes) == 1 and (order == "little" or together.size == 1) else None
    return FixedLayout(together.size, together.unpack, write, alone)


def _of_integer(size: int, order: Order, signed: bool) -> FixedLayout:
    return FixedLayout(
        size,
        lambda data: (int.from_bytes(data, order, signed=signed),),
        lambda values: int(values[0]).to_bytes(size, order, signed=signed),
    )


def _of_bits(size: int, order: Order, cuts: tuple[tuple[int, int], ...]) -> FixedLayout:
    def read(data: bytes) -> list[int]:
        number = int.from_bytes(data, order)
        return [number >> shift & mask for shift, mask in cuts]

    def write(values: Sequence[int]) -> bytes:
        number = 0
        for value, (shift, mask) in zip(values, cuts, strict=True):
            if not 0 <= value <= mask:
                raise OverflowError(f"{value} is not from 0 to {mask}")
            number |= value << shift
        return number.to_bytes(size, order)

    return FixedLayout(size, read, write)


def _is_swapped(layout: Construct[Any, Any]) -> bool:
    bare = layout.subcon if isinstance(layout, Renamed) else layout
    return isinstance(bare, Transformed) and bare.decodefunc is swapbytes


def _fields(layout: Construct[Any, Any]) -> list[_Field]:
    if isinstance(layout, Renamed):
        return _fields(layout.subcon)
    if isinstance(layout, (Struct, SequenceOf)):
        return [field for part in layout.subcons for field in _fields(part)]
    if isinstance(layout, FormatField):
        order: Order | None = None if layout.length == 1 else "little" if layout.fmtstr[0] == "<" else "big"
        return [_Field(8 * layout.length, order, layout.fmtstr[1], layout.fmtstr[1].islower())]
    if isinstance(layout, BytesInteger) and isinstance(layout.length, int):
        order = None if layout.length == 1 else "little" if layout.swapped else "big"
        code = _UNSIGNED.get(layout.length)
        signed = bool(layout.signed)
        return [_Field(8 * layout.length, order, code.lower() if code and signed else code, signed)]
    if isinstance(layout, Computed) and layout.func == 0:
        return [_Field(0, None, None)]
    if isinstance(layout, Transformed):
        return _bits(layout)
    raise NotFixedError(repr(layout))


def _bits(layout: Any) -> list[_Field]:
    """The fields of a BitStruct, or of one whose bytes are swapped."""
    order: Order = "big"
    if layout.decodefunc is swapbytes:
        order, layout = "little", layout.subcon
    if not (isinstance(layout, Transformed) and layout.decodefunc is bytes2bits and layout.encodefunc is bits2bytes):
        raise NotFixedError(repr(layout))
    fields = []
    for part in layout.subcon.subcons:
        bare = part.subcon if isinstance(part, Renamed) else part
        if bare is Flag:
            fields.append(_Field(1, order, None))
        elif isinstance(bare, BitsInteger) and isinstance(bare.length, int) and not (bare.signed or bare.swapped):
            fields.append(_Field(bare.length, order, None))
        else:
            raise NotFixedError(repr(part))
    return fields
