"""ROWS_QUERY (29, WL#4033): the text of a row-logged statement, before its TABLE_MAPs.  Flag IGNORABLE is set.

The first byte was the low byte of the text's length in 5.6 and is always 0 in 9.7 (recorded); readers must not use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Int8ul, Struct

from forge.events.layout import Body, Rest, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsQuery(Body):
    type_code: ClassVar[int] = 29
    type_name: ClassVar[str] = "ROWS_QUERY"
    unused_length: int = 0
    query: str
    layout: ClassVar[Struct] = Struct("unused_length" / Int8ul, "query" / Text(Rest()))
