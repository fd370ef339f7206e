"""What a vendor's text says of each event."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Head:
    """The header line.  ``clock`` is a local time: (year of two digits, month, day, hour, minute, second)."""

    clock: tuple[int, int, int, int, int, int]
    server_id: int
    end: int
    checksum: int | None
    #: The bytes of the event, of which -H printed the dump.
    dumped: bytes | None = None


@dataclass(slots=True)
class PrintedEvent:
    """``fields`` are those of the event's kind, as its form takes them; ``raw`` is what a BINLOG statement has."""

    #: Where the text says it.
    at: int
    kind: str
    head: Head | None
    position: int | None
    fields: dict[str, Any] = field(default_factory=dict)
    raw: bytes | None = None
    #: The events inside of a compressed transaction.
    inner: list[PrintedEvent] | None = None
    #: Flags that the lines around it say.
    flags: int = 0


@dataclass(slots=True)
class PrintedLog:
    """A file: its events in its order, and places at which there is one of which the text says no more."""

    events: list[PrintedEvent] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    silent: list[int] = field(default_factory=list)


@dataclass(slots=True)
class PrintedText:
    """A whole text.  The names in it are what events may say that the text does not show at their place."""

    mariadb: bool
    logs: list[PrintedLog] = field(default_factory=list)
    databases: dict[str, None] = field(default_factory=dict)
    threads: dict[int, None] = field(default_factory=dict)
    users: dict[tuple[str, str], None] = field(default_factory=dict)
