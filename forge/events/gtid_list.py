"""GTID_LIST (163, MariaDB 10.0 on): the last GTIDs of all earlier files; after FORMAT_DESCRIPTION.

The count shares a word with four flag bits.  An empty list has two filler bytes, since old replicas want a minimum
size (recorded on 10.11 and 11.8).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int32ul, Struct

from forge.events.derived_parts import Derived
from forge.events.giving import Part
from forge.events.layout import Body, Rest, Surroundings, derived
from forge.events.plain import Fields
from forge.events.shapes import Shape, array
from forge.events.taking import LayoutError

_ENTRY = struct.Struct("<IIQ")


class DomainGtids(Part):
    """(domain id, server id, sequence number) as often as the count says."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[tuple[tuple[int, int, int], ...], int]:
        count = found.count_and_flags & 0x0FFFFFFF
        end = at + count * _ENTRY.size
        if end > len(data):
            raise LayoutError(f"{count} GTIDs announced, {len(data) - at} bytes left", len(data))
        return tuple(_ENTRY.iter_unpack(data[at:end])), end

    def give(self, value: Any, fields: Any) -> bytes:
        return b"".join(_ENTRY.pack(*gtid) for gtid in value)

    def labelled(self, walk: Any, name: str, flags: Any = None) -> Any:
        value = walk.read(self, name)
        for number, entry in enumerate(value, start=1):
            for size, what, item in zip((4, 4, 8), ("domain", "server", "sequence"), entry, strict=True):
                walk.labels.put(walk.labels.at + size, f"{name}.{number}.{what}", item, f"u{8 * size}, little-endian")
        return value

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.tuples_of(draws.st.tuples(draws.unsigned(32), draws.unsigned(32), draws.unsigned(64)))


@dataclass(frozen=True, slots=True, kw_only=True)
class GtidList(Body, type_code=163, type_name="GTID_LIST", features=("mariadb_gtid",)):
    """``gtids`` are (domain id, server id, sequence number), the last applied of a domain last."""

    count_and_flags: int | None = derived()
    gtids: tuple[tuple[int, int, int], ...] = ()
    filler: bytes | None = derived()
    layout: ClassVar[Struct] = Struct(
        "count_and_flags" / Derived(Int32ul, lambda this: len(this.gtids)),
        "gtids" / DomainGtids(),
        "filler" / Derived(Rest(), lambda this: b"" if this.gtids else b"\0\0"),
    )

    def canonical(self, surroundings: Surroundings) -> Fields:
        return {"gtids": ["-".join(map(str, gtid)) for gtid in self.gtids]} | self.shown_fields("gtids")

    @classmethod
    def canonical_shape(cls) -> Shape:
        return cls.shape_with({"gtids": array({"type": "string", "pattern": "^[0-9]+-[0-9]+-[0-9]+$"})})

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return ", ".join(fields["gtids"]) or "(empty)"
