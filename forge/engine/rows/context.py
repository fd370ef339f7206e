"""What a statement on rows runs in."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from forge.engine.dictionary.catalog import Catalog, declared_name
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.literals import under
from forge.engine.dictionary.table_state import TableState
from forge.engine.requests.cells import CellGenerator
from forge.engine.rows.defaults import StatementTime, check_expressions
from forge.engine.rows.foreign_keys import References
from forge.values.base import Column

#: Names the entry of the scenario that the errors of a block belong to.
Place = Callable[..., AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class DmlContext:
    """What a statement runs in: ``place(*steps)`` adds the line of an entry inside the statement to errors."""

    catalog: Catalog
    current_database: str
    generate: CellGenerator
    time: StatementTime
    place: Place
    references: References
    line: int | None
    #: The session has no strict mode.
    clips: bool = False
    #: auto_increment_increment and auto_increment_offset.
    numbers: tuple[int, int] = (1, 1)
    #: Statements may be logged as their texts.
    is_text: bool = False
    #: INSERT IGNORE: impossible values become warnings.
    ignores: bool = False
    #: NO_AUTO_VALUE_ON_ZERO: 0 is a value of AUTO_INCREMENT columns.
    keeps_zero: bool = False
    #: EMPTY_STRING_IS_NULL.
    empty_is_null: bool = False
    #: SIMULTANEOUS_ASSIGNMENT: all of SET sees the row before it.
    assigns_at_once: bool = False
    #: The statement has a text of its own, so that its cells need none.
    has_text: bool = False

    def wire(self, column: ColumnDefinition) -> Column:
        """The column as the session takes its values."""
        return under(column.wire, self.catalog.dialect)

    def opened(self, name: str) -> TableState:
        """The table of a declared name such as ``shop.orders``, which the statement opens.

        Raises ScenarioError with the nearest name.
        """
        state = self.catalog.table(declared_name(name), self.current_database)
        check_expressions(state, self.time.offset)
        state.enforces_checks = self.catalog.checks_constraints
        return state
