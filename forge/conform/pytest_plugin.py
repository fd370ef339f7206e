"""The pytest plugin (docs/pytest.md): logs of scenarios, and the cases of a kit, in anybody's tests.

Loaded by its entry point wherever the package is installed, it imports the rest when a test asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from forge.conform.kit.case_files import KitCase
    from forge.conform.kit.reading import ExpectedLog, OpenKit
    from forge.logs import Log
    from forge.scenario import Scenario

_KIT = "out/kit"


@dataclass(frozen=True)
class CaseLog:
    """A binary log of a case and what a correct reader gets of it, as the kit has it (docs/kit.md).

    ``stops_at`` is the offset of the event at which a reader has to stop with an error; None if there is none.
    """

    path: Path
    stops_at: int | None
    _read: Callable[[], ExpectedLog] = field(repr=False, compare=False)

    @property
    def data(self) -> bytes:
        """The bytes of the log."""
        return self.path.read_bytes()

    @property
    def events(self) -> Sequence[Mapping[str, Any]]:
        """The events, each a line of the kit's ``.events.jsonl``."""
        return self._expected.events

    @property
    def rows(self) -> Sequence[Mapping[str, Any]]:
        """The changed rows, each a line of the kit's ``.rows.jsonl``."""
        return self._expected.rows

    @cached_property
    def _expected(self) -> ExpectedLog:
        return self._read()


@dataclass(frozen=True, slots=True)
class BinlogCase:
    """A case of a kit: what it is for, what a reader has to do with it, and its logs."""

    id: str
    title: str
    server: str
    tags: Sequence[str]
    #: ``accept``, ``reject``, or ``may``: a reader may do either.
    verdict: str
    logs: Sequence[CaseLog]


class BinlogFactory:
    """The fixture ``binlog``: ``binlog(scenario)`` gives its log (:func:`forge.build`).

    Without a scenario it takes the one of the test's marker; paths are looked for beside the test's file.
    """

    def __init__(self, folder: Path, scenario: Any = None, server: str | None = None) -> None:
        self._folder = folder
        self._scenario = scenario
        self._server = server

    def __call__(
        self,
        scenario: str | PathLike[str] | Mapping[str, Any] | Scenario | None = None,
        *,
        server: str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Log:
        __tracebackhide__ = True
        import forge
        from forge.errors import ForgeError, ScenarioError
        from forge.logs import is_text

        given = self._scenario if scenario is None else scenario
        if given is None:
            raise ScenarioError("binlog() has no scenario", expected="an argument, or @pytest.mark.binlog(scenario)")
        if isinstance(given, (str, PathLike)) and not is_text(given, self._folder):
            given = self._folder / Path(given)
        try:
            return forge.build(given, server=server or self._server, settings=settings)
        except ForgeError as error:  # What is wrong is in the scenario: our frames would only hide the sentence.
            raise error.with_traceback(None) from None


def binlog_cases(
    *, profile: str | None = None, tags: Sequence[str] = (), kit: str | None = None
) -> pytest.MarkDecorator:
    """A marker that runs a test for each case of a kit, which it gets as ``binlog_case``.

    ``profile``: ``smoke``, ``full``, a server line, or a tag; ``tags``: those that a case must all have; ``kit``: the
    folder, where ``--binlog-kit`` and the setting ``binlog_kit`` do not say it (default ``out/kit``).  Cases whose
    files have holes (docs/kit.md) are left out.
    """
    return pytest.mark.binlog_cases(profile=profile, tags=tuple(tags), kit=kit)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("binlog-forge", "MySQL binary logs")
    group.addoption("--binlog-kit", metavar="DIR", help=f"the kit of @binlog_cases (default {_KIT})")
    parser.addini("binlog_kit", "the kit of @binlog_cases, from the project's root", default="")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "binlog(scenario, server=[...]): what binlog() builds, once for each server line"
    )
    config.addinivalue_line("markers", "binlog_cases(profile, tags, kit): run for each case of a kit, as binlog_case")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marker = metafunc.definition.get_closest_marker("binlog")
    if marker is not None and "binlog" in metafunc.fixturenames:
        servers = marker.kwargs.get("server")
        lines = [servers] if servers is None or isinstance(servers, str) else list(servers)
        scenario = marker.args[0] if marker.args else None
        metafunc.parametrize(
            "binlog", [(scenario, line) for line in lines], ids=[str(line) for line in lines], indirect=True
        )
    chosen = metafunc.definition.get_closest_marker("binlog_cases")
    if chosen is not None:
        cases = _cases(metafunc.config, **chosen.kwargs)
        metafunc.parametrize("binlog_case", cases, ids=[case.id for case in cases])


@pytest.fixture
def binlog(request: pytest.FixtureRequest) -> BinlogFactory:
    """A factory of logs: ``binlog(scenario, server=..., settings=...)``."""
    scenario, server = getattr(request, "param", (None, None))
    return BinlogFactory(request.path.parent, scenario, server)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """The first difference of two logs, or of two lists of rows."""
    import sys

    logs = sys.modules.get("forge.logs")
    if logs is None or op != "==":
        return None
    if isinstance(left, logs.Log) and isinstance(right, logs.Log):
        found = logs.diff(left, right)
        return ["two logs that differ", *map(str, found[:1]), *([f"({len(found)} differences)"] if found[1:] else [])]
    if isinstance(left, list) and isinstance(right, list) and any(isinstance(row, logs.Row) for row in [*left, *right]):
        return ["rows that differ", *_first_row_difference(left, right)]
    return None


def _first_row_difference(left: list[Any], right: list[Any]) -> list[str]:
    for number, (mine, other) in enumerate(zip(left, right, strict=False)):
        if mine != other:
            return [f"row {number}:", *_row_differences(mine, other)]
    longer, name = (left, "right") if len(left) > len(right) else (right, "left")
    return [f"{len(left)} rows against {len(right)}; the {name} one lacks {longer[min(len(left), len(right))]!r}"]


def _row_differences(mine: Any, other: Any) -> list[str]:
    lines = []
    for name in ("kind", "database", "table"):
        if (one := getattr(mine, name, None)) != (two := getattr(other, name, None)):
            lines.append(f"  {name}: {one!r} against {two!r}")
    for name in ("before", "after"):
        one, two = getattr(mine, name, None) or {}, getattr(other, name, None) or {}
        for column in [*one, *(column for column in two if column not in one)]:
            if column not in one or column not in two or one[column] != two[column]:
                shown = [repr(image[column]) if column in image else "no value" for image in (one, two)]
                lines.append(f"  {name}[{column!r}]: {shown[0]} against {shown[1]}")
    return lines or [f"  {mine!r} against {other!r}"]


def _cases(config: pytest.Config, *, profile: str | None, tags: Sequence[str], kit: str | None) -> list[BinlogCase]:
    from forge.conform.kit.reading import open_kit
    from forge.errors import ForgeError

    folder = config.getoption("--binlog-kit") or kit or config.getini("binlog_kit") or _KIT
    try:
        opened = open_kit(config.rootpath / folder)
        chosen = [case for case in opened.chosen(profile=profile) if set(tags) <= set(case.tags)]
        chosen = [case for case in chosen if not any(file.holes for file in case.files)]
        if not chosen:
            raise pytest.UsageError(f"no case of {folder} has the tags {', '.join(tags)}")
        return [_case(opened, case) for case in chosen]
    except ForgeError as error:
        raise pytest.UsageError(f"binlog_cases: {error}") from None


def _case(kit: OpenKit, case: KitCase) -> BinlogCase:
    logs = [CaseLog(kit.path(case, file), file.stops_at, partial(kit.expected, case, file)) for file in case.files]
    return BinlogCase(case.id, case.title, case.server, case.tags, case.verdict, logs)
