"""A script cut into statements, as the vendors' command-line clients cut it (client/mysql.cc).

A delimiter ends a statement outside of quotes, names and comments; ``DELIMITER`` on a line of its own names another.
Lines of comment in front of a statement are no part of it; those that begin with ``-- forge:`` are for us.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from forge.sql.errors import SqlError

#: A comment that says something to us, and what.
_FOR_US = re.compile(r"--[ \t]+forge:[ \t]*(.*?)[ \t\r]*\Z", re.DOTALL)
_DELIMITER = re.compile(r"delimiter(?:[ \t]+([^\r\n]*))?(?:\r?\n|\Z)", re.IGNORECASE)
_SOURCE = re.compile(r"(?:source[ \t]+|\\\.[ \t]*)([^\r\n;]+);?[ \t]*(?:\r?\n|\Z)", re.IGNORECASE)
#: White space and comments that clients keep to themselves; others too in front of a comment for us.
_AHEAD = re.compile(
    r"\s+|(?:--(?=[\s\0]|\Z)|\#)[^\n]*|(?:/\*(?!M?!|\+)(?:[^*]|\*(?!/))*\*/\s*)+(?=--[ \t]+forge:|\Z)",
    re.DOTALL,
)


class Place(Struct, frozen=True):
    """Where something stands in a script: line and column, counted from 1."""

    line: int
    column: int


class ScriptStatement(Struct, frozen=True):
    """A statement: its text without the delimiter, its place, and the comments for us that stand in front of it."""

    sql: str
    place: Place
    told: tuple[tuple[Place, str], ...] = ()


class Included(Struct, frozen=True):
    """``source FILE``: the script goes on in another file."""

    file: str
    place: Place
    told: tuple[tuple[Place, str], ...] = ()


class Lines:
    """The lines of a text, by the place of a character."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(self, offset: int) -> Place:
        """The place of the character at an offset."""
        line = bisect_right(self._starts, offset)
        return Place(line, offset - self._starts[line - 1] + 1)


@cache
def _piece(delimiter: str) -> re.Pattern[str]:
    """What stands next in a statement: a run without meaning here, a quoted text, a comment, or its end."""
    return re.compile(
        rf"""(?P<end>{re.escape(delimiter)})
        |'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'|"[^"\\]*(?:(?:\\.|"")[^"\\]*)*"|`[^`]*(?:``[^`]*)*`
        |(?:--(?=[\s\0]|\Z)|\#)[^\n]*|/\*.*?\*/
        |(?P<open>['"`]|/\*)
        |[\w\s,()=.]+?(?={re.escape(delimiter[0])}|\W)|.""",
        re.DOTALL | re.VERBOSE,
    )


def statements(text: str) -> Iterator[ScriptStatement | Included]:
    """The statements of a script.  Raises SqlError (its offset is that in the script) for what is not closed."""
    lines, delimiter, at = Lines(text), ";", 0
    told: list[tuple[Place, str]] = []
    while True:
        while match := _AHEAD.match(text, at):
            if words := _FOR_US.match(match[0]):
                told.append((lines.place(at), words[1]))
            at = match.end()
        if at == len(text):
            return
        if match := _DELIMITER.match(text, at):
            delimiter = (match[1] or "").split(" ")[0]
            if not delimiter or "\\" in delimiter:
                raise SqlError(
                    "DELIMITER names no delimiter", at, expected="DELIMITER and characters without a backslash"
                )
            at = match.end()
        elif match := _SOURCE.match(text, at):
            yield Included(match[1].strip(), lines.place(at), tuple(told))
            at = match.end()
            told = []
        else:
            end, behind = _end_of_statement(text, at, delimiter)
            if sql := text[at:end].rstrip():
                yield ScriptStatement(sql, lines.place(at), tuple(told))
            at = behind
            told = []


def _end_of_statement(text: str, at: int, delimiter: str) -> tuple[int, int]:
    """Where the statement at a place ends, and where its delimiter does."""
    for match in _piece(delimiter).finditer(text, at):
        if match["end"]:
            return match.start(), match.end()
        if match["open"]:
            raise SqlError(f"{match['open']} is not closed", match.start())
    return len(text), len(text)
