"""From a plan to the events of its files."""

from __future__ import annotations

from forge.compile.log import SessionLog
from forge.compile.mariadb import MariadbLog
from forge.compile.model import Plan
from forge.compile.mysql import MysqlLog
from forge.errors import ScenarioError
from forge.events.event import IN_USE, Event
from forge.servers import server_line

LOGS: dict[str, type[SessionLog]] = {"mysql": MysqlLog, "mariadb": MariadbLog}


def compile_files(plan: Plan) -> list[list[Event]]:
    """The events of every file that a server of the plan's line would have written.

    With the facts of a recording in the session, byte for byte those files.  Raises UnsupportedError for what this
    version cannot compile, ScenarioError for values that do not fit.
    """
    line = server_line(plan.server)
    files = list(LOGS[line.family](plan, line).files())
    if plan.session.ends_with == "nothing":
        # IN_USE is set when a file is created and cleared in place when it is closed.
        description = files[-1][0]
        files[-1][0] = description.replace(flags=description.flags | IN_USE)
    return files


def compile_plan(plan: Plan) -> list[Event]:
    """The events of a plan that makes one file.  Raises as :func:`compile_files`, ScenarioError if it makes several."""
    files = compile_files(plan)
    if len(files) > 1:
        raise ScenarioError(f"the scenario makes {len(files)} files", expected="one, or compile_files")
    return files[0]
