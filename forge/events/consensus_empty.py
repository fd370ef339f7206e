"""CONSENSUS_EMPTY (104): an entry of the consensus log that changes nothing (PolarDB-X, AliSQL).

Not recorded: from libbinlogevents of polardbx-engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Struct

from forge.events.layout import Body


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsensusEmpty(Body):
    type_code: ClassVar[int] = 104
    type_name: ClassVar[str] = "CONSENSUS_EMPTY"
    features: ClassVar[tuple[str, ...]] = ("private_events_of_polardbx",)
    only_listed: ClassVar[bool] = True
    informational: ClassVar[bool] = True
    layout: ClassVar[Struct] = Struct()
