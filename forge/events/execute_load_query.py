"""EXECUTE_LOAD_QUERY (18): a QUERY that loads the file sent before; 13 bytes more stand between post-header
and variables.

``[file_name_start, file_name_end)`` is the range of the text which an applier replaces by its own file's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Int8ul, Int32ul, Struct

from forge.events.layout import Body, Rest, Text, derived
from forge.events.query import CIRCUMSTANCES, POST_HEADER
from forge.events.status_vars import StatusVariables


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecuteLoadQuery(Body):
    """``duplicates``: 0 error, 1 IGNORE, 2 REPLACE."""

    type_code: ClassVar[int] = 18
    type_name: ClassVar[str] = "EXECUTE_LOAD_QUERY"
    thread_id: int = 0
    exec_time: int = 0
    database_length: int | None = derived()
    error_code: int = 0
    status_length: int | None = derived()
    file_id: int
    file_name_start: int
    file_name_end: int
    duplicates: int = 0
    status_variables: StatusVariables = ()
    database: str = ""
    query: str

    layout: ClassVar[Struct] = Struct(
        *POST_HEADER,
        "file_id" / Int32ul,
        "file_name_start" / Int32ul,
        "file_name_end" / Int32ul,
        "duplicates" / Int8ul,
        *CIRCUMSTANCES,
        "query" / Text(Rest()),
    )
