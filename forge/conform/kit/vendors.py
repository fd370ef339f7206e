"""What the vendors' own programs do with each case: ``corpora/kit/vendors.tsv``, which ``make verdicts`` writes.

A row has the case, its server line, its verdict, a digest of its bytes, and what each program did, in a word and why:

- a reader (mysqlbinlog, mariadb-binlog): ``reads``; ``stops: WHY``; ``says: WHY`` (an error that it goes on behind);
- a server's applier, which finds the files as its relay log: ``applies``; ``applies, SELECT stops: ERROR`` (of the rows
  that came of it); ``stops: ERROR``;
- both: ``crashes``, ``does not end``; ``-``: not asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

import msgspec

from forge.conform.kit.tsv import read_tsv
from forge.errors import Verdict
from forge.resources import corpora_dir

if TYPE_CHECKING:
    from forge.corpus.manifest import FileEntry

HEADER = ("case", "server", "verdict", "digest", "mysqlbinlog", "mysql", "mariadb-binlog", "mariadb")
#: Not asked.
NOT_ASKED = "-"


class VendorsDid(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """What the four programs did with a case."""

    mysqlbinlog: str = NOT_ASKED
    mysql: str = NOT_ASKED
    mariadb_binlog: str = NOT_ASKED
    mariadb: str = NOT_ASKED


class OfCase(msgspec.Struct, frozen=True, kw_only=True):
    """A row: the case by its long name, its server line and verdict; ``digest`` is that of its files."""

    case: str
    server: str
    verdict: Verdict
    digest: str
    did: VendorsDid


def bytes_digest(files: Sequence[FileEntry]) -> str:
    """What a row is about: the bytes of a case's files under their names."""
    return hashlib.sha256("\n".join(f"{file.name} {file.sha256}" for file in files).encode()).hexdigest()[:16]


def vendors_path() -> Path:
    """Where the shipped list is."""
    return corpora_dir() / "kit" / "vendors.tsv"


def read_vendors(path: Path | None = None) -> dict[str, OfCase]:
    """The rows by their cases; none if there is no list.  Raises ScenarioError for a file of another form; OSError."""
    path = path or vendors_path()
    return {row.case: row for row in read_tsv(path, HEADER, _row, "the list")} if path.is_file() else {}


def _row(case: str, server: str, verdict: str, digest: str, *did: str) -> OfCase:
    if verdict not in get_args(Verdict):
        raise ValueError(f"the verdict is {verdict!r}")
    words = dict(zip(VendorsDid.__struct_fields__, did, strict=True))
    return OfCase(case=case, server=server, verdict=cast("Verdict", verdict), digest=digest, did=VendorsDid(**words))
