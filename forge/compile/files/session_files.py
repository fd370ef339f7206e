"""The files of a session: where one ends and the next begins, and what stands at their ends.

A file is rotated after a group that has made it reach max_binlog_size (MYSQL_BIN_LOG::rotate; groups are never split),
by FLUSH BINARY LOGS, and by a new start of the server.  Recorded on MySQL 9.7, MariaDB 10.11 and 11.8
(docs/servers/files.md).
"""

from __future__ import annotations

from collections.abc import Iterator

from forge.binlog.reader import read_events
from forge.binlog.writer import derives_length, write_binlog
from forge.compile.files.log import SessionLog
from forge.compile.files.own import own_events, with_types
from forge.events.event import IN_USE, Event
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid
from forge.events.gtid_tagged import GtidTagged
from forge.events.start_v3 import StartV3
from forge.events.stop import Stop
from forge.plan.circumstances import Circumstances, FileEnd
from forge.plan.grouping.groups import LoggedGroup
from forge.plan.grouping.logged_groups import logged_groups


class SessionFiles:
    """Puts the groups of a log into files."""

    def __init__(self, log: SessionLog) -> None:
        self.log = log
        self.session = log.session
        #: Groups logged so far, in all files.
        self.logged = 0
        self.events: list[Event] = []
        self.size = 0
        #: Events of the scenario's own that stand behind the file's last.
        self.trailing: list[Event] = []
        #: Where the file's first group begins.
        self.first_group = 0
        #: The last event is of a group, and not of the scenario's own.
        self.is_behind_group = False
        self.post_header_lengths = with_types(log.line.post_header_bytes, own_events(log.plan))

    def written(self) -> Iterator[list[Event]]:
        """The events of each file."""
        plan = self.log.plan
        self._open()
        for place, group in enumerate(plan.groups):
            yield from self._steps(place)
            circumstances = plan.circumstances.get(place, Circumstances())
            for logged in logged_groups((group,), self.log.line):
                yield from self._group(logged, circumstances)
        yield from self._steps(len(plan.groups))
        if self.session.ends_with == "nothing":
            self._mark_in_use()
        self.events += [*self.end(), *self.trailing]
        yield self.events

    def _steps(self, place: int) -> Iterator[list[Event]]:
        """What happens before the plan's group ``place``: files that end, and the scenario's own events."""
        plan = self.log.plan
        self.log.sessions += place in plan.reconnects
        for number, step in enumerate(plan.file_steps):
            if step.after == place:
                self._own_events(place, number)
                yield from self._next_file(step.kind)
        self._own_events(place, sum(step.after <= place for step in plan.file_steps))

    def _own_events(self, place: int, files: int) -> None:
        for step in self.log.plan.event_steps:
            if (step.after, step.files) != (place, files):
                continue
            second = self.log.clock.reached(self.logged)
            event = self.log.own(step.event, second)
            if step.event.place == "end":
                self.trailing.append(event)
            elif step.event.place == "description":
                self.events.insert(1, event)
                self.first_group += 1
            elif step.event.place == "head":
                self.events.insert(self.first_group, event)
                self.first_group += 1
            else:
                if self.is_behind_group:
                    self._pin_length()
                self.is_behind_group = False
                self._append(iter([event]))

    def _pin_length(self) -> None:
        """The last group ends here: an event that follows is not part of its length."""
        start = next((n for n in reversed(range(1, len(self.events))) if derives_length(self.events[n])), None)
        if start is None:
            return
        group = write_binlog([self.events[0], *self.events[start:]])
        pinned = list(read_events(group))[1].event.body
        assert isinstance(pinned, (AnonymousGtid, GtidTagged))
        body = self.events[start].body.replace(transaction_length=pinned.transaction_length)
        self.events[start] = self.events[start].replace(body=body)

    def _group(self, group: LoggedGroup, circumstances: Circumstances) -> Iterator[list[Event]]:
        """The file that the group fills, if it does."""
        self._append(self.log.group(self.logged, group, circumstances))
        self.logged += 1
        self.is_behind_group = True
        self.log.in_file += 1
        if self.session.max_binlog_size is not None and self.size >= self.session.max_binlog_size:
            yield from self._next_file("flush")
        else:
            self._append(self.log.between(self.log.in_file))

    def _append(self, group: Iterator[Event]) -> None:
        events = list(group)
        self.events += events
        if events and self.session.max_binlog_size is not None:
            description = self.events[0]
            self.size += len(write_binlog([description, *events])) - len(write_binlog([description]))

    def _open(self) -> None:
        description, *head = self.head()
        self.events = [description]
        self.size = len(write_binlog([description]))
        self.log.in_file = 0
        self._append(iter(head))
        self.first_group = len(self.events)
        self._append(self.log.between(0))

    def head(self) -> list[Event]:
        """FORMAT_DESCRIPTION of the log's file, and what stands between it and the first group; ``logged`` groups are
        in earlier files.
        """
        return [self._description(), *self.log.head(self.logged)]

    def _next_file(self, kind: FileEnd) -> Iterator[list[Event]]:
        """The file that ends here; the next one is opened."""
        if kind == "flush":
            self.events.append(self.rotation())
        elif kind == "restart":
            self.events.append(self.log.event(Stop(), self._closed()))
        elif self.log.line.framing.crash_leaves_in_use:
            self._mark_in_use()
        yield [*self.events, *self.trailing]
        self.trailing = []
        self.log.file += 1
        self.log.rotated = kind == "flush"
        if kind != "flush":
            self.log.restart()
        self._open()

    def rotation(self) -> Event:
        """The ROTATE event that ends the log's file and names the next."""
        return self.log.event(self.log.rotate(self.log.file_name(self.log.file + 1)), self._closed())

    def _closed(self) -> int:
        """Header time of the event that ends the file, unless the session ends with it."""
        recorded = self.log.facts.file(self.log.file).closed
        return self.log.clock.reached(self.logged) if recorded is None else recorded

    def _description(self) -> Event:
        log = self.log
        facts = log.facts.file(log.file)
        opened = log.clock.opened(log.file, self.logged)
        # The first file after a start of the server says when that was.
        created = facts.created if facts.created is not None else 0 if log.rotated else opened
        version = log.line.framing.binlog_version
        if version < 4:
            return log.event(StartV3(binlog_version=version, server_version=log.version, created=created), opened)
        description = FormatDescription(
            server_version=log.version,
            created=created,
            post_header_lengths=self.post_header_lengths,
            checksum_algorithm=log.checksum_algorithm,
        )
        return log.event(description, opened)

    def end(self) -> list[Event]:
        """What stands at the end of the session's last file; nothing where it was not closed."""
        log = self.log
        closed = log.clock.closed(self.logged, log.file)
        if self.session.ends_with == "stop":
            return [log.event(Stop(), closed)]
        if self.session.ends_with == "rotate":
            return [log.event(log.rotate(log.facts.next_file or log.file_name(log.file + 1)), closed)]
        return []

    def _mark_in_use(self) -> None:
        """IN_USE is set when a file is created and cleared in place when it is closed."""
        self.events[0] = self.events[0].replace(flags=self.events[0].flags | IN_USE)
