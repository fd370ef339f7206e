"""Errors are data: fields first, the message is derived from them.

``ScenarioError``    you asked for something impossible (file, line, what was expected, a suggestion) — exit code 2
``UnsupportedError`` you asked for something that exists but is not built yet; it names the thing     — exit code 2
``FormatError``      bytes are wrong (phase, event index, offset, rule)                               — exit code 3
``ManifestError``    the manifest of a corpus is damaged (folder, rule)                               — exit code 3
``CheckFailed``      a comparison found a difference                                                  — exit code 1
``EnvironmentMissing`` a program or library that the command needs is not on this machine             — exit code 69
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, Self

Phase = Literal["framing", "checksum", "post_header", "body", "metadata", "row", "value", "listing"]
#: What a correct reader does with bytes: read them, stop with an error, or either.
Verdict = Literal["accept", "reject", "may"]


class ForgeError(Exception):
    """Base of every error that is shown to a person as one sentence.

    An error that was raised is never changed: whoever knows more of it raises a new one.
    """

    exit_code = 1

    def replace(self, **fields: Any) -> Self:
        """A new error of the same kind with some fields replaced."""
        error = type(self).__new__(type(self), *self.args)
        error.__dict__.update(self.__dict__ | fields)
        return error


class ScenarioError(ForgeError):
    """The request is impossible.

    ``where`` is filled in by whoever knows the place: code deep below raises without it and the scenario
    front end completes the error with :meth:`at`.
    """

    exit_code = 2

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        expected: str | None = None,
        suggestion: str | None = None,
    ) -> None:
        self.problem = problem
        self.file = file
        self.line = line
        self.column = column
        self.expected = expected
        self.suggestion = suggestion
        super().__init__(problem)

    def at(self, file: str | None, line: int | None, column: int | None = None) -> Self:
        """A new error with the place, as far as this one has none."""
        if self.line is not None:
            line, column = self.line, self.column
        return self.replace(file=file if self.file is None else self.file, line=line, column=column)

    def about(self, subject: str) -> Self:
        """A new error, whose sentence begins with what it is about: a table, a column, a key."""
        return self.replace(problem=f"{subject}: {self.problem}")

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        problem = brief(self.problem)
        text = f"{place}: {problem}" if place else problem
        if self.expected:
            text += f"; expected {brief(self.expected)}"
        if self.suggestion:
            text += f"; did you mean {brief(repr(self.suggestion))}?"
        return text


@contextmanager
def about(subject: str) -> Iterator[None]:
    """Errors of the block are raised anew, said of ``subject``."""
    try:
        yield
    except ScenarioError as error:
        raise error.about(subject) from None


class UnsupportedError(ScenarioError):
    """A thing that servers know and this version cannot make; the message names it."""


class FormatError(ForgeError):
    """Bytes that break a rule of the format.

    ``offset`` counts bytes from the start of whatever ``phase`` was reading; readers of whole files
    complete it to a file offset with :meth:`within`.
    """

    exit_code = 3

    def __init__(
        self,
        rule: str,
        *,
        phase: Phase,
        offset: int | None = None,
        event_index: int | None = None,
        file: str | None = None,
    ) -> None:
        self.rule = rule
        self.phase = phase
        self.offset = offset
        self.event_index = event_index
        self.file = file
        super().__init__(rule)

    def within(self, *, base: int, event_index: int | None = None) -> Self:
        """A new error with the offset counted from ``base`` bytes further out, and the event if this one has none."""
        index = event_index if self.event_index is None else self.event_index
        return self.replace(offset=base + (self.offset or 0), event_index=index)

    def of_event(self, offset: int, event_index: int) -> Self:
        """A new error that is said of a whole event at ``offset`` of the file, not of a place inside it."""
        return self.replace(offset=offset).within(base=0, event_index=event_index)

    def in_file(self, file: str) -> Self:
        """A new error that names the file, unless this one does."""
        return self if self.file is not None else self.replace(file=file)

    def __str__(self) -> str:
        place = [self.file] if self.file else []
        if self.event_index is not None:
            place.append(f"event {self.event_index}")
        if self.offset is not None:
            place.append(f"offset {self.offset}")
        place.append(self.phase)
        return f"{', '.join(place)}: {self.rule}"


class ManifestError(ForgeError):
    """The manifest of a corpus is not what a build has written."""

    exit_code = 3

    def __init__(self, rule: str, *, folder: str) -> None:
        self.rule = rule
        self.folder = folder
        super().__init__(rule)

    def __str__(self) -> str:
        return f"{self.folder}: {self.rule}"


class CheckFailed(ForgeError):
    """A comparison that was asked for found a difference."""

    exit_code = 1


class EnvironmentMissing(ForgeError):
    """A program or library that this command needs is not here; the message says how to get it."""

    #: EX_UNAVAILABLE of sysexits: a script tells it from a check that failed.
    exit_code = 69


def with_extra(extra: str) -> str:
    """How one gets an extra, wherever binlog-forge was installed from."""
    return f"install binlog-forge with its extra `{extra}` (in a checkout: `pip install '.[{extra}]'`)"


#: A word longer than any name or value that a sentence should have.
_LONG_WORD = re.compile(r"\S{257,}")
_SHOWN = 64


#: What drives a terminal or turns the direction of text (but for line feeds and tabs), and what UTF-8 does not have.
_NOT_SHOWN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escaped(text: str) -> str:
    """Text for a terminal, whatever file it came from: characters that are not shown are escaped as JSON does it."""
    return _NOT_SHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def brief(text: str) -> str:
    """The text of a message, in which a word of more than 256 characters is shown by its beginning."""
    return _LONG_WORD.sub(lambda word: f"{word[0][:_SHOWN]}… ({len(word[0])} characters)", text)


def counted(count: int, noun: str) -> str:
    """``1 row``, ``2 rows``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The one of ``words`` that ``word`` was probably meant to be, or None."""
    matches = difflib.get_close_matches(word, list(words), n=1, cutoff=0.6)
    return matches[0] if matches else None
