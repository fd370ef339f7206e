"""Events that stop an applier before it looks at a table: types, collations and column types that its line lacks."""

from __future__ import annotations

from forge.binlog.logged import LoggedEvent
from forge.charsets import collation
from forge.decode.readers import reading, stops_all_the_same
from forge.errors import ScenarioError, UnsupportedError
from forge.events.event import IGNORABLE
from forge.events.format_description import FormatDescription
from forge.events.query import QueryFields
from forge.events.table_map import TableMap
from forge.replay.stops import StopError
from forge.servers import ServerLine
from forge.values.wire_types import WireType

#: Of whoever cannot read the relay log: MySQL from 8.0 on, and others.
_READ_FAILURE, _OLD_READ_FAILURE = 13121, 1594
_NO_CHARACTER_SET = 22


class Readability:
    """Whether an applier of a line reads the events of a file, one after the other (corpora/replays/lines.jsonl)."""

    def __init__(self, line: ServerLine) -> None:
        self.line = line
        self._types = 0

    def check(self, logged: LoggedEvent) -> None:
        """Raises StopError at an event that stops the applier, UnsupportedError where it stops without an error."""
        body, event = logged.body, logged.event
        if isinstance(body, FormatDescription):
            self._types = len(body.post_header_lengths or b"")
        ignorable = bool(event.flags & IGNORABLE)
        does = reading(self.line, event.type_code, ignorable=ignorable)
        if does == "stop" or (ignorable and stops_all_the_same(self.line, event.type_code, self._types)):
            code = _OLD_READ_FAILURE if self.line.applier.old_words else _READ_FAILURE
            text = "Relay log read failure: Could not parse relay log event entry"
            raise StopError(code, text, f"NF1: {self.line.name} does not read {event.type_name}")
        if isinstance(body, QueryFields):
            self._check_collations(body)
        if isinstance(body, TableMap) and self.line.family == "mariadb" and WireType.JSON in body.types:
            raise UnsupportedError(f"{self.line.name} stops at MySQL's type JSON, without an error's number")

    def _check_collations(self, body: QueryFields) -> None:
        for number in dict(body.status_variables).get("charset", ()):
            try:
                collation(number, self.line.name)
            except ScenarioError:
                text = f"Character set '#{number}' is not a compiled character set"
                raise StopError(_NO_CHARACTER_SET, text, f"{self.line.name} has no collation {number}") from None
