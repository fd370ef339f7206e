"""CREATE_FILE (8): LOAD DATA of 4.0; the statement, and the first block of its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Construct, Int32ul, Struct

from forge.events.layout import Rest, read_exactly
from forge.events.load_statement import LONG_SEPARATORS, NAMES, POST_HEADER
from forge.events.new_load import NewLoad
from forge.events.plain import to_bytes, to_text


class _Zeroed(Construct):  # type: ignore[misc]
    """Text up to a NUL."""

    def _parse(self, stream: Any, context: Any, path: str) -> str:
        found = bytearray()
        while (byte := read_exactly(stream, 1, path)) != b"\0":
            found += byte
        return to_text(bytes(found))

    def _build(self, obj: str, stream: Any, context: Any, path: str) -> str:
        stream.write(to_bytes(obj) + b"\0")
        return obj


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateFile(NewLoad):
    type_code: ClassVar[int] = 8
    type_name: ClassVar[str] = "CREATE_FILE"
    file_id: int
    block: bytes

    layout: ClassVar[Struct] = Struct(
        *POST_HEADER, "file_id" / Int32ul, *LONG_SEPARATORS, *NAMES, "file_name" / _Zeroed(), "block" / Rest()
    )
