"""GCN (105): the global commit number of the transaction that follows, before its GTID event (PolarDB-X, 8.0).

Not recorded: from libbinlogevents of polardbx-engine, versions with and without the numbers of branches; those without
were read in a log of the tests of polardbx-cdc.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Int8ul, Int16ul, Int64ul, Struct

from forge.events.derived_parts import When
from forge.events.layout import Body, flags

HAVE_GCN = 0x01
HAVE_BRANCHES = 0x20
GCN_FLAGS = (
    (HAVE_GCN, "HAVE_GCN"),
    (0x02, "HAVE_SNAPSHOT"),
    (0x04, "HAVE_COMMITTED"),
    (0x08, "ASSIGNED"),
    (0x10, "PROPOSAL"),
    (HAVE_BRANCHES, "HAVE_BRANCHES"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gcn(Body):
    """``gcn`` stands there with HAVE_GCN; how many branches the transaction has, and has here, with HAVE_BRANCHES."""

    type_code: ClassVar[int] = 105
    type_name: ClassVar[str] = "GCN"
    features: ClassVar[tuple[str, ...]] = ("private_events_of_polardbx",)
    only_listed: ClassVar[bool] = True
    informational: ClassVar[bool] = True
    gcn_flags: int = flags(GCN_FLAGS, default=HAVE_GCN)
    gcn: int | None = None
    branches: int | None = None
    local_branches: int | None = None
    layout: ClassVar[Struct] = Struct(
        "gcn_flags" / Int8ul,
        "gcn" / When(Int64ul, lambda this: this.gcn_flags & HAVE_GCN),
        "branches" / When(Int16ul, lambda this: this.gcn_flags & HAVE_BRANCHES),
        "local_branches" / When(Int16ul, lambda this: this.gcn_flags & HAVE_BRANCHES),
    )
