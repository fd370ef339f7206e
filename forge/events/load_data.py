"""LOAD DATA in statement format: BEGIN_LOAD_QUERY (17), APPEND_BLOCK (9), DELETE_FILE (11), EXEC_LOAD (10).

The file's content travels in blocks of up to 128 KiB under a file id; EXECUTE_LOAD_QUERY runs it.  EXEC_LOAD is of
3.23 to 5.0.2, whose other events are in forge.events.load_data_old.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Int32ul, Struct

from forge.events.layout import Body, Rest


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendBlock(Body):
    type_code: ClassVar[int] = 9
    type_name: ClassVar[str] = "APPEND_BLOCK"
    file_id: int
    block: bytes
    layout: ClassVar[Struct] = Struct("file_id" / Int32ul, "block" / Rest())


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginLoadQuery(AppendBlock):
    type_code: ClassVar[int] = 17
    type_name: ClassVar[str] = "BEGIN_LOAD_QUERY"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteFile(Body):
    """The load failed: forget the file."""

    type_code: ClassVar[int] = 11
    type_name: ClassVar[str] = "DELETE_FILE"
    file_id: int
    layout: ClassVar[Struct] = Struct("file_id" / Int32ul)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecLoad(DeleteFile):
    """4.x: run the load."""

    type_code: ClassVar[int] = 10
    type_name: ClassVar[str] = "EXEC_LOAD"
