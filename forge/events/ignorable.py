"""IGNORABLE (28): never written by stock servers; a reader skips it by its flag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Struct

from forge.events.layout import Body, Rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignorable(Body):
    type_code: ClassVar[int] = 28
    type_name: ClassVar[str] = "IGNORABLE"
    data: bytes = b""
    layout: ClassVar[Struct] = Struct("data" / Rest())
