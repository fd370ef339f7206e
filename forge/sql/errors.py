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
