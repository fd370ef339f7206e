"""Logs of servers before 5.1.18, and headers that are longer than those of the vendors' servers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.binlog.listing import assemble, disassemble, listing_text
from forge.binlog.reader import read_events
from forge.binlog.writer import write_binlog
from forge.decode.decode import canonical_events
from forge.decode.labels.log import labelled_log
from forge.decode.printed import render_text
from forge.decode.schema import decode_schema
from forge.errors import FormatError, ScenarioError, UnsupportedError
from forge.events.event import Event
from forge.events.format_description import FormatDescription
from forge.events.gtid import Gtid
from forge.events.intvar import Intvar
from forge.events.layout import Body
from forge.events.query import Query
from forge.events.rotate import Rotate
from forge.events.rows import PreGaUpdateRows, PreGaWriteRows
from forge.events.start_encryption import StartEncryption
from forge.events.start_v3 import StartV3
from forge.events.stop import Stop
from forge.events.table_map import TableMap
from forge.events.xid import Xid
from forge.servers import server_line

OLD = StartV3(server_version="4.1.22-log", created=9)
INSERT = Query(thread_id=3, database="shop", query="INSERT INTO t VALUES (1)")
#: Post-header lengths of 5.1 before 5.1.18, and of the first trees, in whose numbers 16 to 19 are the row events.
PRE_GA = bytes.fromhex("380d0008001200040404041200004f00041a08080808")
EARLY = bytes.fromhex("380d0008001200040404041200004f0606060600041a")


def log_of(*bodies: Body) -> bytes:
    return write_binlog([Event(body=body, timestamp=7, server_id=1) for body in bodies])


def described(version: str, lengths: bytes, header_length: int = 19) -> FormatDescription:
    return FormatDescription(
        server_version=version, post_header_lengths=lengths, checksum_algorithm=None, header_length=header_length
    )


def is_listed_whole(data: bytes) -> list[str]:
    """The event types of a log whose listing has no raw bytes and gives the log again."""
    documents = list(disassemble(data))
    assert not [document for document in documents if document.keys() & {"bytes", "body"}]
    assert assemble("".join(listing_text(data))) == data
    assert b"".join(run.data for section in labelled_log(data) for run in section.runs) == data
    assert [section.problem for section in labelled_log(data) if section.problem] == []
    return [str(document["event"]) for document in documents]


def bodies_in(data: bytes) -> list[Body]:
    return [placed.event.body for placed in read_events(data)]


def test_in_4_x_query_has_no_status_variables_and_positions_are_those_of_the_events_own_begin() -> None:
    data = log_of(OLD, Intvar(variable=2, value=5), INSERT, Rotate(next_file="log.000002"))
    assert data[4:9] == b"\7\0\0\0\1"
    assert [int.from_bytes(data[at + 13 : at + 17], "little") for at in (4, 79)] == [4, 79]
    # Thread, seconds, length of the database, error; then database and text.
    assert data.endswith(b"\3\0\0\0\0\0\0\0\4\0\0shop\0INSERT INTO t VALUES (1)" + data[-37:])
    assert is_listed_whole(data) == ["START_V3", "INTVAR", "QUERY", "ROTATE"]
    assert bodies_in(data)[2] == INSERT


def test_the_headers_of_3_23_have_neither_position_nor_flags() -> None:
    old = OLD.replace(binlog_version=1, server_version="3.23.58")
    data = log_of(old, INSERT, Stop(), Rotate(next_file="log.002", position=None))
    assert len(data) == 4 + (13 + 56) + (13 + 11 + 5 + 24) + 13 + (13 + 7)
    assert is_listed_whole(data) == ["START_V3", "QUERY", "STOP", "ROTATE"]
    assert [event["log_pos"] for event in canonical_events(data)] == [4, 73, 126, 139]
    with pytest.raises(FormatError, match="an event header has 13 bytes, but only 5 are left"):
        list(read_events(data + bytes(5)))


def test_status_variables_in_a_log_of_4_x_are_refused() -> None:
    with pytest.raises(ScenarioError, match=r"QUERY of servers before 5\.0 has no status variables"):
        log_of(OLD, INSERT.replace(status_variables=(("flags2", 0),)))


def test_start_v3_behind_a_format_description_changes_nothing() -> None:
    lengths = server_line("mysql-5.0").post_header_bytes
    data = log_of(described("5.0.96", lengths), OLD, INSERT, Stop())
    assert bodies_in(data)[2] == INSERT
    assert len(data) == 4 + 94 + 75 + (19 + 13 + 5 + 24) + 19


TABLE = TableMap(
    table_id=17, table_flags=0, database="test", table="t1", types=b"\3", bare=True, metadata=b"", nullable=b""
)
WRITE = PreGaWriteRows(table_id=17, row_flags=1, width=1, present=b"\xff", rows=b"\xfd\1\0\0\0")
UPDATE = PreGaUpdateRows(table_id=17, row_flags=1, width=1, present=b"\xff", rows=b"\xfd\1\0\0\0\xfd\2\0\0\0")


def test_before_5_1_18_table_map_may_end_behind_the_types_and_updates_have_one_bitmap() -> None:
    data = log_of(described("5.1.15-beta", PRE_GA), TABLE, WRITE, TABLE, UPDATE, Xid(xid=4))
    assert is_listed_whole(data)[1:] == ["TABLE_MAP", "PRE_GA_WRITE_ROWS", "TABLE_MAP", "PRE_GA_UPDATE_ROWS", "XID"]
    shown = [render_text(event) for event in canonical_events(data) if event["type"].startswith("PRE_GA")]
    assert [line.count("STMT_END") for line in shown] == [1, 1]
    assert not any("[" in line or "'" in line for line in shown)
    assert bodies_in(data)[1:3] == [TABLE, WRITE]
    assert list(disassemble(data))[1]["columns"] == [{"type": "LONG"}]
    assert "but their types" in next(event["fields"] for event in canonical_events(data) if event["index"] == 1)["note"]


def test_before_5_1_6_seven_types_have_other_numbers_and_table_ids_have_four_bytes() -> None:
    data = log_of(described("5.2.2-a_drop6p13-debug-log", EARLY), TABLE, WRITE, Xid(xid=4), Stop())
    places = [placed.offset for placed in read_events(data)]
    assert [data[place + 4] for place in places] == [15, 16, 17, 20, 3]
    assert places[3] - places[2] == 19 + 4 + 2 + 1 + 1 + 5
    assert is_listed_whole(data)[1:] == ["TABLE_MAP", "PRE_GA_WRITE_ROWS", "XID", "STOP"]
    same = log_of(described("5.2.2-alpha", EARLY), Stop())
    assert is_listed_whole(same) == ["FORMAT_DESCRIPTION", "STOP"]


def longer_lengths() -> bytes:
    lengths = bytearray(server_line("mysql-5.1").post_header_bytes)
    lengths[2 - 1] += 3
    return bytes(lengths)


def test_a_longer_header_is_kept_and_begins_neither_format_description_nor_rotate() -> None:
    lengths = server_line("mysql-5.1").post_header_bytes
    head = Event(body=described("5.1.63-google", lengths, header_length=27))
    group = Event(body=INSERT, header_extra=(4).to_bytes(8, "little"))
    data = write_binlog([head, group, Event(body=Rotate(next_file="b")), Event(body=Stop())])
    assert len(data) == 4 + 102 + (27 + 13 + 5 + 24) + (19 + 8 + 1) + 27
    assert is_listed_whole(data) == ["FORMAT_DESCRIPTION", "QUERY", "ROTATE", "STOP"]
    assert [event.get("header_extra") for event in canonical_events(data)] == [None, "0400000000000000", None, None]


def test_a_longer_fixed_part_is_kept_behind_what_the_layout_reads() -> None:
    head, event = Event(body=described("5.1.73", longer_lengths())), Event(body=INSERT, post_header_extra=b"\1\2\3")
    data = write_binlog([head, event, Event(body=INSERT), Event(body=Stop())])
    assert data[4 + 102 + 19 + 13 :].startswith(b"\1\2\3shop\0INSERT")
    assert is_listed_whole(data) == ["FORMAT_DESCRIPTION", "QUERY", "QUERY", "STOP"]
    assert [placed.event.post_header_extra for placed in read_events(data)] == [b"", b"\1\2\3", b"", b""]


def test_the_canonical_decode_of_such_logs_fits_its_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = jsonschema.Draft202012Validator(decode_schema())
    google = Event(body=described("5.1.63-google", longer_lengths(), header_length=27))
    logs = [
        log_of(OLD, INSERT, Stop()),
        log_of(described("5.1.15-beta", PRE_GA), TABLE, WRITE, Xid(xid=4)),
        write_binlog([google, Event(body=INSERT, header_extra=b"\1" * 8, post_header_extra=b"\2")]),
    ]
    for event in (event for data in logs for event in canonical_events(data)):
        assert [error.message for error in schema.iter_errors(event)] == []


def test_what_older_servers_do_not_write_is_null_in_a_listing() -> None:
    lengths = server_line("mysql-5.6").post_header_bytes
    gtid = Gtid(gno=1, clock_type=None, last_committed=None, sequence_number=None)
    for data in (log_of(described("5.5.62", lengths[:27]), Stop()), log_of(described("5.6.51", lengths), gtid)):
        documents: Iterable[dict[str, object]] = disassemble(data)
        assert not [document for document in documents if "body" in document]
        assert assemble("".join(listing_text(data))) == data


def test_a_log_that_mariadb_encrypted_is_told_to_be_so() -> None:
    line = server_line("mariadb-10.11")
    head = FormatDescription(server_version=line.server_version, post_header_lengths=line.post_header_bytes)
    plain = log_of(head, StartEncryption(key_version=1, nonce=bytes(12)))
    assert len(list(read_events(plain))) == 2
    with pytest.raises(FormatError, match="the events from here on are encrypted") as caught:
        list(read_events(plain + b"\x91" * 9 + (40).to_bytes(4, "little") + b"\x92" * 27))
    assert caught.value.event_index == 2


def test_bulk_reading_refuses_them_with_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("numba")
    from forge.bulk.reading.rows import read_rows

    for number, data in enumerate(
        (
            log_of(OLD, INSERT, Stop()),
            log_of(described("5.1.15-beta", PRE_GA), TABLE, WRITE),
            log_of(described("5.1.63-google", longer_lengths(), header_length=31), INSERT),
        )
    ):
        path = tmp_path / f"log.{number}"
        path.write_bytes(data)
        with pytest.raises(UnsupportedError, match="rows are read in bulk from logs of"):
            list(read_rows(path))


@given(cut=st.integers(0, 200), flipped=st.integers(0, 199), value=st.integers(0, 255))
def test_the_listing_of_any_damaged_old_log_gives_it_again(cut: int, flipped: int, value: int) -> None:
    logs = (
        log_of(OLD, INSERT, Stop()),
        log_of(OLD.replace(binlog_version=1), INSERT, Stop()),
        log_of(described("5.2.2-a_drop6p13", EARLY), TABLE, WRITE, Xid(xid=4), Stop()),
        log_of(described("5.1.63-google", longer_lengths(), header_length=31), INSERT, Stop()),
    )
    for whole in logs:
        data = bytearray(whole[: len(whole) - cut])
        if flipped < len(data):
            data[flipped] = value
        assert assemble("".join(listing_text(bytes(data)))) == data
