"""Where a scenario's entries stand, for the errors about them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Literal

from msgspec import Struct

from forge.engine.requests.statements import Statement
from forge.engine.requests.transactions import Transaction
from forge.errors import ScenarioError
from forge.located import Path, Place
from forge.scenario.model import Scenario
from forge.scenario.table_model import TableDeclaration
from forge.sql.errors import SqlError
from forge.sql.lexer import place_of
from forge.sql.version_comments import start_of_statement


class _At:
    """A block with a place; no generator, since each statement enters a dozen."""

    __slots__ = ("path", "places")

    def __init__(self, places: Places, path: Path) -> None:
        self.places = places
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, RecursionError):
            error = ScenarioError("the expression is nested too deeply", expected="fewer levels")
        if isinstance(error, ScenarioError):
            raise error.at(*self.places.place(self.path)) from None


class Places:
    """The lines of a scenario's entries."""

    def __init__(self, scenario: Scenario) -> None:
        self.tables = scenario.tables
        self.origin = scenario.origin

    def line(self, path: Path | None) -> int | None:
        """The line of the entry at ``path``; None for scenarios that are not from a file."""
        return None if self.origin is None or path is None else self.origin.line(path)

    def place(self, path: Path) -> Place:
        """Where the entry at ``path`` comes from: file and line, or the option that replaced it."""
        return Place(None) if self.origin is None else self.origin.place(path)

    def at(self, path: Path) -> AbstractContextManager[None]:
        """Errors of the block belong to the entry at ``path``, unless they know better."""
        return _At(self, path)

    @contextmanager
    def sql(self, path: Path, text: str) -> Iterator[None]:
        """SQL errors of the block point to the line of their offset in ``text``, the statement at ``path``."""
        with self.at(path):
            try:
                yield
            except SqlError as error:
                if self.origin is None:
                    raise
                offset = error.offset + start_of_statement(text)
                place = self.place(path)
                if place.line is not None:
                    inside = self.origin.place_at((*path, *self._piece(path, text, offset)), offset)
                    place = Place(place.file, inside.line, inside.column)
                raise error.at(*place) from None

    def _piece(self, path: Path, text: str, offset: int) -> tuple[str | int, ...]:
        """The steps to the column or key of a table given as a mapping, from a place in its rendered text."""
        table = self.tables[int(path[1])] if path[0] == "tables" else None
        if not isinstance(table, TableDeclaration):
            return ()
        row = place_of(text, offset)[0] - 2
        if 0 <= row < len(table.columns):
            return ("columns", row)
        return ("keys", row - len(table.columns)) if row >= 0 else ()


def entries(
    scenario: Scenario, name: Literal["existing", "transactions"]
) -> Iterator[tuple[tuple[str | int, ...], list[Statement] | Transaction]]:
    """The transactions that the scenario lists there, with their places."""
    listed = scenario.transactions if name == "transactions" else scenario.existing
    if not isinstance(listed, bool):
        for number, entry in enumerate(listed):
            yield (name, number), entry


def statements_of(transaction: list[Statement] | Transaction) -> list[Statement]:
    """The statements of a transaction."""
    return transaction if isinstance(transaction, list) else transaction.statements


def statement_path(
    path: tuple[str | int, ...], transaction: list[Statement] | Transaction, index: int
) -> tuple[str | int, ...]:
    """The place of a statement in the transaction at ``path``."""
    return (*path, index) if isinstance(transaction, list) else (*path, "statements", index)


class Entry(Struct, frozen=True):
    """An entry of a scenario (the engine's ``RequestPlace``): the steps to it from the top."""

    places: Places
    path: tuple[str | int, ...]

    @property
    def line(self) -> int | None:
        return self.places.line(self.path)

    def at(self, *steps: str | int) -> AbstractContextManager[None]:
        return self.places.at((*self.path, *steps))

    def sql(self, text: str, *steps: str | int) -> AbstractContextManager[None]:
        return self.places.sql((*self.path, *steps), text)

    def inside(self, *steps: str | int) -> Entry:
        return Entry(self.places, (*self.path, *steps))
