"""Lists whose count stands in the event's fixed part: write sets, and what certification knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forge.events.giving import Part
from forge.events.plain import text_or_hex, to_bytes, to_text
from forge.events.previous_gtids import GtidSet, encode_gtid_set, gtid_set_text
from forge.events.taking import Fields, LayoutError, take_bytes, take_number


class Items(Part):
    """``count(context)`` byte strings behind their length (u16)."""

    def __init__(self, count: Callable[[Any], int]) -> None:
        super().__init__()
        self.count = count

    def take(self, data: bytes, at: int, found: Any) -> tuple[tuple[Any, ...], int]:
        items = []
        for _ in range(self.count(found)):
            item, at = _take_item(data, at, 2)
            items.append(item)
        return tuple(items), at

    def give(self, value: Any, fields: Any) -> bytes:
        return b"".join(_given_item(item, 2) for item in value)

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.tuples_of(draws.blocks())


class NamedItems(Items):
    """``count(context)`` pairs of a name behind its length (u16) and bytes behind theirs (u32)."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[tuple[Any, ...], int]:
        items = []
        for _ in range(self.count(found)):
            name, at = _take_item(data, at, 2)
            item, at = _take_item(data, at, 4)
            items.append((to_text(name), item))
        return tuple(items), at

    def give(self, value: Any, fields: Any) -> bytes:
        return b"".join(_given_item(to_bytes(name), 2) + _given_item(item, 4) for name, item in value)

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.tuples_of(draws.st.tuples(draws.texts(), draws.blocks()))


def _take_item(data: bytes, at: int, width: int) -> tuple[bytes, int]:
    size, start = take_number(data, at, width)
    return take_bytes(data, start, size)


def _given_item(item: bytes, width: int) -> bytes:
    return len(item).to_bytes(width, "little") + item


def set_or_hex(data: bytes) -> Any:
    """An encoded GTID set as text; other bytes as hexadecimal in a mapping."""
    try:
        (tagged, sources), _ = GtidSet().take(data, 0, Fields())
    except LayoutError:
        return {"hex": data.hex()}
    if encode_gtid_set(tagged, sources) != data:
        return {"hex": data.hex()}
    return text_or_hex(gtid_set_text(sources))
