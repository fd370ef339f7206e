"""What a group of a session runs in, where that is not what the session began with."""

from __future__ import annotations

from dataclasses import dataclass

from forge.plan.gtids import MariadbGtid, MysqlGtid
from forge.plan.session import Session


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The settings that a group begins and ends with (None for those that the session began with), and its GTID."""

    session: Session | None = None
    ended: Session | None = None
    #: The GTID that the client gave the group.
    gtid: MysqlGtid | MariadbGtid | None = None
    #: Number of the client, where there are several.
    client: int = 0
    #: How many groups were logged when its last statement had run, where others were before its end.
    parent: int | None = None
