"""The length-encoded integer of the client protocol, and bytes behind one."""

from __future__ import annotations

from typing import Any

from forge.events.giving import Part
from forge.events.layout import Span
from forge.events.taking import LayoutError, Take, ends_inside, take_bytes, take_number

_PACKED_WIDTHS = {252: 2, 253: 3, 254: 8}


class PackedInt(Part):
    """The length-encoded integer of the client protocol (1, 3, 4 or 9 bytes); 251 and 255 are not lengths."""

    rule = "packed integer"

    def taker(self) -> Take:
        return take_packed

    def give(self, value: int, fields: Any) -> bytes:
        return pack_int(value)

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.packed()


def take_packed(data: bytes, at: int, found: Any) -> tuple[int, int]:
    if at >= len(data):
        raise ends_inside(data, at, 1)
    first = data[at]
    if first < 251:
        return first, at + 1
    width = _PACKED_WIDTHS.get(first)
    if width is None:
        raise LayoutError(f"0x{first:02x} does not start a packed integer", at + 1)
    value, end = take_number(data, at + 1, width)
    if len(pack_int(value)) != end - at:
        found.note_other_form()
    return value, end


#: Bytes of a packed integer -> its first byte, and the bytes behind it that hold the number.
PACKED_SIZES = {1: (None, 1), 3: (252, 2), 4: (253, 3), 9: (254, 8)}


def pack_int(value: int, size: int | None = None) -> bytes:
    """The shortest packed form, which is what servers write; or the one of ``size`` bytes (1, 3, 4, 9)."""
    if not 0 <= value < 1 << 64:
        raise ValueError(f"{value} does not fit a packed integer")
    for bytes_taken, (lead, width) in PACKED_SIZES.items():
        fits = value < 251 if lead is None else value < 1 << (8 * width)
        if fits and size in (None, bytes_taken):
            return (b"" if lead is None else bytes([lead])) + value.to_bytes(width, "little")
    raise ValueError(f"{value} does not fit a packed integer of {size} bytes")


class PackedBytes(Part):
    """Bytes after their packed length."""

    has_parts = True

    def take(self, data: bytes, at: int, found: Any) -> tuple[bytes, int]:
        size, start = take_packed(data, at, found)
        return take_bytes(data, start, size)

    def give(self, value: bytes, fields: Any) -> bytes:
        return pack_int(len(value)) + value

    def labelled(self, walk: Any, name: str, flags: Any = None) -> bytes:
        length = walk.leaf(PackedInt(), f"{name}.length")
        return bytes(walk.leaf(Span(lambda _: length), name))
