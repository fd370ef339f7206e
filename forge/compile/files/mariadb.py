"""The log of a MariaDB session, row format (recorded on 10.11 and 11.8).

A GTID event stands in the place of BEGIN, ANNOTATE_ROWS in that of ROWS_QUERY, row events are of version 1.  Since
11.4 events that went through a transaction cache have log_pos 0: their checksum is made before their place is known.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from forge.compile.files.log import SessionLog
from forge.compile.files.replica import with_if_exists
from forge.compile.groups.gtids import ListedGtid, MariadbGtids
from forge.compile.query.ddl_status import create_select_variables, mariadb_ddl_variables
from forge.compile.query.ddl_text import ddl_database, ddl_flags, ddl_text, flags_inner_drops
from forge.compile.query.statement_format import statement_flags, statement_variables
from forge.compile.query.status import THREAD_SPECIFIC, in_order, session_variables
from forge.errors import ScenarioError
from forge.events.binlog_checkpoint import BinlogCheckpoint
from forge.events.event import SUPPRESS_USE, Event
from forge.events.gtid_list import GtidList
from forge.events.mariadb_compressed import compressed_query
from forge.events.mariadb_gtid import COMMIT_ALTER, MULTI_ENGINE, START_ALTER, THREAD_ID, MariadbGtid
from forge.events.plain import to_bytes
from forge.events.query import Query
from forge.events.rows_query import AnnotateRows
from forge.events.status_vars import StatusVariables
from forge.events.xid import Xid
from forge.plan.definitions import (
    AlterationStart,
    AnyTableCreation,
    DatabaseDefinition,
    DatabaseDrop,
    DdlStatement,
    MemoryEmptied,
    ObjectDefinition,
    TableAlteration,
    TableChange,
    TableCreationSelect,
    TableDrop,
    TableUpkeep,
)
from forge.plan.grouping.groups import LoggedGroup, LoggedTransaction
from forge.plan.gtids import MariadbGtid as GivenGtid
from forge.plan.plan import Plan
from forge.plan.statements import RowsStatement
from forge.plan.tables import is_transactional
from forge.plan.transactions import LoggedStatement, XaEnd, XaId
from forge.servers import ServerLine

STANDALONE, TRANSACTIONAL, ALLOW_PARALLEL, DDL, PREPARED_XA, COMPLETED_XA = 0x01, 0x04, 0x08, 0x20, 0x40, 0x80
#: extra_engines of a transaction whose engines are not known before its commit.
UNKNOWN_ENGINES = 255
NO_SUCH_TABLE = 1146


class MariadbLog(SessionLog):
    """FORMAT_DESCRIPTION, GTID_LIST, BINLOG_CHECKPOINT, then GTID, rows, XID a transaction."""

    default_thread_id = 4

    def __init__(self, plan: Plan, line: ServerLine) -> None:
        super().__init__(plan, line)
        self.gtids = MariadbGtids()
        #: Number of the last START ALTER.
        self.started_alter = 0
        self.gtids.start_at(plan.session.gtid_domain_id, self.group_number(0))

    def head(self, groups: int) -> Iterator[Event]:
        if not self.line.knows("mariadb_gtid"):
            return
        facts = self.facts.file(self.file)
        listed = self.clock.listed(self.file, groups)
        told = facts.gtid_list
        gtids = self.listed_gtids(groups) if told is None else tuple(map(_gtid_of_text, told))
        yield self.event(GtidList(gtids=gtids), listed)
        # While the storage engine has yet to make the transactions of the file before durable, that one is named.
        named = self.file_name(self.file - 1 if self.rotated else self.file)
        checkpoint = BinlogCheckpoint(file_name=facts.checkpoint_file or named)
        yield self.event(checkpoint, listed if facts.checkpointed is None else facts.checkpointed)

    def listed_gtids(self, groups: int) -> tuple[ListedGtid, ...]:
        """The last GTIDs after so many groups."""
        if self.plan.circumstances:
            return self.gtids.listed(groups)
        domain, server = self._domain_and_server
        return ((domain, server, self.group_number(groups - 1)),) if groups else ()

    @property
    def _domain_and_server(self) -> tuple[int, int]:
        """Those of the GTIDs that the session makes, or its source."""
        return self.session.gtid_domain_id, (self.session.source or self.session).server_id

    def _group_gtid(self, number: int) -> ListedGtid:
        """Domain, server and number of the session's group ``number``."""
        domain, server = self._domain_and_server
        if not self.plan.circumstances:
            return domain, server, self.group_number(number)
        given = self.circumstances.gtid
        if not isinstance(given, GivenGtid):
            own = self.session.source is None
            return self.gtids.automatic(domain, server) if own else self.gtids.sent(domain, server)
        domain = domain if given.domain is None else given.domain
        return self.gtids.given(domain, server if given.server is None else given.server, given.number)

    def between(self, groups: int) -> Iterator[Event]:
        """BINLOG_CHECKPOINT of a background thread, as soon as the engine has caught up."""
        if not self.line.knows("mariadb_gtid"):
            return
        facts = self.facts.file(self.file)
        if facts.checkpoints is not None:
            for checkpoint in facts.checkpoints:
                if checkpoint.after == groups:
                    yield self.event(BinlogCheckpoint(file_name=checkpoint.file), checkpoint.second)
        elif self.rotated and groups == 1:
            yield self.event(BinlogCheckpoint(file_name=self.file_name(self.file)), self.clock.opened(self.file))

    def opening(self, number: int, group: LoggedGroup) -> Iterator[Event]:
        second, flags2 = self.clock.second(number, 0), STANDALONE | ALLOW_PARALLEL
        match group:
            case LoggedTransaction():
                yield from self._opening_of_transaction(number, group)
            case XaEnd():
                unknown = group.end == "commit" and not group.engine_first
                flags2 |= COMPLETED_XA | (0 if group.mixed else TRANSACTIONAL)
                yield from self._gtid(number, second, flags2, group.xa, engines=unknown)
            case LoggedStatement():
                yield from self._gtid(number, second, flags2 | DDL)
            case DdlStatement():
                flags2 |= DDL if _says_ddl(group, self.line) else 0
                yield from self._gtid(number, second, flags2, alter=_alter_phase(group))

    def _gtid(
        self,
        number: int,
        second: int,
        flags2: int,
        xa: XaId | None = None,
        *,
        engines: bool = False,
        database: str = "",
        alter: int = 0,
    ) -> Iterator[Event]:
        """GTID; where the line has none, BEGIN of a group that is not one statement alone."""
        if not self.line.knows("mariadb_gtid"):
            if not flags2 & STANDALONE:
                status = in_order(session_variables(self.session, self.line), self.line)
                begin = Query(database=database, status_variables=status, query="BEGIN")
                yield self.query(begin, self.clock.second(number, 0), SUPPRESS_USE)
            return
        with_thread = self.line.groups.gtid_thread_id
        engines = engines and self.line.groups.gtid_unknown_engines != "never"
        domain, server, sequence = self._group_gtid(number)
        if alter == START_ALTER:
            self.started_alter = sequence
        # The client sets it with the number, and it is that of all events of the group.
        self.server_id = server
        if self.session.skip_parallel_replication:
            flags2 &= ~ALLOW_PARALLEL
        if not self.line.knows("mariadb_gtid_kinds"):
            flags2 &= STANDALONE
        body = MariadbGtid(
            sequence_number=sequence,
            domain_id=domain,
            flags2=flags2,
            xid=None if xa is None else (xa.format_id, xa.gtrid, xa.bqual),
            flags_extra=(THREAD_ID if with_thread else 0) | (MULTI_ENGINE if engines else 0) | alter,
            start_alter=self.started_alter if alter == COMMIT_ALTER else None,
            extra_engines=UNKNOWN_ENGINES if engines else None,
            thread_id=self.thread_id if with_thread else None,
        )
        yield self.event(body, second, SUPPRESS_USE)

    def ddl(self, number: int, statement: DdlStatement) -> Iterator[Event]:
        if isinstance(statement, TableCreationSelect) and statement.selected is not None:
            yield from self._create_select(number, statement, statement.selected)
            return
        second = self.clock.second(number, 0)
        alter = _alter_phase(statement)
        yield from self.opening(number, statement)
        yield from self.insert_id(statement, second)
        status = mariadb_ddl_variables(
            statement, self.xid(number), self.clock.statement_time(number, 0)[1], self.session, self.line
        )
        if alter:
            phase = (alter,) if alter == START_ALTER else (alter, self.started_alter)
            status = in_order(dict(status) | {"mariadb_gtid_flags": phase}, self.line)
        query = Query(
            database=ddl_database(statement),
            status_variables=status,
            query=self._ddl_text(statement),
        )
        flags = ddl_flags(statement, self.line)
        if isinstance(statement, DatabaseDrop) and not statement.no_effect:
            # It drops the tables inside, and what it finds missing at the end stays as the statement's error.
            query = query.replace(error_code=NO_SUCH_TABLE)
            flags |= THREAD_SPECIFIC if statement.inside and flags_inner_drops(self.line) else 0
        event = self.query(query, second, flags)
        yield event if isinstance(statement, DatabaseDefinition) else self.compressed(event)

    def _ddl_text(self, statement: DdlStatement) -> str:
        text = ddl_text(statement, self.session, self.line)
        if isinstance(statement, TableDrop) and self.session.source is not None:
            return with_if_exists(text)
        return text

    def inner_ddl_variables(self, statement: DdlStatement) -> StatusVariables:
        xid = self.inner_xid() if isinstance(statement, AnyTableCreation) else 0
        return mariadb_ddl_variables(statement, xid, 0, self.session, self.line)

    def _create_select(self, number: int, statement: TableCreationSelect, selected: RowsStatement) -> Iterator[Event]:
        """CREATE TABLE ... SELECT; without rows no engine takes part, and COMMIT has the number of the DDL's."""
        second = self.clock.second(number, 0)
        ended = 1 if selected.first is None else 2
        flags = THREAD_SPECIFIC if statement.touches_temporary else 0
        in_engine = selected.first is not None and is_transactional(selected.table)
        in_engine |= selected.first is None and self.line.groups.mixed_is_transactional
        # The applier's engine takes part in the DDL, which then has the transaction's number (recorded).
        applied = in_engine and self.session.source is not None
        flags2 = ALLOW_PARALLEL | DDL | (TRANSACTIONAL if applied else 0)
        yield from self._gtid(
            number, self.clock.second(number, ended), flags2, engines=not in_engine,
            database=statement.current_database,
        )  # fmt: skip
        common = create_select_variables(statement, self.session, self.line)
        variables = dict(common)
        if self.line.query.says_collations and statement.text.names_charset:
            variables["character_set_collations"] = self.line.query.character_set_collations
        xid = self.xid(number)
        variables |= {"mariadb_ddl_xid": xid} if applied else {}
        database, status = statement.current_database, in_order(variables, self.line)
        made = Query(database=database, status_variables=status, query=statement.text.sql)
        yield self._cached(self.compressed(self.query(made, second, flags)))
        yield from map(self._cached, self.selected(selected, second))
        closed = self.clock.second(number, ended + 1)
        if in_engine:
            yield self.event(Xid(xid=xid), closed)
            return
        status = in_order(common | {"mariadb_ddl_xid": xid}, self.line)
        yield self.query(
            Query(database=database, status_variables=status, query="COMMIT"), closed, SUPPRESS_USE | flags
        )

    def compressed(self, event: Event) -> Event:
        """A long text is compressed where the server logs it as a statement's (THD::binlog_query).

        It has other ways for statements on databases, savepoints and XA, whose texts stay as they are (recorded).
        """
        body = event.body
        assert isinstance(body, Query)
        long = len(to_bytes(body.query)) >= self.session.log_bin_compress_min_len
        return event.replace(body=compressed_query(body)) if self.session.log_bin_compress and long else event

    def _opening_of_transaction(self, number: int, transaction: LoggedTransaction) -> Iterator[Event]:
        # Row events that ROLLBACK ends count as such, whatever else was changed (recorded).
        undone = transaction.end == "rollback" and transaction.xa is None and not transaction.has_text
        undone &= not transaction.cut_off
        transactional = undone or (transaction.is_transactional and not transaction.thread_specific)
        transactional |= self.line.groups.mixed_is_transactional and not transaction.alone
        prepared = self.has_xa_end(transaction)
        # Engines behind the log in the list of the transaction's are not counted, and without one the number is -1.
        counted = transaction.two_phase or transaction.engine_first
        unknown = prepared or not (counted or transaction.alone or transaction.end == "rollback")
        made = transaction.made_temporary and (transaction.alone or not self.line.groups.mixed_is_transactional)
        kind = DDL if made else TRANSACTIONAL if transactional else 0
        flags2 = ALLOW_PARALLEL | kind | (PREPARED_XA if prepared else 0)
        xa = transaction.xa if prepared else None
        yield from self._gtid(
            number, self.commit_second(number, transaction), flags2, xa, engines=unknown,
            database=transaction.current_database,
        )  # fmt: skip

    def transaction(self, number: int, transaction: LoggedTransaction) -> Iterator[Event]:
        xa = transaction.xa if self.has_xa_end(transaction) else None
        yield from self.opening(number, transaction)
        yield from map(self._cached, self.before_begin(number, transaction))
        for event in self.steps(number, transaction):
            is_text = isinstance(event.body, Query) and not event.flags & SUPPRESS_USE
            yield self._cached(self.compressed(event) if is_text else event)
        if xa is not None:
            self.xid(number)
            end, prepare = self.xa_prepare(number, transaction, xa)
            yield from (self._cached(end), prepare)
            return
        status = Query(
            database=transaction.current_database,
            status_variables=self._commit_variables(transaction),
            query="COMMIT",
        )
        last = self._committed_alone(transaction) if self.line.texts.commit_has_variables else None
        definition = transaction.made_alone if self.line.texts.commit_has_variables else None
        flags = THREAD_SPECIFIC if definition is not None else 0 if last is None else statement_flags(last, self.line)
        if self.session.source is not None:
            # The applier notes the GTID in an InnoDB table (mysql.gtid_slave_pos; recorded).
            transaction = replace(transaction, alone=False, two_phase=True)
        yield self.commit(number, transaction, status, flags)

    def _commit_variables(self, transaction: LoggedTransaction) -> StatusVariables:
        """COMMIT of a single statement has those of the statement, up to 11.2."""
        variables = session_variables(self.session, self.line)
        last = self._committed_alone(transaction)
        if last is not None and self.line.texts.commit_has_variables:
            variables |= statement_variables(last, self.session, self.line)
        return in_order(variables, self.line)

    def _committed_alone(self, transaction: LoggedTransaction) -> RowsStatement | None:
        """The statement that COMMIT belongs to: one that is a group of its own."""
        last = transaction.rows_statements[-1] if transaction.rows_statements else None
        return last if transaction.of_statement else None

    def commit_second(self, number: int, group: LoggedGroup) -> int:
        """GTID is written at the end, after which autocommit statements may take a while."""
        if isinstance(group, LoggedTransaction):
            return self.clock.second(number, len(group.steps) + (1 if self.has_xa_end(group) else 0))
        return super().commit_second(number, group)

    def end_second(self, number: int, transaction: LoggedTransaction) -> int:
        """XID has the time of its writing, which after a long statement is later than that of the GTID (recorded)."""
        return self.clock.second(number, len(transaction.steps) + (1 if self.has_xa_end(transaction) else 0) + 1)

    def statement_text(self, statement: RowsStatement, second: int) -> Event:
        return self.event(AnnotateRows(query=statement.logged_sql), second)

    def has_xa_end(self, transaction: LoggedTransaction) -> bool:
        """COMMIT ONE PHASE is logged as COMMIT is."""
        return self.xa_of(transaction) is not None and transaction.end == "prepare"

    def _cached(self, event: Event) -> Event:
        positioned = self.line.framing.cached_positions or self.session.binlog_legacy_event_pos
        return event if positioned else event.replace(log_pos=0)


def _gtid_of_text(text: str) -> ListedGtid:
    try:
        domain, server, number = map(int, text.split("-"))
    except ValueError:
        raise ScenarioError(f"{text!r} is not a GTID of gtid_list", expected="domain-server-number") from None
    return domain, server, number


def _alter_phase(statement: DdlStatement) -> int:
    """The flag of a statement that is logged in two phases; 0 for others."""
    match statement:
        case AlterationStart():
            return START_ALTER
        case TableAlteration(two_phase=True):
            return COMMIT_ALTER
    return 0


def _says_ddl(statement: DdlStatement, line: ServerLine) -> bool:
    """Whether the GTID event says that a data definition statement follows."""
    match statement:
        case TableUpkeep(commits=True) if not line.groups.commits_say_ddl:
            return False
        case TableAlteration(unnumbered=True, change=TableChange(manages_partitions=True)) if (
            not line.groups.commits_say_ddl
        ):
            return False
        case TableAlteration(change=TableChange(before=before), tables=(after, *_)):
            types = {column.name: column.type for column in before.columns}
            changes = any(types.get(column.name, column.type) != column.type for column in after.columns)
            return line.groups.commits_say_ddl or not changes
        case MemoryEmptied():
            return statement.caused_by_ddl
        case ObjectDefinition():
            return statement.numbered
    return True
