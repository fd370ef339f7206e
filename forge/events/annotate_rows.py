"""ANNOTATE_ROWS (160, MariaDB 5.3 on): the text of a row-logged statement, before its TABLE_MAPs.  No length,
no flag.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Struct

from forge.events.layout import Body, Rest, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotateRows(Body):
    type_code: ClassVar[int] = 160
    type_name: ClassVar[str] = "ANNOTATE_ROWS"
    query: str
    layout: ClassVar[Struct] = Struct("query" / Text(Rest()))
