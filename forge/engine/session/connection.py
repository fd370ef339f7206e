"""A connection to a server: its settings, its state, the clock, and the journal of what has happened."""

from __future__ import annotations

import copy
from typing import Self

import msgspec

from forge.engine.dictionary.catalog import Catalog
from forge.engine.dictionary.engines import engine_named
from forge.engine.rows.defaults import StatementTime
from forge.engine.session.journal import Journal
from forge.engine.session.state import SessionState
from forge.engine.session.texts import SessionText
from forge.plan.circumstances import Circumstances
from forge.plan.clock import Clock
from forge.plan.collations import new_collation
from forge.plan.gtids import MariadbGtid, MysqlGtid
from forge.plan.session import Session as Settings
from forge.plan.sql_modes import sql_mode
from forge.plan.time_zones import offset_of
from forge.plan.transactions import Group
from forge.servers import server_line


class Connection:
    """What all requests of a session have in common."""

    def __init__(self, settings: Settings, server: str) -> None:
        #: The settings that each client begins with, and those that are in force.
        self.initial = settings
        self.line = server_line(server)
        self.state = SessionState(Catalog(server, lowers_names=settings.lower_case_table_names == 1))
        self.journal = Journal(self.line)
        self.change(settings)
        #: The GTID that the client gives its next group.
        self.gtid: MysqlGtid | MariadbGtid | None = None
        #: The database that becomes the current one as soon as it exists, if no other is.
        self.home = ""

    def change(self, settings: Settings) -> None:
        """SET: these settings are in force from now on."""
        self.settings = settings
        self.clock = Clock(settings)
        catalog = self.state.catalog
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

    @property
    def texts(self) -> SessionText:
        return SessionText(self.state, self.settings, self.line)

    def time(self, group: int = 0, statement: int = 0) -> StatementTime:
        """What CURRENT_TIMESTAMP is; ``group`` counts from the first that is not logged yet."""
        return StatementTime(*self.clock.statement_time(self.journal.logged + group, statement), self.utc_offset)

    def use_home(self) -> None:
        """Where no database is current, the session's own is from now on, if it exists."""
        if not self.state.database and self.home in self.state.catalog.databases:
            self.state.database = self.home

    def fork(self) -> Self:
        """The same connection with forks of its state and its journal."""
        fork = copy.copy(self)
        fork.state, fork.journal = self.state.fork(), self.journal.fork()
        return fork
