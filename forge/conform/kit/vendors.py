"""What the vendors' own programs do with each case: ``corpora/kit/vendors.tsv``, which ``make verdicts`` writes.

A row has the case, its server line, its verdict, a digest of its bytes, and what each program did, in a word and why:

- a reader (mysqlbinlog, mariadb-binlog): ``reads``; ``stops: WHY``; ``says: WHY`` (an error that it goes on behind);
- a server's applier, which finds the files as its relay log: ``applies``; ``applies, SELECT stops: ERROR`` (of the rows
  that came of it); ``stops: ERROR``;
- both: ``crashes``, ``does not end``; ``-``: not asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

import msgspec
from msgspec.structs import astuple

from forge.conform.kit.tsv import read_tsv, tsv_text
from forge.errors import Verdict
from forge.resources import corpora_dir
from forge.servers import server_line
from forge.servers.features import Family

if TYPE_CHECKING:
    from forge.corpus.manifest import FileEntry

_HEADER = ("case", "server", "verdict", "digest", "mysqlbinlog", "mysql", "mariadb-binlog", "mariadb")
#: Not asked.
NOT_ASKED = "-"


class VendorsDid(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """What the four programs did with a case."""

    mysqlbinlog: str = NOT_ASKED
    mysql: str = NOT_ASKED
    mariadb_binlog: str = NOT_ASKED
    mariadb: str = NOT_ASKED

    def of(self, family: Family) -> tuple[str, str]:
        """What reader and applier of a family did."""
        did: dict[Family, tuple[str, str]] = {
            "mysql": (self.mysqlbinlog, self.mysql), "mariadb": (self.mariadb_binlog, self.mariadb)
        }  # fmt: skip
        return did[family]

    def refusals(self, line: str) -> list[str]:
        """What programs of the families that are asked about a server line say against the bytes."""
        did = [word for family in asked_families(line) for word in self.of(family)]
        return [word for word in did if word.startswith(("stops", "says", "crashes", "does not end"))]


class OfCase(msgspec.Struct, frozen=True, kw_only=True):
    """A row: the case by its long name, its server line and verdict; ``digest`` is that of its files."""

    case: str
    server: str
    verdict: Verdict
    digest: str
    did: VendorsDid


def asked_families(line: str) -> tuple[Family, ...]:
    """The families whose programs say something of the logs of a server line.

    MySQL has given up row events of before 5.6, which MariaDB's programs read.
    """
    own = server_line(line)
    return ("mysql", "mariadb") if own.family == "mysql" and own.rows.version < 2 else (own.family,)


def bytes_digest(files: Sequence[FileEntry]) -> str:
    """What a row is about: the bytes of a case's files under their names."""
    return hashlib.sha256("\n".join(f"{file.name} {file.sha256}" for file in files).encode()).hexdigest()[:16]


def vendors_path() -> Path:
    """Where the shipped list is."""
    return corpora_dir() / "kit" / "vendors.tsv"


def read_vendors(path: Path | None = None) -> dict[str, OfCase]:
    """The rows by their cases; none if there is no list.  Raises ScenarioError for a file of another form; OSError."""
    path = path or vendors_path()
    return {row.case: row for row in read_tsv(path, _HEADER, _row, "the list")} if path.is_file() else {}


def vendors_text(rows: Iterable[OfCase]) -> str:
    """The list as its file holds it."""
    ordered = sorted(rows, key=lambda row: row.case)
    return tsv_text(_HEADER, ((row.case, row.server, row.verdict, row.digest, *astuple(row.did)) for row in ordered))


def _row(case: str, server: str, verdict: str, digest: str, *did: str) -> OfCase:
    if verdict not in get_args(Verdict):
        raise ValueError(f"the verdict is {verdict!r}")
    words = dict(zip(VendorsDid.__struct_fields__, did, strict=True))
    return OfCase(case=case, server=server, verdict=cast("Verdict", verdict), digest=digest, did=VendorsDid(**words))
