"""What a group of a session runs in, where that is not what the session began with, and whose turn it is."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from forge.plan.gtids import MariadbGtid, MysqlGtid
from forge.plan.session import Session


class Circumstances(Struct, frozen=True):
    """The settings that a group begins and ends with (None for those that the session began with), and its GTID."""

    session: Session | None = None
    ended: Session | None = None
    #: The GTID that the client gave the group.
    gtid: MysqlGtid | MariadbGtid | None = None
    #: Number of the client, where there are several.
    client: int = 0
    #: How many groups were logged when its last statement had run, where others were before its end.
    parent: int | None = None


#: FLUSH BINARY LOGS, a shutdown, or a crash; the server is started again after the last two.
FileEnd = Literal["flush", "restart", "crash"]


class Turn(Struct):
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
