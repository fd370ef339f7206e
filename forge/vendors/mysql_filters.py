"""Which events mysqlbinlog prints: by database, by GTID, by server."""

from __future__ import annotations

from typing import Any

from forge.events.event import Event
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid
from forge.events.gtid_tagged import GtidTagged
from forge.events.ignorable import Ignorable
from forge.events.incident import Incident
from forge.events.intvar import Intvar
from forge.events.load_files import AppendBlock, DeleteFile
from forge.events.plain import to_bytes
from forge.events.previous_gtids import PreviousGtids
from forge.events.query import Query
from forge.events.rand import Rand
from forge.events.rotate import Rotate
from forge.events.stop import Stop
from forge.events.xid import Xid
from forge.vendors.print_options import PrintOptions

_NEVER_SKIPPED = (Stop, FormatDescription, Rotate, Ignorable, Incident)
_OF_TRANSACTIONS = (
    b"BEGIN", b"COMMIT", b"SAVEPOINT", b"ROLLBACK", b"XA START", b"XA END", b"XA PREPARE", b"XA COMMIT", b"XA ROLLBACK",
)  # fmt: skip
_TEMPORARY = (b"CREATE TEMPORARY TABLE", b"DROP TEMPORARY TABLE")
#: (UUID, tag) to first and last numbers.
GtidSet = dict[tuple[str, str], list[tuple[int, int]]]


def starts_group(text: bytes) -> bool:
    """Whether the text of a QUERY begins a transaction."""
    return text == b"BEGIN" or text.startswith(b"XA START")


def ends_group(text: bytes) -> bool:
    """Whether the text of a QUERY ends one."""
    upper = text[:12].upper()
    rolls_back = upper.startswith(b"ROLLBACK") and not upper.startswith(b"ROLLBACK TO ")
    return text == b"COMMIT" or rolls_back or upper.startswith(b"XA ROLLBACK")


def is_of_transactions(text: bytes) -> bool:
    """Whether a QUERY only begins, ends or marks a transaction."""
    return text.startswith(_OF_TRANSACTIONS)


def is_of_statements(body: Any, in_transaction: bool) -> bool:
    """Whether --require-row-format refuses an event: what the statement format needs, and temporary tables."""
    if isinstance(body, Query):
        text = to_bytes(body.query)
        return (in_transaction and not is_of_transactions(text)) or text.upper().startswith(_TEMPORARY)
    return isinstance(body, (Intvar, Rand, AppendBlock, DeleteFile, ExecuteLoadQuery))


def parse_gtid_set(text: str) -> GtidSet:
    """The GTIDs of an option.  Raises ValueError."""
    found: GtidSet = {}
    for one in text.replace("\n", "").split(","):
        uuid, *parts = one.strip().lower().split(":")
        tag = ""
        for part in parts:
            if part[:1].isdigit():
                first, _, last = part.partition("-")
                found.setdefault((uuid, tag), []).append((int(first), int(last or first)))
            else:
                tag = part
    return found


class MysqlFilters:
    """What one call leaves out."""

    def __init__(self, options: PrintOptions) -> None:
        self.options = options
        self.included = None if options.include_gtids is None else parse_gtid_set(options.include_gtids)
        self.excluded = None if options.exclude_gtids is None else parse_gtid_set(options.exclude_gtids)
        #: Whether the group that the reader stands in is left out by its GTID.
        self.in_filtered = False

    def skips_database(self, name: str) -> bool:
        """Whether events of a database are left out."""
        return self.options.database is not None and name != self.options.database

    def skips_server(self, event: Event) -> bool:
        """Whether events of a server are left out; those that say how a file goes on never are."""
        wanted = self.options.server_id
        return bool(wanted) and wanted != event.server_id and not isinstance(event.body, (FormatDescription, Rotate))

    def skips_gtid(self, body: Any) -> bool:
        """Whether an event is left out by the GTID of its group."""
        if isinstance(body, (AnonymousGtid, GtidTagged)):
            self.in_filtered = self._filtered(body)
            return self.in_filtered or self.options.skip_gtids
        if isinstance(body, PreviousGtids):
            return self.options.skip_gtids
        filtered = self.in_filtered
        if isinstance(body, Xid) or (isinstance(body, Query) and ends_group(to_bytes(body.query))):
            self.in_filtered = False
        return filtered and not isinstance(body, _NEVER_SKIPPED)

    def _filtered(self, body: AnonymousGtid | GtidTagged) -> bool:
        if type(body) is AnonymousGtid:
            return self.included is not None
        source = (str(body.uuid).lower(), getattr(body, "tag", "") or "")
        number = body.gno or 0
        included = self.included is None or _has(self.included, source, number)
        return not included or (self.excluded is not None and _has(self.excluded, source, number))


def _has(gtids: GtidSet, source: tuple[str, str], number: int) -> bool:
    return any(first <= number <= last for first, last in gtids.get(source, ()))
