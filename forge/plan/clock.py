"""Which second each statement runs in: declared, recorded, or by default one a group from the start of 2024."""

from __future__ import annotations

import datetime as dt

from forge.errors import ScenarioError
from forge.plan.facts import told
from forge.plan.session import Session

#: 2024-01-01 00:00:00 UTC, the time of the file's opening where nothing else is known.
START = 1704067200


class Clock:
    """Times of a session.  Groups and statements count from 0; a transaction's commit has the index after its
    last statement.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.facts = session.facts
        self.declared = parse_timestamp(session.timestamp) if session.timestamp is not None else None

    def reached(self, groups: int) -> int:
        """The time after that many groups of the session."""
        return self.second(groups - 1, 0) if groups else START

    def opened(self, file: int = 0, groups: int = 0) -> int:
        """Header time of a file's FORMAT_DESCRIPTION; a later file is opened when the group before it commits."""
        recorded = self.facts.file(file).opened
        return self.reached(groups) if recorded is None else recorded

    def listed(self, file: int = 0, groups: int = 0) -> int:
        """Header time of the events that open a file after FORMAT_DESCRIPTION."""
        recorded = self.facts.file(file).listed
        return self.opened(file, groups) if recorded is None else recorded

    def closed(self, groups: int, file: int = 0) -> int:
        """Header time of a file's last event, after that many groups of the session."""
        recorded = self.facts.file(file).closed
        return START + groups + 1 if recorded is None else recorded

    def second(self, group: int, statement: int) -> int:
        """Header time of the events of a statement (``SET timestamp`` included)."""
        times = told(self.facts.timestamps, group)
        if times:
            return times[min(statement, len(times) - 1)]
        if self.declared is not None:
            return self.declared[0]
        return START + 1 + group

    def statement_time(self, group: int, statement: int) -> tuple[int, int]:
        """(second, microsecond) that the statement's CURRENT_TIMESTAMP gives."""
        if self.declared is not None:
            return self.declared
        return self.second(group, statement), told(told(self.facts.microseconds, group), statement) or 0

    def committed(self, group: int) -> int:
        """Microseconds since the epoch: the commit timestamp in the GTID event."""
        recorded = told(self.facts.commit_timestamps, group)
        return (START + 1 + group) * 1_000_000 if recorded is None else recorded

    def originally_committed(self, group: int, *, replicated: bool) -> int:
        """As :meth:`committed`, on the source of a replica, by default a millisecond before; on the primary of a group,
        when it asked the others.
        """
        recorded = told(self.facts.original_commit_timestamps, group)
        return self.committed(group) - (1000 if replicated else 0) if recorded is None else recorded


def parse_timestamp(text: str) -> tuple[int, int]:
    """(seconds since the epoch, microseconds) of ``YYYY-MM-DD hh:mm:ss[.ffffff]`` in UTC.  Raises ScenarioError."""
    try:
        moment = dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)
    except ValueError:
        raise ScenarioError(f"timestamp {text!r} is not a time", expected="YYYY-MM-DD hh:mm:ss[.ffffff]") from None
    if not 0 < moment.timestamp() < 1 << 32:
        raise ScenarioError(
            f"timestamp {text!r} does not fit the four bytes of an event's header",
            expected="1970-01-01 00:00:01 to 2106-02-07 06:28:15",
        )
    return int(moment.timestamp()), moment.microsecond
