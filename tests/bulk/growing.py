"""A folder of binary logs that grows as a server's does: in pieces that end anywhere, file after file.

The files are made whole by ``forge.write_rows`` and played: a file is created empty, grows with IN_USE set in its
FORMAT_DESCRIPTION, and is closed (ROTATE or STOP is its last event, IN_USE is cleared) before the next one is created.
A server that crashes leaves a file that is in use and ends inside a transaction; the next one is a restart's.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa

import forge
from forge.binlog.reader import frames
from forge.events.event import IN_USE
from forge.events.xid import Xid

TABLE = "shop.orders"
DEFINITION = "CREATE TABLE shop.orders (id BIGINT PRIMARY KEY, note VARCHAR(60))"
#: Where the flags of FORMAT_DESCRIPTION stand in a file.
_FLAGS_AT = 4 + 17

Ending = Literal["rotate", "stop", "crash"]


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file as it is in the end, and the ids of the rows that its whole transactions insert."""

    name: str
    data: bytes
    ids: range
    ending: Ending


def server_runs(
    folder: Path,
    endings: Sequence[Ending],
    *,
    rows: int,
    rows_per_transaction: int = 3,
    file_size: int = 1 << 14,
    seed: int = 0,
    server: str = "mysql-9.7",
) -> list[LogFile]:
    """The files of a server that is started once for each of ``endings`` and writes ``rows`` rows each time.

    A run makes several files with ROTATE between them.  Ids count from 0 through all runs; those of a transaction that
    a crash has cut off are in no file.
    """
    chance = random.Random(seed)
    made: list[LogFile] = []
    for number, ending in enumerate(endings):
        run = folder / f"run-{number}"
        run.mkdir(parents=True)
        ids = range(number * rows, (number + 1) * rows)
        session = forge.Session(
            row_metadata="full", max_binlog_size=file_size, ends_with="stop" if ending == "crash" else ending
        )
        batch = pa.table({"id": pa.array(ids, pa.int64()), "note": [f"row {id}" for id in ids]})
        written = forge.write_rows(
            batch, DEFINITION, run / f"binlog.{len(made) + 1:06d}", server=server, session=session,
            rows_per_transaction=rows_per_transaction, sync=False, definitions=not made,
        )  # fmt: skip
        first = ids.start
        for path in written.files:
            data = path.read_bytes()
            last = path == written.files[-1]
            if last and ending == "crash":
                data = _crashed(data, chance)
            count = sum(frame.type_code == Xid.type_code for frame in frames(data))
            inserted = range(first, min(first + count * rows_per_transaction, ids.stop))
            first = inserted.stop
            made.append(LogFile(path.name, data, inserted, ending if last else "rotate"))
    return made


def _crashed(data: bytes, chance: random.Random) -> bytes:
    """The file cut off behind the beginning of its last transaction."""
    commits = [frame.offset + len(frame.raw) for frame in frames(data) if frame.type_code == Xid.type_code]
    return data[: chance.randrange(commits[-2] + 1, commits[-1])]


class GrowingFolder:
    """Plays files into a folder.  ``index``: binlog.index is written too, as by a server."""

    def __init__(
        self, folder: Path, files: Sequence[LogFile], *, seed: int = 0, most: int = 3000, index: bool = False
    ) -> None:
        self.folder = folder
        self.files = files
        self._chance = random.Random(seed)
        self._most = most
        self._index = folder / "binlog.index" if index else None
        self._steps = self._play()

    def grow(self, steps: int | None = None) -> bool:
        """Take so many steps, all of them if None: whether there are more."""
        taken = 0
        while steps is None or taken < steps:
            if next(self._steps, None) is None:
                return False
            taken += 1
        return True

    def _play(self) -> Iterator[str]:
        for file in self.files:
            path = self.folder / file.name
            data = bytearray(file.data)
            data[_FLAGS_AT] |= IN_USE
            path.touch()
            yield f"{file.name} is created"
            at = 0
            while at < len(data):
                more = self._chance.randint(1, self._most)
                with path.open("ab") as growing:
                    growing.write(data[at : at + more])
                # A server names a file in the index once its head is written.
                if self._index is not None and at == 0:
                    with self._index.open("a") as index:
                        index.write(f"./{file.name}\n")
                at += more
                yield f"{file.name} has grown"
            if file.ending != "crash":
                with path.open("r+b") as closed:
                    closed.seek(_FLAGS_AT)
                    closed.write(bytes([data[_FLAGS_AT] & ~IN_USE]))
                yield f"{file.name} is closed"
