"""EXECUTE_LOAD_QUERY (18): a QUERY that loads the file sent before; 13 bytes more stand between post-header
and variables.

``[file_name_start, file_name_end)`` is the range of the text which an applier replaces by its own file's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int8ul, Int32ul, Struct

from forge.events.layout import Rest, Surroundings, Text, derived
from forge.events.plain import Fields, file_block
from forge.events.query import CIRCUMSTANCES, POST_HEADER, QueryFields
from forge.events.shapes import Shape, one_of
from forge.events.status_vars import StatusVariables

#: What it does with rows that are there.
DUPLICATES = {0: "ERROR", 1: "IGNORE", 2: "REPLACE"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecuteLoadQuery(QueryFields, type_code=18, type_name="EXECUTE_LOAD_QUERY"):
    """``duplicates`` is a number of DUPLICATES."""

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

    def text(self) -> str:
        return self.query

    def canonical(self, surroundings: Surroundings) -> Fields:
        return QueryFields.canonical(self, surroundings) | {
            "duplicates": DUPLICATES.get(self.duplicates, self.duplicates)
        }

    @classmethod
    def canonical_shape(cls) -> Shape:
        shape = super(ExecuteLoadQuery, cls).canonical_shape()
        shape["properties"]["duplicates"] = one_of(DUPLICATES.values())
        return shape

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return f"{super(ExecuteLoadQuery, cls).summary(fields)}  {file_block(fields)}"
