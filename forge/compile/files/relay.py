"""The relay log of a replica that reads the session's files from their beginning.

A receiver thread stores what the source sends: an artificial ROTATE that names the file, its FORMAT_DESCRIPTION, then
its events as they are, with the positions of the source's file.  Before it stores any ROTATE it begins a new file of
its own.  Recorded between two servers of MySQL 9.7, MariaDB 10.11 and 11.8 (docs/servers/files.md):

* the first file has nothing but its own head;
* MySQL leaves PREVIOUS_GTIDS out and notes the position behind it by a ROTATE of server id 0; MariaDB stores GTID_LIST
  and BINLOG_CHECKPOINT like any event;
* MariaDB sends ANNOTATE_ROWS only to a replica with log_slave_updates, which is off by default;
* MariaDB's receiver stores compressed events uncompressed, with the positions of the compressed ones;
* IN_USE is set neither in the source's FORMAT_DESCRIPTION nor in the replica's own;
* a file that is larger than max_relay_log_size is rotated: on MySQL between groups, on MariaDB behind any event;
* where a file of the source ends without ROTATE, because the source was started again, MariaDB ends the replica's with
  a FORMAT_DESCRIPTION of its own that has IN_USE and the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forge.binlog.reader import Frame, frames
from forge.binlog.writer import write_binlog
from forge.compile.files.log import SessionLog
from forge.errors import UnsupportedError
from forge.events.event import IGNORABLE, IN_USE, Event, advance, decode_event
from forge.events.format import FormatContext
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid, Gtid
from forge.events.gtid_tagged import GtidTagged
from forge.events.mariadb_compressed import uncompressed
from forge.events.previous_gtids import PreviousGtids
from forge.events.rotate import Rotate
from forge.events.rows_query import AnnotateRows
from forge.events.stop import Stop
from forge.plan.facts import RelayFileFacts
from forge.plan.session import RelayLog

ARTIFICIAL, RELAY_LOG = 0x0020, 0x0040
#: What begins a group of MySQL's.
_OPENS = (AnonymousGtid, Gtid, GtidTagged)


class RelayFiles:
    """The files of the relay log, of those of the source."""

    def __init__(self, log: SessionLog, relay: RelayLog) -> None:
        self.log = log
        self.relay = relay
        self.file = 0
        self.events: list[Event] = []
        #: Groups with a GTID that were stored so far.
        self.groups = 0
        #: Bytes of the file's first events, where its size is looked at, and how many of them were counted.
        self._size = 0
        self._counted = 1
        #: The FORMAT_DESCRIPTION of the source's file.
        self._source_description: Event | None = None

    def written(self, source: Sequence[Sequence[Event]]) -> Iterator[list[Event]]:
        """The events of each file.  Raises UnsupportedError for lines whose relay logs are not known."""
        line = self.log.line
        if not (line.knows("gtid") or line.knows("mariadb_gtid")):
            raise UnsupportedError(f"relay logs of {line.name} are not supported yet")
        if self.relay.max_size is not None and line.framing.relay_rotation == "unknown":
            raise UnsupportedError(f"relay logs of {line.name} that are rotated by size are not supported yet")
        self._open()
        for number, events in enumerate(source):
            if number and not isinstance(source[number - 1][-1].body, Rotate):
                self._interrupt()
            yield self._next()
            self._begin(number)
            yield from self._store(list(_stored(events)), number, is_last=number == len(source) - 1)
        self._end()
        yield self.events

    def _store(self, events: Sequence[Event], number: int, *, is_last: bool) -> Iterator[list[Event]]:
        """The events of a file of the source; the files that they fill."""
        for place, event in enumerate(events):
            if isinstance(event.body, (Stop, PreviousGtids, AnnotateRows)) or (
                isinstance(event.body, Rotate) and is_last
            ):
                self._passed_over(number, event)
                continue
            if isinstance(event.body, FormatDescription):
                self._source_description = event
            if isinstance(event.body, Rotate):
                yield self._next()
            self.events.append(event.replace(body=uncompressed(event.body)))
            self.groups += isinstance(event.body, (Gtid, GtidTagged))
            if self._is_full and (self.log.line.framing.relay_rotation == "event" or _ends_group(events, place)):
                yield self._next()
                self._go_on()

    @property
    def _is_full(self) -> bool:
        if self.relay.max_size is None:
            return False
        description = self.events[0]
        head = len(write_binlog([description]))
        self._size = self._size or head
        self._size += len(write_binlog([description, *self.events[self._counted :]])) - head
        self._counted = len(self.events)
        return self._size > self.relay.max_size

    def _go_on(self) -> None:
        """A file that was begun for its size alone repeats the source's FORMAT_DESCRIPTION."""
        event = self._source_description
        assert event is not None
        assert isinstance(event.body, FormatDescription)
        self.events.append(event.replace(body=event.body.replace(created=0), flags=ARTIFICIAL, log_pos=0))

    @property
    def facts(self) -> RelayFileFacts:
        files = self.log.facts.relay
        return files[self.file] if self.file < len(files) else RelayFileFacts()

    def file_name(self, number: int) -> str:
        """Name of the relay log's file ``number``, from 0."""
        return f"{self.relay.name}.{number + 1:06}"

    @property
    def _now(self) -> int:
        return self.log.clock.closed(len(self.log.plan.groups))

    def _event(self, body: FormatDescription | PreviousGtids | Rotate | Stop, second: int, flags: int) -> Event:
        return Event(body=body, timestamp=second, server_id=self.relay.server_id, flags=flags)

    def _open(self) -> None:
        opened = self._now if self.facts.opened is None else self.facts.opened
        first = opened if self.file == 0 else 0
        created = first if self.facts.created is None else self.facts.created
        self.events = [self._event(self._description(created), opened, RELAY_LOG)]
        self._size, self._counted = 0, 1
        retrieved = self.log.previous_gtids(self.groups)
        if retrieved is not None:
            listed = opened if self.facts.listed is None else self.facts.listed
            self.events.append(self._event(retrieved, listed, RELAY_LOG | IGNORABLE))

    def _description(self, created: int) -> FormatDescription:
        return FormatDescription(
            server_version=self.log.version,
            created=created,
            post_header_lengths=self.log.line.post_header_bytes,
            checksum_algorithm=self.log.checksum_algorithm,
        )

    def _interrupt(self) -> None:
        """The source was started again, so what it did not end is to be rolled back."""
        if self.log.line.framing.relay_marks_interruption:
            second = self._now if self.facts.interrupted is None else self.facts.interrupted
            self.events.append(self._event(self._description(second), second, IN_USE))

    def _next(self) -> list[Event]:
        """The file that ends here; the next one is opened."""
        closed = self._now if self.facts.closed is None else self.facts.closed
        file = [*self.events, self._event(Rotate(next_file=self.file_name(self.file + 1)), closed, RELAY_LOG)]
        self.file += 1
        self._open()
        return file

    def _begin(self, number: int) -> None:
        """The source says which file it is going to send."""
        body = Rotate(next_file=self.log.file_name(number))
        event = Event(body=body, server_id=self.log.session.server_id, flags=ARTIFICIAL, log_pos=0)
        self.events.append(event.replace(timestamp=self.facts.announced or 0))

    def _passed_over(self, number: int, event: Event) -> None:
        """An event of the source that is not stored; of PREVIOUS_GTIDS the position behind it is noted."""
        if isinstance(event.body, PreviousGtids):
            noted = self._now if self.facts.noted is None else self.facts.noted
            body = Rotate(next_file=self.log.file_name(number), position=event.log_pos or 0)
            self.events.append(Event(body=body, timestamp=noted, log_pos=0))

    def _end(self) -> None:
        closed = self._now if self.facts.closed is None else self.facts.closed
        if self.log.session.ends_with == "stop":
            self.events.append(self._event(Stop(), closed, 0))
        elif self.log.session.ends_with == "rotate":
            self.events.append(self._event(Rotate(next_file=self.file_name(self.file + 1)), closed, RELAY_LOG))


def _ends_group(events: Sequence[Event], place: int) -> bool:
    """Whether nothing of the event's group follows it: MySQL keeps transactions together (recorded)."""
    if not any(isinstance(event.body, _OPENS) for event in events[: place + 1]):
        return True
    return place + 1 == len(events) or isinstance(events[place + 1].body, (*_OPENS, Rotate, Stop))


def _stored(events: Sequence[Event]) -> Iterator[Event]:
    """The events of a source's file with the positions that they have there."""
    format = FormatContext()
    for frame in frames(write_binlog(events)):
        event = _placed(frame, format)
        yield event
        format = advance(format, event)


def _placed(frame: Frame, format: FormatContext) -> Event:
    event = decode_event(frame.raw, frame.offset, format)
    position = (frame.offset + len(frame.raw)) % (1 << 32)
    return event.replace(flags=event.flags & ~IN_USE, log_pos=position if event.log_pos is None else event.log_pos)
