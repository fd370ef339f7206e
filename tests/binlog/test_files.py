"""Files of events: positions, checksums, transaction lengths, torn tails."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.binlog import PlacedEvent, read_events, write_binlog
from forge.binlog.writer import Item, group_length
from forge.errors import FormatError
from forge.events.event import IN_USE, Event
from forge.events.format_description import FormatDescription
from forge.events.gtid import Gtid
from forge.events.packed import pack_int
from forge.events.query import Query
from forge.events.stop import Stop
from forge.events.xid import Xid
from forge.servers import server_line
from forge.testing.events import files


def description(**changes: object) -> FormatDescription:
    line = server_line("mysql-9.7")
    return FormatDescription(server_version="9.7.4", post_header_lengths=line.post_header_bytes).replace(**changes)


def small_file(flags: int = 0) -> bytes:
    gtid = Gtid(
        uuid="86f5880f-e50d-11f1-9410-02fc00000001", gno=1, commit_timestamp=(1, None), server_version=(90704, None)
    )
    events = [
        Event(body=description(), flags=flags),
        Event(body=gtid),
        Event(body=Query(query="BEGIN")),
        Event(body=Xid(xid=9)),
    ]
    return write_binlog([*events, Event(body=Stop())])


@given(files())
def test_a_written_file_reads_back_to_the_same_file(items: list[Item]) -> None:
    data = write_binlog(items)
    again = write_binlog([placed.event for placed in read_events(data, strict=False)])
    assert again == data


def test_positions_chain_and_every_checksum_is_zlibs_crc32() -> None:
    offset = 4
    for placed in read_events(small_file()):
        assert placed.offset == offset
        offset += len(placed.raw)
        assert int.from_bytes(placed.raw[13:17], "little") == offset
        assert int.from_bytes(placed.raw[-4:], "little") == zlib.crc32(placed.raw[:-4])


def test_the_descriptions_checksum_ignores_the_in_use_flag() -> None:
    active, closed = small_file(flags=IN_USE), small_file()
    assert active[21] == closed[21] | IN_USE
    assert active[: 4 + 17] + active[22:] == closed[: 4 + 17] + closed[22:]


def test_a_gtid_counts_its_whole_group_and_no_more() -> None:
    placed = list(read_events(small_file()))
    group = sum(len(item.raw) for item in placed[1:4])
    body = placed[1].event.body
    assert isinstance(body, Gtid)
    assert body.transaction_length == group


@pytest.mark.parametrize("without_field", [0, 249, 250, 251, 65532, 65533, 1 << 24])
def test_a_transaction_length_counts_its_own_bytes(without_field: int) -> None:
    total = group_length(without_field)
    assert total - without_field in (1, 3, 4, 9)
    assert len(pack_int(total)) <= total - without_field


@given(st.integers(4, len(small_file()) - 1))
def test_a_file_cut_anywhere_gives_its_whole_events_and_then_a_framing_error(cut: int) -> None:
    data = small_file()
    ends = [placed.offset + len(placed.raw) for placed in read_events(data)]
    seen: list[PlacedEvent] = []
    if cut == 4 or cut in ends:
        seen = list(read_events(data[:cut]))
    else:
        with pytest.raises(FormatError) as caught:
            seen.extend(read_events(data[:cut]))
        assert caught.value.phase == "framing"
        assert caught.value.offset == max([4, *(end for end in ends if end <= cut)])
    assert len(seen) == sum(end <= cut for end in ends)


def test_a_changed_byte_is_a_checksum_error_at_the_checksum() -> None:
    data = bytearray(small_file())
    data[-5 - 23] ^= 1  # inside the XID event
    with pytest.raises(FormatError, match="checksum of this XID event") as caught:
        list(read_events(bytes(data)))
    assert caught.value.event_index == 3


def test_an_encrypted_file_and_a_foreign_file_are_told_apart() -> None:
    with pytest.raises(FormatError, match="encrypted"):
        list(read_events(b"\xfdbin" + bytes(600)))
    with pytest.raises(FormatError, match="fe 62 69 6e"):
        list(read_events(b"PAR1"))
