"""A connection to a server: its settings, its state, the clock, and the journal of what has happened."""

from __future__ import annotations

import copy
from typing import Self

from forge.compile.groups.clock import Clock
from forge.engine.dictionary.catalog import Catalog
from forge.engine.rows.defaults import StatementTime
from forge.engine.session.journal import Journal
from forge.engine.session.state import SessionState
from forge.engine.session.texts import SessionText
from forge.plan.session import Session as Settings
from forge.servers import server_line


class Connection:
    """What all requests of a session have in common."""

    def __init__(self, settings: Settings, server: str) -> None:
        self.settings = settings
        self.line = server_line(server)
        self.clock = Clock(settings)
        #: Without strict mode values are clipped.
        self.clips = settings.sql_mode == "" or (settings.sql_mode is None and not self.line.query.strict)
        self.state = SessionState(
            Catalog(
                server,
                generates_keys=settings.generate_invisible_primary_key,
                foreign_key_checks=settings.foreign_key_checks,
                zero_dates=self.clips,
            )
        )
        self.journal = Journal(self.line)
        #: The database that becomes the current one as soon as it exists, if no other is.
        self.home = ""

    @property
    def texts(self) -> SessionText:
        return SessionText(self.state, self.settings, self.line)

    def time(self, group: int = 0, statement: int = 0) -> StatementTime:
        """What CURRENT_TIMESTAMP is; ``group`` counts from the first that is not logged yet."""
        return StatementTime(*self.clock.statement_time(self.journal.logged + group, statement))

    def use_home(self) -> None:
        """Where no database is current, the session's own is from now on, if it exists."""
        if not self.state.database and self.home in self.state.catalog.databases:
            self.state.database = self.home

    def fork(self) -> Self:
        """The same connection with forks of its state and its journal."""
        fork = copy.copy(self)
        fork.state, fork.journal = self.state.fork(), self.journal.fork()
        return fork
