"""The list of what the vendors' programs did: whose programs are asked about a case, what they refuse, and its text."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import astuple

from forge.conform.kit.tsv import tsv_text
from forge.conform.kit.vendors import HEADER, OfCase, VendorsDid
from forge.servers import server_line
from forge.servers.features import Family


def asked_families(line: str) -> tuple[Family, ...]:
    """The families whose programs say something of the logs of a server line.

    MySQL has given up row events from before 5.6, which MariaDB's programs read.
    """
    own = server_line(line)
    return ("mysql", "mariadb") if own.family == "mysql" and own.rows.version < 2 else (own.family,)


def refusals(did: VendorsDid, line: str) -> list[str]:
    """What programs of the families that are asked about a server line say against the bytes."""
    by_family: dict[Family, tuple[str, str]] = {
        "mysql": (did.mysqlbinlog, did.mysql), "mariadb": (did.mariadb_binlog, did.mariadb)
    }  # fmt: skip
    words = [word for family in asked_families(line) for word in by_family[family]]
    return [word for word in words if word.startswith(("stops", "says", "crashes", "does not end"))]


def vendors_text(rows: Iterable[OfCase]) -> str:
    """The list as its file holds it."""
    ordered = sorted(rows, key=lambda row: row.case)
    return tsv_text(HEADER, ((row.case, row.server, row.verdict, row.digest, *astuple(row.did)) for row in ordered))
