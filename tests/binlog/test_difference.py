"""The first difference between two files is named in terms of the format."""

from __future__ import annotations

from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from forge.binlog import difference as difference_of_logs
from forge.binlog.difference import Difference, differences, first_difference
from forge.binlog.reader import frames
from forge.binlog.writer import write_binlog
from forge.events.event import Event, decode_event, encode_event
from forge.events.format import FormatContext
from forge.events.format_description import FormatDescription
from forge.events.gtid import Gtid
from forge.events.query import Query
from forge.events.stop import Stop
from forge.events.xid import Xid
from forge.servers import server_line

UUID = "6b696e64-6f66-4f72-6765-000000000001"


def file_with(query: str = "BEGIN", xid: int = 9, last_committed: int = 0, *, stop: bool = True) -> bytes:
    description = FormatDescription(
        server_version="9.7.4",
        created=1,
        post_header_lengths=server_line("mysql-9.7").post_header_bytes,
        checksum_algorithm=1,
    )
    gtid = Gtid(
        uuid=UUID,
        gno=1,
        last_committed=last_committed,
        sequence_number=1,
        commit_timestamp=(1_700_000_000_000_000, None),
        server_version=(90704, None),
    )
    bodies = [description, gtid, Query(query=query), Xid(xid=xid), *([Stop()] if stop else [])]
    return write_binlog([Event(body=body, timestamp=1, server_id=1) for body in bodies])


def difference(recorded: bytes, compiled: bytes) -> Difference:
    found = first_difference(recorded, compiled)
    assert found is not None
    return found


def log_format() -> FormatContext:
    return FormatContext("9.7.4", server_line("mysql-9.7").post_header_bytes, checksum=True)


def test_identical_files_have_no_difference() -> None:
    assert first_difference(file_with(), file_with()) is None


def test_a_changed_field_is_named_with_both_values_and_its_offset() -> None:
    found = difference(file_with(xid=9), file_with(xid=300))
    assert (found.event, found.event_type, found.field, found.left, found.right) == (3, "XID", "xid", "9", "300")
    xid_at = file_with().index((9).to_bytes(8, "little"), 127)
    assert found.offset == xid_at


def test_a_longer_statement_is_named_and_not_the_length_of_its_transaction() -> None:
    found = difference(file_with("BEGIN"), file_with("BEGIN /* more */"))
    assert (found.event, found.field) == (2, "query")
    assert "more" in str(found)


def test_of_two_differences_the_first_is_named() -> None:
    found = difference(file_with(last_committed=0, xid=9), file_with(last_committed=5, xid=10))
    assert (found.event, found.field, found.right) == (1, "last_committed", "5")


def test_an_event_that_only_one_file_has_is_named() -> None:
    whole, short = file_with(), file_with(stop=False)
    missing = difference(whole, short)
    assert (missing.event, missing.event_type, missing.right) == (4, "STOP", "nothing")
    assert missing.offset == len(short)
    surplus = difference(short, whole)
    assert (surplus.event, surplus.left, surplus.offset) == (4, "nothing", len(short))


def test_a_wrong_checksum_is_a_difference_of_that_event() -> None:
    data = bytearray(file_with())
    data[-1] ^= 0xFF
    found = difference(bytes(data), file_with())
    assert (found.event, found.field) == (4, "checksum")


def test_bytes_that_are_no_binlog_are_compared_as_bytes() -> None:
    assert difference(b"one", b"two").field == "file"


def test_all_differences_come_with_the_events_of_both_logs() -> None:
    found = list(differences(file_with(last_committed=0, xid=9), file_with("BEGIN /* 1 */", last_committed=5, xid=10)))
    assert [(one.event, one.other, one.field) for one in found] == [
        (1, 1, "last_committed"),
        (2, 2, "query"),
        (3, 3, "xid"),
    ]


def test_behind_events_that_one_log_lacks_comparing_goes_on() -> None:
    bodies = [frame.raw for frame in frames(file_with())]
    events = [decode_event(raw, 0, log_format()).replace(log_pos=None, checksum=None) for raw in bodies]
    once, twice = write_binlog(events), write_binlog([*events[:-1], *events[1:]])
    surplus = list(differences(once, twice))
    assert {(one.event, one.right) for one in surplus} == {(None, "the event")}
    assert [one.other for one in surplus] == [4, 5, 6]
    missing = list(differences(twice, once))
    assert {(one.other, one.left) for one in missing} == {(None, "the event")}
    assert [one.event for one in missing] == [4, 5, 6]


@given(st.lists(st.integers(0, 3), max_size=12), st.lists(st.integers(0, 3), max_size=12))
def test_logs_have_no_differences_exactly_if_they_are_equal(left: list[int], right: list[int]) -> None:
    ours, theirs = (
        b"\xfebin" + b"".join(encode_event(Event(body=Xid(xid=number)), 4, FormatContext()) for number in numbers)
        for numbers in (left, right)
    )
    found = list(differences(ours, theirs))
    assert (found == []) == (left == right)
    assert sum(one.other is None for one in found) - sum(one.event is None for one in found) == len(left) - len(right)


@given(st.integers(0, 40), st.sampled_from(["", "a", "é", "'"]), st.sampled_from(["", "b", "ü"]))
def test_texts_of_which_hashes_are_compared_differ_where_others_do(number: int, one: str, other: str) -> None:
    left, right = (file_with("q" * number + end) for end in (one, other))
    whole = [(found.event, found.field, found.offset) for found in differences(left, right)]
    with mock.patch.object(difference_of_logs, "_LARGE", 8):
        hashed = [(found.event, found.field, found.offset) for found in differences(left, right)]
    assert hashed == whole


def test_a_large_text_is_shown_by_its_beginning() -> None:
    left, right = file_with("q" * (1 << 20)), file_with("q" * (1 << 20) + "r")
    [found] = differences(left, right)
    assert (found.field, found.left) == ("query", f"'{'q' * 159}... (1048576 characters)")
    assert found.right == f"'{'q' * 159}... (1048577 characters)"
