"""ANNOTATE_ROWS (160, MariaDB 5.3 on): the text of a row-logged statement, before its TABLE_MAPs.  No length,
no flag.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Struct

from forge.events.layout import Body, Rest, Text
from forge.events.plain import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotateRows(Body):
    type_code: ClassVar[int] = 160
    type_name: ClassVar[str] = "ANNOTATE_ROWS"
    features: ClassVar[tuple[str, ...]] = ("annotate_rows",)
    informational: ClassVar[bool] = True
    query: str
    layout: ClassVar[Struct] = Struct("query" / Text(Rest()))

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return one_line(fields["query"])
