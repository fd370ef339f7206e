"""What readers do with informational events (WL#4033): those that carry no change, or are of a type that is not known.

An *old* reader is one of before WL#4033 (MySQL 5.1 and 5.5): it knows no ignorable events and stops at every type that
it does not know.  A *new* one is of the newest line of the family that wrote the file: it passes over types that it
does not know if the event has the flag IGNORABLE, and stops if it has not.
"""

from __future__ import annotations

from forge.events.event import IGNORABLE, Event
from forge.events.format import FormatContext
from forge.servers import server_line
from forge.servers.reading import OLD_LINE, Reading, newest_line, reading


def is_informational(event: Event) -> bool:
    """Whether the canonical decode says what readers do with the event."""
    return event.body.informational or bool(event.flags & IGNORABLE)


def readers_of(event: Event, format: FormatContext) -> dict[str, Reading]:
    """``{"old": ..., "new": ...}`` for an event of a file with that format."""
    ignorable = bool(event.flags & IGNORABLE)
    lines = {"old": server_line(OLD_LINE), "new": newest_line("mariadb" if format.mariadb else "mysql")}
    return {name: reading(line, event.type_code, ignorable=ignorable) for name, line in lines.items()}
