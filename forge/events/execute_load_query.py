"""EXECUTE_LOAD_QUERY (18): a QUERY that loads the file sent before; 13 bytes more stand between post-header
and variables.

``[file_name_start, file_name_end)`` is the range of the text which an applier replaces by its own file's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Const, Int8ul, Int16ul, Int32ul, Struct

from forge.events.layout import Body, Derived, Rest, Span, Text, derived, field_length, length_of
from forge.events.status_vars import StatusBlock, StatusVariables, build_status_variables


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
        "thread_id" / Int32ul,
        "exec_time" / Int32ul,
        "database_length" / Derived(Int8ul, length_of("database")),
        "error_code" / Int16ul,
        "status_length" / Derived(Int16ul, lambda this: len(build_status_variables(this.status_variables))),
        "file_id" / Int32ul,
        "file_name_start" / Int32ul,
        "file_name_end" / Int32ul,
        "duplicates" / Int8ul,
        "status_variables" / StatusBlock(field_length("status_length")),
        "database" / Text(Span(field_length("database_length"))),
        Const(b"\0"),
        "query" / Text(Rest()),
    )
