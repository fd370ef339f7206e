"""From a plan to the events of its files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forge.binlog.index import index_text
from forge.binlog.torn import keep_events
from forge.binlog.writer import binlog_pieces, write_binlog
from forge.compile.files.edits import edited
from forge.compile.files.log import SessionLog
from forge.compile.files.mariadb import MariadbLog
from forge.compile.files.mysql import MysqlLog
from forge.compile.files.relay import RelayFiles
from forge.compile.files.session_files import SessionFiles
from forge.compile.rows.forced_metadata import check_forced
from forge.errors import ScenarioError
from forge.events.event import Event
from forge.plan.plan import Plan
from forge.plan.requirements import session_features
from forge.plan.session import Torn
from forge.servers import server_line

#: Bytes behind a torn file: a file system puts a few blocks there, and all of them are made in memory.
_MOST_ZEROS = 1 << 26

LOGS: dict[str, type[SessionLog]] = {"mysql": MysqlLog, "mariadb": MariadbLog}


def compile_files(plan: Plan) -> list[list[Event]]:
    """The events of every file that a server of the plan's line would have written.

    With the facts of a recording in the session, byte for byte those files.  Raises UnsupportedError for what this
    version cannot compile, ScenarioError for values that do not fit.
    """
    line = server_line(plan.server)
    for _, feature in session_features(plan.session, line):
        line.require(feature)
    log = LOGS[line.family](plan, line)
    files = list(SessionFiles(log).written())
    check_forced(plan.session.metadata, log.mapped)
    log.statuses.check_used(log.queries)
    return files if plan.session.relay_log is None else list(RelayFiles(log, plan.session.relay_log).written(files))


def compile_plan(plan: Plan) -> list[Event]:
    """The events of a plan that makes one whole file.  Raises as :func:`compile_files`, ScenarioError if it makes
    several, or a torn one.
    """
    if plan.session.torn is not None:
        raise ScenarioError("session.torn cuts bytes of the file, which a list of events cannot show")
    if plan.session.edits:
        raise ScenarioError("session.edits changes the file, which a list of events cannot show")
    files = compile_files(plan)
    if len(files) > 1:
        raise ScenarioError(f"the scenario makes {len(files)} files", expected="one file; compile_files takes several")
    return files[0]


def write_files(plan: Plan, files: Sequence[Sequence[Event]]) -> list[bytes]:
    """The bytes of the files that :func:`compile_files` made of the plan, edited and torn as the session says.

    Raises ScenarioError for an edit or a torn file that cannot be.
    """
    return [b"".join(pieces) for pieces in files_in_pieces(plan, files)]


def files_in_pieces(plan: Plan, files: Sequence[Sequence[Event]]) -> list[Iterator[bytes]]:
    """As :func:`write_files`, each file piece by piece, so that a large one is never in memory."""
    torn, edits = plan.session.torn, plan.session.edits
    if edits:
        *before, end = edited([write_binlog(events) for events in files], edits)
        return [iter([data]) for data in (*before, end if torn is None else _torn(plan, torn, end))]
    if torn is None:
        return [binlog_pieces(events) for events in files]
    *whole, last = files
    return [*map(binlog_pieces, whole), iter([_torn(plan, torn, write_binlog(last))])]


def _torn(plan: Plan, torn: Torn, written: bytes) -> bytes:
    """What is left of the last file.  Raises ScenarioError if that cannot be."""
    if plan.session.ends_with != "nothing":
        raise ScenarioError("session.torn needs a file that was not closed", expected="session.ends_with: nothing")
    if not 0 <= torn.zeros <= _MOST_ZEROS:
        raise ScenarioError(f"torn.zeros is {torn.zeros}", expected=f"0 to {_MOST_ZEROS}")
    if torn.size is None:
        last = keep_events(written, torn.events, torn.bytes)
    elif torn.events is not None or torn.bytes:
        raise ScenarioError("torn.size replaces torn.events and torn.bytes", expected="one of them")
    elif not 0 <= torn.size <= len(written):
        raise ScenarioError(f"torn.size is {torn.size}", expected=f"0 to {len(written)}, the size of the whole file")
    else:
        last = written[: torn.size]
    return last + bytes(torn.zeros)


def file_names(plan: Plan, files: int) -> list[str]:
    """The names of the session's files, if it has that many."""
    session = plan.session
    if session.relay_log is not None:
        return [f"{session.relay_log.name}.{number:06}" for number in range(1, files + 1)]
    return [f"{session.log_name}.{session.first_file + number:06}" for number in range(files)]


def index_of_plan(plan: Plan, files: int) -> bytes:
    """The index file beside them; a closing ROTATE has opened one more."""
    return index_text(file_names(plan, files + (plan.session.ends_with == "rotate")))
