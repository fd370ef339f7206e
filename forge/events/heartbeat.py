"""HEARTBEAT (27): network only; the name of the file that the source is at, without terminator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Struct

from forge.events.layout import Body, Rest, Text
from forge.events.plain import words


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat(Body):
    type_code: ClassVar[int] = 27
    type_name: ClassVar[str] = "HEARTBEAT"
    informational: ClassVar[bool] = True
    file_name: str
    layout: ClassVar[Struct] = Struct("file_name" / Text(Rest()))

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return words(fields["file_name"])
