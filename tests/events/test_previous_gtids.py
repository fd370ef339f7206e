"""PREVIOUS_GTIDS whose set is none: what a server of 9.7 refuses as malformed is refused here."""

from __future__ import annotations

import struct

import pytest

from forge.errors import FormatError
from forge.events.format import FormatContext
from forge.events.gtid_tagged import GtidTagged
from forge.events.layout import Surroundings
from forge.events.previous_gtids import PreviousGtids

pytestmark = pytest.mark.unit

TAGGED = 1 << 56 | 1 << 8 | 1


def body(*intervals: tuple[int, int], tag: bytes | None = None) -> bytes:
    """The body of a set of one source; ends of intervals are exclusive."""
    data = struct.pack("<Q", 1 if tag is None else TAGGED) + bytes(range(16))
    data += b"" if tag is None else bytes((2 * len(tag),)) + tag
    data += struct.pack("<Q", len(intervals))
    return data + b"".join(struct.pack("<QQ", first & ~(-1 << 64), end & ~(-1 << 64)) for first, end in intervals)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (body((1, 5), (6, 7)), "00010203-0405-0607-0809-0a0b0c0d0e0f:1-4:6"),
        (body((1, (1 << 63) - 1)), "00010203-0405-0607-0809-0a0b0c0d0e0f:1-9223372036854775806"),
        (body((1, 2), tag=b"_" + b"a" * 31), f"00010203-0405-0607-0809-0a0b0c0d0e0f:_{'a' * 31}:1"),
        (body((3, 4), tag=b""), "00010203-0405-0607-0809-0a0b0c0d0e0f:3"),
    ],
)
def test_a_set_is_read_as_a_server_prints_it(data: bytes, shown: str) -> None:
    fields = PreviousGtids.parse(data, FormatContext()).canonical(None)  # type: ignore[arg-type]
    assert fields["gtid_set"] == shown


@pytest.mark.parametrize(
    "data",
    [
        body((0, 5)),
        body((-5, 5)),
        body((5, 5)),
        body((1, 5), (5, 7)),
        body((6, 8), (1, 5)),
        body((1, 1 << 63)),
        body((1, 5), tag=b"1lue"),
        body((1, 5), tag=b"b ue"),
        body((1, 5), tag=b"\xff\xfe"),
        body((1, 5), tag=b"a" * 33),
    ],
)
def test_a_set_with_intervals_or_a_tag_that_no_server_takes_is_refused(data: bytes) -> None:
    with pytest.raises(FormatError) as caught:
        PreviousGtids.parse(data, FormatContext())
    assert caught.value.phase == "body"


def test_a_transaction_whose_tag_has_33_characters_is_refused() -> None:
    format = FormatContext()
    longest = GtidTagged(uuid="00010203-0405-0607-0809-0a0b0c0d0e0f", gno=1, tag="a" * 32)
    assert GtidTagged.parse(longest.build(format), format).tag == "a" * 32
    with pytest.raises(FormatError, match="33 characters"):
        GtidTagged.parse(longest.replace(tag="a" * 33).build(format), format)


def test_a_transaction_without_a_tag_is_shown_as_one_without() -> None:
    format = FormatContext()
    bare = GtidTagged(uuid="00010203-0405-0607-0809-0a0b0c0d0e0f", gno=1)
    shown = GtidTagged.parse(bare.build(format), format).canonical(Surroundings())
    assert shown["gtid"] == "00010203-0405-0607-0809-0a0b0c0d0e0f:1"


def test_a_field_that_nobody_knows_keeps_its_bytes_however_long_its_number_is_written() -> None:
    format = FormatContext()
    event = GtidTagged(uuid="00010203-0405-0607-0809-0a0b0c0d0e0f", gno=1, unread=bytes.fromhex("63000008"))
    assert GtidTagged.parse(event.build(format), format).unread == event.unread
