"""SEQUENCE (80): the global timestamp of a snapshot or a commit, as storage nodes of PolarDB-X 1 (5.7) log it.

Not recorded: from the writer and the reader of polardbx-cdc.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Int8ul, Int64ul, Struct

from forge.events.layout import Body


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence(Body):
    """``kind``: 1 the timestamp of a snapshot, 2 of a commit, 3 of a heartbeat."""

    type_code: ClassVar[int] = 80
    type_name: ClassVar[str] = "SEQUENCE"
    features: ClassVar[tuple[str, ...]] = ("private_events_of_polardbx",)
    kind: int = 2
    number: int
    layout: ClassVar[Struct] = Struct("kind" / Int8ul, "number" / Int64ul)
