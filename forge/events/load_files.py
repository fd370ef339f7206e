"""The file of a LOAD DATA: BEGIN_LOAD_QUERY (17), APPEND_BLOCK (9), DELETE_FILE (11) and EXEC_LOAD (10).

The file's content travels in blocks of up to 128 KiB under a file id: BEGIN_LOAD_QUERY has the first, APPEND_BLOCK a
further one, and EXECUTE_LOAD_QUERY runs it (of 3.23 to 5.0.2: CREATE_FILE and EXEC_LOAD).  DELETE_FILE: the load
failed; forget the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int32ul, Struct

from forge.events.layout import Body, Rest
from forge.events.plain import file_block


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendBlock(Body, type_code=9, type_name="APPEND_BLOCK", features=("files_in_events",)):
    file_id: int
    block: bytes
    layout: ClassVar[Struct] = Struct("file_id" / Int32ul, "block" / Rest())

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return file_block(fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginLoadQuery(AppendBlock, type_code=17, type_name="BEGIN_LOAD_QUERY"):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteFile(Body, type_code=11, type_name="DELETE_FILE", features=("files_in_events",)):
    file_id: int
    layout: ClassVar[Struct] = Struct("file_id" / Int32ul)

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return file_block(fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecLoad(DeleteFile, type_code=10, type_name="EXEC_LOAD", features=("files_in_events",)):
    pass
