"""TRANSACTION_CONTEXT (36): group replication; what certifying a transaction needs.

It travels between members and stands in the relay log of the applier's channel, never in a binary log
(libs/mysql/binlog/event/control_events.h).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int8ul, Int32ul, Struct

from forge.events.counted_items import Items, set_or_hex
from forge.events.derived_parts import Derived
from forge.events.layout import Body, Span, Surroundings, Text, derived, field_length, length_of
from forge.events.plain import Fields, text_or_hex, to_text, words
from forge.events.shapes import Shape, array


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionContext(Body, type_code=36, type_name="TRANSACTION_CONTEXT", features=("transaction_context",)):
    """``snapshot`` is the GTID set (as in PREVIOUS_GTIDS) that the transaction has seen; ``write_set`` and ``read_set``
    are hashes of the rows that it wrote and read.
    """

    uuid_length: int | None = derived()
    thread_id: int = 0
    gtid_specified: int = 0
    snapshot_length: int | None = derived()
    write_set_count: int | None = derived()
    read_set_count: int | None = derived()
    server_uuid: str
    snapshot: bytes = bytes(8)
    write_set: tuple[bytes, ...] = ()
    read_set: tuple[bytes, ...] = ()
    layout: ClassVar[Struct] = Struct(
        "uuid_length" / Derived(Int8ul, length_of("server_uuid")),
        "thread_id" / Int32ul,
        "gtid_specified" / Int8ul,
        "snapshot_length" / Derived(Int32ul, length_of("snapshot")),
        "write_set_count" / Derived(Int32ul, lambda this: len(this.write_set)),
        "read_set_count" / Derived(Int32ul, lambda this: len(this.read_set)),
        "server_uuid" / Text(Span(field_length("uuid_length"))),
        "snapshot" / Span(field_length("snapshot_length")),
        "write_set" / Items(lambda this: int(this.write_set_count)),
        "read_set" / Items(lambda this: int(this.read_set_count)),
    )

    def canonical(self, surroundings: Surroundings) -> Fields:
        shown = self.shown_fields() | {"snapshot": set_or_hex(self.snapshot)}
        return shown | {
            name: [text_or_hex(to_text(item)) for item in items]
            for name, items in (("write_set", self.write_set), ("read_set", self.read_set))
        }

    @classmethod
    def canonical_shape(cls) -> Shape:
        return cls.shape_with({"snapshot": {}, "write_set": array({}), "read_set": array({})})

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return (
            f"{words(fields['server_uuid'])}, {len(fields['write_set'])} rows written, {len(fields['read_set'])} read"
        )
