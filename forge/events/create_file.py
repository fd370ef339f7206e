"""CREATE_FILE (8): LOAD DATA of 4.0; the statement, and the first block of its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Int32ul, Struct

from forge.events.layout import Rest, ZeroTerminated
from forge.events.load_statement import LONG_SEPARATORS, NAMES, POST_HEADER
from forge.events.new_load import NewLoad


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateFile(NewLoad):
    type_code: ClassVar[int] = 8
    type_name: ClassVar[str] = "CREATE_FILE"
    features: ClassVar[tuple[str, ...]] = ("files_in_events",)
    file_id: int
    block: bytes

    layout: ClassVar[Struct] = Struct(
        *POST_HEADER, "file_id" / Int32ul, *LONG_SEPARATORS, *NAMES, "file_name" / ZeroTerminated(), "block" / Rest()
    )
