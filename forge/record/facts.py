"""The facts of a session, read from the binary log that it left (``forge.plan.facts.Facts``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from forge.binlog.payload import inner_events
from forge.binlog.reader import read_events
from forge.errors import FormatError
from forge.events.binlog_checkpoint import BinlogCheckpoint
from forge.events.event import Event
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.format import FormatContext
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid, Gtid
from forge.events.gtid_list import GtidList
from forge.events.gtid_tagged import GtidTagged
from forge.events.mariadb_compressed import QueryCompressed, plain_query
from forge.events.mariadb_gtid import MariadbGtid
from forge.events.previous_gtids import PreviousGtids
from forge.events.query import Query
from forge.events.rotate import Rotate
from forge.events.rows import ROWS_BODIES, STMT_END
from forge.events.rows_query import AnnotateRows, RowsQuery
from forge.events.start_v3 import StartV3
from forge.events.stop import Stop
from forge.events.table_map import TableMap
from forge.events.transaction_payload import TransactionPayload
from forge.events.xa_prepare import XaPrepare
from forge.events.xid import Xid
from forge.plan.facts import Checkpoint, Connection, Facts, FileFacts, RelayFileFacts, SourceFacts

#: MariaDB's GTID: the group is one statement without BEGIN.
STANDALONE = 0x01
ARTIFICIAL, RELAY_LOG = 0x0020, 0x0040


def facts_of(*files: bytes, names: Sequence[str] = ()) -> Facts:
    """The facts of the session that wrote the binary logs ``files``, in their order; ``names`` are theirs, for errors.

    Raises FormatError (file, event, offset) if a file cannot be read, or holds no transactions that the compiler could
    make.
    """
    relay = _CollectedRelay(_Collected())
    for number, data in enumerate(files):
        relay.open()
        try:
            for placed in read_events(data):
                try:
                    relay.add(placed.event)
                except FormatError as error:
                    raise error.of_event(placed.offset, placed.index) from None
        except FormatError as error:
            raise (error.in_file(names[number]) if names else error) from None
    return relay.facts()


class _Collected:
    def __init__(self) -> None:
        #: Facts of the session, and of each file.
        self.session_facts: dict[str, Any] = {}
        self.files: list[dict[str, Any]] = []
        self.groups_in_file = 0
        self.thread_id: int | None = None
        #: An event of the file has told it.
        self.thread_told = False
        #: UUID, tag and number of each transaction.
        self.gtids: list[tuple[str | None, str | None, int | None]] = []
        self.timestamps: list[list[int]] = []
        self.microseconds: list[list[int]] = []
        self.commit_timestamps: list[int] = []
        self.original_commit_timestamps: list[int] = []
        self.sources: dict[int, SourceFacts] = {}
        self.server_id = 0
        self.exec_times: list[int] = []
        self.table_ids: list[int] = []
        self.xids: list[int] = []
        self.inner_xids: list[int] = []
        #: The group is one of a MariaDB transaction, not of a statement by itself.
        self.in_transaction = False
        self.file_ids: list[int] = []
        self.statement_open = False
        #: The log has GTID events; without, BEGIN or a statement behind the last end begins a group.
        self.has_gtids = False
        self.in_block = False
        self.gtid_second: int | None = None

    @property
    def file(self) -> dict[str, Any]:
        return self.files[-1]

    def open(self) -> None:
        """A file begins."""
        self.files.append({})
        self.session_facts.pop("next_file", None)
        self.groups_in_file = 0
        self.thread_told = False

    def add(self, event: Event) -> None:
        body = event.body
        if isinstance(body, FormatDescription | StartV3):
            self.session_facts["server_version"] = body.server_version
            self.server_id = event.server_id
            self.files[-1] |= {"opened": event.timestamp, "created": body.created}
        elif isinstance(body, AnonymousGtid | GtidTagged | MariadbGtid):
            self.has_gtids = True
            self._gtid(body, event)
        elif isinstance(body, (PreviousGtids, GtidList)):
            if event.timestamp != self.file.get("opened"):
                self.file["listed"] = event.timestamp
            if isinstance(body, PreviousGtids) and body.gtid_set[0] and not any(tag for _, tag, _ in body.gtid_set[1]):
                self.file["tagged"] = True
            if isinstance(body, GtidList) and len(body.gtids) > 1:
                self.file["gtid_list"] = ["-".join(map(str, gtid)) for gtid in body.gtids]
        elif isinstance(body, BinlogCheckpoint):
            self._checkpoint(body.file_name, event.timestamp)
        elif isinstance(body, TransactionPayload):
            for inner in inner_events(body, FormatContext()):
                self.add(inner)
        elif isinstance(body, QueryCompressed):
            self._query(plain_query(body), event.timestamp)
        elif isinstance(body, ExecuteLoadQuery):
            self._query(body, event.timestamp)
            self.file_ids.append(body.file_id)
        elif isinstance(body, Query):
            self._query(body, event.timestamp)
        elif isinstance(body, (RowsQuery, AnnotateRows, TableMap, *ROWS_BODIES)):
            self._statement(body, event.timestamp)
        elif isinstance(body, (Xid, XaPrepare)):
            self._end(event.timestamp)
            self.xids[-1] = body.xid if isinstance(body, Xid) else 0
        elif isinstance(body, (Stop, Rotate)):
            self.file["closed"] = event.timestamp
            if isinstance(body, Rotate):
                self.session_facts["next_file"] = body.next_file

    def facts(self) -> Facts:
        first, *later = self.files
        return Facts(
            **first,
            timestamps=self.timestamps,
            microseconds=self._known_microseconds(),
            commit_timestamps=self.commit_timestamps or None,
            original_commit_timestamps=self._original_commit_timestamps(),
            sources=list(self.sources.values()),
            exec_times=self.exec_times,
            table_ids=self.table_ids,
            xids=self.xids,
            inner_xids=self.inner_xids or None,
            file_ids=self.file_ids or None,
            later_files=[FileFacts(**file) for file in later],
            **self.session_facts,
            **self._own_gtids(),
        )

    def _known_microseconds(self) -> list[list[int]] | None:
        """Those of the groups to the last one that has any."""
        last = max((number for number, group in enumerate(self.microseconds, 1) if any(group)), default=0)
        return self.microseconds[:last] or None

    def _fraction(self, body: Query | ExecuteLoadQuery, statement: int) -> None:
        """The statement of its group has had the fraction of a second that the event says, if it does."""
        variables = dict(body.status_variables)
        fraction = variables.get("microseconds") or variables.get("hrnow") or 0
        if fraction:
            known = self.microseconds[-1]
            known += [0] * (statement + 1 - len(known))
            known[statement] = known[statement] or fraction

    def _own_gtids(self) -> dict[str, Any]:
        """The server's UUID, which most transactions have: others were given theirs (``gtid_next``).  Its first number
        is the smallest, since those that it gives by itself ascend.
        """
        counts = Counter(uuid for uuid, _, _ in self.gtids)
        if not counts:
            return {}
        own = max(counts, key=lambda uuid: counts[uuid])
        tag = next(tag for uuid, tag, _ in self.gtids if uuid == own)
        return {"server_uuid": own, "first_gno": min(gno or 1 for *name, gno in self.gtids if name == [own, tag])}

    def _gtid(self, body: AnonymousGtid | GtidTagged | MariadbGtid, event: Event) -> None:
        if isinstance(body, AnonymousGtid):
            self._group(body, event.server_id)
        elif isinstance(body, GtidTagged):
            self._take_gtid(body.uuid, body.tag, body.gno, event.server_id)
            self._committed(body.commit_timestamp or 0, body.original_commit_timestamp)
            self._version_of(event.server_id, body.original_server_version)
            self._open_group()
        else:
            self.session_facts.setdefault("first_gno", body.sequence_number)
            self._open_group()
            if body.thread_id is not None:
                self._thread(body.thread_id)
            self.in_transaction = not body.flags2 & STANDALONE
            self.gtid_second = event.timestamp

    def _group(self, body: AnonymousGtid, server_id: int) -> None:
        if isinstance(body, Gtid):
            self._take_gtid(body.uuid, "", body.gno, server_id)
        if body.commit_timestamp is not None:
            self._committed(*body.commit_timestamp)
        if body.server_version is not None:
            self._version_of(server_id, body.server_version[1])
        self._open_group()

    def _take_gtid(self, uuid: str | None, tag: str | None, gno: int | None, server_id: int) -> None:
        """One of the log's own server, or of a source."""
        if server_id == self.server_id or uuid is None:
            self.gtids.append((uuid, tag, gno))
            return
        known = self.sources.get(server_id)
        first = gno or 1 if known is None else min(gno or 1, known.first_gno)
        self.sources[server_id] = SourceFacts(server_id=server_id, server_uuid=uuid, first_gno=first)

    def _version_of(self, server_id: int, version: int | None) -> None:
        """A source's version, which its GTID events have as a number."""
        if server_id in self.sources and version is not None:
            text = f"{version // 10000}.{version // 100 % 100}.{version % 100}"
            self.sources[server_id] = msgspec.structs.replace(self.sources[server_id], server_version=text)

    def _committed(self, immediate: int, original: int | None) -> None:
        self.commit_timestamps.append(immediate)
        self.original_commit_timestamps.append(immediate if original is None else original)

    def _original_commit_timestamps(self) -> list[int] | None:
        """None where they are those of the log's own server."""
        original = self.original_commit_timestamps
        return None if original == self.commit_timestamps else original

    def _checkpoint(self, name: str, second: int) -> None:
        """The first stands in the file's head; the facts of later files tell that there are no others."""
        if "checkpoint_file" in self.file:
            checkpoints = self.file.setdefault("checkpoints", [])
            checkpoints.append(Checkpoint(after=self.groups_in_file, second=second, file=name))
            return
        self.file["checkpoint_file"] = name
        if second != self.file.get("listed", self.file.get("opened")):
            self.file["checkpointed"] = second
        if len(self.files) > 1:
            self.file["checkpoints"] = []

    def _thread(self, number: int) -> None:
        if number != self.thread_id and self.thread_told:
            connection = Connection(after=self.groups_in_file - 1, thread_id=number)
            self.file.setdefault("connections", []).append(connection)
        elif number != self.thread_id:
            self.file["thread_id"] = number
        self.thread_id, self.thread_told = number, True

    def _open_group(self) -> None:
        self.groups_in_file += 1
        self.timestamps.append([])
        self.xids.append(0)
        self.microseconds.append([])
        self.statement_open = False

    def _query(self, body: Query | ExecuteLoadQuery, timestamp: int) -> None:
        ends = body.query in ("COMMIT", "ROLLBACK")
        if not self.has_gtids and not self.in_block and not ends:
            self._open_group()
        self.in_block = self.in_block or body.query == "BEGIN"
        if "implicitly emptying" not in body.query:
            # The server empties MEMORY tables in connections of its own.
            self._thread(body.thread_id)
        self.exec_times.append(body.exec_time)
        alone = ends or body.query == "BEGIN" or body.query.startswith("XA START ")
        self._fraction(body, 0 if alone else len(self._current()))
        if alone and not ends:
            return
        if ends:
            self._end(timestamp)
            self.xids[-1] = dict(body.status_variables).get("mariadb_ddl_xid", 0)
            return
        self._current().append(timestamp)
        variables = dict(body.status_variables)
        if self.in_transaction and "mariadb_ddl_xid" in variables:
            self.inner_xids.append(variables["mariadb_ddl_xid"])
        self.xids[-1] = variables.get("ddl_xid") or variables.get("mariadb_ddl_xid", 0)

    def _end(self, timestamp: int) -> None:
        """A transaction ends; on MariaDB its GTID event and its end may differ."""
        self.in_block = False
        self._current().extend([] if self.gtid_second is None else [self.gtid_second])
        self._current().append(timestamp)

    def _statement(self, body: Any, timestamp: int) -> None:
        """The time of a statement is that of its first event."""
        if not self.statement_open:
            if not self.has_gtids and not self.in_block:
                # Rows of a MEMORY table that their session has emptied (5.6).
                self._open_group()
            self._current().append(timestamp)
        self.statement_open = True
        if isinstance(body, TableMap):
            self.table_ids.append(body.table_id)
        elif not isinstance(body, (RowsQuery, AnnotateRows)) and body.row_flags & STMT_END:
            self.statement_open = False

    def _current(self) -> list[int]:
        if not self.timestamps:
            raise FormatError("the file has events of a transaction before the first GTID event", phase="body")
        return self.timestamps[-1]


class _CollectedRelay:
    """Takes the relay log's own events out of files; what is left are files of the source.

    The first event of a relay log's file has the flag RELAY_LOG.  Files of other logs are passed on as they are.
    """

    def __init__(self, source: _Collected) -> None:
        self.source = source
        self.files: list[dict[str, Any]] = []
        self.own_server: int | None = None
        self.first = True

    def open(self) -> None:
        self.first = True

    def add(self, event: Event) -> None:
        if self.first:
            self.first = False
            if event.flags & RELAY_LOG:
                self.own_server = event.server_id
                self.files.append({"opened": event.timestamp})
                if isinstance(event.body, FormatDescription):
                    self.files[-1]["created"] = event.body.created
                return
            self.source.open()
        if self.own_server is None or not self._is_own(event):
            self.source.add(event)

    def _is_own(self, event: Event) -> bool:
        """Whether the relay log itself added the event; its facts are kept."""
        body, file = event.body, self.files[-1]
        if isinstance(body, Rotate) and event.flags & ARTIFICIAL:
            self.source.open()
            if event.timestamp:
                file["announced"] = event.timestamp
        elif isinstance(body, Rotate) and event.server_id == 0:
            file["noted"] = event.timestamp
        elif isinstance(body, FormatDescription) and event.flags & ARTIFICIAL:
            pass
        elif isinstance(body, FormatDescription) and event.server_id == self.own_server:
            file["interrupted"] = event.timestamp
        elif isinstance(body, PreviousGtids) and event.flags & RELAY_LOG:
            file["listed"] = event.timestamp
        elif isinstance(body, Stop) or (isinstance(body, Rotate) and event.flags & RELAY_LOG):
            file["closed"] = event.timestamp
        else:
            return False
        return True

    def facts(self) -> Facts:
        if not self.source.files:
            self.source.open()
        facts = self.source.facts()
        return msgspec.structs.replace(facts, relay=[RelayFileFacts(**file) for file in self.files])
