"""DELETE_FILE (11): the load failed; forget the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int32ul, Struct

from forge.events.layout import Body
from forge.events.plain import file_block


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteFile(Body):
    type_code: ClassVar[int] = 11
    type_name: ClassVar[str] = "DELETE_FILE"
    features: ClassVar[tuple[str, ...]] = ("files_in_events",)
    file_id: int
    layout: ClassVar[Struct] = Struct("file_id" / Int32ul)

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return file_block(fields)
