"""A statement that a scenario gives as the server logs it, because no part of ours runs it (accounts, routines ...)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class LoggedStatement:
    """One QUERY event, in a group of its own.

    ``text`` is what the log says, ``sent`` what a client sends for it.  ``variables`` are status variables beside those
    that every statement of the session has, or in their place; None leaves one out.
    """

    text: str
    sent: str
    #: The session's current database when the statement ran, "" if none.
    current_database: str
    variables: tuple[tuple[str, Any], ...] = ()
    #: It carries the number of a storage engine's transaction.
    numbered: bool = True
    #: Flags of the event's header.
    flags: int = 0
    #: (second, microsecond) at which it has to run for its status variables to come out so; None for any time.
    time: tuple[int, int] | None = None
    line: int | None = None
