"""A connection to a server: its clients, their settings, the clock, and the journal of what has happened."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from forge.engine.ddl.drop_table import session_end
from forge.engine.dictionary.catalog import Catalog, TableName
from forge.engine.dictionary.engines import engine_named
from forge.engine.dictionary.table_state import TableState
from forge.engine.rows.defaults import StatementTime
from forge.engine.session.transactions import PreparedTransactions, RunningTransaction
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.circumstances import Circumstances, FileEnd, Turn
from forge.plan.clock import Clock
from forge.plan.collations import new_collation
from forge.plan.definitions import DdlStatement
from forge.plan.grouping.logged_groups import logged_groups
from forge.plan.gtids import MariadbGtid, MysqlGtid
from forge.plan.plan import EventStep, FileStep
from forge.plan.session import Session as Settings
from forge.plan.sql_modes import sql_mode
from forge.plan.statement_text import UserVariable
from forge.plan.time_zones import offset_of
from forge.plan.transactions import Group, OwnEvent, Transaction, XaId
from forge.servers import ServerLine, server_line


class Journal(Struct):
    """Groups, and what stands between them, in order."""

    line: ServerLine
    groups: list[Group] = field(default_factory=list)
    file_steps: list[FileStep] = field(default_factory=list)
    event_steps: list[EventStep] = field(default_factory=list)
    #: After how many groups another connection goes on.
    reconnects: list[int] = field(default_factory=list)
    #: How many groups the log has so far.
    logged: int = 0
    #: How many of the first groups were there before the log began.
    existing: int = 0
    #: What groups run in, by their numbers, where that is not what the session began with.
    circumstances: dict[int, Circumstances] = field(default_factory=dict)
    #: What clients send, in order, and the number of the one that sends.
    turns: list[Turn] = field(default_factory=list)
    client: int = 0

    def add(self, group: Group, circumstances: Circumstances) -> None:
        if circumstances != Circumstances():
            self.circumstances[len(self.groups)] = circumstances
        self.turns.append(Turn(self.client, len(self.groups)))
        self.groups.append(group)
        self.logged += sum(1 for _ in logged_groups((group,), self.line))

    def keep_out_of_log(self) -> None:
        """What has happened so far was there before the log began."""
        self.groups = [
            replace(group, unlogged=True) for group in self.groups if isinstance(group, DdlStatement | Transaction)
        ]
        self.existing, self.logged = len(self.groups), 0

    def end_file(self, kind: FileEnd) -> None:
        self.turns.append(Turn(self.client, end_of_file=kind))
        self.file_steps.append(FileStep(kind, len(self.groups)))

    def place_event(self, event: OwnEvent) -> None:
        """An event outside of all groups."""
        self.event_steps.append(EventStep(event, len(self.groups), len(self.file_steps)))

    def reconnect(self) -> None:
        self.reconnects.append(len(self.groups))


class Client(Struct):
    """What a client has of its own: settings, the current database, and what the texts of its statements can read."""

    number: int
    settings: Settings
    #: Its number among the sessions that prepare XA transactions, and the one that it is bound to.
    session: int
    bound: XaId | None = None
    #: The current database; empty if there is none.
    database: str = ""
    variables: dict[str, UserVariable] = field(default_factory=dict)
    #: Variables whose values are not known: a statement computed them.
    unknown: set[str] = field(default_factory=set)
    #: What LAST_INSERT_ID() gives; None: not known.
    last_insert_id: int | None = 0
    temporary: dict[TableName, TableState] = field(default_factory=dict)
    #: Its transaction that is not over.
    open: RunningTransaction | None = None


class Connection:
    """What all requests of a session have in common; the first client is ``""``."""

    def __init__(self, settings: Settings, server: str) -> None:
        #: The settings that each client begins with.
        self.initial = settings
        self.line = server_line(server)
        self.catalog = Catalog(server, lowers_names=settings.lower_case_table_names == 1)
        self.prepared = PreparedTransactions()
        self.journal = Journal(self.line)
        self._sessions = 0
        self.clients: dict[str, Client] = {}
        #: There were other clients than the first.
        self.several = False
        #: The GTID that the client gives its next group.
        self.gtid: MysqlGtid | MariadbGtid | None = None
        #: The database that becomes the current one as soon as it exists, if no other is.
        self.home = ""
        self._enter("", 0, "")

    def _enter(self, name: str, number: int, database: str) -> None:
        """A new client of that name goes on."""
        self.client = self.clients[name] = Client(number, self.initial, self._sessions, database=database)
        self._sessions += 1
        self._go_on()

    def _go_on(self) -> None:
        self.catalog.temporary = self.client.temporary
        self.journal.client = self.client.number
        self.change(self.client.settings)

    @property
    def settings(self) -> Settings:
        """The settings that are in force."""
        return self.client.settings

    def change(self, settings: Settings) -> None:
        """SET: these settings are in force from now on."""
        self.client.settings = settings
        self.clock = Clock(settings)
        catalog = self.catalog
        catalog.generates_keys = settings.generate_invisible_primary_key
        catalog.checks_constraints = settings.check_constraint_checks
        catalog.explicit_timestamps = bool(settings.explicit_defaults_for_timestamp)
        catalog.default_engine = engine_named(settings.default_storage_engine, self.line)
        catalog.foreign_key_checks = settings.foreign_key_checks
        self.mode = sql_mode(settings.sql_mode, self.line)
        #: Minutes that the session's clock is ahead of UTC.
        self.utc_offset = offset_of(settings.time_zone, self.line)
        dialect = self.mode.dialect(self.line)
        null_is_now = dialect.null_is_now or not settings.explicit_defaults_for_timestamp
        dialect = msgspec.structs.replace(dialect, null_is_now=null_is_now, utc_offset=self.utc_offset)
        catalog.dialect = None if dialect == self.line.values else dialect
        catalog.clips = self.clips
        catalog.new_collation = new_collation(settings, self.line)

    @property
    def clips(self) -> bool:
        """Whether values that do not fit are clipped: without strict mode."""
        return not self.mode.is_strict

    def own(self, settings: Settings) -> Settings | None:
        """Settings that are in force, None for those that the session began with."""
        return None if settings == self.initial else settings

    def record(self, group: Group, begun: Settings | None = None, parent: int | None = None) -> None:
        """Enter a group in the journal; ``begun`` are the settings before it where it has changed them, ``parent`` the
        groups that were logged when its last statement had run, where that are not all.
        """
        begun, ended = self.own(self.settings if begun is None else begun), self.own(self.settings)
        self.journal.add(group, Circumstances(begun, ended, self.gtid, self.journal.client, parent))

    def time(self, group: int = 0, statement: int = 0) -> StatementTime:
        """What CURRENT_TIMESTAMP is; ``group`` counts from the first that is not logged yet."""
        return StatementTime(*self.clock.statement_time(self.journal.logged + group, statement), self.utc_offset)

    def use_home(self) -> None:
        """Where no database is current, the session's own is from now on, if it exists."""
        if not self.client.database and self.home in self.catalog.databases:
            self.client.database = self.home

    def switch(self, name: str) -> None:
        """The client of that name goes on, a new one where there is none."""
        client = self.clients.get(name)
        if client is None:
            if self.journal.reconnects:
                raise UnsupportedError("several connections behind one that has left a prepared XA transaction")
            self.several = True
            self._enter(name, len(self.clients), self.client.database)
        elif client is not self.client:
            self.client = client
            self._go_on()

    def end(self) -> None:
        """The clients go, and their temporary tables with them; nobody sees what waits for its second phase still."""
        for name, client in self.clients.items():
            if client.open is not None:
                expected = "a later one of it that ends it"
                raise ScenarioError(f"the transaction of connection {name!r} stays open", expected=expected)
        for name in list(self.clients):
            self.switch(name)
            self._drop_temporary()
        self.prepared.forget()

    def end_xa(self, xa: XaId, end: Literal["commit", "rollback"]) -> None:
        """The second phase of a prepared transaction.  Raises ScenarioError where it cannot end."""
        self.leave_prepared(xa)
        self.client.bound = None
        self.record(*self.prepared.end(xa, end, self.client.database, self.client.session))

    def leave_prepared(self, ended: XaId | None = None) -> None:
        """Where the client may only end the transaction that it has prepared, another one goes on.

        Raises ScenarioError for lines on which the transaction does not outlive its session.
        """
        if self.client.bound in (None, ended):
            return
        if self.several or not self.line.knows("xa_prepare"):
            raise ScenarioError(
                "the session has a prepared XA transaction, and refuses everything else until it ends (error 1399)",
                expected="xa_commit or xa_rollback of it first",
            )
        self._drop_temporary()
        self.journal.reconnect()
        self._enter("", self.client.number, self.client.database)

    def restart(self, kind: Literal["clean", "crash"]) -> None:
        """The server is started again, and the client is a new one.

        Raises UnsupportedError where that would end more than connections.
        """
        for name, client in self.clients.items():
            if client.open is not None or (client is not self.client and client.temporary):
                problem = f"a restart under the open transaction or temporary tables of connection {name!r}"
                raise UnsupportedError(f"{problem} is not supported")
        if not self.line.knows("xa_prepare"):
            self.leave_prepared()
        self._drop_temporary()
        self.journal.end_file("crash" if kind == "crash" else "restart")
        for table in self.catalog.tables.values():
            table.restart()
        self.prepared.restart()
        database = self.client.database
        self.clients.clear()
        self._enter("", 0, database)

    def _drop_temporary(self) -> None:
        for statement in session_end(self.catalog):
            self.record(statement)
