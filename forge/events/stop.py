"""STOP (3): clean shutdown; last event of the file.  No post-header, no body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Struct

from forge.events.layout import Body


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(Body, type_code=3, type_name="STOP"):
    layout: ClassVar[Struct] = Struct()
