"""GTID (33) and ANONYMOUS_GTID (34): first event of every transaction since 5.6.5 / 5.7.6.

The tail grew with the versions and simply stops where the version did: nothing after ``gno`` in 5.6, the logical
clock since 5.7.6, commit timestamps since 8.0.1, the transaction's length since 8.0.2, server versions since 8.0.14
(libs/mysql/binlog/event/control_events.h; sizes recorded in files of 5.6, 5.7, 8.0 and 9.7).
"""

from __future__ import annotations

import uuid as _uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from construct import Int8ul, Int64sl, Int64ul, Struct

from forge.events.derived_parts import WhileMore
from forge.events.giving import Part
from forge.events.layout import Body, Surroundings
from forge.events.packed import PackedInt
from forge.events.plain import Fields
from forge.events.shapes import U64, Shape, described, object_of
from forge.events.taking import ends_inside, take_number

NIL_UUID = str(_uuid.UUID(int=0))


@lru_cache(maxsize=256)
def _uuid_text(raw: bytes) -> str:
    return str(_uuid.UUID(bytes=raw))


class Uuid(Part):
    """16 bytes in the order of the text."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[str, int]:
        end = at + 16
        if end > len(data):
            raise ends_inside(data, at, 16)
        return _uuid_text(data[at:end]), end

    def give(self, value: str, fields: Any) -> bytes:
        return _uuid.UUID(value).bytes

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.st.uuids().map(str)


class WithOriginal(Part):
    """Two numbers of which the second is written only if it differs; the top bit of the first says so.

    A value is (immediate, original or None), or None where the event ends before it.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.mark = 1 << (8 * width - 1)

    def take(self, data: bytes, at: int, found: Any) -> tuple[tuple[int, int | None], int]:
        first, end = take_number(data, at, self.width)
        if not first & self.mark:
            return (first, None), end
        original, end = take_number(data, end, self.width)
        return (first & ~self.mark, original), end

    def give(self, value: tuple[int, int | None], fields: Any) -> bytes:
        first, original = value
        if original is None:
            return first.to_bytes(self.width, "little")
        return (first | self.mark).to_bytes(self.width, "little") + original.to_bytes(self.width, "little")

    def drawn(self, draws: Any, fields: Any) -> Any:
        """The top bit says whether the second number follows."""
        number = draws.unsigned(8 * self.width - 1)
        return draws.st.tuples(number, draws.st.none() | number)


#: A commit timestamp or a server version in the canonical decode, where the original one always stands.
IMMEDIATE_AND_ORIGINAL = object_of({"immediate": U64, "original": U64})


def immediate_and_original(immediate: int, original: int | None) -> Fields:
    return {"immediate": immediate, "original": immediate if original is None else original}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnonymousGtid(Body, type_code=34, type_name="ANONYMOUS_GTID", features=("anonymous_gtid",)):
    """``commit_timestamp`` and ``server_version`` are pairs (immediate, original); original None means "the same".

    Commit timestamps are microseconds since the epoch, server versions are like 90704.  ``transaction_length`` counts
    the bytes of the whole group, this event included; None lets the writer derive it (where a commit timestamp is
    there; without one the field is absent, as in 5.7).  Fields of later versions are None where absent.
    """

    gtid_flags: int = 0
    uuid: str = NIL_UUID
    gno: int = 0
    clock_type: int | None = 2
    last_committed: int | None = 0
    sequence_number: int | None = 0
    commit_timestamp: tuple[int, int | None] | None = None
    transaction_length: int | None = None
    server_version: tuple[int, int | None] | None = None
    commit_group_ticket: int | None = None

    layout: ClassVar[Struct] = Struct(
        "gtid_flags" / Int8ul,
        "uuid" / Uuid(),
        "gno" / Int64sl,
        "clock_type" / WhileMore(Int8ul),
        "last_committed" / WhileMore(Int64sl),
        "sequence_number" / WhileMore(Int64sl),
        "commit_timestamp" / WhileMore(WithOriginal(7)),
        "transaction_length" / WhileMore(PackedInt()),
        "server_version" / WhileMore(WithOriginal(4)),
        "commit_group_ticket" / WhileMore(Int64ul),
    )

    def gtid(self) -> str | None:
        """The transaction's GTID; None if it has none."""
        return None

    def canonical(self, surroundings: Surroundings) -> Fields:
        shown: Fields = {"gtid": self.gtid()} | self.shown_fields()
        for name, pair in (("commit_timestamp", self.commit_timestamp), ("server_version", self.server_version)):
            if pair is not None:
                shown[name] = immediate_and_original(*pair)
        return shown

    @classmethod
    def canonical_shape(cls) -> Shape:
        uuid = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
        gtid: Shape = {"type": ["string", "null"], "pattern": f"^{uuid}:-?[0-9]+$"}
        pairs = dict.fromkeys(("commit_timestamp", "server_version"), IMMEDIATE_AND_ORIGINAL)
        return cls.shape_with({"gtid": described(gtid, "null for ANONYMOUS_GTID."), **pairs})

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return fields["gtid"] or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gtid(AnonymousGtid, type_code=33, type_name="GTID", features=("gtid",)):
    def gtid(self) -> str | None:
        return f"{self.uuid}:{self.gno}"

    def statement(self, surroundings: Surroundings) -> str | None:
        return f"GTID {self.gtid()}"
