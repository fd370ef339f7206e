"""A scenario as a fixture for a test in another language: its logs, and the rows that a correct reader gets of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from forge.check.canonical.expected import Expected, expected_of
from forge.errors import FormatError, ScenarioError, UnsupportedError, Verdict
from forge.render.fixtures.model import ExpectedRow, Fixture, FixtureLog, Outcome, row_of
from forge.scenario.model import Scenario
from forge.testing.logs import Log, LogFile, build


def fixture_of(scenario: Scenario, name: str | None = None) -> Fixture:
    """The fixture of a scenario, called by its name or by ``name``.

    Raises ScenarioError as :func:`forge.testing.logs.build` does, and where our own reader goes against the scenario's
    verdict: such a test would be wrong.
    """
    log = build(scenario)
    verdict, phase = scenario.expected
    expected = {file.name: expected_of(file.data) for file in log.files}
    _check(verdict, phase, [one.problem for one in expected.values()], any(map(_has_broken, expected.values())))
    tables = _tables(log, expected)
    logs = [_log(file, expected[file.name], verdict, phase) for file in log.files]
    return Fixture(name or scenario.scenario, scenario.server, logs, tables)


def _log(file: LogFile, expected: Expected, verdict: Verdict, phase: str | None) -> FixtureLog:
    rows = list(_rows(expected))
    problem = expected.problem
    outcome: Outcome = "rows"
    if verdict == "may":
        outcome = "either"
    elif problem is not None:
        outcome = "refused"
    elif phase == "value" and _has_broken(expected):
        outcome = "either"
    if problem is None:
        return FixtureLog(file.name, file.data, rows, outcome, phase if outcome == "either" else None)
    said = problem.rule if isinstance(problem, FormatError) else str(problem)
    # What a reader shows before it stops does not matter.
    return FixtureLog(file.name, file.data, [], outcome, phase, said)


def _check(verdict: Verdict, phase: str | None, problems: list[Any], broken: bool) -> None:
    found: list[FormatError | UnsupportedError] = [problem for problem in problems if problem is not None]
    if verdict == "accept" and found:
        raise ScenarioError(
            f"a reader has to refuse the log: {found[0]}", expected="`verdict: reject` in the scenario, with the phase"
        )
    if verdict == "reject" and not found and not (phase == "value" and broken):
        raise ScenarioError(f"the scenario says `verdict: reject` ({phase}), but our reader reads the log")


def _has_broken(expected: Expected) -> bool:
    return any("broken" in cell.get("value", {}) for cell in _cells(expected))


def _cells(expected: Expected) -> Iterator[dict[str, Any]]:
    for row in expected.rows:
        for image in (row["before"], row["after"]):
            yield from image or ()


def _rows(expected: Expected) -> Iterator[ExpectedRow]:
    widths = {
        (event["offset"], event.get("inner", 0)): event["fields"]["width"]
        for event in expected.events
        if "width" in event["fields"]
    }
    for row in expected.rows:
        yield row_of(row, widths[row["offset"], row.get("inner", 0)])


def _tables(log: Log, expected: Mapping[str, Expected]) -> dict[str, list[str]]:
    """The names of the columns of each table that has rows: the log's, or else the scenario's."""
    changed = {f"{row['database']}.{row['table']}" for one in expected.values() for row in one.rows}
    declared = {name: columns for file in log.files for name, columns in file.declared.items()}
    tables: dict[str, list[str]] = {}
    for one in expected.values():
        for event in one.events:
            fields = event["fields"]
            if event["type"] != "TABLE_MAP" or f"{fields['database']}.{fields['table']}" not in changed:
                continue
            name = f"{fields['database']}.{fields['table']}"
            names = [column.get("name") for column in fields.get("columns", ())]
            if not any(names) and len(declared.get(name, ())) == len(names):
                names = [column.name for column in declared[name]]
            tables[name] = [str(shown or f"@{number}") for number, shown in enumerate(names, start=1)]
    return tables
