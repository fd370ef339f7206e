"""PREVIOUS_GTIDS (35): the GTIDs of all earlier files; second event of every file since 5.6.  Flag IGNORABLE since 5.7.

Two encodings (sql/rpl_gtid_set.cc): plain, and with tags since 8.3 when the server knows any tag.  In the tagged one
byte 0 and byte 7 of the first number are 1, so that an old reader sees a huge count and stops.
Interval ends are exclusive in the bytes and inclusive here and in text.

Servers refuse a set (seen on 9.7) whose intervals are empty, meet, or are not in ascending order from 1 on, and one
with a tag that is none.
"""

from __future__ import annotations

import re
import uuid as _uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Struct

from forge.events.giving import Part
from forge.events.gtid import Uuid
from forge.events.layout import Body, Surroundings
from forge.events.plain import Fields, text_or_hex, to_bytes, to_text, words
from forge.events.serialization import take_uvarint, uvarint
from forge.events.shapes import TEXT, Shape, described, object_of
from forge.events.taking import LayoutError, ends_inside, take_number

#: Letters, digits and underscores, not a digit first (libs/mysql/gtid/tag.h); servers write small letters.
_TAG = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{0,31}")
#: (uuid, tag or "", ((first, last), ...)), sorted by uuid and tag.
GtidSource = tuple[str, str, tuple[tuple[int, int], ...]]


class GtidSet(Part):
    """The GTID set encoding, also used in COM_BINLOG_DUMP_GTID.  A value is (tagged, sources)."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[tuple[bool, tuple[GtidSource, ...]], int]:
        head, at = take_number(data, at, 8)
        tagged = head >> 56 == 1
        if head >> 56 not in (0, 1):
            raise LayoutError(f"GTID set format {head >> 56} is not known", at)
        count = (head >> 8) & ((1 << 48) - 1) if tagged else head
        sources: list[GtidSource] = []
        for _ in range(count):
            uuid, at = Uuid().take(data, at, found)
            tag = ""
            if tagged:
                tag, at = _take_tag(data, at)
            intervals, at = _take_intervals(data, at)
            sources.append((uuid, tag, intervals))
        return (tagged, tuple(sources)), at

    def give(self, value: tuple[bool, tuple[GtidSource, ...]], fields: Any) -> bytes:
        return encode_gtid_set(*value)

    def labelled(self, walk: Any, name: str, flags: Any = None) -> Any:
        value = walk.read(self, name)
        tagged, sources = value
        labels = walk.labels
        labels.put(labels.at + 8, f"{name}.count", len(sources), "number of sources" + " (with tags)" * tagged)
        for number, (uuid, tag, intervals) in enumerate(sources, start=1):
            field = f"{name}.source {number}"
            labels.put(labels.at + 16, f"{field}.uuid", uuid, "16 bytes in the order of the text")
            if tagged:
                length, end = take_uvarint(labels.data, labels.at)
                labels.put(end, f"{field}.tag.length", length, "integer of variable length")
                labels.put(labels.at + length, f"{field}.tag", tag)
            labels.put(labels.at + 8, f"{field}.intervals", len(intervals), "number of intervals, u64")
            for first, last in intervals:
                labels.put(labels.at + 8, f"{field}.first", first, "u64")
                labels.put(labels.at + 8, f"{field}.end", last + 1, "u64, one behind the last")
        labels.put(walk.at, name)
        return value

    def drawn(self, draws: Any, fields: Any) -> Any:
        """Intervals are in ascending order, and not next to each other."""
        bounds = draws.st.lists(draws.st.integers(1, (1 << 62) - 1), max_size=6, unique=True).map(sorted)
        intervals = bounds.map(
            lambda of: tuple((2 * first, 2 * last) for first, last in zip(of[::2], of[1::2], strict=False))
        )

        def sources(tags: Any) -> Any:
            return draws.tuples_of(draws.st.tuples(draws.st.uuids().map(str), tags, intervals), 3)

        plain = draws.st.tuples(draws.st.just(False), sources(draws.st.just("")))
        return plain | draws.st.tuples(draws.st.just(True), sources(draws.st.text("abc_", max_size=8)))


def encode_gtid_set(tagged: bool, sources: tuple[GtidSource, ...]) -> bytes:
    count = len(sources)
    parts = [((1 << 56) | (count << 8) | 1 if tagged else count).to_bytes(8, "little")]
    for uuid, tag, intervals in sources:
        parts.append(_uuid.UUID(uuid).bytes)
        if tagged:
            parts.append(uvarint(len(to_bytes(tag))) + to_bytes(tag))
        parts.append(len(intervals).to_bytes(8, "little"))
        parts.extend(
            first.to_bytes(8, "little") + ((last + 1) % (1 << 64)).to_bytes(8, "little") for first, last in intervals
        )
    return b"".join(parts)


def gtid_set_text(sources: Sequence[GtidSource]) -> str:
    """A GTID set as servers print it: ``uuid:first-last:first``, a tag before its intervals."""
    parts: list[str] = []
    last_uuid = None
    for uuid, tag, intervals in sources:
        ranges = [str(first) if first == last else f"{first}-{last}" for first, last in intervals]
        text = ":".join(([tag] if tag else []) + ranges)
        if uuid == last_uuid:
            parts[-1] += f":{text}"
        else:
            parts.append(f"{uuid}:{text}")
        last_uuid = uuid
    return ",".join(parts)


def _take_tag(data: bytes, at: int) -> tuple[str, int]:
    size, start = take_uvarint(data, at)
    end = start + size
    if end > len(data):
        raise ends_inside(data, start, size)
    tag = data[start:end]
    if tag and not _TAG.fullmatch(tag):
        raise LayoutError(f"a tag is at most 32 letters, digits and underscores, not {to_text(tag)!r}", end)
    return to_text(tag), end


def _take_intervals(data: bytes, at: int) -> tuple[tuple[tuple[int, int], ...], int]:
    count, at = take_number(data, at, 8)
    if count * 16 > len(data) - at:
        # A count is believed only if that many intervals can follow.
        raise LayoutError(f"{count} intervals announced, {len(data) - at} bytes left", at)
    intervals: list[tuple[int, int]] = []
    free = 1
    for _ in range(count):
        first, at = take_number(data, at, 8)
        behind, at = take_number(data, at, 8)
        if not free <= first < behind < 1 << 63:
            raise LayoutError(f"an interval of GTIDs from {first} to before {behind}, where {free} is the least", at)
        intervals.append((first, behind - 1))
        free = behind + 1
    return tuple(intervals), at


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviousGtids(Body, type_code=35, type_name="PREVIOUS_GTIDS", features=("gtid",)):
    gtid_set: tuple[bool, tuple[GtidSource, ...]] = (False, ())
    layout: ClassVar[Struct] = Struct("gtid_set" / GtidSet())

    def canonical(self, surroundings: Surroundings) -> Fields:
        tagged, sources = self.gtid_set
        return {"gtid_set": text_or_hex(gtid_set_text(sources)), "tagged": tagged}

    @classmethod
    def canonical_shape(cls) -> Shape:
        tagged = described({"type": "boolean"}, "Whether the encoding with tags was used.")
        return object_of({"gtid_set": TEXT, "tagged": tagged})

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return words(fields["gtid_set"]) or "(empty)"
