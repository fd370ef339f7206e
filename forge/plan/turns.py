"""In which order the clients of a session send what they send, where there are several."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Turn:
    """What a client sends in a row: statements ``first`` to before ``last`` of a group, or FLUSH BINARY LOGS.

    A transaction that stays open while others run has several turns; the group's number is known with the last.
    """

    client: int
    group: int | None = None
    first: int = 0
    last: int | None = None
    begins: bool = True
    ends: bool = True
