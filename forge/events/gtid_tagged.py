"""GTID_TAGGED (42, 8.3 on): in the place of GTID when the GTID has a tag.  One message of the serialization library.

The message says its own size, fields have ascending numbers, and absent optional ones are skipped
(libs/mysql/binlog/event/control_events.h; recorded on 9.7).
"""

from __future__ import annotations

import uuid as _uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Struct

from forge.events.giving import Part
from forge.events.gtid import IMMEDIATE_AND_ORIGINAL, immediate_and_original
from forge.events.layout import Body, Surroundings
from forge.events.plain import Fields, to_bytes, to_text
from forge.events.serialization import svarint, take_svarint, take_uvarint, uvarint
from forge.events.shapes import HEX, U64, Shape, object_of
from forge.events.taking import LayoutError

FORMAT_VERSION = 1
#: Servers refuse a longer one (seen on 9.7), and believe what characters it has.
_LONGEST_TAG = 32


def _uuid_bytes(text: str) -> bytes:
    return b"".join(uvarint(byte) for byte in _uuid.UUID(text).bytes)


def _take_uuid(data: bytes, at: int) -> tuple[str, int]:
    numbers = []
    for _ in range(16):
        number, at = take_uvarint(data, at)
        if number > 0xFF:
            raise LayoutError("bytes must be in range(0, 256)", at)
        numbers.append(number)
    return str(_uuid.UUID(bytes=bytes(numbers))), at


def _tag_bytes(text: str) -> bytes:
    return uvarint(len(to_bytes(text))) + to_bytes(text)


def _take_tag(data: bytes, at: int) -> tuple[str, int]:
    length, start = take_uvarint(data, at)
    if length > _LONGEST_TAG:
        raise LayoutError(f"a tag of {length} characters", start)
    end = start + length
    if end > len(data):
        raise LayoutError("the tag passes the end of the event", len(data))
    if not data[start:end].isascii():
        # Letters, digits and underscores, says libs/mysql/gtid/tag.h.
        raise LayoutError("the tag is not ASCII", end)
    return to_text(data[start:end]), end


#: number -> (field, writer, taker); a field that is None is not written.
FIELDS: tuple[tuple[str, Any, Any], ...] = (
    ("gtid_flags", uvarint, take_uvarint),
    ("uuid", _uuid_bytes, _take_uuid),
    ("gno", svarint, take_svarint),
    ("tag", _tag_bytes, _take_tag),
    ("last_committed", svarint, take_svarint),
    ("sequence_number", svarint, take_svarint),
    ("commit_timestamp", uvarint, take_uvarint),
    ("original_commit_timestamp", uvarint, take_uvarint),
    ("transaction_length", uvarint, take_uvarint),
    ("server_version", uvarint, take_uvarint),
    ("original_server_version", uvarint, take_uvarint),
    ("commit_group_ticket", uvarint, take_uvarint),
)


class _Message(Part):
    """All fields as one mapping."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[dict[str, Any], int]:
        try:
            return self._fields(data, at), len(data)
        except LayoutError as error:
            # Whatever is wrong is wrong with the message as a whole.
            raise LayoutError(str(error), len(data)) from None

    def _fields(self, data: bytes, at: int) -> dict[str, Any]:
        begin = at
        version, at = take_uvarint(data, at)
        if version != FORMAT_VERSION:
            raise LayoutError("the message has an unknown format version")
        size, at = take_uvarint(data, at)
        if size != len(data) - begin:
            raise LayoutError("the message's size is not that of the event")
        fields: dict[str, Any] = {}
        fields["last_non_ignorable"], at = take_uvarint(data, at)
        while at < len(data):
            number, start = take_uvarint(data, at)
            if number >= len(FIELDS):
                fields["unread"] = data[at:]
                break
            name, _, take = FIELDS[number]
            fields[name], at = take(data, start)
        return fields

    def labelled(self, walk: Any, name: str, flags: Any = None) -> Any:
        message = walk.read(self, name)
        labels = walk.labels
        with suppress(LayoutError):
            for field in ("format_version", "size", "last_non_ignorable"):
                number, at = take_uvarint(labels.data, labels.at)
                labels.put(at, field, number, "integer of variable length")
            while labels.at < walk.at:
                number, at = take_uvarint(labels.data, labels.at)
                if number >= len(FIELDS):
                    break
                field, _, take = FIELDS[number]
                labels.put(at, f"{field}.number", number, "number of the field, integer of variable length")
                value, at = take(labels.data, at)
                labels.put(at, field, value, "integers of variable length, one a byte" if field == "uuid" else "")
        labels.put(walk.at, "unread")
        return message

    def give(self, value: dict[str, Any], fields: Any) -> bytes:
        rest = uvarint(value["last_non_ignorable"])
        for number, (name, write, _) in enumerate(FIELDS):
            if value.get(name) is not None:
                rest += uvarint(number) + write(value[name])
        rest += value.get("unread") or b""
        # The size counts itself, and is as long as the size is large.
        size = next(n for n in range(len(rest) + 2, len(rest) + 11) if 1 + len(uvarint(n)) + len(rest) == n)
        return uvarint(FORMAT_VERSION) + uvarint(size) + rest


@dataclass(frozen=True, slots=True, kw_only=True)
class GtidTagged(Body, type_code=42, type_name="GTID_TAGGED", features=("gtid_tags",)):
    """Fields as those of GTID; original_* are None where they equal the immediate ones."""

    last_non_ignorable: int = 0
    gtid_flags: int | None = 0
    uuid: str | None = None
    gno: int | None = None
    tag: str | None = None
    last_committed: int | None = None
    sequence_number: int | None = None
    commit_timestamp: int | None = None
    original_commit_timestamp: int | None = None
    transaction_length: int | None = None
    server_version: int | None = None
    original_server_version: int | None = None
    commit_group_ticket: int | None = None
    unread: bytes | None = None
    layout: ClassVar[Struct] = Struct("message" / _Message())

    def canonical(self, surroundings: Surroundings) -> Fields:
        names = ("commit_timestamp", "server_version")
        shown = self.shown_fields(*names, *(f"original_{name}" for name in names))
        for name in names:
            immediate = getattr(self, name)
            if immediate is not None:
                shown[name] = immediate_and_original(immediate, getattr(self, f"original_{name}"))
        parts = [str(part) for part in (self.uuid, self.tag, self.gno) if part is not None]
        return {"gtid": ":".join(parts)} | shown

    @classmethod
    def canonical_shape(cls) -> Shape:
        text, integer = {"type": "string"}, {"type": "integer"}
        texts = dict.fromkeys(("gtid", "uuid", "tag"), text)
        numbers = dict.fromkeys(("gno", "last_committed", "sequence_number"), integer)
        unsigned = dict.fromkeys(("last_non_ignorable", "gtid_flags", "transaction_length", "commit_group_ticket"), U64)
        pairs = dict.fromkeys(("commit_timestamp", "server_version"), IMMEDIATE_AND_ORIGINAL)
        fields: Shape = texts | numbers | unsigned | pairs | {"unread": HEX}
        return object_of(fields, *(name for name in fields if name not in ("gtid", "last_non_ignorable")))

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return str(fields["gtid"])

    @classmethod
    def parse(cls, data: bytes, format: Any) -> GtidTagged:
        message = _Holder.parse(data, format).message
        return cls(**message)

    def build(self, format: Any) -> bytes:
        return _Holder(message={name: getattr(self, name) for name in self.field_names()}).build(format)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Holder(Body, type_code=42, type_name="GTID_TAGGED"):
    message: dict[str, Any]
    layout: ClassVar[Struct] = GtidTagged.layout
