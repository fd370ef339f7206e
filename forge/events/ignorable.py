"""IGNORABLE (28): never written by stock servers; a reader skips it by its flag."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Struct

from forge.events.layout import Body, Rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignorable(Body, type_code=28, type_name="IGNORABLE", informational=True):
    data: bytes = b""
    layout: ClassVar[Struct] = Struct("data" / Rest())

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return f"{len(fields['data']) // 2} bytes"
