"""A testee asked about one file that is no case of a kit: what a correct reader gets of it is worked out on the way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from forge.binlog.reader import read_events
from forge.check.compare.differences import Difference
from forge.conform.comparison import Comparison, Reading
from forge.conform.forms import Forms
from forge.conform.judgement import judged
from forge.conform.kit.protocol import Level
from forge.conform.kit.reading import ExpectedLog
from forge.conform.testee import Testee
from forge.corpus.outcomes import RIGHT, Outcome
from forge.decode.expected import Expected, expected_of
from forge.errors import FormatError, Verdict
from forge.events.format import version_tuple
from forge.events.format_description import FormatDescription


@dataclass(frozen=True, slots=True)
class FileResult:
    """What a testee does with a file.  ``difference`` is the first one; ``message`` that, or the testee's words."""

    expected: Expected
    reading: Reading
    outcome: Outcome
    difference: Difference | None = None
    message: str | None = None
    family: Literal["mysql", "mariadb"] = "mysql"
    data: bytes = b""

    @property
    def right(self) -> bool:
        return self.outcome in RIGHT


def ask(
    testee: Testee,
    path: Path,
    data: bytes,
    level: Level | None = None,
    *,
    inventions: bool = False,
    coverage: bool = False,
) -> FileResult:
    """What the testee does with ``data``, which is the file ``path``.

    With ``inventions``, bytes that are no value must not be shown as one.  With ``coverage`` it is asked for that too.

    Raises EnvironmentMissing, ScenarioError if it cannot be asked, or does not know the level.
    """
    hello = testee.hello()
    asked = level or hello.levels[-1]
    flavor, server = writer_of(data)
    expected = expected_of(data)
    reading = testee.read(path, asked, flavor, server, coverage=coverage)
    comparison = Comparison(_expected_log(expected), Forms(hello.forms), reading, asked)
    judgement = judged(comparison, verdict_of(expected))
    if inventions and judgement.outcome == "agree" and comparison.invention is not None:
        invention = comparison.invention
        return FileResult(expected, reading, "accepts", invention, invention.sentence, flavor, data)
    difference = judgement.difference if judgement.outcome == "disagree" else None
    return FileResult(expected, reading, judgement.outcome, difference, judgement.message, flavor, data)


def verdict_of(expected: Expected) -> Verdict:
    """What a correct reader does with the file."""
    if expected.problem is None:
        return "accept"
    return "reject" if isinstance(expected.problem, FormatError) else "may"


def _expected_log(expected: Expected) -> ExpectedLog:
    """As it is read from a kit."""
    rows: list[dict[str, Any]] = msgspec.json.decode(msgspec.json.encode(expected.rows))
    events: list[dict[str, Any]] = msgspec.json.decode(msgspec.json.encode(expected.events))
    return ExpectedLog(events, rows, None if expected.problem is None else expected.problem_place[0])


def writer_of(data: bytes) -> tuple[Literal["mysql", "mariadb"], str]:
    """The family and the line of the server that says it wrote the file."""
    for placed in read_events(data, strict=False):
        if isinstance(placed.event.body, FormatDescription):
            context = placed.event.body.context()
            major, minor, _ = version_tuple(context.server_version)
            return ("mariadb", f"mariadb-{major}.{minor}") if context.mariadb else ("mysql", f"mysql-{major}.{minor}")
        break
    return "mysql", "mysql-0.0"
