"""Status variables that the facts of a session give a QUERY event, where the line's own rules give others.

The server's order is known, so an entry has values and absences alone; ``changed`` puts them in their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from forge.compile.query.status import in_order
from forge.errors import ScenarioError, nearest
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.giving import NOT_GIVEN
from forge.events.layout import as_tuples
from forge.events.plain import plain
from forge.events.query import Query
from forge.events.status_vars import STATUS_VARIABLES, StatusVariables, build_status_variables, parse_status_variables
from forge.plan.facts import QueryStatus, StatusValue
from forge.servers import ServerLine

_NAMES = [name for name, _ in STATUS_VARIABLES.values()]
AnyQuery = TypeVar("AnyQuery", bound=Query | ExecuteLoadQuery)


class GivenStatuses:
    """The entries of a session's facts, each of which changes one QUERY event."""

    def __init__(self, statuses: Sequence[QueryStatus], line: ServerLine) -> None:
        self.line = line
        #: The number of the entry, and the entry, by the number of its QUERY event.
        self._waiting: dict[int, tuple[int, QueryStatus]] = {}
        for place, status in enumerate(statuses, 1):
            if status.query in self._waiting:
                problem = f"QUERY event {status.query} has an entry already"
                raise _of_entry(place, ScenarioError(problem, expected="one for each event"))
            self._waiting[status.query] = place, status

    def applied(self, number: int, query: AnyQuery) -> AnyQuery:
        """The session's QUERY event ``number``, from 1, with what its entry says.  Raises ScenarioError if no server
        of the line writes that.
        """
        if number not in self._waiting:
            return query
        place, status = self._waiting.pop(number)
        try:
            variables = changed(query.status_variables, status.variables, self.line)
        except ScenarioError as error:
            raise _of_entry(place, error) from None
        text = query.query if status.text is None else status.text
        return query.replace(status_variables=variables, query=text)  # type: ignore[return-value]

    def check_used(self, queries: int) -> None:
        """Raises ScenarioError for an entry of an event beyond the ``queries`` that the session has."""
        for number, (place, _) in self._waiting.items():
            expected = f"1 to {queries}" if queries else "no entries"
            raise _of_entry(place, ScenarioError(f"the session has no QUERY event {number}", expected=expected))


def _of_entry(place: int, error: ScenarioError) -> ScenarioError:
    return error.about(f"session.facts.statuses, number {place}")


def changed(variables: StatusVariables, given: dict[str, StatusValue], line: ServerLine) -> StatusVariables:
    """The variables with those ``given``, in the line's order; None takes one away.

    Raises ScenarioError for a name that the line does not write, and for a value of another type.
    """
    names = written(line)
    for name, value in given.items():
        if name not in names:
            raise ScenarioError(
                f"{line.name} has no status variable {name!r}",
                expected=", ".join(names) or "a line of MySQL 5.0 or later, or MariaDB",
                suggestion=nearest(name, names),
            )
        if value is not None and not _is_value(name, value):
            raise ScenarioError(f"the status variable {name} cannot be {value!r}", expected="null, or one of its type")
    values = {**dict(variables), **{name: as_tuples(value) for name, value in given.items()}}
    return in_order({name: value for name, value in values.items() if value is not None}, line)


def written(line: ServerLine) -> list[str]:
    """The names of the line's status variables, in writing order; events before version 4 have none."""
    return [name for name, _ in in_order(dict.fromkeys(_NAMES), line)] if line.framing.binlog_version >= 4 else []


def _is_value(name: str, value: StatusValue) -> bool:
    variables = ((name, as_tuples(value)),)
    try:
        return parse_status_variables(build_status_variables(variables)) == variables
    except NOT_GIVEN:
        return False


def difference(ruled: StatusVariables, recorded: StatusVariables, line: ServerLine) -> dict[str, StatusValue] | None:
    """What ``changed`` must be given to make ``recorded`` of what the rules give; None where nothing does."""
    before, after = dict(ruled), dict(recorded)
    names = [name for name in _NAMES if before.get(name) != after.get(name)]
    given: dict[str, Any] = {name: plain(after.get(name)) for name in names}
    try:
        return given if changed(ruled, given, line) == recorded else None
    except ScenarioError:
        return None
