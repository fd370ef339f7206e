"""The variable-length integers of MySQL's serialization library (libs/mysql/serialization), used since 8.3.

The number of trailing 1-bits of the first byte is the number of further bytes; the value's low bits sit above them.
Not the packed integer of the protocol, and not protobuf's varint: 170 is ``a9 02``.
"""

from __future__ import annotations

from forge.events.taking import take_number


def uvarint(value: int) -> bytes:
    """1 to 9 bytes."""
    size = next((n for n in range(1, 9) if value < 1 << (7 * n)), 9)
    if size == 9:
        return b"\xff" + value.to_bytes(8, "little")
    first = ((1 << (size - 1)) - 1) | ((value << size) & 0xFF)
    return bytes([first]) + (value >> (8 - size)).to_bytes(size - 1, "little")


def take_uvarint(data: bytes, at: int) -> tuple[int, int]:
    """The number at a place, and the place behind it.  Raises LayoutError."""
    first, at = take_number(data, at, 1)
    size = 1
    while size < 9 and first >> (size - 1) & 1:
        size += 1
    rest, end = take_number(data, at, size - 1)
    return rest if size == 9 else (first >> size) | (rest << (8 - size)), end


def svarint(value: int) -> bytes:
    """Zig-zag: the sign goes into the lowest bit."""
    return uvarint(value << 1 if value >= 0 else ((~value) << 1) | 1)


def take_svarint(data: bytes, at: int) -> tuple[int, int]:
    number, end = take_uvarint(data, at)
    return ~(number >> 1) if number & 1 else number >> 1, end
