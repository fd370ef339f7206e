"""Where a log ended, so that what follows it goes on: numbers of files, GTIDs, times."""

from __future__ import annotations

from itertools import count
from typing import Any, Literal

import msgspec

from forge.compile.files.log import SessionLog
from forge.compile.files.session_files import SessionFiles
from forge.errors import ScenarioError
from forge.events.previous_gtids import gtid_set_text
from forge.plan.definitions import DatabaseCreation, TableCreation
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.plan.transactions import Group

#: What numbers the groups of a log: it stays the same in what follows.
_SETTINGS = ("log_name", "server_id", "gtid", "gtid_tag", "gtid_domain_id", "timestamp")
_FACTS = ("server_uuid", "first_gno", "executed_from")


class LogEnd(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The end of a log that ``write_rows`` wrote, which another call takes as ``after=``."""

    server: str
    #: The settings and facts that number its groups.
    numbering: dict[str, Any]
    #: Number in the name of the file that follows, and how many there are by then.
    next_file: int
    files: int
    #: Transactions and definitions so far.
    groups: int
    #: The GTIDs of all of them, as the server prints them; empty if it has none.
    gtid_set: str
    ends_with: Literal["stop", "rotate", "nothing"]
    #: What the next XID is, unless the server is started again.
    next_xid: int
    #: Databases that the log makes.
    databases: list[str]
    #: Text of CREATE TABLE of the tables that it makes, by their full name.
    tables: dict[str, str]


def end_of(files: SessionFiles, next_xid: int, plan: Plan, text: str, before: LogEnd | None) -> LogEnd:
    """The end of a log whose last file is closed.  ``text``: of the table that the plan makes."""
    log, session = files.log, files.session
    databases = set() if before is None else set(before.databases)
    tables = {} if before is None else dict(before.tables)
    for group in plan.groups:
        if isinstance(group, DatabaseCreation):
            databases.update(group.databases)
        elif isinstance(group, TableCreation):
            tables.update(dict.fromkeys(plan.tables, text))
    return LogEnd(
        server=plan.server,
        numbering=_numbering(session),
        next_file=session.first_file + log.file + 1,
        files=log.file + 1,
        groups=files.logged,
        gtid_set=_gtid_set(log, files.logged),
        ends_with=session.ends_with,
        next_xid=next_xid,
        databases=sorted(databases),
        tables=tables,
    )


def _numbering(session: Session) -> dict[str, Any]:
    settings = {name: getattr(session, name) for name in _SETTINGS}
    return settings | {f"facts.{name}": getattr(session.facts, name) for name in _FACTS}


def _gtid_set(log: SessionLog, groups: int) -> str:
    previous = log.previous_gtids(groups)
    if previous is not None:
        return gtid_set_text(previous.gtid_set[1])
    if not log.line.groups.always_gtids or not groups:
        return ""
    return ",".join("-".join(map(str, gtid)) for gtid in log.listed_gtids(groups))


def session_after(session: Session, server: str, end: LogEnd) -> Session:
    """The session of what follows.  Raises ScenarioError if it numbers its groups otherwise than the log before."""
    if server != end.server:
        raise ScenarioError(f"the log before was written for {end.server}", expected=f"server {end.server}")
    for name, value in _numbering(session).items():
        if value != end.numbering.get(name):
            raise ScenarioError(
                f"session.{name} is {value!r}", expected=f"{end.numbering.get(name)!r}, as in the log before"
            )
    if session.first_file != end.next_file:
        raise ScenarioError(
            f"the file has the number {session.first_file}", expected=f"{end.next_file}, which follows the log before"
        )
    return msgspec.structs.replace(session, first_file=end.next_file - end.files)


def plan_after(plan: Plan, text: str, end: LogEnd) -> Plan:
    """The plan without the definitions that the log before has.  Raises ScenarioError if the table is another there."""
    (name,) = plan.tables
    known = end.tables.get(name)
    if known is not None and known != text:
        raise ScenarioError(f"the log before makes {name} otherwise than {text!r}", expected=known)

    def is_there(group: Group) -> bool:
        if isinstance(group, DatabaseCreation):
            return set(group.databases) <= set(end.databases)
        return isinstance(group, TableCreation) and known is not None

    return msgspec.structs.replace(plan, groups=tuple(group for group in plan.groups if not is_there(group)))


def go_on(files: SessionFiles, end: LogEnd) -> None:
    """Let the files follow those of the log before."""
    log = files.log
    files.logged = end.groups
    log.file = end.files
    log.rotated = end.ends_with == "rotate"
    if log.rotated:
        log.next_xid = count(end.next_xid)
    else:
        log.restart()
