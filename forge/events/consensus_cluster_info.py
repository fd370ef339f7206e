"""CONSENSUS_CLUSTER_INFO (103): the members of the cluster, as the consensus library writes them (PolarDB-X, AliSQL).

Not recorded: from libbinlogevents of polardbx-engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Int32ul, Struct

from forge.events.derived_parts import Derived
from forge.events.layout import Body, Span, Text, derived, field_length, length_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsensusClusterInfo(Body):
    type_code: ClassVar[int] = 103
    type_name: ClassVar[str] = "CONSENSUS_CLUSTER_INFO"
    features: ClassVar[tuple[str, ...]] = ("private_events_of_polardbx",)
    only_listed: ClassVar[bool] = True
    informational: ClassVar[bool] = True
    info_length: int | None = derived()
    info: str = ""
    layout: ClassVar[Struct] = Struct(
        "info_length" / Derived(Int32ul, length_of("info")), "info" / Text(Span(field_length("info_length")))
    )
