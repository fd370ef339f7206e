"""Type, length, value lists whose numbers are all packed integers: HEARTBEAT_V2 and the head of TRANSACTION_PAYLOAD."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from forge.errors import FormatError
from forge.events.giving import Part
from forge.events.packed import PackedBytes, PackedInt, pack_int, take_packed
from forge.events.taking import Fields, LayoutError

END = 0
#: (type, value bytes) in file order.
Values = tuple[tuple[int, bytes], ...]


class TypeLengthValues(Part):
    """The list up to its end mark, a type of 0 without length."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[Values, int]:
        values: list[tuple[int, bytes]] = []
        kind, at = take_packed(data, at, found)
        while kind != END:
            value, at = PackedBytes().take(data, at, found)
            values.append((kind, value))
            kind, at = take_packed(data, at, found)
        return tuple(values), at

    def give(self, value: Values, fields: Any) -> bytes:
        return b"".join(pack_int(kind) + pack_int(len(data)) + data for kind, data in value) + pack_int(END)

    def labelled(self, walk: Any, name: str, flags: Any = None) -> Values:
        values = []
        while (kind := walk.leaf(PackedInt(), f"{name}.type", rule="type; 0 ends the list")) != END:
            values.append((int(kind), walk.part(PackedBytes(), f"{name}.{kind}")))
        return tuple(values)

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.tuples_of(draws.st.tuples(draws.st.sampled_from((1, 2, 3, 200, 251)), draws.binary(9)), 3)


def packed_value(value: bytes) -> int:
    """A number inside a value, in any of its forms: mysqlbinlog 9.7 takes those that are not the shortest.

    Raises FormatError if the value is not exactly that.
    """
    number, end = 0, -1
    with suppress(LayoutError):
        number, end = take_packed(value, 0, Fields())
    if end != len(value):
        raise FormatError(f"{value.hex()} is not one packed integer", phase="body", offset=0)
    return number
