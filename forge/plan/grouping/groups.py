"""Groups of the log."""

from __future__ import annotations

from msgspec import Struct

from forge.plan.definitions import DdlStatement
from forge.plan.statements import RowsStatement
from forge.plan.transactions import (
    End,
    LoggedStatement,
    Step,
    XaEnd,
    XaId,
)


class LoggedTransaction(Struct, frozen=True):
    """A group of row events: ``steps`` are the statements that are written, in order.

    ``keyless``: the transaction has written a table without a key that names a row, taken back or not.
    ``alone``: the group of one statement that changed no transactional table, inside a transaction or in autocommit
    mode.  ``writes``: the statements of the transaction whose writes count for its logical timestamp.
    ``two_phase``: InnoDB and the log commit together, by XID; ``engine_first``: an engine was asked to write, and knew
    of the transaction before the log did; ``mixed``: some statement before it changed tables that no rollback reaches;
    ``cut_off``: taken back to a savepoint from before the log took part.
    """

    steps: tuple[Step, ...]
    current_database: str
    in_block: bool
    end: End = "commit"
    xa: XaId | None = None
    alone: bool = False
    writes: tuple[RowsStatement, ...] = ()
    keyless: bool = False
    engine_first: bool = True
    two_phase: bool = True
    mixed: bool = False
    cut_off: bool = False
    #: Temporary tables have come or gone in the transaction, and that is logged.
    made_temporary: bool = False

    @property
    def rows_statements(self) -> tuple[RowsStatement, ...]:
        """The statements that change rows."""
        return tuple(step for step in self.steps if isinstance(step, RowsStatement))

    @property
    def has_text(self) -> bool:
        """Whether a statement is logged as its text."""
        made = any(isinstance(step, DdlStatement) for step in self.steps)
        return made or any(statement.as_text for statement in self.rows_statements)

    @property
    def of_statement(self) -> bool:
        """Whether it ends with its statement, not with COMMIT of the client's."""
        return self.alone or not self.in_block

    @property
    def made_alone(self) -> DdlStatement | None:
        """The making or end of a temporary table that is a group of its own."""
        step = self.steps[0] if self.alone else None
        return step if isinstance(step, DdlStatement) else None

    @property
    def thread_specific(self) -> bool:
        """Whether the statement that it ends with has to do with a temporary table."""
        return self.of_statement and any(statement.touches_temporary for statement in self.rows_statements)

    @property
    def is_transactional(self) -> bool:
        """Whether a rollback reaches all that was changed."""
        return not self.mixed and not self.alone


LoggedGroup = LoggedTransaction | DdlStatement | LoggedStatement | XaEnd
