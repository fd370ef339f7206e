"""EXEC_LOAD (10): run the load that CREATE_FILE began (3.23 to 5.0.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from forge.events.delete_file import DeleteFile


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecLoad(DeleteFile):
    type_code: ClassVar[int] = 10
    type_name: ClassVar[str] = "EXEC_LOAD"
    features: ClassVar[tuple[str, ...]] = ("files_in_events",)
