"""Cases whose files are larger than 4 GiB: what a kit has of them, and the file that is laid out."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from forge.binlog.logged import logged_events
from forge.binlog.window import LogWindow
from forge.conform.kit import sparse
from forge.conform.kit.sparse import PACKED, SparseLog, laid_out, sparse_rows, stretched
from forge.decode.expected import Expected, expected_of, row_object
from forge.decode.table_maps import TableMaps
from forge.errors import ScenarioError

ROWS = list(sparse_rows())


def small_of(server: str) -> bytes:
    row = next(row for row in ROWS if row["server"] == server)
    data: bytes = row["files"][0]["bytes"]
    return data


def shown(expected: Expected) -> tuple[object, ...]:
    """Events and rows; of IGNORABLE events no fields."""
    events = [event | ({"fields": {}} if event["type"] == "IGNORABLE" else {}) for event in expected.events]
    return events, expected.rows, expected.problem


@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
def test_the_expected_decode_of_a_stretched_file_is_that_of_the_file_that_is_laid_out(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sparse, "HOLE", 100)
    log, expected = stretched(small_of(server))
    log.write(tmp_path / "log")
    data = (tmp_path / "log").read_bytes()
    assert (len(data), hashlib.sha256(data).hexdigest()) == (log.size, log.sha256)
    assert len(log.packed) + 100 * len(log.holes) == log.size
    assert all(not any(data[hole.offset : hole.offset + hole.length]) for hole in log.holes)
    assert shown(expected_of(data)) == shown(expected)


@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
def test_positions_begin_at_0_again_behind_4_gib(server: str) -> None:
    log, expected = stretched(small_of(server))
    assert log.size > 1 << 32
    assert {event["log_pos"] for event in expected.events if event["log_pos"]} == {
        (event["offset"] + event["event_size"]) % (1 << 32) for event in expected.events if event["log_pos"]
    }
    sides = [sum(row["offset"] >> bits > 0 for row in expected.rows) for bits in (31, 32)]
    assert sides == [3, 2], "rows before, between and behind"


def test_a_file_with_checksums_is_not_stretched() -> None:
    data = bytearray(small_of("mysql-9.7"))
    at = data.index(b"\x1c\x01\0\0\0\x13\0\0\0")
    data[at + 5] = 23
    data[at + 14 : at + 14] = bytes(4)
    with pytest.raises(ScenarioError, match="has a body or a checksum"):
        stretched(bytes(data))


def test_a_file_without_holes_is_itself(tmp_path: Path) -> None:
    with laid_out(tmp_path / "log", [], 7) as path:
        assert path == tmp_path / "log"


@pytest.mark.slow
@pytest.mark.nightly
def test_a_file_of_more_than_4_gib_is_read_as_expected(tmp_path: Path) -> None:
    log, expected = stretched(small_of("mysql-9.7"))
    (tmp_path / f"log{PACKED}").write_bytes(log.packed)
    tables = TableMaps()
    rows: list[dict[str, object]] = []
    places: list[tuple[int, int, int]] = []
    with laid_out(tmp_path / "log", log.holes, log.size) as path, path.open("rb") as file:
        assert path.stat().st_blocks * 512 < 1 << 24, "the holes take no room"
        for logged in logged_events(LogWindow(file)):
            placed = logged.placed
            places.append((placed.offset, int.from_bytes(placed.raw[13:17], "little"), len(placed.raw)))
            tables.note(logged)
            rows += map(row_object, tables.changes(logged))
    assert places == [(one["offset"], one["log_pos"], one["event_size"]) for one in expected.events]
    assert rows == expected.rows


def test_the_parts_of_a_sparse_log_are_in_their_order(tmp_path: Path) -> None:
    holes = [sparse.Hole(offset=2, length=3), sparse.Hole(offset=6, length=1)]
    SparseLog(b"abcdef", holes, 10).write(tmp_path / "log")
    assert (tmp_path / "log").read_bytes() == b"ab\0\0\0c\0def"
