"""FORMAT_DESCRIPTION (15): the first event of every file; says how to frame those that follow.

Written by all servers since 5.0.  Its own checksum is always there when the server knows checksums at all, even
with the algorithm OFF, and is computed with the IN_USE flag cleared, so that closing the file may clear the bit in
place (log_event.cc; recorded on MySQL 9.7 and MariaDB 10.11 in both states).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Bytes, Int8ul, Int16ul, Int32ul, Struct

from forge.events.derived_parts import WhileMore
from forge.events.format import FormatContext, described_format, writes_checksums
from forge.events.giving import Give, Part, giver_of
from forge.events.layout import Body, Surroundings, Text
from forge.events.plain import Fields, to_bytes, to_text, words
from forge.events.shapes import U8, Shape, either
from forge.events.taking import Take, taker_of

FIXED_SIZE = 57
CHECKSUM_ALGORITHMS = {0: "OFF", 1: "CRC32"}


class PaddedVersion(Text):
    """50 bytes, NUL-padded; padding that is not NUL stays part of the text."""

    def taker(self) -> Take:
        inner = taker_of(self.subcon)

        def take(data: bytes, at: int, found: Any) -> tuple[str, int]:
            raw, end = inner(data, at, found)
            return to_text(raw.rstrip(b"\0")), end

        return take

    def giver(self) -> Give:
        inner = giver_of(self.subcon)
        return lambda value, fields: inner(to_bytes(value).ljust(50, b"\0"), fields)


class _Lengths(Part):
    """Everything up to the algorithm byte, if there is one."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[bytes, int]:
        end = len(data) - (found["_params"].format.checksum and at < len(data))
        return data[at:end], end

    def labelled(self, walk: Any, name: str, flags: Any = None) -> bytes:
        lengths: bytes = walk.read(self, name)
        for number, length in enumerate(lengths, start=1):
            rule = f"bytes behind the header of events of type {number}"
            walk.labels.put(walk.labels.at + 1, f"{name}.{walk.event_name(number)}", length, rule)
        return lengths

    def give(self, value: bytes, fields: Any) -> bytes:
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatDescription(Body, type_code=15, type_name="FORMAT_DESCRIPTION"):
    """``post_header_lengths`` has one byte an event type, type 1 first.

    ``checksum_algorithm`` is 0 (off) or 1 (CRC32); None for servers that know no checksums.  While parsing,
    ``format.checksum`` says whether this event ends with an algorithm byte (:func:`is_checksum_aware`).
    """

    binlog_version: int = 4
    server_version: str
    created: int = 0
    header_length: int = 19
    post_header_lengths: bytes
    checksum_algorithm: int | None = 1

    layout: ClassVar[Struct] = Struct(
        "binlog_version" / Int16ul,
        "server_version" / PaddedVersion(Bytes(50)),
        "created" / Int32ul,
        "header_length" / Int8ul,
        "post_header_lengths" / _Lengths(),
        "checksum_algorithm" / WhileMore(Int8ul),
    )

    def context(self) -> FormatContext:
        """The framing of the events after this one."""
        return described_format(
            self.server_version,
            self.post_header_lengths,
            checksum=self.checksum_algorithm == 1,
            header_length=self.header_length,
        )

    def canonical(self, surroundings: Surroundings) -> Fields:
        algorithm = self.checksum_algorithm
        shown = None if algorithm is None else CHECKSUM_ALGORITHMS.get(algorithm, algorithm)
        return self.shown_fields() | {"checksum_algorithm": shown}

    @classmethod
    def canonical_shape(cls) -> Shape:
        algorithms = either({"enum": [*CHECKSUM_ALGORITHMS.values(), None]}, U8)
        described = {"description": "null for servers that know no checksums."}
        return cls.shape_with({"checksum_algorithm": algorithms | described})

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return f"{words(fields['server_version'])}, checksums {fields['checksum_algorithm'] or 'unknown'}"


def is_checksum_aware(data: bytes) -> bool:
    """Whether the bytes after the header of a FORMAT_DESCRIPTION end with an algorithm byte and a CRC.

    The entry for type 15 is its own length (57 + number of types, mod 256) without the two, which decides without
    the version string; the version rule of the server is the fallback.
    """
    types = len(data) - FIXED_SIZE
    if types > 14:
        own = data[FIXED_SIZE + 14]
        if own == (FIXED_SIZE + types - 5) % 256:
            return True
        if own == (FIXED_SIZE + types) % 256:
            return False
    return types >= 5 and writes_checksums(to_text(data[2:52].split(b"\0")[0]))
