"""Errors with a place in SQL text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

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


def strict_at(offset: int) -> AbstractContextManager[None]:
    """Refusals of the block are those of strict mode; they get the place that they do not name."""
    return _refused_as(StrictRefusal, offset)


def unsupported_at(offset: int) -> AbstractContextManager[None]:
    """Refusals of the block are ours: servers may take what is refused.  They get the place that they do not name."""
    return _refused_as(SqlUnsupported, offset)


@contextmanager
def _refused_as(kind: type[SqlError], offset: int) -> Iterator[None]:
    try:
        yield
    except UnsupportedError:
        raise
    except ScenarioError as error:
        place = error.offset if isinstance(error, SqlError) else offset
        raise kind(error.problem, place, expected=error.expected, suggestion=error.suggestion) from None


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
