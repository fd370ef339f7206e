"""The clients of a session, where there are several: what each has of its own, and transactions that stay open."""

from __future__ import annotations

from dataclasses import dataclass, field

from forge.engine.dictionary.catalog import TableName
from forge.engine.dictionary.table_state import TableState
from forge.engine.session.connection import Connection
from forge.engine.session.transactions import RunningTransaction
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.circumstances import Turn
from forge.plan.session import Session as Settings
from forge.plan.statement_text import UserVariable
from forge.plan.statements import RowsStatement
from forge.plan.transactions import XaId


@dataclass(slots=True)
class OpenTransaction:
    """A transaction that is not over: its statements so far, and the settings that it began with."""

    running: RunningTransaction
    begun: Settings
    turns: list[Turn] = field(default_factory=list)
    #: How many of its changes hold locks.
    locked: int = 0

    def lock(self) -> None:
        """Other clients wait for the rows that it has changed, and for the tables' definitions."""
        for state, number, _ in self.running.log[self.locked :]:
            state.lock(number)
        self.locked = len(self.running.log)

    def unlock(self) -> None:
        """It goes on, or ends."""
        for state, number, _ in self.running.log[: self.locked]:
            state.unlock(number)
        self.locked = 0


@dataclass(slots=True)
class Client:
    """What a client has of its own."""

    number: int
    settings: Settings
    database: str = ""
    variables: dict[str, UserVariable] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)
    last_insert_id: int | None = 0
    keeps_rows: bool = False
    temporary: dict[TableName, TableState] = field(default_factory=dict)
    open: OpenTransaction | None = None
    #: The XA transaction that it is bound to, and its number among the sessions that prepare such.
    bound: XaId | None = None
    session: int | None = None


class Clients:
    """The clients by name; the first is ``""``."""

    def __init__(self, settings: Settings) -> None:
        self.known = {"": Client(0, settings)}
        self.current = self.known[""]
        #: There were others than the first.
        self.several = False

    def switch(self, connection: Connection, name: str) -> None:
        """Another client goes on: what the one before has is kept, and its own put in the place of it."""
        client = self.known.get(name)
        if client is self.current:
            return
        if client is None:
            if connection.journal.reconnects:
                raise UnsupportedError("several connections behind one that has left a prepared XA transaction")
            self.several = True
            client = self.known[name] = Client(len(self.known), connection.initial, connection.state.database)
        state, left = connection.state, self.current
        left.settings, left.database, left.last_insert_id = connection.settings, state.database, state.last_insert_id
        left.variables, left.unknown, left.keeps_rows = state.variables, state.unknown, state.keeps_rows
        left.temporary = state.catalog.temporary
        left.bound, left.session = state.prepared.bound, state.prepared.session
        state.database, state.last_insert_id, state.keeps_rows = (
            client.database, client.last_insert_id, client.keeps_rows,
        )  # fmt: skip
        state.variables, state.unknown, state.catalog.temporary = client.variables, client.unknown, client.temporary
        state.prepared.bound = client.bound
        if client.session is None:
            state.prepared.connect()
        else:
            state.prepared.session = client.session
        self.current = client
        connection.journal.client = client.number
        connection.change(client.settings)

    def check_ended(self) -> None:
        """Raises ScenarioError if a transaction is open still."""
        for name, client in self.known.items():
            if client.open is not None:
                raise ScenarioError(
                    f"the transaction of connection {name!r} stays open", expected="a later one of it that ends it"
                )

    def check_restart(self) -> None:
        """Raises UnsupportedError where a restart would end more than connections."""
        for name, client in self.known.items():
            if client.open is not None:
                raise UnsupportedError(f"a restart under the open transaction of connection {name!r} is not supported")
            if client is not self.current and client.temporary:
                raise UnsupportedError(f"a restart under temporary tables of connection {name!r} is not supported")

    def restart(self, connection: Connection) -> None:
        """The server is started again: all have to connect anew."""
        self.known = {"": Client(0, connection.initial)}
        self.current = self.known[""]
        connection.journal.client = 0


def check_waits(statement: RowsStatement) -> None:
    """Raises ScenarioError for a statement that would wait for rows which another transaction has changed: without a
    key it looks at all of them."""
    search = statement.search
    compared = search.compared | search.compared_together
    by_key = any(key.parts[0].column in compared for key in statement.table.keys)
    if statement.kind in ("update", "delete") and not by_key:
        raise ScenarioError(
            f"the statement looks at all rows of {statement.table.full_name}, and would wait for those that an open"
            " transaction has changed",
            expected="a condition on a key",
        )
