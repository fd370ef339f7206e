"""What has happened in a session so far, in the form of the plan."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from forge.plan.circumstances import Circumstances, FileEnd, Turn
from forge.plan.definitions import DdlStatement
from forge.plan.grouping.logged_groups import logged_groups
from forge.plan.plan import EventStep, FileStep
from forge.plan.transactions import Group, OwnEvent, Transaction
from forge.servers import ServerLine


@dataclass(slots=True)
class Journal:
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

    @property
    def begins_file(self) -> bool:
        """Whether nothing has happened in the current file since another one ended."""
        return bool(self.file_steps) and self.file_steps[-1].after == len(self.groups)

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
