"""The log of a real server is followed while it writes: flushed, killed, started again, stopped."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the extra `rows` is not installed")
pytest.importorskip("pyarrow", reason="the extra `rows` is not installed")

import numpy as np
import numpy.typing as npt

import forge
from forge.bulk.reading.followed import FollowedLog, Limits, Place
from forge.bulk.reading.splits import Split
from forge.record.client import RecordingError
from forge.record.server import RealServer

pytestmark = [pytest.mark.servers, pytest.mark.slow]

#: What was logged is in the table, also when the server is killed.
DURABLE = ("--sync-binlog=1", "--innodb-flush-log-at-trx-commit=1")
OPTIONS = ("--binlog-format=ROW", "--binlog-row-metadata=FULL", "--max-binlog-size=4096", *DURABLE)


def positions(split: Split) -> npt.NDArray[np.int64]:
    batches = [batch["_position"] for _, batch in forge.read_rows(split, columns=[], beside=["_position"])]
    return np.concatenate([np.zeros(0, np.int64), *(batch.to_numpy() for batch in batches)])


class Follower:
    """Reads what has come, in small batches."""

    def __init__(self, path: Path) -> None:
        self.log = FollowedLog(path, positions)
        self.place = self.log.earliest()
        self.batches: list[tuple[Place, Place, list[int]]] = []

    def catch_up(self) -> None:
        while (end := self.log.after(self.place, Limits(rows=50))) != self.place:
            self.batches.append((self.place, end, self.rows(self.place, end)))
            self.place = end

    def rows(self, start: Place, end: Place) -> list[int]:
        splits = self.log.splits(start, end)
        return [id for split in splits for name, batch in forge.read_rows(split) for id in batch["id"].to_pylist()]

    @property
    def ids(self) -> list[int]:
        return [id for _, _, ids in self.batches for id in ids]


def inserts(first: int, count: int) -> str:
    return "".join(f"INSERT INTO d.t VALUES ({id}, REPEAT('x', {id % 90}));\n" for id in range(first, first + count))


def until_done(writing: Future[str], follower: Follower) -> None:
    while not writing.done():
        follower.catch_up()


@pytest.mark.parametrize(
    ("name", "indexed"),
    [
        ("mysql97", False),
        ("maria118", True),
        pytest.param("mysql97", True, marks=pytest.mark.nightly),
        pytest.param("maria118", False, marks=pytest.mark.nightly),
    ],
)
def test_every_row_of_a_server_comes_once(name: str, indexed: bool) -> None:
    with RealServer(name=name, options=OPTIONS) as server, ThreadPoolExecutor(1) as client:
        server.run_sql("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, pad VARCHAR(100)) ENGINE=InnoDB;")
        follower = Follower(server.index_file() if indexed else server.folder / "data")
        until_done(client.submit(server.run_sql, inserts(0, 200)), follower)
        server.flush()
        killed = client.submit(server.run_sql, inserts(1000, 8000))
        while len(follower.ids) < 400 and not killed.done():
            follower.catch_up()
        server.kill()
        with suppress(RecordingError):  # A quick server has ended them all before it is killed.
            killed.result()
        follower.catch_up()
        server.start()
        until_done(client.submit(server.run_sql, inserts(10_000, 100)), follower)
        server.stop()
        server.start()
        until_done(client.submit(server.run_sql, inserts(20_000, 100)), follower)
        in_table = [int(line) for line in server.run_sql("SELECT id FROM d.t ORDER BY id").split()]
        follower.catch_up()
        assert follower.ids == in_table
        assert len(in_table) >= 600
        for start, end, ids in follower.batches[:: len(follower.batches) // 5]:
            assert follower.rows(start, end) == ids
