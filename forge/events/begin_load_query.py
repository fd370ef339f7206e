"""BEGIN_LOAD_QUERY (17): LOAD DATA in statement format; the first block of the file, as in APPEND_BLOCK."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from forge.events.append_block import AppendBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginLoadQuery(AppendBlock):
    type_code: ClassVar[int] = 17
    type_name: ClassVar[str] = "BEGIN_LOAD_QUERY"
