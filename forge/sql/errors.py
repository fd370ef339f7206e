"""Errors with a place in SQL text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from forge.errors import ScenarioError, UnsupportedError


class SqlError(ScenarioError):
    """Something wrong at a place of a statement: ``offset`` counts characters of its text."""

    def __init__(
        self, problem: str, offset: int, *, expected: str | None = None, suggestion: str | None = None
    ) -> None:
        super().__init__(problem, expected=expected, suggestion=suggestion)
        self.offset = offset


class SqlUnsupported(SqlError, UnsupportedError):
    """Something that servers know and this version does not, at a place of a statement."""


class StrictRefusal(SqlError):
    """Something that servers refuse in strict mode, and take with a warning without it."""


@contextmanager
def strict_at(offset: int) -> Iterator[None]:
    """Refusals of the block are those of strict mode; they get the place that they do not name."""
    try:
        yield
    except UnsupportedError:
        raise
    except ScenarioError as error:
        place = error.offset if isinstance(error, SqlError) else offset
        raise StrictRefusal(error.problem, place, expected=error.expected, suggestion=error.suggestion) from None


@contextmanager
def at_offset(offset: int) -> Iterator[None]:
    """Errors of the block that name no place in the statement get this one."""
    try:
        yield
    except SqlError:
        raise
    except ScenarioError as error:
        kind = SqlUnsupported if isinstance(error, UnsupportedError) else SqlError
        raise kind(error.problem, offset, expected=error.expected, suggestion=error.suggestion) from None
