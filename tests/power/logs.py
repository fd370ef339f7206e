"""The binary logs that decoders are measured with."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Flavor = Literal["mysql", "mariadb"]


@dataclass(frozen=True, slots=True)
class Log:
    """A file of a case, or a real one."""

    name: str
    data: bytes
    flavor: Flavor


def logs_of_corpus(folder: Path, largest: int) -> list[Log]:
    """The files of a corpus of at most ``largest`` bytes, by case; files with the same bytes once."""
    import pyarrow.dataset as dataset

    table = dataset.dataset(folder, format="parquet", ignore_prefixes=["_"]).to_table(["case", "server", "files"])
    found: dict[bytes, Log] = {}
    for row in table.to_pylist():
        flavor: Flavor = "mariadb" if row["server"].startswith("mariadb") else "mysql"
        for file in row["files"]:
            if file["size"] <= largest:
                found.setdefault(file["bytes"], Log(row["case"], file["bytes"], flavor))
    return list(found.values())


def real_logs(folders: Sequence[Path], largest: int) -> list[Log]:
    """Binary logs of servers in some folders, packed with gzip or not."""
    logs = []
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.is_file()):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        if data[:4] == b"\xfebin" and len(data) <= largest:
            logs.append(Log(path.name, data, "mariadb" if b"MariaDB" in data[:100] else "mysql"))
    return logs


def spread(logs: Sequence[Log], most: int) -> list[Log]:
    """So many logs that each file of scenarios has its turn again and again."""
    by_file: dict[str, list[Log]] = {}
    for log in logs:
        by_file.setdefault(log.name.partition("[")[0], []).append(log)
    for group in by_file.values():
        group.sort(key=lambda log: hash_of(log.data))
    chosen: list[Log] = []
    turn = 0
    while len(chosen) < min(most, len(logs)):
        chosen += [group[turn] for group in by_file.values() if turn < len(group)]
        turn += 1
    return chosen[:most]


def hash_of(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
