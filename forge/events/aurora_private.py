"""AURORA_PADDING (100) and AURORA_PRIVATE (101): Aurora's own, with the flag IGNORABLE, which every reader passes over.

A file of Aurora with MySQL 5.7 has 100 behind a GTID event, full of asterisks; nothing says what it is for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Struct

from forge.events.layout import Body, Rest


@dataclass(frozen=True, slots=True, kw_only=True)
class AuroraPadding(Body):
    type_code: ClassVar[int] = 100
    type_name: ClassVar[str] = "AURORA_PADDING"
    features: ClassVar[tuple[str, ...]] = ("private_events",)
    informational: ClassVar[bool] = True
    data: bytes = b""
    layout: ClassVar[Struct] = Struct("data" / Rest())

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return f"{len(fields['data']) // 2} bytes"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuroraPrivate(AuroraPadding):
    type_code: ClassVar[int] = 101
    type_name: ClassVar[str] = "AURORA_PRIVATE"
