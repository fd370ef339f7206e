"""The session's time zone: offsets from UTC, and the server's own zone, which is UTC wherever scenarios run."""

from __future__ import annotations

import datetime as dt
import re

from forge.errors import ScenarioError, UnsupportedError

SYSTEM = "SYSTEM"
_OFFSET = re.compile(r"([+-])(\d{1,2}):([0-5]\d)\Z")
#: From -13:59 to +14:00 (MySQL 8.0.19 on and MariaDB 10.6 on; +13:00 before).
_LOWEST, _HIGHEST = dt.timedelta(hours=-13, minutes=-59), dt.timedelta(hours=14)


def offset_of(time_zone: str) -> dt.timedelta:
    """How far local time is ahead of UTC.  Raises ScenarioError for an offset that no
    server takes, UnsupportedError for a named zone."""
    if time_zone == SYSTEM:
        return dt.timedelta()
    match = _OFFSET.match(time_zone)
    if match is None:
        raise UnsupportedError(
            f"time zone {time_zone!r} is not supported: named zones need tables that a new server does not have",
            expected="SYSTEM, or an offset such as +02:00",
        )
    offset = dt.timedelta(hours=int(match[2]), minutes=int(match[3]))
    offset = -offset if match[1] == "-" else offset
    if not _LOWEST <= offset <= _HIGHEST:
        raise ScenarioError(f"there is no time zone {time_zone!r} (error 1298)", expected="-13:59 to +14:00")
    return offset
