"""Lists whose count stands in the event's fixed part: write sets, and what certification knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from construct import ConstructError, Int16ul, Int32ul

from forge.events.giving import Part
from forge.events.layout import read_exactly
from forge.events.plain import text_or_hex, to_bytes, to_text
from forge.events.previous_gtids import GtidSet, gtid_set_text


class Items(Part):
    """``count(context)`` byte strings behind their length (u16)."""

    def __init__(self, count: Callable[[Any], int]) -> None:
        super().__init__()
        self.count = count

    def _parse(self, stream: Any, context: Any, path: str) -> tuple[bytes, ...]:
        items = []
        for _ in range(self.count(context)):
            items.append(_item(Int16ul, stream, path))
        return tuple(items)

    def give(self, value: Any, fields: Any) -> bytes:
        return b"".join(Int16ul.build(len(item)) + item for item in value)

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.tuples_of(draws.blocks())


class NamedItems(Items):
    """``count(context)`` pairs of a name behind its length (u16) and bytes behind theirs (u32)."""

    def _parse(self, stream: Any, context: Any, path: str) -> tuple[tuple[str, bytes], ...]:  # type: ignore[override]
        items = []
        for _ in range(self.count(context)):
            name = _item(Int16ul, stream, path)
            items.append((to_text(name), _item(Int32ul, stream, path)))
        return tuple(items)

    def give(self, value: Any, fields: Any) -> bytes:
        pairs = ((to_bytes(name), item) for name, item in value)
        return b"".join(Int16ul.build(len(name)) + name + Int32ul.build(len(item)) + item for name, item in pairs)

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.tuples_of(draws.st.tuples(draws.texts(), draws.blocks()))


def _item(length: Any, stream: Any, path: str) -> bytes:
    size = int.from_bytes(read_exactly(stream, length.sizeof(), path), "little")
    return read_exactly(stream, size, path)


def set_or_hex(data: bytes) -> Any:
    """An encoded GTID set as text; other bytes as hexadecimal in a mapping."""
    try:
        tagged, sources = GtidSet().parse(data)
    except (ConstructError, ValueError, OverflowError):
        return {"hex": data.hex()}
    if GtidSet().build((tagged, sources)) != data:
        return {"hex": data.hex()}
    return text_or_hex(gtid_set_text(sources))
