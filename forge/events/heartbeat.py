"""HEARTBEAT (27): network only; the name of the file that the source is at, without terminator.

MariaDB tells a position beyond 4 GiB in front of the name, log_pos being 0 (send_heartbeat_event of sql_repl.cc): no
name has the NUL that such a position has in its highest byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int64ul, Struct

from forge.events.derived_parts import When
from forge.events.layout import Body, Rest, Surroundings, Text
from forge.events.plain import Fields, plain, text_or_hex, to_text, words
from forge.events.shapes import TEXT, Shape, object_of
from forge.events.taking import Take, taker_of
from forge.events.type_length_values import TypeLengthValues, Values, packed_value

_SIZE = 8


class _BeyondName(When):
    """A position, where the eight bytes ahead can be no part of a name; else None."""

    def __init__(self) -> None:
        super().__init__(Int64ul, lambda this: False)

    def taker(self) -> Take:
        inner = taker_of(self.subcon)
        return lambda data, at, found: inner(data, at, found) if _is_position(data[at : at + _SIZE]) else (None, at)


def _is_position(ahead: bytes) -> bool:
    return len(ahead) == _SIZE and ahead[-1] == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat(Body, type_code=27, type_name="HEARTBEAT", informational=True):
    """``position`` is MariaDB's, beyond 4 GiB."""

    position: int | None = None
    file_name: str
    layout: ClassVar[Struct] = Struct("position" / _BeyondName(), "file_name" / Text(Rest()))

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return words(fields["file_name"]) + (f" at {fields['position']}" if "position" in fields else "")


# HEARTBEAT_V2 (41, 8.0.26 on): network only; where the source is, with a position beyond 4 GiB.
FILE_NAME, POSITION = 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatV2(Body, type_code=41, type_name="HEARTBEAT_V2", features=("heartbeat_v2",), informational=True):
    """``values`` are (type, bytes): 1 file name, 2 position (a packed integer)."""

    values: Values
    layout: ClassVar[Struct] = Struct("values" / TypeLengthValues())

    @property
    def file_name(self) -> str:
        return to_text(dict(self.values).get(FILE_NAME, b""))

    @property
    def position(self) -> int:
        return packed_value(dict(self.values)[POSITION])

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return words(fields["file_name"])

    def canonical(self, surroundings: Surroundings) -> Fields:
        return {"file_name": text_or_hex(self.file_name), "values": plain(self.values)}

    @classmethod
    def canonical_shape(cls) -> Shape:
        return object_of({"file_name": TEXT, "values": {"type": "array"}})
