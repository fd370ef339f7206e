"""The length-encoded integer of the client protocol, and bytes behind one."""

from __future__ import annotations

from typing import Any

from construct import IntegerError, stream_read

from forge.events.giving import Part
from forge.events.layout import Span, read_exactly
from forge.events.taking import Take
from forge.values.quick import UnusualError

_PACKED_WIDTHS = {252: 2, 253: 3, 254: 8}


class PackedInt(Part):
    """The length-encoded integer of the client protocol (1, 3, 4 or 9 bytes); 251 and 255 are not lengths."""

    rule = "packed integer"

    def _parse(self, stream: Any, context: Any, path: str) -> int:
        first = stream_read(stream, 1, path)[0]
        if first < 251:
            return int(first)
        width = _PACKED_WIDTHS.get(first)
        if width is None:
            raise IntegerError(f"0x{first:02x} does not start a packed integer", path=path)
        return int.from_bytes(stream_read(stream, width, path), "little")

    def taker(self) -> Take:
        return _take_packed

    def give(self, value: int, fields: Any) -> bytes:
        return pack_int(value)

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.packed()


def _take_packed(data: bytes, at: int, found: Any) -> tuple[int, int]:
    first = data[at]
    if first < 251:
        return first, at + 1
    end = at + 1 + _PACKED_WIDTHS[first]
    value = int.from_bytes(data[at + 1 : end], "little")
    if end > len(data) or len(pack_int(value)) != end - at:
        raise UnusualError  # or not the shortest form
    return value, end


def _take_packed_bytes(data: bytes, at: int, found: Any) -> tuple[bytes, int]:
    size, start = _take_packed(data, at, found)
    end = start + size
    if end > len(data):
        raise UnusualError
    return data[start:end], end


#: Bytes of a packed integer -> its first byte, and the bytes behind it that hold the number.
PACKED_SIZES = {1: (None, 1), 3: (252, 2), 4: (253, 3), 9: (254, 8)}


def pack_int(value: int, size: int | None = None) -> bytes:
    """The shortest packed form, which is what servers write; or the one of ``size`` bytes (1, 3, 4, 9)."""
    if not 0 <= value < 1 << 64:
        raise IntegerError(f"{value} does not fit a packed integer")
    for bytes_taken, (lead, width) in PACKED_SIZES.items():
        fits = value < 251 if lead is None else value < 1 << (8 * width)
        if fits and size in (None, bytes_taken):
            return (b"" if lead is None else bytes([lead])) + value.to_bytes(width, "little")
    raise IntegerError(f"{value} does not fit a packed integer of {size} bytes")


class PackedBytes(Part):
    """Bytes after their packed length."""

    has_parts = True

    def _parse(self, stream: Any, context: Any, path: str) -> bytes:
        return read_exactly(stream, PackedInt()._parse(stream, context, path), path)

    def taker(self) -> Take:
        return _take_packed_bytes

    def give(self, value: bytes, fields: Any) -> bytes:
        return pack_int(len(value)) + value

    def labelled(self, walk: Any, name: str, flags: Any = None) -> bytes:
        length = walk.leaf(PackedInt(), f"{name}.length")
        return bytes(walk.leaf(Span(lambda _: length), name))
