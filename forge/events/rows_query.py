"""ROWS_QUERY (29, WL#4033): the text of a row-logged statement, before its TABLE_MAPs.  Flag IGNORABLE is set.

The first byte was the low byte of the text's length in 5.6 and is always 0 in 9.7 (recorded); readers must not use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int8ul, Struct

from forge.events.layout import Body, Rest, Text
from forge.events.plain import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsQuery(Body, type_code=29, type_name="ROWS_QUERY", features=("rows_query",), informational=True):
    unused_length: int = 0
    query: str
    layout: ClassVar[Struct] = Struct("unused_length" / Int8ul, "query" / Text(Rest()))

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return one_line(fields["query"])


# ANNOTATE_ROWS (160, MariaDB 5.3 on): the text of a row-logged statement, before its TABLE_MAPs.  No length,
# no flag.
@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotateRows(Body, type_code=160, type_name="ANNOTATE_ROWS", features=("annotate_rows",), informational=True):
    query: str
    layout: ClassVar[Struct] = Struct("query" / Text(Rest()))

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return one_line(fields["query"])
