"""APPEND_BLOCK (9): LOAD DATA in statement format; a further block of the file.

The file's content travels in blocks of up to 128 KiB under a file id: BEGIN_LOAD_QUERY has the first,
EXECUTE_LOAD_QUERY runs it (of 3.23 to 5.0.2: CREATE_FILE and EXEC_LOAD).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int32ul, Struct

from forge.events.layout import Body, Rest
from forge.events.plain import file_block


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendBlock(Body):
    type_code: ClassVar[int] = 9
    type_name: ClassVar[str] = "APPEND_BLOCK"
    features: ClassVar[tuple[str, ...]] = ("files_in_events",)
    file_id: int
    block: bytes
    layout: ClassVar[Struct] = Struct("file_id" / Int32ul, "block" / Rest())

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return file_block(fields)
