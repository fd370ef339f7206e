"""Type, length, value lists whose numbers are all packed integers: HEARTBEAT_V2 and the head of TRANSACTION_PAYLOAD."""

from __future__ import annotations

import io
from typing import Any

from construct import ConstructError

from forge.errors import FormatError
from forge.events.giving import Part
from forge.events.packed import PackedBytes, PackedInt, pack_int

END = 0
#: (type, value bytes) in file order.
Values = tuple[tuple[int, bytes], ...]


class TypeLengthValues(Part):
    """The list up to its end mark, a type of 0 without length."""

    def _parse(self, stream: Any, context: Any, path: str) -> Values:
        values: list[tuple[int, bytes]] = []
        while (kind := PackedInt()._parse(stream, context, path)) != END:
            values.append((kind, PackedBytes()._parse(stream, context, path)))
        return tuple(values)

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
    stream = io.BytesIO(value)
    try:
        number = int(PackedInt().parse_stream(stream))
    except ConstructError:
        number = -1
    if number < 0 or stream.tell() != len(value):
        raise FormatError(f"{value.hex()} is not one packed integer", phase="body", offset=0)
    return number
