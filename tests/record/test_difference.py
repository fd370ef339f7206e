"""The first difference between two files is named in terms of the format."""

from __future__ import annotations

from forge.binlog.writer import write_binlog
from forge.events.event import Event
from forge.events.format_description import FormatDescription
from forge.events.gtid import Gtid
from forge.events.query import Query
from forge.events.stop import Stop
from forge.events.xid import Xid
from forge.record.difference import Difference, first_difference
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


def test_identical_files_have_no_difference() -> None:
    assert first_difference(file_with(), file_with()) is None


def test_a_changed_field_is_named_with_both_values_and_its_offset() -> None:
    found = difference(file_with(xid=9), file_with(xid=300))
    assert (found.event, found.event_type, found.field, found.recorded, found.compiled) == (3, "XID", "xid", "9", "300")
    xid_at = file_with().index((9).to_bytes(8, "little"), 127)
    assert found.offset == xid_at


def test_a_longer_statement_is_named_and_not_the_length_of_its_transaction() -> None:
    found = difference(file_with("BEGIN"), file_with("BEGIN /* more */"))
    assert (found.event, found.field) == (2, "query")
    assert "more" in str(found)


def test_of_two_differences_the_first_is_named() -> None:
    found = difference(file_with(last_committed=0, xid=9), file_with(last_committed=5, xid=10))
    assert (found.event, found.field, found.compiled) == (1, "last_committed", "5")


def test_an_event_that_only_one_file_has_is_named() -> None:
    whole, short = file_with(), file_with(stop=False)
    missing = difference(whole, short)
    assert (missing.event, missing.event_type, missing.compiled) == (4, "STOP", "nothing")
    assert missing.offset == len(short)
    surplus = difference(short, whole)
    assert (surplus.event, surplus.recorded, surplus.offset) == (4, "nothing", len(short))


def test_a_wrong_checksum_is_a_difference_of_that_event() -> None:
    data = bytearray(file_with())
    data[-1] ^= 0xFF
    found = difference(bytes(data), file_with())
    assert (found.event, found.field) == (4, "checksum")


def test_bytes_that_are_no_binlog_are_compared_as_bytes() -> None:
    assert difference(b"one", b"two").field == "file"
