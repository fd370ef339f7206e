"""The clients of a script, and the transactions that they make of its statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Client:
    """A client of the script: the transaction that it has open, and what it has set."""

    name: str
    autocommit: bool = True
    #: The statements of the open transaction, and the lines of all.
    open: list[dict[str, Any]] | None = None
    lines: list[int] = field(default_factory=list)
    sent: bool = False
    begins: int = 0
    database: str | None = None
    variables: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    gtid: str | None = None
    prepared: dict[str, str] = field(default_factory=dict)


class Transactions:
    """The transactions of a script's clients in the order in which they stand there, with their lines."""

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self.places: dict[tuple[str | int, ...], int] = {}
        self.clients: dict[str, Client] = {}
        self.client = self.named("")

    def named(self, name: str) -> Client:
        """The client of that name, which is made if it is new."""
        return self.clients.setdefault(name, Client(name))

    def turn_to(self, name: str) -> None:
        """Another client sends what follows."""
        if self.client.open is not None and self.client.name != name:
            self.leave(self.client)
        self.client = self.named(name)

    def end_all(self) -> None:
        """What is open at the end of the script is rolled back."""
        for client in self.clients.values():
            if client.open:
                self.end(client, "rollback")

    def commit_open(self) -> None:
        if self.client.open is not None:
            self.end(self.client, "commit")

    def add(self, statement: dict[str, Any], line: int) -> None:
        """A statement of the open transaction, or of one by itself."""
        client = self.client
        if client.open is None and not client.autocommit:
            client.open = []
        if client.open is not None:
            client.open.append(statement)
            client.lines.append(line)
        else:
            self.emit([statement], [line], {})

    def alone(self, statement: dict[str, Any], line: int) -> None:
        """A statement that commits what is open, and is a transaction of its own."""
        self.commit_open()
        self.emit([statement], [line], {})

    def end(self, client: Client, end: str, line: int = 1) -> None:
        made, lines = client.open or [], client.lines
        client.open, client.lines = None, []
        if not made and not client.sent:
            return
        client.sent = False
        how = {"explicit": True} | ({"end": end} if end != "commit" else {})
        self.emit(made, lines or [line], how, client)

    def leave(self, client: Client) -> None:
        """Another client comes in between: what was sent stands here, the transaction stays open."""
        if client.open:
            self.emit(client.open, client.lines, {"end": "open"}, client)
            client.open, client.lines, client.sent = [], [], True

    def emit(
        self, made: list[dict[str, Any]], lines: list[int], how: Mapping[str, Any], client: Client | None = None
    ) -> None:
        client = client or self.client
        circumstances: dict[str, Any] = dict(how)
        if client.name:
            circumstances["connection"] = client.name
        if client.database is not None:
            circumstances["database"] = client.database
            client.database = None
        if client.gtid is not None:
            circumstances["gtid"], client.gtid = client.gtid, None
        number = len(self.entries)
        steps: tuple[str | int, ...] = ("transactions", number)
        self.places[steps] = lines[0]
        if circumstances:
            self.entries.append({"statements": made, **circumstances})
            steps = (*steps, "statements")
        else:
            self.entries.append(made)
        for index, line in enumerate(lines):
            self.places[(*steps, index)] = line
