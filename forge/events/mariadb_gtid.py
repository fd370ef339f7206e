"""GTID of MariaDB (162, 10.0 on): first event of every group, in the place of BEGIN.

The optional parts follow flags2 and flags_extra; zeros fill the event to 19 bytes.  A zero byte after the known
parts is filler, so flags_extra is there only if it is not zero (sql/log_event_server.cc of 10.6; recorded).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int8ul, Int32ul, Int64ul, Sequence, Struct

from forge.events.derived_parts import Derived, When
from forge.events.giving import Part, giver_of
from forge.events.layout import Body, Rest, Surroundings, derived
from forge.events.plain import Fields, flag_names
from forge.events.shapes import FLAGS, HEX, U32, Shape, object_of
from forge.events.taking import take_bytes, taker_of

GTID_FLAGS2 = (
    (0x01, "STANDALONE"),
    (0x02, "GROUP_COMMIT_ID"),
    (0x04, "TRANSACTIONAL"),
    (0x08, "ALLOW_PARALLEL"),
    (0x10, "WAITED"),
    (0x20, "DDL"),
    (0x40, "PREPARED_XA"),
    (0x80, "COMPLETED_XA"),
)
GROUP_COMMIT_ID, XA = 0x02, 0xC0
MULTI_ENGINE, START_ALTER, COMMIT_ALTER, ALTER_NUMBER, THREAD_ID = 0x01, 0x02, 0x04, 0x0C, 0x10
MINIMUM_SIZE = 19
#: An XA id's format id, and the lengths of its parts.
_XA_HEAD = Sequence(Int32ul, Int8ul, Int8ul)


class XaId(Part):
    """(format id, gtrid, bqual)."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[tuple[int, bytes, bytes], int]:
        (format_id, gtrid_size, bqual_size), at = taker_of(_XA_HEAD)(data, at, found)
        gtrid, at = take_bytes(data, at, gtrid_size)
        bqual, at = take_bytes(data, at, bqual_size)
        return (format_id, gtrid, bqual), at

    def give(self, value: tuple[int, bytes, bytes], fields: Any) -> bytes:
        format_id, gtrid, bqual = value
        return giver_of(_XA_HEAD)((format_id, len(gtrid), len(bqual)), fields) + gtrid + bqual

    def labelled(self, walk: Any, name: str, flags: Any = None) -> Any:
        value = walk.read(self, name)
        format_id, gtrid, bqual = value
        put, at = walk.labels.put, walk.labels.at
        put(at + 4, f"{name}.format_id", format_id, "u32, little-endian")
        put(at + 5, f"{name}.gtrid.length", len(gtrid), "u8")
        put(at + 6, f"{name}.bqual.length", len(bqual), "u8")
        put(at + 6 + len(gtrid), f"{name}.gtrid", gtrid)
        put(walk.at, f"{name}.bqual", bqual)
        return value

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.st.tuples(draws.unsigned(32), draws.binary(64), draws.binary(64))


class FlagsExtra(Part):
    """A byte, unless the rest of the event is filler."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[int, int]:
        return (data[at], at + 1) if data[at : at + 1].strip(b"\0") else (0, at)

    def give(self, value: int, fields: Any) -> bytes:
        return bytes([value]) if value else b""

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.unsigned(8)


def _filler(context: Any) -> bytes:
    extra = context.flags_extra
    used = 13 + (8 if context.commit_id is not None else 0) + (1 if extra else 0)
    if context.xid is not None:
        used += 6 + len(context.xid[1]) + len(context.xid[2])
    used += sum(
        size for name, size in (("extra_engines", 1), ("start_alter", 8), ("thread_id", 4)) if context[name] is not None
    )
    return bytes(max(0, MINIMUM_SIZE - used))


@dataclass(frozen=True, slots=True, kw_only=True)
class MariadbGtid(Body, type_code=162, type_name="MARIADB_GTID", features=("mariadb_gtid",)):
    """``sequence_number`` and ``domain_id`` with the header's server id are the GTID."""

    sequence_number: int
    domain_id: int = 0
    flags2: int = 0
    commit_id: int | None = None
    xid: tuple[int, bytes, bytes] | None = None
    flags_extra: int = 0
    extra_engines: int | None = None
    start_alter: int | None = None
    thread_id: int | None = None
    filler: bytes | None = derived()
    layout: ClassVar[Struct] = Struct(
        "sequence_number" / Int64ul,
        "domain_id" / Int32ul,
        "flags2" / Int8ul,
        "commit_id" / When(Int64ul, lambda this: this.flags2 & GROUP_COMMIT_ID),
        "xid" / When(XaId(), lambda this: this.flags2 & XA),
        "flags_extra" / FlagsExtra(),
        "extra_engines" / When(Int8ul, lambda this: this.flags_extra & MULTI_ENGINE),
        "start_alter" / When(Int64ul, lambda this: this.flags_extra & ALTER_NUMBER),
        "thread_id" / When(Int32ul, lambda this: this.flags_extra & THREAD_ID),
        "filler" / Derived(Rest(), _filler),
    )

    def gtid(self, server_id: int) -> str:
        """``domain-server-sequence``; the server id is the header's."""
        return f"{self.domain_id}-{server_id}-{self.sequence_number}"

    def canonical(self, surroundings: Surroundings) -> Fields:
        shown: Fields = {"gtid": self.gtid(surroundings.server_id)} | self.shown_fields("flags2", "xid")
        shown["flags2"] = flag_names(self.flags2, GTID_FLAGS2)
        if self.xid is not None:
            shown["xid"] = {"format_id": self.xid[0], "gtrid": self.xid[1].hex(), "bqual": self.xid[2].hex()}
        return shown

    @classmethod
    def canonical_shape(cls) -> Shape:
        gtid: Shape = {"type": "string", "pattern": "^[0-9]+-[0-9]+-[0-9]+$"}
        xid = object_of({"format_id": U32, "gtrid": HEX, "bqual": HEX})
        return cls.shape_with({"gtid": gtid, "flags2": FLAGS, "xid": xid})

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return "  ".join([fields["gtid"], *map(str, fields["flags2"])])

    def statement(self, surroundings: Surroundings) -> str | None:
        return f"GTID {self.gtid(surroundings.server_id)}"
