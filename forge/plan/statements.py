"""Statements on rows: what the text says, what happened, and what the session knew.

The engine makes them, the compiler decides what a server logs of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from forge.plan.changes import ChangeKind, RowChange
from forge.plan.effects import Evaluation, ForeignKeyEffects, OpenedTables, Search, TriggerEffects
from forge.plan.session import Session
from forge.plan.statement_text import StatementText, UserVariable
from forge.plan.tables import Table
from forge.sql.reads.calls import Call


class SessionContext(Struct, frozen=True):
    """What the session knew when a statement ran."""

    #: (second, microsecond) that CURRENT_TIMESTAMP gave.
    time: tuple[int, int] | None = None
    #: Between BEGIN and COMMIT, or XA START and XA END; between those of XA.
    in_block: bool = False
    in_xa: bool = False
    #: The transaction has changes of transactional tables already.
    follows_changes: bool = False
    #: What LAST_INSERT_ID() gave, if the text asks for it.
    last_insert_id: int | None = None
    #: The state of RAND(), if the text asks for it.
    rand_seeds: tuple[int, int] | None = None
    #: The user variables that the text reads.
    user_variables: tuple[UserVariable, ...] = ()
    #: Values for user variables and RAND() that are set before the statement, as SQL.
    settings: tuple[str, ...] = ()
    #: Its text is logged beside its rows or not, whatever the session's setting is.
    rows_query: bool | None = None
    #: The session's settings, where they are no longer those that it began with.
    session: Session | None = None


class Further(Struct, frozen=True):
    """What triggers and foreign keys, or a statement of several tables, change besides the statement's own table.

    ``position``: how many of the statement's own changes come before.
    """

    position: int
    statement: RowsStatement


class RowsStatement(Struct, frozen=True):
    """An INSERT (REPLACE and LOAD DATA too), UPDATE or DELETE with the rows that it changed, in the order of logging.

    ``further`` are changes of other tables, in order.
    """

    kind: ChangeKind
    table: Table
    changes: Sequence[RowChange]
    text: StatementText = field(default_factory=StatementText)
    further: tuple[Further, ...] = ()
    search: Search = field(default_factory=Search)
    evaluation: Evaluation = field(default_factory=Evaluation)
    opened: OpenedTables = field(default_factory=OpenedTables)
    triggers: TriggerEffects = field(default_factory=TriggerEffects)
    foreign_keys: ForeignKeyEffects = field(default_factory=ForeignKeyEffects)
    context: SessionContext = field(default_factory=SessionContext)
    #: Logged as its text (binlog_format), not as rows.
    as_text: bool = False

    def logged(self) -> Iterator[tuple[RowsStatement, RowChange]]:
        """All changes in the order of the log, with the statement that each is part of."""
        waiting = list(self.further)
        for number, change in enumerate(self.changes):
            while waiting and waiting[0].position <= number:
                yield from waiting.pop(0).statement.logged()
            yield self, change
        for later in waiting:
            yield from later.statement.logged()

    @property
    def touches_temporary(self) -> bool:
        """Whether it changes or reads a temporary table."""
        return self.opened.reads_temporary or any(part.table.temporary for part in self.parts())

    @property
    def first(self) -> RowsStatement | None:
        """The part that logs the first change; None if nothing changed."""
        return next((part for part, _ in self.logged()), None)

    @property
    def logged_sql(self) -> str:
        """The text that is logged: of the statement that logs the first change, which may stand in a trigger."""
        for further in self.further:
            if further.position == 0 and further.statement.first is not None:
                return self.text.sql if further.statement.foreign_keys.cascaded else further.statement.logged_sql
        return self.text.sql

    @property
    def evaluated_calls(self) -> frozenset[Call]:
        """The functions that were evaluated for its text, and those of the triggers that ran."""
        return self.evaluation.calls | (self.triggers.calls if self.search.matched else frozenset())

    def parts(self) -> Iterator[RowsStatement]:
        """The statement, and all that belongs to it."""
        yield self
        for further in self.further:
            yield from further.statement.parts()

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that TABLE_MAP events are written of, in order."""
        return self.opened.locked or tuple({part.table.full_name: part.table for part in self.parts()}.values())
