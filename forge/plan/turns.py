"""In which order the clients of a session send what they send, where there are several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: FLUSH BINARY LOGS, a shutdown, or a crash; the server is started again after the last two.
FileEnd = Literal["flush", "restart", "crash"]


@dataclass(slots=True)
class Turn:
    """What a client sends in a row: statements ``first`` to before ``last`` of a group, or what ends a file.

    A transaction that stays open while others run has several turns; the group's number is known with the last.
    """

    client: int
    group: int | None = None
    first: int = 0
    last: int | None = None
    begins: bool = True
    ends: bool = True
    #: What ends the file where it is no group: FLUSH BINARY LOGS, or the server is started again.
    end_of_file: FileEnd | None = None
