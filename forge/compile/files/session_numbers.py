"""The facts that number and date the events of a session."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import msgspec

from forge.plan.circumstances import Circumstances
from forge.plan.clock import Clock
from forge.plan.facts import Facts, told
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.plan.tables import Table
from forge.servers import ServerLine

DEFAULT_TABLE_ID = 106
DEFAULT_XID = 10
USUAL = Circumstances()


class SessionNumbers:
    """Numbers and times: those of the facts, and where these say nothing those of a fresh server."""

    #: The first client's connection on a fresh server.
    default_thread_id = 8

    def __init__(self, plan: Plan, line: ServerLine) -> None:
        self.plan = plan
        self.line = line
        #: The settings in force: those of the statement that is being logged.
        self.session: Session = plan.session
        self.circumstances = USUAL
        self.facts: Facts = plan.session.facts
        self._clocks: dict[str | None, Clock] = {}
        #: The file that is being written, from 0.
        self.file = 0
        #: Groups that are in it so far.
        self.in_file = 0
        #: Clients that went and were followed by another, since the server was started.
        self.sessions = 0
        self.queries = 0
        self.table_maps = 0
        #: Full names of the tables that TABLE_MAP events are of.
        self.mapped: set[str] = set()
        self.loads = 0
        self.inner_ddls = 0
        self.next_file_id = count(1)
        self.next_xid = count(DEFAULT_XID if self.facts.first_xid is None else self.facts.first_xid)
        self._first_table_id = DEFAULT_TABLE_ID if self.facts.first_table_id is None else self.facts.first_table_id
        self.next_table_id = count(self._first_table_id)
        self.table_ids: dict[tuple[str, str, int], int] = {}

    def restart(self) -> None:
        """The server was started again: it has no table open, and counts its statements anew."""
        self.sessions = 0
        self.table_ids.clear()
        self.next_table_id = count(self._first_table_id)
        self.next_xid = count(DEFAULT_XID)
        self.next_file_id = count(1)

    @property
    def clock(self) -> Clock:
        """Times, as the settings in force have them."""
        declared = self.session.timestamp
        if declared not in self._clocks:
            self._clocks[declared] = Clock(msgspec.structs.replace(self.plan.session, timestamp=declared))
        return self._clocks[declared]

    def group_number(self, number: int) -> int:
        """The number in the group's GTID."""
        return number + (1 if self.facts.first_gno is None else self.facts.first_gno)

    @property
    def thread_id(self) -> int:
        """The connection's id."""
        recorded = self.facts.thread_in(self.file, self.in_file)
        return self.default_thread_id + self.sessions + self.circumstances.client if recorded is None else recorded

    def xid(self, number: int) -> int:
        """The number of the storage engine's transaction for a group."""
        return _given(told(self.facts.xids, number), self.next_xid)

    def inner_xid(self) -> int:
        """The number of a data definition statement inside a transaction."""
        self.inner_ddls += 1
        return _given(told(self.facts.inner_xids, self.inner_ddls - 1), self.next_xid)

    def file_id(self) -> int:
        """LOAD DATA counts its files from the server's start."""
        self.loads += 1
        return _given(told(self.facts.file_ids, self.loads - 1), self.next_file_id)

    def table_id(self, table: Table) -> int:
        """Ids are given when a definition is opened: one a version of a table's definition."""
        self.mapped.add(table.full_name)
        self.table_maps += 1
        recorded = told(self.facts.table_ids, self.table_maps - 1)
        key = (table.database, table.name, table.version)
        if recorded is None and key not in self.table_ids:
            self.table_ids[key] = next(self.next_table_id)
        return self.table_ids[key] if recorded is None else recorded


def _given(recorded: int | None, following: Iterator[int]) -> int:
    return next(following) if recorded is None else recorded
