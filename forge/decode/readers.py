"""What readers do with events, by their type and their flag (WL#4033): read them, pass over them, or stop.

A reader passes over an event of a type that it does not know if the event has the flag IGNORABLE, and stops otherwise;
readers of before WL#4033 (MySQL 5.1 and 5.5) know no such flag.  Recorded on mysqlbinlog 9.7 and mariadb-binlog 10.11
and 11.8, and on replicas of 9.7 and 10.11.

The canonical decode says so of informational events, for two readers: an *old* one of before WL#4033, and a *new* one
of the newest line of the family that wrote the file.
"""

from __future__ import annotations

from typing import Literal

from forge.events.event import IGNORABLE, Event
from forge.events.format import FormatContext
from forge.events.registry import features_of_type
from forge.servers.features import feature
from forge.servers.line import ServerLine
from forge.servers.loading import newest_line, server_line

Reading = Literal["read", "skip", "stop"]

_FIRST_TYPES = 26
#: The last line without WL#4033.
OLD_LINE = "mysql-5.5"


def is_informational(event: Event) -> bool:
    """Whether the canonical decode says what readers do with the event."""
    return event.body.informational or bool(event.flags & IGNORABLE)


def readers_of(event: Event, format: FormatContext) -> dict[str, Reading]:
    """``{"old": ..., "new": ...}`` for an event of a file with that format."""
    ignorable = bool(event.flags & IGNORABLE)
    lines = {"old": server_line(OLD_LINE), "new": newest_line("mariadb" if format.mariadb else "mysql")}
    return {name: reading(line, event.type_code, ignorable=ignorable) for name, line in lines.items()}


def knows_type(line: ServerLine, type_code: int) -> bool:
    """Whether readers of the line decode events of this type in a file."""
    if type_code in line.framing.unread_types:
        return False
    names = features_of_type(type_code)
    return all(line.knows(name) for name in names) if names else 1 <= type_code <= _FIRST_TYPES


def reading(line: ServerLine, type_code: int, *, ignorable: bool) -> Reading:
    """What the rules ask of a reader of that line; ``ignorable`` is the event's flag.

    Real readers do less in two cases, see :func:`stops_all_the_same`.
    """
    if knows_type(line, type_code):
        return "read"
    if any(feature(name).reaction(line.family).effect == "ignore" for name in features_of_type(type_code)):
        return "skip"
    return "skip" if ignorable and line.knows("ignorable") else "stop"


def stops_all_the_same(line: ServerLine, type_code: int, types: int) -> str | None:
    """Why a real reader stops at an event that is marked as ignorable; None if it does not.

    ``types`` is how many types the file's FORMAT_DESCRIPTION lists.  Recorded: all readers refuse types beyond that
    list, whatever their flags; MySQL takes the type for a signed byte and refuses those from 128 on.
    """
    if type_code > types:
        return f"type {type_code} is beyond the {types} types that the file's FORMAT_DESCRIPTION lists"
    if line.framing.signed_types and type_code >= 128:
        return f"type {type_code} is read as a negative number"
    return None
