"""Private events of PolarDB-X and AliSQL: of the consensus log (101 to 104), GCN (105) and SEQUENCE (80).

None is recorded: they are from libbinlogevents of polardbx-engine, and from the writer and the reader of polardbx-cdc.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Int8ul, Int16ul, Int32ul, Int64ul, Struct

from forge.events.derived_parts import Derived, When
from forge.events.layout import Body, Span, Text, derived, field_length, flags, length_of


class _Listed(Body, features=("private_events_of_polardbx",), only_listed=True, informational=True):
    __slots__ = ()


# SEQUENCE (80): the global timestamp of a snapshot or a commit, as storage nodes of PolarDB-X 1 (5.7) log it.
@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence(Body, type_code=80, type_name="SEQUENCE", features=("private_events_of_polardbx",)):
    """``kind``: 1 the timestamp of a snapshot, 2 of a commit, 3 of a heartbeat."""

    kind: int = 2
    number: int
    layout: ClassVar[Struct] = Struct("kind" / Int8ul, "number" / Int64ul)


# CONSENSUS_LOG (101): an entry of the consensus log, before the transaction that it is about (PolarDB-X, AliSQL).
#
# Not recorded: from libbinlogevents of polardbx-engine, and read in a log of the tests of polardbx-cdc.  Aurora,
# whose logs list 100 types, has a private event of this number, which is kept as bytes: its layout is not public.
@dataclass(frozen=True, slots=True, kw_only=True)
class ConsensusLog(_Listed, type_code=101, type_name="CONSENSUS_LOG"):
    """``length``: bytes of the entry, which are the events that follow; ``reserved`` has their CRC-32."""

    entry_flags: int = 0
    term: int = 1
    index: int
    length: int = 0
    reserved: int = 0
    layout: ClassVar[Struct] = Struct(
        "entry_flags" / Int32ul, "term" / Int64ul, "index" / Int64ul, "length" / Int64ul, "reserved" / Int64ul
    )


# PREVIOUS_CONSENSUS_INDEX (102): the consensus log's first entry of the file, at its head (PolarDB-X, AliSQL).
@dataclass(frozen=True, slots=True, kw_only=True)
class PreviousConsensusIndex(_Listed, type_code=102, type_name="PREVIOUS_CONSENSUS_INDEX"):
    index: int
    layout: ClassVar[Struct] = Struct("index" / Int64ul)


# CONSENSUS_CLUSTER_INFO (103): the members of the cluster, as the consensus library writes them (PolarDB-X, AliSQL).
@dataclass(frozen=True, slots=True, kw_only=True)
class ConsensusClusterInfo(_Listed, type_code=103, type_name="CONSENSUS_CLUSTER_INFO"):
    info_length: int | None = derived()
    info: str = ""
    layout: ClassVar[Struct] = Struct(
        "info_length" / Derived(Int32ul, length_of("info")), "info" / Text(Span(field_length("info_length")))
    )


# CONSENSUS_EMPTY (104): an entry of the consensus log that changes nothing (PolarDB-X, AliSQL).
@dataclass(frozen=True, slots=True, kw_only=True)
class ConsensusEmpty(_Listed, type_code=104, type_name="CONSENSUS_EMPTY"):
    layout: ClassVar[Struct] = Struct()


# GCN (105): the global commit number of the transaction that follows, before its GTID event (PolarDB-X, 8.0).
#
# There are versions with and without the numbers of branches; those without were read in a log of the tests of
# polardbx-cdc.

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
class Gcn(_Listed, type_code=105, type_name="GCN"):
    """``gcn`` stands there with HAVE_GCN; how many branches the transaction has, and has here, with HAVE_BRANCHES."""

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
