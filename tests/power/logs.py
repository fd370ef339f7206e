"""The binary logs that decoders are measured with."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Log:
    """A file of a case, or a real one."""

    name: str
    data: bytes
    flavor: str


def logs_of_corpus(folder: Path, largest: int) -> list[Log]:
    """The files of a corpus of at most ``largest`` bytes, by case; files with the same bytes once."""
    import pyarrow.dataset as dataset

    table = dataset.dataset(folder, format="parquet", ignore_prefixes=["_"]).to_table(["case", "server", "files"])
    found: dict[bytes, Log] = {}
    for row in table.to_pylist():
        flavor = "mariadb" if row["server"].startswith("mariadb") else "mysql"
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
