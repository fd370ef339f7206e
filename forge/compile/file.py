"""From a plan to the events of a file, in the order and with the flags and times that a server gives them.

Recorded on MySQL 9.7 (docs/servers.md): GTID has the second of the commit, BEGIN that of the first statement, every
other event that of its own statement, XID that of the commit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import Any

from forge.compile.clock import Clock
from forge.compile.dependency import CommitOrder, Writeset
from forge.compile.model import DdlStatement, Facts, Group, Plan, RowsStatement, Session, Table, Transaction
from forge.compile.rows import row_events
from forge.compile.status import begin_variables, ddl_flags, ddl_text, ddl_variables, has_ddl_xid
from forge.compile.table_map import table_map
from forge.errors import UnsupportedError
from forge.events.event import IGNORABLE, IN_USE, SUPPRESS_USE, Event
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid, Gtid
from forge.events.layout import Body
from forge.events.previous_gtids import PreviousGtids
from forge.events.query import Query
from forge.events.rotate import Rotate
from forge.events.rows_query import RowsQuery
from forge.events.stop import Stop
from forge.events.xid import Xid
from forge.servers import ServerLine, server_line

DEFAULT_UUID = "6b696e64-6f66-4f72-6765-000000000001"
DEFAULT_THREAD_ID = 8
DEFAULT_TABLE_ID = 90
DEFAULT_XID = 10
DEFAULT_NEXT_FILE = "binlog.000002"


def compile_plan(plan: Plan) -> list[Event]:
    """The events of the file that a server of the plan's line would have written.

    With the facts of a recording in the session, byte for byte that file.  Raises UnsupportedError for what this
    version cannot compile, ScenarioError for values that do not fit.
    """
    line = server_line(plan.server)
    if line.family != "mysql":
        raise UnsupportedError(f"server line {plan.server} is not compiled yet")
    return list(_FileCompiler(plan, line).events())


class _FileCompiler:
    def __init__(self, plan: Plan, line: ServerLine) -> None:
        self.plan = plan
        self.line = line
        self.session: Session = plan.session
        self.facts: Facts = plan.session.facts
        self.clock = Clock(plan.session)
        self.version = self.facts.server_version or line.server_version
        self.order = Writeset() if line.dependency_tracking == "writeset" else CommitOrder()
        self.queries = 0
        self.table_maps = 0
        self.next_xid = count(DEFAULT_XID if self.facts.first_xid is None else self.facts.first_xid)
        first_id = DEFAULT_TABLE_ID if self.facts.first_table_id is None else self.facts.first_table_id
        self.next_table_id = count(first_id)
        self.table_ids: dict[tuple[str, str, int], int] = {}

    def events(self) -> Iterator[Event]:
        yield from self._head()
        for number, group in enumerate(self.plan.groups):
            yield from self._group(number, group)
        yield from self._end()

    def _event(self, body: Body, timestamp: int, flags: int = 0) -> Event:
        return Event(body=body, timestamp=timestamp, server_id=self.session.server_id, flags=flags)

    def _head(self) -> Iterator[Event]:
        opened = self.clock.opened()
        description = FormatDescription(
            server_version=self.version,
            created=opened if self.facts.created is None else self.facts.created,
            post_header_lengths=self.line.post_header_bytes,
            checksum_algorithm=1 if self.session.checksum == "crc32" else 0,
        )
        # IN_USE is set when the file is created and cleared in place when it is closed.
        yield self._event(description, opened, IN_USE if self.session.ends_with == "nothing" else 0)
        yield self._event(PreviousGtids(), opened, IGNORABLE)

    def _end(self) -> Iterator[Event]:
        closed = self.clock.closed(len(self.plan.groups))
        if self.session.ends_with == "stop":
            yield self._event(Stop(), closed)
        elif self.session.ends_with == "rotate":
            yield self._event(Rotate(next_file=self.facts.next_file or DEFAULT_NEXT_FILE), closed)

    def _group(self, number: int, group: Group) -> Iterator[Event]:
        if isinstance(group, DdlStatement):
            yield from self._ddl(number, group)
        else:
            yield from self._transaction(number, group)

    def _gtid(self, number: int, group: Group) -> Event:
        last_committed, sequence_number = self.order.next(group if isinstance(group, Transaction) else None)
        statements = len(group.statements) if isinstance(group, Transaction) else 0
        first_gno = 1 if self.facts.first_gno is None else self.facts.first_gno
        common: dict[str, Any] = {
            # MAY_HAVE_SBR: a group of row events only has it clear (sql/log_event.cc).
            "gtid_flags": 0 if isinstance(group, Transaction) else 1,
            "last_committed": last_committed,
            "sequence_number": sequence_number,
            "commit_timestamp": (self.clock.committed(number, statements), None),
            "server_version": (version_number(self.version), None),
        }
        body: AnonymousGtid
        if self.session.gtid:
            body = Gtid(uuid=self.facts.server_uuid or DEFAULT_UUID, gno=first_gno + number, **common)
        else:
            body = AnonymousGtid(**common)
        return self._event(body, self._commit_second(number, group))

    def _commit_second(self, number: int, group: Group) -> int:
        """An autocommitted statement commits in its own second: a statement has one start time."""
        if isinstance(group, Transaction) and group.explicit:
            return self.clock.second(number, len(group.statements))
        return self.clock.second(number, 0)

    def _query(self, query: Query, timestamp: int, flags: int) -> Event:
        times = self.facts.exec_times
        exec_time = times[self.queries] if times is not None and self.queries < len(times) else 0
        self.queries += 1
        thread_id = DEFAULT_THREAD_ID if self.facts.thread_id is None else self.facts.thread_id
        return self._event(query.replace(thread_id=thread_id, exec_time=exec_time), timestamp, flags)

    def _xid(self, number: int) -> int:
        if self.facts.xids is not None and number < len(self.facts.xids):
            return self.facts.xids[number]
        return next(self.next_xid)

    def _ddl(self, number: int, statement: DdlStatement) -> Iterator[Event]:
        yield self._gtid(number, statement)
        xid = self._xid(number) if has_ddl_xid(statement) else None
        query = Query(
            database=ddl_database(statement),
            status_variables=ddl_variables(
                statement, xid, self.clock.statement_time(number, 0)[1], self.session, self.line
            ),
            query=ddl_text(statement),
        )
        yield self._query(query, self.clock.second(number, 0), ddl_flags(statement))

    def _transaction(self, number: int, transaction: Transaction) -> Iterator[Event]:
        yield self._gtid(number, transaction)
        begin = Query(
            database=transaction.current_database,
            status_variables=begin_variables(
                transaction.statements[0], self.clock.statement_time(number, 0)[1], self.session, self.line
            ),
            query="BEGIN",
        )
        yield self._query(begin, self.clock.second(number, 0), SUPPRESS_USE)
        for index, statement in enumerate(transaction.statements):
            second = self.clock.second(number, index)
            if self.session.rows_query:
                yield self._event(RowsQuery(query=statement.sql), second, IGNORABLE)
            yield from self._rows(statement, second)
        yield self._event(Xid(xid=self._xid(number)), self._commit_second(number, transaction))

    def _rows(self, statement: RowsStatement, second: int) -> Iterator[Event]:
        table_id = self._table_id(statement.table)
        yield self._event(table_map(statement.table, table_id, self.session, self.line), second)
        for body in row_events(statement, table_id, self.session, self.line):
            yield self._event(body, second)

    def _table_id(self, table: Table) -> int:
        """Ids are given when a definition is opened: one a version of a table's definition."""
        place = self.table_maps
        self.table_maps += 1
        if self.facts.table_ids is not None and place < len(self.facts.table_ids):
            return self.facts.table_ids[place]
        key = (table.database, table.name, table.version)
        if key not in self.table_ids:
            self.table_ids[key] = next(self.next_table_id)
        return self.table_ids[key]


def ddl_database(statement: DdlStatement) -> str:
    """The database field of a DDL statement's QUERY: for statements on a database, that database."""
    if statement.kind.endswith("_database") and statement.databases:
        return statement.databases[0]
    return statement.current_database


def version_number(text: str) -> int:
    """``9.7.4-2`` as 90704."""
    match = re.match(r"(\d+)\.(\d+)\.(\d+)", text)
    if match is None:
        return 999999
    major, minor, patch = (int(part) for part in match.groups())
    return major * 10000 + minor * 100 + patch
