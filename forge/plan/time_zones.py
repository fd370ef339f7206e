"""The session's time zone: offsets from UTC, and the server's own zone, which is UTC wherever scenarios run."""

from __future__ import annotations

import re

from forge.errors import ScenarioError, UnsupportedError
from forge.servers import ServerLine

SYSTEM = "SYSTEM"
#: As servers print it, whatever a client wrote.
_OFFSET = re.compile(r"([+-])(\d\d):([0-5]\d)\Z")


def offset_of(time_zone: str, line: ServerLine) -> int:
    """Minutes that the zone's clock is ahead of UTC.

    Raises ScenarioError for an offset that no server takes, UnsupportedError for a named zone.
    """
    if time_zone == SYSTEM:
        return 0
    match = _OFFSET.match(time_zone)
    if match is None:
        problem = f"time zone {time_zone!r} is not supported"
        if not time_zone.startswith(("+", "-")):
            problem += ": named zones need tables that a new server does not have"
        raise UnsupportedError(problem, expected="SYSTEM, or an offset such as +02:00")
    offset = (int(match[2]) * 60 + int(match[3])) * (-1 if match[1] == "-" else 1)
    highest = line.values.largest_utc_offset
    if not 1 - highest <= offset <= highest or time_zone == "-00:00":
        lowest = "-{:02}:{:02}".format(*divmod(highest - 1, 60))
        expected = f"{lowest} to +{highest // 60}:00, and +00:00 for UTC"
        raise ScenarioError(f"{line.name} has no time zone {time_zone!r}", expected=expected)
    return offset
