"""How clients go: with their temporary tables, with a restart of the server, or because they have prepared."""

from __future__ import annotations

from typing import Literal

from forge.engine.ddl.drop_table import session_end
from forge.engine.session.clients import Clients
from forge.engine.session.connection import Connection
from forge.plan.session import Session as Settings
from forge.plan.transactions import XaId


class ClientEnds(Connection):
    """A connection that clients take turns at."""

    def __init__(self, settings: Settings, server: str) -> None:
        super().__init__(settings, server)
        self.clients = Clients(settings)

    def end(self) -> None:
        """The client goes, and its temporary tables with it; nobody sees what waits for its second phase still."""
        self.clients.check_ended()
        for name in list(self.clients.known):
            self.clients.switch(self, name)
            self._end_client()
        self.state.prepared.forget()

    def end_xa(self, xa: XaId, end: Literal["commit", "rollback"]) -> None:
        """The second phase of a prepared transaction.  Raises ScenarioError where it cannot end."""
        self.leave_prepared(xa)
        self.record(*self.state.prepared.end(xa, end, self.state.database))

    def leave_prepared(self, ended: XaId | None = None) -> None:
        """Where the session may only end the transaction that it has prepared, another one goes on.

        Raises ScenarioError for lines on which the transaction does not outlive its session.
        """
        prepared = self.state.prepared
        if prepared.bound in (None, ended):
            return
        if self.clients.several or not self.line.knows("xa_prepare"):
            prepared.check_free()
        self._end_client()
        self.journal.reconnect()
        prepared.leave()
        self.state.begin()
        self.change(self.initial)

    def restart(self, kind: Literal["clean", "crash"]) -> None:
        """The server is started again, and the session is a new one.

        Raises UnsupportedError where that would end more than connections.
        """
        self.clients.check_restart()
        if not self.line.knows("xa_prepare"):
            self.state.prepared.check_free()
        self._end_client()
        self.journal.end_file("crash" if kind == "crash" else "restart")
        for table in self.state.catalog.tables.values():
            table.restart()
        self.state.prepared.restart()
        self.state.begin()
        self.clients.restart(self)
        self.change(self.initial)

    def _end_client(self) -> None:
        for statement in session_end(self.state.catalog, idle=self.journal.begins_file):
            self.record(statement)
