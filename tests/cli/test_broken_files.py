"""Files that are not as they should be: a sentence with phase, event and offset, exit code 3, little memory."""

from __future__ import annotations

import json
import resource
import struct
import sys
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import zstandard

from forge.binlog.listing import assemble, listing_json
from forge.binlog.reader import frames
from forge.cli import app

RECORDED = Path(__file__).resolve().parents[2] / "corpora" / "recordings" / "first-day" / "binlog.000001"
READERS = (["dump"], ["dump", "--json"], ["dump", "--rows", "--json"], ["schema-of"], ["check", "--decoder", "forge"])
MAGIC = b"\xfebin"
FILE = RECORDED.read_bytes()
EVENTS = [frame.raw for frame in frames(FILE)]
DESCRIPTION = EVENTS[0]
TABLE_MAP, ROWS = (next(event for event in EVENTS if event[4] == code) for code in (19, 30))
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Run:
    def run_on(data: bytes, *command: str) -> tuple[int, str, str]:
        (tmp_path / "broken").write_bytes(data)
        code = app.run([*command, str(tmp_path / "broken")])
        out, err = capfd.readouterr()
        return code, out, err.replace(str(tmp_path) + "/", "")

    return run_on


def event(type_code: int, body: bytes, *, size: int | None = None, checksum: bool = True) -> bytes:
    length = 19 + len(body) + 4 * checksum
    head = struct.pack("<IBIIIH", 1, type_code, 1, length if size is None else size, 0, 0) + body
    return head + struct.pack("<I", zlib.crc32(head)) * checksum


def payload(data: bytes, *, size: int | None = None, raw: bytes | None = None) -> bytes:
    """A TRANSACTION_PAYLOAD; ``size`` is what it announces, None: nothing."""
    packed = zstandard.compress(data) if raw is None else raw
    fields = [(2, 0), (1, len(packed))] + ([] if size is None else [(3, size)])
    head = b"".join(bytes([code, 9, 254]) + struct.pack("<Q", value) for code, value in fields)
    return event(40, head + b"\0" + packed)


def inner(whole: bytes) -> bytes:
    """An event of the file as it stands inside a payload."""
    return whole[:9] + struct.pack("<I", len(whole) - 4) + whole[13:-4]


def zeros(size: int) -> bytes:
    stream = zstandard.ZstdCompressor(level=1).compressobj()
    return b"".join(stream.compress(bytes(1 << 20)) for _ in range(size >> 20)) + stream.flush()


def unknown_column(code: int) -> bytes:
    body = bytearray(inner(TABLE_MAP)[19:])
    body[body.index(b"\x03", 20)] = code
    return event(19, bytes(body))


def long_query(size: int) -> bytes:
    """A QUERY for a payload, with so many more characters."""
    whole = inner(next(event for event in EVENTS if event[4] == 2))
    return whole[:9] + struct.pack("<I", len(whole) + size) + whole[13:] + b" " * size


def packed(pieces: Iterable[bytes]) -> bytes:
    stream = zstandard.ZstdCompressor(level=3).compressobj()
    return b"".join(map(stream.compress, pieces)) + stream.flush()


def compressed_query(mib: int) -> bytes:
    """MariaDB's QUERY_COMPRESSED with so many MiB of spaces."""
    deflate = zlib.compressobj(9)
    block = b"".join(deflate.compress(b" " * (1 << 20)) for _ in range(mib)) + deflate.flush()
    head = struct.pack("<IIBHH", 1, 0, 1, 0, 0) + b"s\0"
    return event(165, head + bytes([0x84]) + (mib << 20).to_bytes(4, "big") + block)


def wide_table(columns: int) -> bytes:
    bitmap = b"\xff" * -(-columns // 8)
    head = struct.pack("<Q", 77)[:6] + struct.pack("<H", 1)
    count = b"\xfc" + struct.pack("<H", columns)
    table = event(19, head + b"\1s\0\1t\0" + count + b"\3" * columns + b"\0" + bitmap)
    return table + event(30, head + struct.pack("<H", 2) + count + bitmap * 101)


BROKEN = {
    "nothing": (b"", "offset 0, framing: "),
    "one byte": (b"\xfe", "offset 0, framing: "),
    "text": (b"CREATE TABLE t (a INT);\n", "offset 0, framing: a binary log starts with"),
    "an index file": (b"./binlog.000001\n./binlog.000002\n", "offset 0, framing: "),
    "an encrypted file": (b"\xfdbin" + bytes(508), "offset 0, framing: the file is encrypted"),
    "no FORMAT_DESCRIPTION": (MAGIC + b"".join(EVENTS[1:]), "event 0, offset 4, framing: the first event is"),
    "two files in one": (FILE + FILE, f"event {len(EVENTS)}, offset {len(FILE)}, framing: "),
    "zeros behind": (FILE + bytes(4096), f"event {len(EVENTS)}, offset {len(FILE)}, framing: the event says it has 0"),
    "a cut header": (FILE[: 4 + 10], "event 0, offset 4, framing: an event header has 19 bytes, but only 10 are left"),
    "a huge size": (MAGIC + DESCRIPTION + event(2, b"", size=0xFFFFFFFF), "event 1, offset 127, framing: the event"),
    "a size below the header's": (MAGIC + DESCRIPTION + event(2, b"", size=18), "event 1, offset 127, framing: "),
    "an empty QUERY": (MAGIC + DESCRIPTION + event(2, b""), "event 1, offset 146, post_header: "),
    "a wrong checksum": (FILE[:-1] + bytes([FILE[-1] ^ 1]), "checksum: the checksum of this"),
    "rows without table map": (MAGIC + DESCRIPTION + ROWS, "event 1, offset 127, row: no TABLE_MAP"),
    "rows of another table": (MAGIC + DESCRIPTION + unknown_column(2) + ROWS, "event 2, "),
    "a payload in a payload": (
        MAGIC + DESCRIPTION + payload(inner(payload(inner(ROWS)))),
        "event 1, offset 127, body: a payload contains another payload",
    ),
    "a cut payload": (MAGIC + DESCRIPTION + payload(inner(ROWS)[:-1]), "event 1, offset 127, framing: "),
    "a payload of zeros": (MAGIC + DESCRIPTION + payload(b"", raw=zeros(256 << 20)), "event 1, offset 127, framing: "),
    "a payload that says less": (MAGIC + DESCRIPTION + payload(inner(TABLE_MAP), size=9), "announces 9 bytes"),
    "a payload that says more": (MAGIC + DESCRIPTION + payload(inner(TABLE_MAP), size=1 << 30), "1073741824 bytes"),
    "a payload beyond all limits": (MAGIC + DESCRIPTION + payload(b"", size=1 << 50), "announces"),
    "a payload of one event of 512 MiB": (
        MAGIC + DESCRIPTION + payload(b"", raw=packed(map(long_query, [511 << 20]))),
        "at most 32 MiB are unpacked at once (FORGE_UNPACK_MIB raises that)",
    ),
    "payloads of 60 MiB": (
        MAGIC + DESCRIPTION + payload(b"", raw=packed([long_query(60 << 20)])) * 10,
        "at most 32 MiB are unpacked at once",
    ),
    "65,535 columns": (MAGIC + DESCRIPTION + wide_table(65535), "metadata: the table has 65535 columns; a server's"),
    "a payload that is none": (MAGIC + DESCRIPTION + payload(b"", raw=b"gibberish"), "zstd: "),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_told_in_one_sentence_with_its_place(case: str, run: Run) -> None:
    data, place = BROKEN[case]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for command in READERS:
        if command == ["schema-of"] and "rows" in case:
            continue  # Rows are none of its business.
        code, _, err = run(data, *command)
        assert (code, err.count("\n")) == (3, 1), (command, err)
        assert err.startswith("forge: broken, ")
        assert place in err
    if sys.platform == "linux":
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 100 << 10


@pytest.mark.slow
def test_a_compressed_statement_is_not_unpacked_beyond_the_limit(run: Run) -> None:
    code, _, err = run(MAGIC + DESCRIPTION + compressed_query(256), "dump", "--json")
    assert code == 3
    assert "the compressed block has 268435456 bytes; at most 32 MiB are unpacked at once" in err


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_comes_back_from_its_listing(case: str) -> None:
    data = BROKEN[case][0]
    assert assemble("".join(listing_json(data))) == data


def test_a_file_may_be_cut_at_any_byte(run: Run) -> None:
    ends = {4}
    for whole in EVENTS:
        ends.add(max(ends) + len(whole))
    for at in range(0, len(FILE), 29):
        code, out, _ = run(FILE[:at], "dump", "--json")
        assert code == (0 if at in ends else 3), at
        assert len(out.splitlines()) == sum(end <= at for end in ends - {4})


def test_what_stands_before_the_fault_is_printed(run: Run) -> None:
    code, out, _ = run(FILE[:-1], "dump", "--json")
    assert code == 3
    assert [json.loads(line)["index"] for line in out.splitlines()] == list(range(len(EVENTS) - 1))


def test_schema_of_marks_a_table_with_an_unknown_type_as_unknown(run: Run) -> None:
    data = MAGIC + DESCRIPTION + unknown_column(200) + TABLE_MAP
    code, out, _ = run(data, "schema-of")
    assert code == 0
    assert out.count("CREATE TABLE") == 2
    assert "has the unknown type 200 */;" in out
    code, out, _ = run(data, "schema-of", "--json")
    first = json.loads(out.splitlines()[0])
    assert first["columns"] is None
    assert "unknown type 200" in first["unknown"][0]
    assert "unknown type 200" in run(data, "schema-of", "--columns")[1]


def test_schema_of_shows_the_bytes_of_names_that_are_not_utf_8(run: Run) -> None:
    body = inner(TABLE_MAP)[19:].replace(b"shop", b"sh\xffp")
    code, out, _ = run(MAGIC + DESCRIPTION + event(19, body), "schema-of", "--json")
    assert (code, json.loads(out)["database"]) == (0, {"hex": "7368ff70"})
    assert "`0x7368ff70`." in run(MAGIC + DESCRIPTION + event(19, body), "schema-of")[1]


def test_a_payload_of_many_pieces_is_read_to_its_end(run: Run) -> None:
    query = inner(next(whole for whole in EVENTS if whole[4] == 2))
    events = [
        query[:9] + struct.pack("<I", len(query) + length) + query[13:] + b" " * length
        for length in (*range(1000, 200_000, 9973), 3 << 20, 1)
    ]
    code, out, _ = run(MAGIC + DESCRIPTION + payload(b"".join(events)), "dump", "--json")
    assert code == 0
    assert [json.loads(line)["event_size"] for line in out.splitlines()[2:]] == [len(one) for one in events]
    code, _, err = run(MAGIC + DESCRIPTION + payload(b"".join(events) + bytes(30)), "dump", "--json")
    assert code == 3
    assert f"(at {sum(map(len, events))} of the unpacked payload)" in err


def test_a_binary_log_is_not_taken_for_text(run: Run) -> None:
    assert "this is a binary log; expected a listing" in run(FILE, "asm", "-o", "-")[2]
    assert "this is a binary log; expected a scenario" in run(FILE, "build", "-o", "-")[2]


def test_an_unknown_decoder_is_a_wrong_request(run: Run) -> None:
    code, _, err = run(FILE, "check", "--decoder", "mysqlbinlgo")
    assert (code, "did you mean 'mysqlbinlog'?" in err) == (2, True)


def test_a_payload_of_many_large_events_is_read_one_event_at_a_time(run: Run) -> None:
    data = MAGIC + DESCRIPTION + payload(b"", raw=packed(long_query(8 << 20) for _ in range(20)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    code, out, _ = run(data, "dump")
    assert (code, out.count("QUERY")) == (0, 20)
    if sys.platform == "linux":
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 100 << 10
