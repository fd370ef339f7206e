"""What the logs of both families have in common: the file's ends, and the facts that number and date its events."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import count

from forge.binlog.writer import write_binlog
from forge.compile.clock import Clock
from forge.compile.model import DdlStatement, Facts, Group, Plan, RowsStatement, Session, Table, Transaction
from forge.compile.rows import row_events
from forge.compile.table_map import table_map
from forge.events.event import SUPPRESS_USE, Event
from forge.events.format_description import FormatDescription
from forge.events.layout import Body
from forge.events.query import Query
from forge.events.rotate import Rotate
from forge.events.stop import Stop
from forge.events.xid import Xid
from forge.servers import ServerLine

DEFAULT_THREAD_ID = 8
DEFAULT_TABLE_ID = 106
DEFAULT_XID = 10


class SessionLog(ABC):
    """Writes one session's groups into files."""

    def __init__(self, plan: Plan, line: ServerLine) -> None:
        self.plan = plan
        self.line = line
        self.session: Session = plan.session
        self.facts: Facts = plan.session.facts
        self.clock = Clock(plan.session)
        self.version = self.facts.server_version or line.server_version
        #: The file that is being written, from 0.
        self.file = 0
        self.queries = 0
        self.table_maps = 0
        self.next_xid = count(DEFAULT_XID if self.facts.first_xid is None else self.facts.first_xid)
        first_id = DEFAULT_TABLE_ID if self.facts.first_table_id is None else self.facts.first_table_id
        self.next_table_id = count(first_id)
        self.table_ids: dict[tuple[str, str, int], int] = {}

    def files(self) -> Iterator[list[Event]]:
        """The events of each file of the session.

        A file that has reached max_binlog_size after a group is rotated there (MYSQL_BIN_LOG::rotate); groups are
        never split.
        """
        events = self._open(0)
        size = self._size(events)
        for number, group in enumerate(self.logged()):
            made = list(self._group(number, group))
            events += made
            size += self._size(made) - 4 if self.session.max_binlog_size is not None else 0
            if self.session.max_binlog_size is not None and size >= self.session.max_binlog_size:
                events.append(self._rotate(number))
                yield events
                self.file += 1
                events = self._open(number)
                size = self._size(events)
        events += self._end()
        yield events

    def logged(self) -> Iterator[Group]:
        """The groups of the plan that this family logs."""
        yield from self.plan.groups

    def _group(self, number: int, group: Group) -> Iterator[Event]:
        return self.ddl(number, group) if isinstance(group, DdlStatement) else self.transaction(number, group)

    def _open(self, group: int) -> list[Event]:
        """FORMAT_DESCRIPTION and the state that the file starts with."""
        return [self._description(group), *self.head(group)]

    def _size(self, events: list[Event]) -> int:
        """Bytes of a file of these events."""
        if isinstance(events[0].body, FormatDescription):
            return len(write_binlog(events))
        description = self._description(0)
        return len(write_binlog([description, *events])) - len(write_binlog([description])) + 4

    @abstractmethod
    def head(self, group: int) -> Iterator[Event]:
        """What stands between FORMAT_DESCRIPTION and the first group; ``group`` was the last of the file before."""

    @abstractmethod
    def ddl(self, number: int, statement: DdlStatement) -> Iterator[Event]:
        """The group of a data definition statement."""

    @abstractmethod
    def transaction(self, number: int, transaction: Transaction) -> Iterator[Event]:
        """The group of a transaction."""

    def event(self, body: Body, timestamp: int, flags: int = 0) -> Event:
        return Event(body=body, timestamp=timestamp, server_id=self.session.server_id, flags=flags)

    def _description(self, group: int) -> Event:
        opened = self.clock.opened(self.file, group)
        created = opened if self.facts.created is None else self.facts.created
        description = FormatDescription(
            server_version=self.version,
            # The first file after the server's start says when that was.
            created=created if self.file == 0 else 0,
            post_header_lengths=self.line.post_header_bytes,
            checksum_algorithm=1 if self.session.checksum == "crc32" else 0,
        )
        return self.event(description, opened)

    def file_name(self, number: int) -> str:
        """Name of the session's file ``number``, from 0."""
        return f"{self.session.log_name}.{number + 1:06}"

    def _rotate(self, group: int) -> Event:
        closed = self.facts.file(self.file).closed
        second = self.clock.second(group, 0) if closed is None else closed
        return self.event(Rotate(next_file=self.file_name(self.file + 1)), second)

    def _end(self) -> list[Event]:
        closed = self.clock.closed(len(self.plan.groups), self.file)
        if self.session.ends_with == "stop":
            return [self.event(Stop(), closed)]
        if self.session.ends_with == "rotate":
            return [self.event(Rotate(next_file=self.facts.next_file or self.file_name(self.file + 1)), closed)]
        return []

    def group_number(self, number: int) -> int:
        """The number in the group's GTID."""
        return number + (1 if self.facts.first_gno is None else self.facts.first_gno)

    def commit_second(self, number: int, group: Group) -> int:
        """An autocommitted statement commits in its own second: a statement has one start time."""
        if isinstance(group, Transaction) and group.in_block:
            return self.clock.second(number, len(group.statements))
        return self.clock.second(number, 0)

    def end_second(self, number: int, transaction: Transaction) -> int:
        """The second of the event that ends the transaction."""
        return self.commit_second(number, transaction)

    def query(self, query: Query, timestamp: int, flags: int) -> Event:
        times = self.facts.exec_times
        exec_time = times[self.queries] if times is not None and self.queries < len(times) else 0
        self.queries += 1
        thread_id = DEFAULT_THREAD_ID if self.facts.thread_id is None else self.facts.thread_id
        return self.event(query.replace(thread_id=thread_id, exec_time=exec_time), timestamp, flags)

    def xid(self, number: int) -> int:
        if self.facts.xids is not None and number < len(self.facts.xids):
            return self.facts.xids[number]
        return next(self.next_xid)

    def rows(self, statement: RowsStatement, second: int) -> Iterator[Event]:
        """TABLE_MAP and row events of a statement."""
        table_id = self._table_id(statement.table)
        yield self.event(table_map(statement.table, table_id, self.session, self.line), second)
        for body in row_events(statement, table_id, self.session, self.line):
            yield self.event(body, second)

    def commit(self, number: int, transaction: Transaction, status: Query) -> Event:
        """XID, or COMMIT as text where no transactional engine took part."""
        second = self.end_second(number, transaction)
        if any(is_transactional(statement.table) for statement in transaction.statements):
            return self.event(Xid(xid=self.xid(number)), second)
        self.xid(number)
        return self.query(status.replace(query="COMMIT"), second, SUPPRESS_USE)

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


def is_transactional(table: Table) -> bool:
    return table.engine.lower() == "innodb"


def ddl_database(statement: DdlStatement) -> str:
    """The database field of a DDL statement's QUERY: for statements on a database, that database."""
    if statement.kind.endswith("_database") and statement.databases:
        return statement.databases[0]
    return statement.current_database
