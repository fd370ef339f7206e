"""The clients of a script, and the transactions that they make of its statements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from forge.located import Place
from forge.scenario.script.script_tree import Steps

#: The end of a transaction, as an entry of a scenario says it.
_ENDS = {"commit": {}, "rollback": {"end": "rollback"}}


class Client(Struct):
    """A client of the script: the transaction that it has open, and what it has set."""

    name: str
    autocommit: bool = True
    #: The statements of the open transaction, and their places.
    open: list[dict[str, Any]] | None = None
    places: list[Place] = field(default_factory=list)
    sent: bool = False
    #: The identifier of the XA transaction that is open.
    xa: dict[str, Any] | None = None
    database: str | None = None
    variables: dict[str, Any] = field(default_factory=dict)
    #: User variables that no statement has been told of.
    untold: set[str] = field(default_factory=set)
    settings: dict[str, Any] = field(default_factory=dict)
    gtid: str | int | None = None
    #: Tables that LOCK TABLES holds for WRITE.
    locked: list[str] = field(default_factory=list)
    prepared: dict[str, str] = field(default_factory=dict)


class Transactions:
    """The transactions of a script's clients in the order in which they stand there, with their places."""

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self.places: dict[Steps, Place] = {}
        self.clients: dict[str, Client] = {}
        #: The statement that was added last.
        self.last: dict[str, Any] | None = None
        #: Settings that a new client has.
        self.settings: dict[str, Any] = {}
        self.client = self.named("")

    def named(self, name: str) -> Client:
        """The client of that name, which is made if it is new."""
        return self.clients.setdefault(name, Client(name, settings=dict(self.settings)))

    def turn_to(self, name: str) -> None:
        """Another client sends what follows."""
        if self.client.open is not None and self.client.name != name:
            self.leave(self.client)
        self.client = self.named(name)

    def end_all(self) -> None:
        """What is open at the end of the script is rolled back."""
        for client in self.clients.values():
            self.end(client, "rollback")

    def commit_open(self) -> None:
        self.end(self.client, "commit")

    def add(self, statement: dict[str, Any], place: Place) -> None:
        """A statement of the open transaction, or of one by itself."""
        client = self.client
        self.last = statement
        if client.open is None and not client.autocommit:
            client.open = []
        if client.open is not None:
            client.open.append(statement)
            client.places.append(place)
        else:
            self.emit([statement], [place], {})

    def alone(self, statement: dict[str, Any], place: Place) -> None:
        """A statement that commits what is open, and is a transaction of its own."""
        self.commit_open()
        self.last = statement
        self.emit([statement], [place], {})

    def end(self, client: Client, end: str, place: Place | None = None) -> None:
        """COMMIT or ROLLBACK of what the client has open, if it has sent something."""
        made, places, sent = client.open or [], client.places, client.sent
        client.open, client.places, client.sent = None, [], False
        if made or sent:
            how: dict[str, Any] = {"explicit": True, **_ENDS[end]}
            if client.xa is not None:
                how = {"xa": client.xa, **_ENDS[end]}
            self.emit(made, places or ([] if place is None else [place]), how, client)
        client.xa = None

    def leave(self, client: Client) -> None:
        """Another client comes in between: what was sent stands here, the transaction stays open."""
        if client.open:
            self.emit(client.open, client.places, {"end": "open"}, client)
            client.open, client.places, client.sent = [], [], True

    def emit(
        self, made: list[dict[str, Any]], places: list[Place], how: Mapping[str, Any], client: Client | None = None
    ) -> None:
        """An entry of the scenario."""
        client = client or self.client
        circumstances: dict[str, Any] = dict(how)
        if client.name:
            circumstances["connection"] = client.name
        if client.database is not None:
            circumstances["database"], client.database = client.database, None
        if client.gtid is not None and not (len(made) == 1 and "set" in made[0]):
            circumstances["gtid"], client.gtid = client.gtid, None
        steps: Steps = ("transactions", len(self.entries))
        if places:
            self.places[steps] = places[0]
        if circumstances:
            entry = {"statements": made, **circumstances} if made else circumstances
            self.entries.append(entry)
            steps = (*steps, "statements")
        else:
            self.entries.append(made)
        for index, place in enumerate(places):
            self.places[(*steps, index)] = place
