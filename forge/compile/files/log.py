"""What the logs of both families have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from forge.compile.files.own import own_event
from forge.compile.files.replica import applier_query, check_replicated, ignores, opened_tables
from forge.compile.files.session_numbers import USUAL, SessionNumbers
from forge.compile.groups.gtids import ListedGtid
from forge.compile.query.ddl_text import ddl_flags, ddl_text
from forge.compile.query.statement_format import statement_bodies, statement_flags
from forge.compile.query.status import in_order, logged_variables, session_variables
from forge.compile.query.statuses import GivenStatuses
from forge.compile.rows.rows import row_events
from forge.compile.rows.table_map import table_map
from forge.errors import ScenarioError
from forge.events.event import SKIP_REPLICATION, SUPPRESS_USE, Event
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.intvar import INSERT_ID, Intvar
from forge.events.layout import Body
from forge.events.mariadb_compressed import QueryCompressed
from forge.events.previous_gtids import PreviousGtids
from forge.events.query import Query
from forge.events.registry import require_type
from forge.events.rotate import Rotate
from forge.events.status_vars import StatusVariables
from forge.events.table_map import TableMap
from forge.events.xa_prepare import XaPrepare
from forge.events.xid import Xid
from forge.plan.circumstances import Circumstances
from forge.plan.definitions import DdlStatement, TableCreationSelect
from forge.plan.facts import told
from forge.plan.grouping.groups import LoggedGroup, LoggedTransaction
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.plan.sql_modes import sql_mode
from forge.plan.statements import RowsStatement
from forge.plan.tables import Table
from forge.plan.transactions import LoggedStatement, OwnEvent, RollbackTo, Savepoint, Step, XaEnd, XaId
from forge.servers import ServerLine
from forge.sql.write import identifier

_QUERIES = (Query.type_code, ExecuteLoadQuery.type_code, QueryCompressed.type_code)

#: TABLE_MAP: a foreign key leads to databases that the replica does not know of.
REFERRED_FK_DB = 0x0002
#: The table has triggers, which a replica may run (slave_run_triggers_for_rbr).
HAS_TRIGGERS = 0x4000


class SessionLog(SessionNumbers, ABC):
    """Makes the events of one session's groups."""

    def __init__(self, plan: Plan, line: ServerLine) -> None:
        super().__init__(plan, line)
        #: The server id that the group's GTID gives all of its events.
        self.server_id: int | None = None
        self.version = self.facts.server_version or line.server_version
        #: Whether the file that is being written was begun without a start of the server.
        self.rotated = False
        self._known_types: set[int] = set()
        #: Bodies that come again are the same objects, whose bytes are built once.
        self._query: Query | ExecuteLoadQuery | None = None
        self._maps: dict[tuple[int, int, int, int], tuple[Table, Session, TableMap]] = {}
        self.statuses = GivenStatuses(self.facts.statuses, line)

    def group(self, number: int, group: LoggedGroup, circumstances: Circumstances = USUAL) -> Iterator[Event]:
        """The events of the session's group ``number``, from 0."""
        self.circumstances = circumstances
        self._use(circumstances.session)
        if self.session.source is not None:
            check_replicated(group, self.session)
            self.server_id = self.session.source.server_id
        for step in group.steps if isinstance(group, LoggedTransaction) else ():
            if not isinstance(step, OwnEvent):
                self._use_of(step)
                break
        yield from self._events(number, group)
        self._use(None)
        self.circumstances = USUAL
        self.server_id = None

    def _use(self, session: Session | None) -> None:
        """These settings are in force; None for those that the session began with."""
        self.session = session or self.plan.session

    def _use_of(self, step: Step) -> None:
        """The settings of a statement are in force."""
        if isinstance(step, RowsStatement):
            self._use(step.context.session)
        elif isinstance(step, DdlStatement):
            self._use(step.text.session)
        elif isinstance(step, (Savepoint, RollbackTo)):
            self._use(step.session)

    def _events(self, number: int, group: LoggedGroup) -> Iterator[Event]:
        if isinstance(group, DdlStatement):
            return self.ddl(number, group)
        if isinstance(group, LoggedStatement):
            return self.logged(number, group)
        return self.xa_end(number, group) if isinstance(group, XaEnd) else self.transaction(number, group)

    def between(self, groups: int) -> Iterator[Event]:
        """What the server itself writes after that many groups of the file."""
        yield from ()

    @abstractmethod
    def head(self, groups: int) -> Iterator[Event]:
        """What stands between FORMAT_DESCRIPTION and the file's first group; ``groups`` are in earlier files."""

    @abstractmethod
    def ddl(self, number: int, statement: DdlStatement) -> Iterator[Event]:
        """The group of a data definition statement."""

    @abstractmethod
    def opening(self, number: int, group: LoggedGroup) -> Iterator[Event]:
        """The GTID event of a group; where the line has none, what stands in its place."""

    def logged(self, number: int, statement: LoggedStatement) -> Iterator[Event]:
        """The group of a statement that the scenario gives as the server logs it."""
        yield from self.opening(number, statement)
        status = logged_variables(statement, self.xid(number), self.session, self.line)
        query = Query(database=statement.current_database, status_variables=status, query=statement.text)
        yield self.compressed(self.query(query, self.clock.second(number, 0), statement.flags))

    def compressed(self, event: Event) -> Event:
        """The event, compressed by itself where the line and the session do that."""
        return event

    @abstractmethod
    def inner_ddl_variables(self, statement: DdlStatement) -> StatusVariables:
        """Those of a statement that makes or drops temporary tables inside a transaction."""

    def inner_ddl(self, statement: DdlStatement, second: int) -> Event:
        """Its event."""
        text = ddl_text(statement, self.session, self.line)
        status = self.inner_ddl_variables(statement)
        query = Query(database=statement.current_database, status_variables=status, query=text)
        return self.query(query, second, ddl_flags(statement, self.line))

    @abstractmethod
    def transaction(self, number: int, transaction: LoggedTransaction) -> Iterator[Event]:
        """The group of a transaction."""

    @abstractmethod
    def statement_text(self, statement: RowsStatement, second: int) -> Event:
        """The event with the text of a statement of row events."""

    def xa_end(self, number: int, statement: XaEnd) -> Iterator[Event]:
        """The group of the second phase of an XA transaction."""
        yield from self.opening(number, statement)
        self.xid(number)
        text = f"XA {statement.end.upper()} {xa_text(statement.xa)}"
        yield self.plain_query(text, self.clock.second(number, 0), statement.current_database)

    def previous_gtids(self, groups: int) -> PreviousGtids | None:
        """PREVIOUS_GTIDS of a file that follows the session's first groups; None where the line has none."""
        return None

    @property
    def checksum_algorithm(self) -> int | None:
        """That of FORMAT_DESCRIPTION."""
        if not self.line.knows("checksum_algorithm"):
            return None
        return 0 if self.session.checksum == "none" else 1

    def listed_gtids(self, groups: int) -> tuple[ListedGtid, ...]:
        """What GTID_LIST of a file that follows the session's first groups has; nothing where the line has none."""
        return ()

    def rotate(self, next_file: str) -> Rotate:
        """The event that names the next file; that of 3.23 has no position."""
        return Rotate(next_file=next_file, position=None if self.line.framing.binlog_version == 1 else 4)

    def event(self, body: Body, timestamp: int, flags: int = 0) -> Event:
        """An event of the server's own.  Raises ScenarioError for a type that the line does not know."""
        if body.type_code not in self._known_types:
            require_type(self.line, body.type_code)
            self._known_types.add(body.type_code)
        flags |= self.line.framing.header_flags | (SKIP_REPLICATION if self.session.skip_replication else 0)
        server_id = self.session.server_id if self.server_id is None else self.server_id
        return Event(body=body, timestamp=timestamp, server_id=server_id, flags=flags)

    def own(self, event: OwnEvent, second: int) -> Event:
        """An event of the scenario's own; its QUERY events are counted as others are."""
        made = own_event(event, second, self.session, self.line)
        self.queries += made.type_code in _QUERIES
        if isinstance(made.body, (Query, ExecuteLoadQuery)):
            return made.replace(body=self.statuses.applied(self.queries, made.body))
        return made

    def file_name(self, number: int) -> str:
        """Name of the session's file ``number``, from 0."""
        return f"{self.session.log_name}.{self.session.first_file + number:06}"

    def commit_second(self, number: int, group: LoggedGroup) -> int:
        """An autocommitted statement commits in its own second: a statement has one start time."""
        if isinstance(group, LoggedTransaction) and group.in_block and not group.alone:
            # XA END has a time of its own.
            return self.clock.second(number, len(group.steps) + (1 if self.has_xa_end(group) else 0))
        return self.clock.second(number, 0)

    def xa_of(self, transaction: LoggedTransaction) -> XaId | None:
        """The XA transaction that the group is logged as; before there was XA_PREPARE, it is an ordinary one."""
        return transaction.xa if self.line.knows("xa_prepare") else None

    @abstractmethod
    def has_xa_end(self, transaction: LoggedTransaction) -> bool:
        """Whether the transaction is logged with XA END and XA_PREPARE."""

    def end_second(self, number: int, transaction: LoggedTransaction) -> int:
        """The second of the event that ends the transaction."""
        return self.commit_second(number, transaction)

    def query(self, query: Query | ExecuteLoadQuery, timestamp: int, flags: int, thread_id: int | None = None) -> Event:
        exec_time = told(self.facts.exec_times, self.queries) or 0
        self.queries += 1
        thread_id = self.thread_id if thread_id is None else thread_id
        if self.line.framing.binlog_version < 4:
            query = query.replace(status_variables=())
        query = self.statuses.applied(self.queries, query).replace(thread_id=thread_id, exec_time=exec_time)
        if query != self._query:
            self._query = query
        return self.event(self._query, timestamp, flags)

    def rows(self, statement: RowsStatement, second: int, inside: Sequence[OwnEvent] = ()) -> Iterator[Event]:
        """TABLE_MAP and row events of a statement, with the scenario's events ``inside`` after the TABLE_MAP."""
        try:
            self.line.require("row_events")
        except ScenarioError as error:
            raise error.at(None, statement.text.line) from None
        table_ids: dict[str, int] = {}
        maps: list[Event] = []
        tables = opened_tables(statement, self.session)
        for table in tables:
            table_id = table_ids[table.full_name] = self.table_id(table)
            maps.append(self.event(self._table_map(statement, table, table_id), second))
        single = self.line.rows.single_rows
        yield from () if single else maps
        yield from (self.own(event, second) for event in inside)
        by_id = {table_ids[table.full_name]: mapped for table, mapped in zip(tables, maps, strict=True)}
        for body in row_events(statement, table_ids, self.session, self.line):
            if single:
                yield by_id[body.table_id]
            yield self.event(body, second)

    def _table_map(self, statement: RowsStatement, table: Table, table_id: int) -> TableMap:
        flags = REFERRED_FK_DB if statement.foreign_keys.is_related else 0
        if table.full_name in statement.triggers.tables and self.line.table_map.flags_triggers:
            flags |= HAS_TRIGGERS
        # Tables and sessions never change, and are the same objects as long as they are kept here.
        key = (id(table), id(self.session), table_id, flags)
        if key not in self._maps:
            mapped = table_map(table, table_id, self.session, self.line)
            if flags:
                mapped = mapped.replace(table_flags=mapped.table_flags | flags)
            self._maps[key] = table, self.session, mapped
        return self._maps[key][2]

    def steps(self, number: int, transaction: LoggedTransaction) -> Iterator[Event]:
        """What the statements of a transaction log."""
        inside: list[OwnEvent] = []
        for index, step in enumerate(transaction.steps):
            self._use_of(step)
            second = self.clock.second(number, index)
            if isinstance(step, OwnEvent):
                if step.place == "rows":
                    inside.append(step)
                elif step.place == "here":
                    yield self.own(step, second)
            elif isinstance(step, DdlStatement):
                yield from self.insert_id(step, second)
                yield self.inner_ddl(step, second)
            elif isinstance(step, RowsStatement) and step.as_text:
                yield from self.text(step, second, transaction.current_database)
            elif isinstance(step, RowsStatement) and not ignores(step, self.session):
                if self.session.rows_query if step.context.rows_query is None else step.context.rows_query:
                    yield self.statement_text(step, second)
                yield from self.rows(step, second, inside)
                inside.clear()
            elif isinstance(step, (Savepoint, RollbackTo)):
                word = "SAVEPOINT" if isinstance(step, Savepoint) else "ROLLBACK TO"
                name = identifier(step.name, sql_mode(self.session.sql_mode, self.line).quote)
                yield self.plain_query(f"{word} {name}", second, transaction.current_database)

    def insert_id(self, statement: DdlStatement, second: int) -> Iterator[Event]:
        """What stands before the text of CREATE TABLE ... SELECT that generated AUTO_INCREMENT values."""
        if isinstance(statement, TableCreationSelect) and statement.insert_id is not None:
            yield self.event(Intvar(variable=INSERT_ID, value=statement.insert_id), second)

    def selected(self, statement: RowsStatement, second: int) -> Iterator[Event]:
        """The rows of CREATE TABLE ... SELECT, if there are any."""
        if statement.first is None:
            return
        if self.session.rows_query:
            yield self.statement_text(statement, second)
        yield from self.rows(statement, second)

    def text(self, statement: RowsStatement, second: int, current_database: str) -> Iterator[Event]:
        """The events of a statement that is logged as its text."""
        file_id = self.file_id() if statement.text.load is not None else 0
        for body in statement_bodies(statement, current_database, file_id, self.session, self.line):
            if isinstance(body, (Query, ExecuteLoadQuery)):
                yield self.query(body, second, statement_flags(statement, self.line))
            else:
                yield self.event(body, second)

    def before_begin(self, number: int, transaction: LoggedTransaction) -> Iterator[Event]:
        """The scenario's events between the GTID event and BEGIN."""
        for step in transaction.steps:
            if isinstance(step, OwnEvent) and step.place == "begin":
                yield self.own(step, self.clock.second(number, 0))

    def plain_query(self, text: str, second: int, database: str) -> Event:
        """A QUERY event with nothing but the session's own status variables."""
        variables = in_order(session_variables(self.session, self.line), self.line)
        return self.query(Query(database=database, status_variables=variables, query=text), second, SUPPRESS_USE)

    def xa_prepare(self, number: int, transaction: LoggedTransaction, xa: XaId) -> Iterator[Event]:
        """XA END and XA_PREPARE, which end an XA transaction; XA ROLLBACK of one that cannot be taken back whole."""
        second = self.clock.second(number, len(transaction.steps))
        end = f"XA END {xa_text(xa)}"
        if self.session.source is None:
            yield self.plain_query(end, second, transaction.current_database)
        else:
            yield self.query(applier_query(end, self.session, self.line), second, SUPPRESS_USE)
        if transaction.end == "rollback":
            second = self.end_second(number, transaction)
            yield self.plain_query(f"XA ROLLBACK {xa_text(xa)}", second, transaction.current_database)
            return
        body = XaPrepare(
            one_phase=int(transaction.end == "commit"), format_id=xa.format_id, gtrid=xa.gtrid, bqual=xa.bqual
        )
        yield self.event(body, self.end_second(number, transaction))

    def commit(self, number: int, transaction: LoggedTransaction, status: Query, flags: int = 0) -> Event:
        """XID, or COMMIT as text where no transactional engine took part, or ROLLBACK; ``flags`` beside its own."""
        second = self.end_second(number, transaction)
        with_xid = transaction.two_phase and not transaction.alone and self.line.groups.xid_commits
        # Before there was XA_PREPARE, an XA transaction has no number of the server's own (recorded on 5.5.34).
        with_xid &= transaction.xa is None or self.line.knows("xa_prepare")
        if transaction.end == "commit" and with_xid:
            return self.event(Xid(xid=self.xid(number)), second)
        self.xid(number)
        return self.query(status.replace(query=transaction.end.upper()), second, SUPPRESS_USE | flags)


def xa_text(xa: XaId) -> str:
    """The identifier as servers write it."""
    return f"X'{xa.gtrid.hex()}',X'{xa.bqual.hex()}',{xa.format_id}"
