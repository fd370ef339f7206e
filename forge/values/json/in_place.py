"""Changes inside a binary JSON document that leave its size as it is, as UPDATE makes them of stored documents.

A new value goes where the old one was if there is room up to the next value, else behind the value before it if there
is; an element is removed by moving the entries behind it.  Nothing that lies free afterwards is cleared, and
no size is changed, so that stale bytes remain.  Where there is no room, the document is encoded anew.

Source: ``sql-common/json_binary.cc``; held against MySQL 9.7 by random statements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forge.values.json.binary import (
    INT16,
    INT32,
    LARGE_ARRAY,
    LARGE_OBJECT,
    SMALL_OBJECT,
    is_inlined,
)
from forge.values.json.explain import scalar_size
from forge.values.json.path import Cell, Leg


@dataclass(frozen=True, slots=True)
class _Container:
    """An object or array inside a document; ``base`` is where its count stands, offsets count from there."""

    data: bytes | bytearray
    code: int
    base: int

    @property
    def width(self) -> int:
        return 4 if self.code in (LARGE_OBJECT, LARGE_ARRAY) else 2

    @property
    def is_object(self) -> bool:
        return self.code in (SMALL_OBJECT, LARGE_OBJECT)

    def number(self, offset: int) -> int:
        return int.from_bytes(self.data[self.base + offset : self.base + offset + self.width], "little")

    @property
    def count(self) -> int:
        return self.number(0)

    @property
    def size(self) -> int:
        return self.number(self.width)

    def key_entry(self, position: int) -> int:
        return 2 * self.width + position * (self.width + 2)

    def value_entry(self, position: int) -> int:
        keys = self.count * (self.width + 2) if self.is_object else 0
        return 2 * self.width + keys + position * (1 + self.width)

    def key_span(self, position: int) -> tuple[int, int]:
        entry = self.key_entry(position)
        start = self.number(entry)
        length = self.base + entry + self.width
        return start, start + int.from_bytes(self.data[length : length + 2], "little")

    def span(self, position: int) -> tuple[int, int] | None:
        """Where the value stands; None if its entry has it."""
        entry = self.value_entry(position)
        code = self.data[self.base + entry]
        if is_inlined(code, self.width):
            return None
        start = self.number(entry + 1)
        if code <= LARGE_ARRAY:
            return start, start + _Container(self.data, code, self.base + start).size
        return start, start + scalar_size(self.data, code, self.base + start)

    def position(self, leg: Leg) -> int | None:
        if isinstance(leg, Cell):
            offset = leg.position(self.count)
            return offset if not self.is_object and 0 <= offset < self.count else None
        if not self.is_object:
            return None
        name = leg.name.encode()
        spans = map(self.key_span, range(self.count))
        keys = [bytes(self.data[self.base + start : self.base + end]) for start, end in spans]
        return keys.index(name) if name in keys else None

    def child(self, position: int) -> _Container | None:
        entry = self.value_entry(position)
        code = self.data[self.base + entry]
        return _Container(self.data, code, self.base + self.number(entry + 1)) if code <= LARGE_ARRAY else None

    def room(self, position: int, needed: int) -> int | None:
        """Where a value of ``needed`` bytes can stand instead of the one at ``position``."""
        own = self.span(position)
        if own is not None and own[1] - own[0] >= needed:
            return own[0]
        # Values stand in the order of their entries, also those that have moved.
        behind = next(filter(None, map(self.span, range(position + 1, self.count))), (self.size, 0))[0]
        if own is not None and behind - own[0] >= needed:
            return own[0]
        before = next(filter(None, map(self.span, reversed(range(position)))), None)
        start = self._first_value() if before is None else before[1]
        return start if behind - start >= needed else None

    def _first_value(self) -> int:
        """Where values may begin: behind the last key."""
        if self.is_object and self.count:
            return self.key_span(self.count - 1)[1]
        return self.value_entry(self.count)


def _find(data: bytes | bytearray, legs: Sequence[Leg]) -> tuple[_Container | None, int | None]:
    """The container that the last leg leads into, and the position there."""
    container = _Container(data, data[0], 1) if data[0] <= LARGE_ARRAY else None
    for leg in legs[:-1]:
        position = None if container is None else container.position(leg)
        container = None if container is None or position is None else container.child(position)
    if container is None:
        return None, None
    return container, container.position(legs[-1])


def replace_in_place(document: bytes, legs: Sequence[Leg], value: bytes) -> bytes | None:
    """The document with ``value`` (a document too) at an existing place; None if there is no room for it."""
    data = bytearray(document)
    container, position = _find(data, legs)
    assert container is not None
    assert position is not None
    entry = container.base + container.value_entry(position)
    code, body = value[0], value[1:]
    width = container.width
    if is_inlined(code, width):
        sign = b"\xff" if code in (INT16, INT32) and body[-1] & 0x80 else b"\0"
        data[entry : entry + 1 + width] = bytes((code,)) + body + sign * (width - len(body))
        return bytes(data)
    start = container.room(position, len(body))
    if start is None:
        return None
    data[entry : entry + 1 + width] = bytes((code,)) + start.to_bytes(width, "little")
    data[container.base + start : container.base + start + len(body)] = body
    return bytes(data)


def remove_in_place(document: bytes, legs: Sequence[Leg]) -> bytes:
    """The document without the element at an existing place."""
    data = bytearray(document)
    container, position = _find(data, legs)
    assert container is not None
    assert position is not None
    base, count, width = container.base, container.count, container.width
    entry, end = container.value_entry(position), container.value_entry(count)
    moved = bytes(data[base + entry + 1 + width : base + end])
    if container.is_object:
        key = container.key_entry(position)
        kept = bytes(data[base + key + width + 2 : base + entry])
        data[base + key : base + key + len(kept)] = kept
        entry -= width + 2
    data[base + entry : base + entry + len(moved)] = moved
    data[base : base + width] = (count - 1).to_bytes(width, "little")
    return bytes(data)
