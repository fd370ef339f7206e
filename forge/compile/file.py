"""From a plan to the events of a file."""

from __future__ import annotations

from forge.compile.log import SessionLog
from forge.compile.mariadb import MariadbLog
from forge.compile.model import Plan
from forge.compile.mysql import MysqlLog
from forge.events.event import Event
from forge.servers import server_line

LOGS: dict[str, type[SessionLog]] = {"mysql": MysqlLog, "mariadb": MariadbLog}


def compile_plan(plan: Plan) -> list[Event]:
    """The events of the file that a server of the plan's line would have written.

    With the facts of a recording in the session, byte for byte that file.  Raises UnsupportedError for what this
    version cannot compile, ScenarioError for values that do not fit.
    """
    line = server_line(plan.server)
    return list(LOGS[line.family](plan, line).events())
