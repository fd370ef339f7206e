"""The log of a MySQL session, row format.

Recorded on MySQL 9.7 (docs/servers/groups.md): GTID has the second of the commit, BEGIN that of the first statement,
every other event that of its own statement, XID that of the commit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from forge.binlog.payload import compress_events
from forge.compile.files.log import SessionLog, xa_text
from forge.compile.files.own import rows_query
from forge.compile.files.payloads import payload_form
from forge.compile.files.replica import applier_begin, applier_query, applier_variables, ignores, is_ignored, uuid_of
from forge.compile.groups.dependency import CommitOrder, Tracking, Writeset
from forge.compile.groups.gtids import MysqlGtids
from forge.compile.query.ddl_status import (
    begin_of_ddl,
    create_select_variables,
    ddl_variables,
    has_ddl_xid,
    session_end_variables,
)
from forge.compile.query.ddl_text import ddl_database, ddl_flags, ddl_text
from forge.compile.query.statement_format import statement_flags, statement_variables
from forge.compile.query.status import THREAD_SPECIFIC, begin_variables, in_order, session_variables
from forge.events.event import IGNORABLE, SUPPRESS_USE, Event
from forge.events.format import FormatContext
from forge.events.gtid import AnonymousGtid, Gtid
from forge.events.gtid_tagged import GtidTagged
from forge.events.layout import Body
from forge.events.previous_gtids import GtidSource, PreviousGtids
from forge.events.query import Query
from forge.events.status_vars import StatusVariables
from forge.events.xid import Xid
from forge.plan.definitions import DdlStatement, MemoryEmptied, SessionEndDrop, TableCreationSelect
from forge.plan.facts import SourceFacts
from forge.plan.grouping.groups import LoggedGroup, LoggedTransaction
from forge.plan.gtids import MysqlGtid
from forge.plan.plan import Plan
from forge.plan.session import Source
from forge.plan.statements import RowsStatement
from forge.plan.tables import is_transactional
from forge.plan.transactions import OwnEvent, Step
from forge.servers import ServerLine

DEFAULT_UUID = "6b696e64-6f66-4f72-6765-000000000001"


class MysqlLog(SessionLog):
    """FORMAT_DESCRIPTION, PREVIOUS_GTIDS, then GTID, BEGIN, rows, XID a transaction."""

    def __init__(self, plan: Plan, line: ServerLine) -> None:
        super().__init__(plan, line)
        self.implicit_threads = 0
        #: The session itself has just emptied a MEMORY table, whose rows then have no BEGIN (recorded on 5.6.24).
        self.emptied = False
        #: Groups in earlier files.
        self.before_file = 0
        self.order = self._new_order()
        self.gtids = MysqlGtids(self._own_gtids(0))
        self.gtids.start_at(self.uuid, plan.session.gtid_tag or "", self.group_number(0))
        for known in self.facts.sources:
            self.gtids.start_at(known.server_uuid, plan.session.gtid_tag or "", known.first_gno)

    def _new_order(self) -> CommitOrder:
        limit = self.plan.session.dependency_history or self.line.groups.dependency_history
        return Writeset(limit, self._tracking) if self._tracks_keys else CommitOrder()

    @property
    def _tracks_keys(self) -> bool:
        """Whether last_committed may follow anything but the order of commits."""
        return self.line.groups.dependency_tracking == "writeset" or self.line.knows("dependency_tracking")

    @property
    def _tracking(self) -> Tracking:
        default: Tracking = "WRITESET" if self.line.groups.dependency_tracking == "writeset" else "COMMIT_ORDER"
        return self.session.binlog_transaction_dependency_tracking or default

    def head(self, groups: int) -> Iterator[Event]:
        # The logical clock starts anew with each file.
        self.before_file = groups
        self.order = self._new_order()
        body = self.previous_gtids(groups)
        if body is not None:
            flags = IGNORABLE if self.line.framing.previous_gtids_ignorable else 0
            yield self.event(body, self.clock.listed(self.file, groups), flags)

    def previous_gtids(self, groups: int) -> PreviousGtids | None:
        if not self.line.knows("gtid") or not (self.has_gtids or self.line.framing.always_lists_gtids):
            return None
        tagged, sources = self._executed(groups)
        if self.facts.file(self.file).tagged:
            self.line.require("gtid_tags")
            tagged = True
        return PreviousGtids(gtid_set=(tagged, sources))

    def _executed(self, groups: int) -> tuple[bool, tuple[GtidSource, ...]]:
        """The GTIDs of the session's first groups, and those before them: of all earlier files."""
        if not self.has_gtids:
            return False, ()
        if self._counts_gtids:
            return self.gtids.executed(groups)
        return MysqlGtids(self._own_gtids(groups)).executed(0)

    def _own_gtids(self, groups: int) -> tuple[GtidSource, ...]:
        """Those that the session's first groups have by themselves, and those before them."""
        first = self.group_number(0) if self.facts.executed_from is None else self.facts.executed_from
        last = self.group_number(groups - 1)
        return () if last < first else ((self.uuid, self.plan.session.gtid_tag or "", ((first, last),)),)

    def _group_gtid(self, number: int) -> tuple[str, str, int]:
        """UUID, tag and number of the session's group ``number``.  Raises ScenarioError if it was executed before."""
        tag = self.session.gtid_tag or ""
        if not self._counts_gtids:
            return self.uuid, tag, self.group_number(number)
        uuid = self.uuid if self.session.source is None else self._source_uuid(self.session.source)
        given = self.circumstances.gtid
        if isinstance(given, MysqlGtid):
            return self.gtids.given(given.uuid or uuid, given.tag, given.number)
        return self.gtids.automatic(uuid, tag)

    @property
    def _counts_gtids(self) -> bool:
        """Groups have numbers of several servers, or given by hand: not one after the other."""
        return bool(self.plan.circumstances) or self.plan.session.source is not None

    def _source_facts(self, source: Source) -> SourceFacts | None:
        return next((facts for facts in self.facts.sources if facts.server_id == source.server_id), None)

    def _source_uuid(self, source: Source) -> str:
        facts = self._source_facts(source)
        return uuid_of(source) if facts is None else facts.server_uuid

    @property
    def has_gtids(self) -> bool:
        """Groups have GTIDs."""
        return self.session.gtid or self.line.groups.always_gtids

    @property
    def uuid(self) -> str:
        return self.facts.server_uuid or DEFAULT_UUID

    def opening(self, number: int, group: LoggedGroup) -> Iterator[Event]:
        """The GTID event, where the line writes one before every group."""
        if self.has_gtids or self.line.knows("anonymous_groups"):
            yield self._gtid(number, group)

    def _gtid(self, number: int, group: LoggedGroup) -> Event:
        ignored = is_ignored(group, self.session)
        rows = isinstance(group, LoggedTransaction) and bool(group.rows_statements) and not group.has_text
        rows &= not ignored
        # Keys are gathered in sessions of row format only (recorded in MIXED).
        by_rows = self.session.binlog_format == "row"
        gathered = group if isinstance(group, LoggedTransaction) and by_rows else None
        self.order.follow(self._tracking)
        client = self.circumstances.client
        last_committed, sequence_number = self.order.next_empty() if ignored else self.order.next(gathered, client)
        if self.circumstances.parent is not None:
            # What was committed when the transaction's last statement was over (binlog_prepare in sql/binlog.cc).
            last_committed = min(last_committed, max(self.circumstances.parent - self.before_file, 0))
        common: dict[str, Any] = {
            # MAY_HAVE_SBR: a group of row events only has it clear (sql/log_event.cc).
            "gtid_flags": 0 if rows and not self.line.groups.gtid_may_have_statements else 1,
            "last_committed": last_committed,
            "sequence_number": sequence_number,
            "commit_timestamp": self._committed(number),
            "server_version": self._versions,
        }
        if self.line.groups.clock_in_gtids:
            seconds, microseconds = divmod(self.clock.committed(number), 1_000_000)
            common |= {"last_committed": seconds, "sequence_number": microseconds}
        if not self.line.knows("commit_timestamps"):
            common["commit_timestamp"] = None
        if not self.line.knows("gtid_server_version"):
            common["server_version"] = None
        if not self.line.knows("logical_clock"):
            common |= {"clock_type": None, "last_committed": None, "sequence_number": None}
        body: Body
        flags = 0
        uuid, tag, gno = self._group_gtid(number) if self.has_gtids else ("", "", 0)
        if tag:
            for name in ("commit_timestamp", "server_version"):
                common[name], common[f"original_{name}"] = common[name]
            body = GtidTagged(uuid=uuid, gno=gno, tag=tag, **common)
        elif self.has_gtids:
            body = Gtid(uuid=uuid, gno=gno, **common)
        else:
            body = AnonymousGtid(**common)
            flags = 0 if self.session.source is None else IGNORABLE
        return self.event(body, self.commit_second(number, group), flags)

    def own(self, event: OwnEvent, second: int) -> Event:
        """As every log's; after a GTID event of the scenario's own, the logical clock goes on from there."""
        made = super().own(event, second)
        if isinstance(made.body, AnonymousGtid | GtidTagged) and made.body.sequence_number is not None:
            self.order.sequence_number = made.body.sequence_number
        return made

    def _committed(self, number: int) -> tuple[int, int | None]:
        """When the group was committed here, and where it came from."""
        immediate = self.clock.committed(number)
        original = self.clock.originally_committed(number, replicated=self.session.source is not None)
        return immediate, None if original == immediate else original

    @property
    def _versions(self) -> tuple[int, int | None]:
        """This server's version, and that of the source."""
        source, immediate = self.session.source, version_number(self.version)
        facts = None if source is None else self._source_facts(source)
        text = (facts and facts.server_version) or (source and source.server_version)
        original = version_number(text) if text else immediate
        return immediate, None if original == immediate else original

    def ddl(self, number: int, statement: DdlStatement) -> Iterator[Event]:
        yield from self.opening(number, statement)
        if is_ignored(statement, self.session):
            status = in_order(session_variables(self.session, self.line), self.line)
            yield from self._emptied(number, statement, ddl_database(statement), status)
            return
        yield from self.insert_id(statement, self.clock.second(number, 0))
        match statement:
            case TableCreationSelect(selected=RowsStatement() as selected):
                yield from self._create_select(number, statement, selected)
            case SessionEndDrop():
                yield self._session_end(number, statement)
            case _:
                yield self._definition(number, statement)

    def _definition(self, number: int, statement: DdlStatement) -> Event:
        xid = self.xid(number)
        query = Query(
            database=ddl_database(statement),
            status_variables=ddl_variables(
                statement,
                xid if has_ddl_xid(statement) else None,
                self.clock.statement_time(number, 0)[1],
                self.session,
                self.line,
            ),
            query=ddl_text(statement, self.session, self.line),
        )
        thread_id = None
        if isinstance(statement, MemoryEmptied) and self.line.ddl.empties_memory_apart:
            self.implicit_threads += 1
            thread_id = self.thread_id + self.implicit_threads
        event = self.query(query, self.clock.second(number, 0), ddl_flags(statement, self.line), thread_id)
        self.emptied = isinstance(statement, MemoryEmptied) and thread_id is None
        return event

    def _session_end(self, number: int, statement: SessionEndDrop) -> Event:
        self.xid(number)
        status = in_order(session_end_variables(statement, self.session, self.line), self.line)
        text = statement.text
        query = Query(database=text.current_database, status_variables=status, query=text.sql)
        return self.query(query, self.clock.second(number, 0), THREAD_SPECIFIC)

    def _create_select(self, number: int, statement: TableCreationSelect, selected: RowsStatement) -> Iterator[Event]:
        """CREATE TABLE ... SELECT: a replica makes table and rows in one transaction (8.0.21 on; 5.6 in its way)."""
        second = self.clock.second(number, 0)
        variables = create_select_variables(statement, self.session, self.line)
        if self.session.source is not None:
            variables["updated_databases"] = tuple(sorted(statement.databases, reverse=True))
        begin = Query(
            database=statement.current_database, status_variables=in_order(variables, self.line), query="BEGIN"
        )
        flags = THREAD_SPECIFIC if statement.touches_temporary else 0
        yield self.query(begin, second, SUPPRESS_USE | flags)
        status = in_order(variables | {"sql_require_primary_key": int(self.session.sql_require_primary_key)}, self.line)
        yield self.query(begin.replace(status_variables=status, query=statement.text.sql), second, flags)
        yield from self.selected(selected, second)
        xid, closed = self.xid(number), self.commit_second(number, statement)
        takes_part = selected.first is not None or self.line.ddl.ends_empty_select_with_xid
        if takes_part and is_transactional(selected.table):
            yield self.event(Xid(xid=xid), closed)
        else:
            yield self.query(begin.replace(query="COMMIT"), closed, SUPPRESS_USE | flags)

    def restart(self) -> None:
        super().restart()
        self.implicit_threads = 0

    def transaction(self, number: int, transaction: LoggedTransaction) -> Iterator[Event]:
        yield from self.opening(number, transaction)
        if is_ignored(transaction, self.session):
            yield from self._emptied(number, transaction, "", applier_variables(self.session, self.line))
            return
        events = self._inside(number, transaction)
        # Recorded on 9.7: nothing of a transaction that also changed tables which no rollback reaches.
        rows = bool(transaction.rows_statements) and transaction.is_transactional and not transaction.has_text
        if not (self.session.compression and rows):
            yield from events
            return
        payload = compress_events(events, FormatContext(), payload_form(self.session, self.line))
        yield self.event(payload, self.commit_second(number, transaction))

    def _emptied(self, number: int, group: LoggedGroup, database: str, status: StatusVariables) -> Iterator[Event]:
        """What is left of a group that the replica passes over: its GTID, BEGIN and COMMIT."""
        self.xid(number)
        second = self.commit_second(number, group)
        for text in ("BEGIN", "COMMIT"):
            query = Query(database=database, status_variables=status, query=text)
            yield self.query(query, second, SUPPRESS_USE)

    def _inside(self, number: int, transaction: LoggedTransaction) -> Iterator[Event]:
        """BEGIN or XA START, the statements, and the end."""
        first = next(
            step for step in transaction.steps
            if not isinstance(step, OwnEvent) and not (isinstance(step, RowsStatement) and ignores(step, self.session))
        )  # fmt: skip
        replicated = self.session.source is not None
        xa = self.xa_of(transaction)
        yield from self.before_begin(number, transaction)
        begin = Query(
            database=transaction.current_database,
            status_variables=self._begin_variables(number, first),
            query="BEGIN" if xa is None else f"XA START {xa_text(xa)}",
        )
        if self.line.query.plain_begin and xa is None:
            begin = Query(query="BEGIN")
        if replicated and isinstance(first, RowsStatement):
            begin = applier_begin(first, begin.query, self.session, self.line)
        flags = statement_flags(first, self.line) if isinstance(first, RowsStatement) else 0
        flags |= THREAD_SPECIFIC if isinstance(first, DdlStatement) else 0
        if transaction.of_statement and self._stands_alone(first):
            self.xid(number)
            yield from self.steps(number, transaction)
            return
        thread_id = 0 if self.line.query.plain_begin else None
        yield self.query(begin, self.clock.second(number, 0), SUPPRESS_USE | flags, thread_id)
        yield from self.steps(number, transaction)
        if xa is None or transaction.cut_off:
            plain = begin.replace(status_variables=in_order(session_variables(self.session, self.line), self.line))
            # COMMIT of one statement has what that has used.
            of_statement = transaction.of_statement
            end = begin if of_statement else plain
            if replicated:
                end = applier_query("COMMIT", self.session, self.line)
            yield self.commit(number, transaction, end, flags if of_statement else 0)
        else:
            self.xid(number)
            yield from self.xa_prepare(number, transaction, xa)

    def _stands_alone(self, statement: object) -> bool:
        """Whether a statement that commits by itself has no BEGIN and no end."""
        begins = self.line.groups.begins_single_statements
        plain = isinstance(statement, RowsStatement) and not is_transactional(statement.table)
        emptied, self.emptied = self.emptied, False
        return emptied or begins == "nothing" or (begins == "transactional" and plain)

    def inner_ddl_variables(self, statement: DdlStatement) -> StatusVariables:
        return ddl_variables(statement, None, 0, self.session, self.line)

    def _begin_variables(self, number: int, first: Step) -> StatusVariables:
        if isinstance(first, DdlStatement):
            return begin_of_ddl(first, self.session, self.line)
        if not isinstance(first, RowsStatement):
            return in_order(session_variables(self.session, self.line), self.line)
        if first.as_text:
            return in_order(statement_variables(first, self.session, self.line), self.line)
        return begin_variables(first, self.clock.statement_time(number, 0)[1], self.session, self.line)

    def statement_text(self, statement: RowsStatement, second: int) -> Event:
        return self.event(rows_query(statement.logged_sql, self.line), second, IGNORABLE)

    def has_xa_end(self, transaction: LoggedTransaction) -> bool:
        return self.xa_of(transaction) is not None and not transaction.cut_off


def version_number(text: str) -> int:
    """``9.7.4-2`` as 90704."""
    match = re.match(r"(\d+)\.(\d+)\.(\d+)", text)
    if match is None:
        return 999999
    major, minor, patch = (int(part) for part in match.groups())
    return major * 10000 + minor * 100 + patch
