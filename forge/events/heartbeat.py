"""HEARTBEAT (27): network only; the name of the file that the source is at, without terminator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Struct

from forge.events.layout import Body, Rest, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat(Body):
    type_code: ClassVar[int] = 27
    type_name: ClassVar[str] = "HEARTBEAT"
    file_name: str
    layout: ClassVar[Struct] = Struct("file_name" / Text(Rest()))
