"""CONSENSUS_LOG (101): an entry of the consensus log, before the transaction that it is about (PolarDB-X, AliSQL).

Not recorded: from libbinlogevents of polardbx-engine, and read in a log of the tests of polardbx-cdc.  Aurora,
whose logs list 100 types, has a private event of this number, which is kept as bytes: its layout is not public.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Int32ul, Int64ul, Struct

from forge.events.layout import Body


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsensusLog(Body):
    """``length``: bytes of the entry, which are the events that follow; ``reserved`` has their CRC-32."""

    type_code: ClassVar[int] = 101
    type_name: ClassVar[str] = "CONSENSUS_LOG"
    features: ClassVar[tuple[str, ...]] = ("private_events_of_polardbx",)
    informational: ClassVar[bool] = True
    only_listed: ClassVar[bool] = True
    entry_flags: int = 0
    term: int = 1
    index: int
    length: int = 0
    reserved: int = 0
    layout: ClassVar[Struct] = Struct(
        "entry_flags" / Int32ul, "term" / Int64ul, "index" / Int64ul, "length" / Int64ul, "reserved" / Int64ul
    )
