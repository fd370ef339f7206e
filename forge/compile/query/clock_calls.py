"""Functions that read the time: which of them use the session's time zone, and the fraction of the statement's time.

Recorded on MySQL 9.7, MariaDB 10.11 and 11.8 (docs/servers/statement-format.md).
"""

from __future__ import annotations

from collections.abc import Iterable

from forge.servers import ServerLine
from forge.sql.reads.calls import Call

#: Functions that convert the statement's time to the session's zone, with and without a fraction.
_NOW = frozenset(("NOW", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP", "CURTIME", "CURRENT_TIME"))
_UTC = frozenset(("UTC_TIMESTAMP", "UTC_TIME"))
_ZONE = _NOW | {"CURDATE", "CURRENT_DATE", "SYSDATE", "FROM_UNIXTIME"}
#: Functions whose result depends on the statement's time.
CLOCK_FUNCTIONS = _NOW | _UTC | {"CURDATE", "CURRENT_DATE", "UTC_DATE", "UNIX_TIMESTAMP"}
#: Functions in which MySQL reads a text argument as a moment, which may have an offset.
_READ_MOMENT = frozenset((
    "ADDDATE", "ADDTIME", "CONVERT_TZ", "DATE_ADD", "DATE_FORMAT", "DATE_SUB", "SUBDATE", "SUBTIME", "TIMEDIFF",
    "TIMESTAMP", "TIMESTAMPADD", "TIMESTAMPDIFF",
))  # fmt: skip


def calls_use_zone(calls: Iterable[Call], line: ServerLine) -> bool:
    """Whether functions that were evaluated use the time zone."""
    return any(
        call.name in _ZONE
        or (call.name == "UNIX_TIMESTAMP" and not call.is_empty)
        or (line.values.takes_offsets and call.name in _READ_MOMENT and call.has_text)
        for call in calls
    )


def calls_use_fraction(calls: Iterable[Call], line: ServerLine) -> bool:
    """Whether functions that were evaluated use the fraction of the statement's time."""
    return any(call.name in _NOW | _UTC and (line.texts.fraction_of_every_clock or call.digits > 0) for call in calls)
