"""Small logs that stand for much: rows are shown in pieces, and refused beyond a limit, with little time and memory."""

from __future__ import annotations

import resource
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from forge.binlog.reader import frames
from forge.cli import app
from forge.decode.decode import canonical_events
from forge.resources import corpora_dir

FIRST = (corpora_dir() / "recordings" / "integers-full-no-gtid-no-checksum" / "binlog.000001").read_bytes()
DESCRIPTION = next(frames(FIRST, 4)).raw
REFUSED = "row: the rows up to here have more than "


def event(type_code: int, body: bytes) -> bytes:
    return struct.pack("<IBIIIH", 1, type_code, 1, 19 + len(body), 0, 0) + body


def packed(number: int) -> bytes:
    return b"\xfe" + struct.pack("<Q", number)


def payload(*events: bytes) -> bytes:
    data = zstandard.compress(b"".join(events))
    head = b"\2\1\0" + b"\1\x09" + packed(len(data)) + b"\3\x09" + packed(sum(map(len, events)))
    return event(40, head + b"\0" + data)


def table(types: bytes, metadata: bytes, records: bytes = b"") -> bytes:
    bitmap = b"\xff" * -(-len(types) // 8)
    head = b"\1\0\0\0\0\0\1\0\1d\0\1t\0" + packed(len(types)) + types + packed(len(metadata)) + metadata
    return event(19, head + bitmap + records)


def rows(columns: int, data: bytes) -> bytes:
    bitmap = b"\xff" * -(-columns // 8)
    return event(30, b"\1\0\0\0\0\0\1\0\2\0" + packed(columns) + bitmap + data)


def record(kind: int, value: bytes) -> bytes:
    return bytes([kind]) + packed(len(value)) + value


LONG = b"m" * 60_000
AMPLIFIED = {
    "rows of NULL in a payload": payload(table(b"\3", b""), rows(1, b"\xff" * 3_000_000)),
    "many events in payloads": payload(table(b"\3", b""), *[rows(1, b"\xff" * 100_000)] * 3) * 2,
    "many columns of NULL": payload(table(b"\3" * 4096, b""), rows(4096, b"\xff" * 512 * 1000)),
    "a long member": (
        table(b"\xfe", b"\xf7\2", record(6, b"\1" + packed(len(LONG)) + LONG)) + rows(1, b"\xfe\1\0" * 6000)
    ),
    "a long name": table(b"\3", b"", record(4, packed(len(LONG)) + LONG)) + rows(1, b"\xff" * 6000),
}
COMMANDS = (
    "dump", "dump --json", "rows --format csv", "check --decoder forge", "compat --to mysql-5.7", "bytes",
)  # fmt: skip
MOST = 256 << 10  # KiB

Run = Callable[..., tuple[int, str, str]]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("case", AMPLIFIED)
def test_a_small_log_is_shown_or_refused_with_little_memory(
    case: str, command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "small"
    path.write_bytes(b"\xfebin" + DESCRIPTION + AMPLIFIED[case])
    before = resource.getrusage(resource.RUSAGE_SELF)
    code = app.run([*command.split(), str(path)])
    after = resource.getrusage(resource.RUSAGE_SELF)
    out, err = capfd.readouterr()
    assert after.ru_maxrss - before.ru_maxrss < MOST
    assert len(out) < 32 << 20
    assert code in (0, 3)
    assert code == 0 or REFUSED in err


def test_large_events_are_shown_in_pieces_as_in_one(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    values = b"".join(b"\xfe" + struct.pack("<i", number) for number in range(9000))
    data = b"\xfebin" + DESCRIPTION + table(b"\3", b"") + rows(1, values)
    [whole] = [event["rows"] for event in canonical_events(data) if "rows" in event]
    [pieces] = [event["rows"] for event in canonical_events(data, in_pieces=True) if "rows" in event]
    assert not isinstance(pieces, list)
    assert (len(pieces), list(pieces)) == (9000, whole)
    path = tmp_path / "large"
    path.write_bytes(data)
    assert app.run(["dump", str(path)]) == 0
    out = capfd.readouterr().out
    assert "insert d.t, 9000 rows" in out
    assert out.count("\n") == 9003
