"""What a statement on rows runs in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from msgspec import Struct, field

from forge.charsets import charset, collation
from forge.engine.dictionary.catalog import Catalog, declared_name
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.literals import under
from forge.engine.dictionary.table_state import TableState
from forge.engine.requests.cells import CellGenerator
from forge.engine.requests.statements import Further
from forge.engine.rows.defaults import StatementTime, check_expressions
from forge.engine.rows.foreign_keys import References
from forge.errors import UnsupportedError
from forge.plan.statement_text import UserVariable
from forge.plan.statements import RowsStatement
from forge.sql.expressions import Operand, Unsigned
from forge.values.base import Column

#: Names the entry of the scenario that the errors of a block belong to.
Place = Callable[..., AbstractContextManager[None]]


class DmlContext(Struct, frozen=True):
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
    #: Runs what the body of a trigger does; None: what triggers do is declared.
    nested: Callable[[Further, DmlContext], RowsStatement] | None = None
    #: The collation of the connection's literals.
    connection_collation: int = 255
    #: The session's user variables by name; None where the value is not known, NULL what is not there.
    variables: Mapping[str, UserVariable | None] = field(default_factory=dict)
    #: What functions of the session and its system variables (``@@name``) give.
    known: Mapping[str, Any] = field(default_factory=dict)

    def session_value(self, name: str) -> Operand:
        """A variable, or what a function of the session gives.  Raises UnsupportedError where that is not known."""
        if name.startswith("@@"):
            name = "@@" + name.removeprefix("@@").removeprefix("session.").removeprefix("local.")
            if name not in self.known or self.known[name] is None:
                raise UnsupportedError(f"{name} in expressions is not known here", expected="a literal")
            return self.known[name]
        name = name.removeprefix("@")
        if name not in self.variables:
            return None
        variable = self.variables[name]
        if variable is None:
            raise UnsupportedError(f"the value of @{name} is not known here", expected="`user_variables`, or a literal")
        value = variable.value
        if isinstance(value, bytes) and variable.collation is not None:
            return charset(collation(variable.collation).charset).decode(value)
        return Unsigned(value) if variable.unsigned and isinstance(value, int) else value

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
