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
from forge.events.layout import Body, Rest, Text
from forge.events.plain import words
from forge.events.taking import Take, taker_of

_SIZE = 8


class _BeyondName(When):
    """A position, where the eight bytes ahead can be no part of a name; else None."""

    def __init__(self) -> None:
        super().__init__(Int64ul, lambda this: False)

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        here = stream.tell()
        ahead = stream.read(_SIZE)
        stream.seek(here)
        return self.subcon._parsereport(stream, context, path) if _is_position(ahead) else None

    def taker(self) -> Take:
        inner = taker_of(self.subcon)
        return lambda data, at, found: inner(data, at, found) if _is_position(data[at : at + _SIZE]) else (None, at)


def _is_position(ahead: bytes) -> bool:
    return len(ahead) == _SIZE and ahead[-1] == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat(Body):
    """``position`` is MariaDB's, beyond 4 GiB."""

    type_code: ClassVar[int] = 27
    type_name: ClassVar[str] = "HEARTBEAT"
    informational: ClassVar[bool] = True
    position: int | None = None
    file_name: str
    layout: ClassVar[Struct] = Struct("position" / _BeyondName(), "file_name" / Text(Rest()))

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return words(fields["file_name"]) + (f" at {fields['position']}" if "position" in fields else "")
