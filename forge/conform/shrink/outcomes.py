"""What a smaller file still has to show: the exit code of a command, or what a testee does."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forge.check.compare.differences import Difference
from forge.conform.one_file import FileResult, ask
from forge.conform.testee import Testee
from forge.corpus.outcomes import Outcome
from forge.decode.expected import Expected
from forge.errors import ScenarioError

#: Where the path of the candidate stands in a command.
PLACE = "{}"


class CommandOutcome:
    """The exit code of a command (of a shell) that is given the file; None if it does not end in time."""

    def __init__(self, command: str, path: Path, *, timeout: float) -> None:
        if PLACE not in command:
            raise ScenarioError("the command does not say where the file stands", expected="{} in its place")
        self.command = command
        self.path = path
        self.timeout = timeout

    def of(self, data: bytes) -> int | None:
        """What becomes of the command with this file.  Raises OSError."""
        self.path.write_bytes(data)
        process = subprocess.Popen(
            self.command.replace(PLACE, shlex.quote(str(self.path))),
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@dataclass(frozen=True, slots=True)
class TesteeFinding:
    """What a testee does with a file: its outcome, the kind of the first difference or of its message, and what is
    wrong with the file, if it breaks a rule.

    ``cause`` is what the file has there: the family of its server, the type of the event, what the value is, and what
    the metadata say of its column.
    """

    outcome: Outcome
    kind: str | None
    problem: str | None
    cause: tuple[str, ...] = ()


class TesteeOutcome:
    """A testee that is asked about files, each laid beside what a correct reader gets of it."""

    def __init__(self, testee: Testee, path: Path) -> None:
        self.testee = testee
        self.path = path

    def of(self, data: bytes) -> TesteeFinding:
        """What the testee does.  Raises EnvironmentMissing, ScenarioError if it cannot be asked; OSError."""
        self.path.write_bytes(data)
        return finding_of(ask(self.testee, self.path, data))


def finding_of(result: FileResult) -> TesteeFinding:
    """A result without what differs from file to file."""
    problem = None if result.expected.problem is None else _pattern(str(result.expected.problem))
    cause = (result.family, *_cause(result.difference, result.expected))
    if result.difference is not None:
        return TesteeFinding(result.outcome, _kind(result.difference, result.expected), problem, cause)
    return TesteeFinding(result.outcome, None if result.right else _pattern(result.message), problem, cause)


#: What TABLE_MAP says of a column by its own bytes, and what no value depends on.
_UNRELATED = frozenset(("column", "name", "type", "type_code", "metadata", "nullable", "visible"))


def _cause(difference: Difference | None, expected: Expected) -> Iterator[str]:
    """The type of the event with a difference; in a cell also what the value is, and what is said of its column."""
    if difference is None:
        return
    about = [event for event in expected.events if (event["index"], event["offset"]) == _place(difference)]
    yield from (event["type"] for event in about)
    if difference.column is None:
        return
    yield from {next(iter(cell.get("value") or ()), "") for cell in _cells(difference, expected)}
    id = next((event["fields"].get("table_id") for event in about), None)
    maps = [event["fields"] for event in expected.events if event["type"] == "TABLE_MAP"]
    columns = next((fields["columns"] for fields in reversed(maps) if fields["table_id"] == id), ())
    yield from (
        name for one in columns if one["column"] == difference.column for name in sorted(one.keys() - _UNRELATED)
    )


def _place(difference: Difference) -> tuple[int | None, int | None]:
    return difference.event_index, difference.offset


def _cells(difference: Difference, expected: Expected) -> Iterator[dict[str, Any]]:
    """The cells of the column in the row that a difference is in."""
    for row in expected.rows:
        if (row["event"], row["offset"], row["row"]) == (*_place(difference), difference.row):
            for cell in (row["before"] or []) + (row["after"] or []):
                if cell["column"] == difference.column:
                    yield cell


def _kind(difference: Difference, expected: Expected) -> str:
    """What differs, and in a cell of which type."""
    what = difference.what
    if difference.column is not None:
        return f"{what} of type {next((cell['type_code'] for cell in _cells(difference, expected)), None)}"
    tail = difference.sentence.rpartition(": ")[2]
    return f"{what}: {_pattern(tail)}"


#: Characters of a message that tell one failure from another.
PATTERN_LIMIT = 240
_VARYING = re.compile(
    r"""(?P<type>\b[tT]ypes?\b\W{0,3}(?:0x[0-9a-fA-F]{1,2}|\d{1,3})\b)|0x[0-9a-fA-F]+|\d+|'[^']*'|"(?:[^"\\]|\\.?)*("|$)"""
)


def _pattern(message: str | None) -> str | None:
    """A message without what differs from file to file: numbers but for those of a type, and words in quotes.

    Of a long one its beginning: where a testee cuts it depends on the digits of addresses that it shows.
    """
    if message is None:
        return None
    first = next(iter(message.splitlines()), "")
    return _VARYING.sub(lambda match: match[0] if match["type"] else "#", first)[:PATTERN_LIMIT]
