"""NEW_LOAD (12): LOAD DATA of 4.0; separators of any length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Struct

from forge.events.layout import Rest, Text
from forge.events.load_statement import LONG_SEPARATORS, NAMES, POST_HEADER, LoadStatement, Separators


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLoad(LoadStatement):
    type_code: ClassVar[int] = 12
    type_name: ClassVar[str] = "NEW_LOAD"
    features: ClassVar[tuple[str, ...]] = ("files_in_events",)
    separators: Separators = ("\t", "", "\n", "", "\\")

    layout: ClassVar[Struct] = Struct(*POST_HEADER, *LONG_SEPARATORS, *NAMES, "file_name" / Text(Rest()))

    def separator_texts(self) -> Separators:
        return self.separators
