"""PREVIOUS_CONSENSUS_INDEX (102): the consensus log's first entry of the file, at its head (PolarDB-X, AliSQL).

Not recorded: from libbinlogevents of polardbx-engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Int64ul, Struct

from forge.events.layout import Body


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviousConsensusIndex(Body):
    type_code: ClassVar[int] = 102
    type_name: ClassVar[str] = "PREVIOUS_CONSENSUS_INDEX"
    features: ClassVar[tuple[str, ...]] = ("private_events_of_polardbx",)
    only_listed: ClassVar[bool] = True
    informational: ClassVar[bool] = True
    index: int
    layout: ClassVar[Struct] = Struct("index" / Int64ul)
