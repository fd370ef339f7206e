"""What the compiler is given: a scenario with everything filled in."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import force_setattr

from forge.plan.circumstances import Circumstances, FileEnd, Turn
from forge.plan.session import Session, on_line
from forge.plan.tables import Row, Table
from forge.plan.transactions import Group, OwnEvent
from forge.servers import server_line


class FileStep(Struct, frozen=True):
    """What ends a file and begins the next, after ``after`` groups of the plan."""

    kind: FileEnd
    after: int


class EventStep(Struct, frozen=True):
    """An event outside of all groups, after ``after`` groups of the plan and ``files`` of its file steps."""

    event: OwnEvent
    after: int
    files: int


class Plan(Struct, frozen=True):
    """A scenario with everything filled in: the compiler's input."""

    name: str
    server: str
    session: Session
    groups: tuple[Group, ...]
    #: So many of them were there before the log began: those that make databases and tables.
    existing: int = 0
    #: Rows that every table holds at the end, by full name: {"shop.orders": (row, ...)}.
    contents: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    #: The definition of every table at the end.
    tables: dict[str, Table] = field(default_factory=dict)
    #: Those of them (MEMORY) that nobody has opened since the server was started again: to do so would be logged.
    unopened: frozenset[str] = frozenset()
    #: What ends files before the session's end, in the order in which it happens.
    file_steps: tuple[FileStep, ...] = ()
    #: After how many groups the client has gone and another connection goes on.
    reconnects: tuple[int, ...] = ()
    #: Events of the scenario's own that stand outside of all groups.
    event_steps: tuple[EventStep, ...] = ()
    #: What groups run in, by their numbers; the others run in what the session began with.
    circumstances: Mapping[int, Circumstances] = field(default_factory=dict)

    #: The order in which several clients send their statements; empty where there is one.
    turns: tuple[Turn, ...] = ()

    def __post_init__(self) -> None:
        """The session gets the defaults of its line."""
        force_setattr(self, "session", on_line(self.session, server_line(self.server)))

    def settings(self, number: int) -> tuple[Session, Session]:
        """The settings that a group begins and ends with."""
        circumstances = self.circumstances.get(number, Circumstances())
        return circumstances.session or self.session, circumstances.ended or self.session
