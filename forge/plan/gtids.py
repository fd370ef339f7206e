"""GTIDs that a session gives its transactions by hand: gtid_next of MySQL, gtid_seq_no of MariaDB."""

from __future__ import annotations

import re

from msgspec import Struct

from forge.errors import ScenarioError
from forge.servers import ServerLine

_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
#: ``uuid:tag:number``; without a UUID it is the server's own.
_MYSQL = re.compile(rf"(?:({_UUID}):)?(?:([A-Za-z_][A-Za-z0-9_]{{0,31}}):)?(\d{{1,19}})\Z")
#: ``domain-server-number``; the number alone is of the session's domain and server.
_MARIADB = re.compile(r"(?:(\d{1,10})-(\d{1,10})-)?(\d{1,20})\Z")
#: Largest numbers (GNO_END in rpl_gtid.h; gtid_seq_no is an unsigned 64-bit number).
_LARGEST_GNO, _LARGEST_SEQ_NO, _LARGEST_ID = (1 << 63) - 2, (1 << 64) - 1, (1 << 32) - 1


class MysqlGtid(Struct, frozen=True):
    """``uuid`` is None for the server's own."""

    uuid: str | None
    tag: str
    number: int

    @property
    def text(self) -> str:
        """Without the UUID of the server."""
        return ":".join(part for part in (self.uuid, self.tag, str(self.number)) if part)


class MariadbGtid(Struct, frozen=True):
    """``domain`` and ``server`` are None for the session's own."""

    domain: int | None
    server: int | None
    number: int


def given_gtid(text: str, line: ServerLine) -> MysqlGtid | MariadbGtid:
    """What a transaction's ``gtid`` names.  Raises ScenarioError for text that is none."""
    if line.knows("mariadb_gtid"):
        return _mariadb_gtid(text)
    match = _MYSQL.match(text)
    if match is None or not 1 <= int(match[3]) <= _LARGEST_GNO:
        raise ScenarioError(f"{text!r} is not a GTID", expected="uuid:number, uuid:tag:number, or a number alone")
    if match[2]:
        line.require("gtid_tags")
    return MysqlGtid(match[1] and match[1].lower(), (match[2] or "").lower(), int(match[3]))


def _mariadb_gtid(text: str) -> MariadbGtid:
    match = _MARIADB.match(text)
    number = 0 if match is None else int(match[3])
    if match is None or not 1 <= number <= _LARGEST_SEQ_NO:
        raise ScenarioError(f"{text!r} is not a GTID of MariaDB", expected="domain-server-number, or a number alone")
    domain, server = (None if part is None else int(part) for part in match.groups()[:2])
    if (domain or 0) > _LARGEST_ID or not 1 <= (1 if server is None else server) <= _LARGEST_ID:
        raise ScenarioError(f"{text!r} is not a GTID of MariaDB", expected="a domain and a server below 4294967296")
    return MariadbGtid(domain, server, number)
