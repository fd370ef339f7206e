"""Which groups of the log the transactions of a session become.

A statement that is logged as its text stays where it stood among the others: behind changes of transactional tables
even that of a table which no rollback reaches waits in the transaction's cache, which is then written with ROLLBACK
at its end if the transaction is rolled back.

A connection gathers what it logs in two caches (binlog_cache_mngr in sql/binlog.cc): one of the transaction, which is
written at its end, and one of the statement, for tables that no rollback reaches; that one is written as a group of
its own as soon as the statement is over, ahead of the transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from forge.compile.model import (
    DdlStatement,
    End,
    Group,
    OwnEvent,
    ReleaseSavepoint,
    RollbackTo,
    RowsStatement,
    Savepoint,
    Step,
    Table,
    Transaction,
    XaEnd,
    XaId,
)
from forge.servers import ServerLine


@dataclass(frozen=True, slots=True)
class LoggedTransaction:
    """A group of row events: ``steps`` are the statements that are written, in order.

    ``alone``: the group of one statement that changed no transactional table, inside a transaction or in autocommit
    mode.  ``earlier``: statements before it in the same transaction, whose writes count for its logical timestamp.
    ``mixed``: some statement before it changed tables that no rollback reaches.
    """

    steps: tuple[Step, ...]
    current_database: str
    in_block: bool
    end: End = "commit"
    xa: XaId | None = None
    alone: bool = False
    earlier: tuple[RowsStatement, ...] = ()
    mixed: bool = False

    @property
    def rows_statements(self) -> tuple[RowsStatement, ...]:
        """The statements that change rows."""
        return tuple(step for step in self.steps if isinstance(step, RowsStatement))

    @property
    def has_text(self) -> bool:
        """Whether a statement is logged as its text."""
        return any(statement.as_text for statement in self.rows_statements)

    @property
    def is_transactional(self) -> bool:
        """Whether a rollback reaches all that was changed."""
        return not self.mixed and all(is_transactional(statement.table) for statement in self.rows_statements)

    @property
    def wrote(self) -> bool:
        """Whether a transactional engine was asked to change a row: the group ends with XID."""
        return any(
            is_transactional(statement.table) and not (statement.as_text and changes_nothing(statement))
            for statement in self.rows_statements
        )


LoggedGroup = LoggedTransaction | DdlStatement | XaEnd


class Caches:
    """What a connection has gathered of one transaction."""

    def __init__(self, transaction: Transaction, line: ServerLine) -> None:
        self.transaction = transaction
        self.line = line
        #: The transaction's cache.
        self.steps: list[Step] = []
        #: Groups that are written already.
        self.written: list[LoggedTransaction] = []
        self._rows: list[RowsStatement] = []
        self._mixed = False
        #: Savepoints that are set: name in lower case -> length of the cache after its SAVEPOINT.
        self._savepoints: dict[str, int] = {}
        #: The same by name as written -> number of statements before: the set of written keys tells upper from lower
        #: case (rpl_transaction_write_set_ctx.cc), the savepoints themselves do not (recorded on 9.7).
        self._writes_before: dict[str, int] = {}

    def add(self, step: Step) -> None:
        """A statement is over."""
        if isinstance(step, RowsStatement):
            self._rows_statement(step)
        elif isinstance(step, OwnEvent):
            self.steps.append(step)
        elif isinstance(step, Savepoint):
            # An empty cache is not opened for it (recorded).
            self.steps += [step] if has_rows(self.steps) else []
            self._savepoints[step.name.lower()] = len(self.steps)
            self._writes_before[step.name] = len(self._rows)
        elif isinstance(step, RollbackTo):
            self._rollback_to(step)
        else:
            assert isinstance(step, ReleaseSavepoint)

    def finish(self) -> list[LoggedTransaction]:
        """The transaction's groups, in the order of the log."""
        if has_rows(self.steps) and (self.transaction.end != "rollback" or self._cannot_roll_back):
            self.written.append(self._group(self.steps))
        return self.written

    @property
    def _cannot_roll_back(self) -> bool:
        """Whether the cache holds a change that stays (trx_cache.cannot_rollback in sql/binlog.cc)."""
        return any(isinstance(step, RowsStatement) and not is_transactional(step.table) for step in self.steps)

    def _rows_statement(self, step: RowsStatement) -> None:
        if not step.changes and not step.as_text:
            return
        if is_transactional(step.table) or (step.as_text and has_rows(self.steps)):
            self.steps.append(step)
        else:
            self.written.append(replace(self._group([step]), alone=True, xa=None, end="commit"))
            self._mixed = True
        self._rows.append(step)

    def _rollback_to(self, step: RollbackTo) -> None:
        """Events since the savepoint vanish, its own SAVEPOINT stays."""
        if self._cannot_roll_back:
            self.steps.append(step)
            return
        del self.steps[self._savepoints[step.name.lower()] :]
        if step.name in self._writes_before:
            del self._rows[self._writes_before[step.name] :]

    def _group(self, steps: list[Step]) -> LoggedTransaction:
        own = {id(step) for step in steps}
        return LoggedTransaction(
            steps=tuple(steps),
            current_database=self.transaction.current_database,
            in_block=self.transaction.in_block,
            end=self.transaction.end,
            xa=self.transaction.xa,
            earlier=tuple(step for step in self._rows if id(step) not in own),
            mixed=self._mixed,
        )


def logged_groups(groups: Iterable[Group], line: ServerLine) -> Iterator[LoggedGroup]:
    """The groups that a server of the line writes of what a client did."""
    for group in groups:
        if isinstance(group, Transaction):
            caches = Caches(group, line)
            for step in group.statements:
                caches.add(step)
            yield from caches.finish()
        elif is_logged(group, line):
            yield group


def has_rows(steps: Iterable[Step]) -> bool:
    """Whether some statement changed rows."""
    return any(isinstance(step, RowsStatement) for step in steps)


def is_logged(group: DdlStatement | XaEnd, line: ServerLine) -> bool:
    """MariaDB does not log CREATE TABLE IF NOT EXISTS of a table that exists (recorded)."""
    if not isinstance(group, DdlStatement) or line.family != "mariadb":
        return True
    return not (group.kind == "create_table" and group.no_effect)


def changes_nothing(statement: RowsStatement) -> bool:
    """Whether no engine was asked to change a row (recorded).

    An UPDATE compares a row with what it was only if it has read all columns that it sets (sql_update.cc,
    records_are_comparable); else the engine has to find that nothing changes.
    """
    if statement.changes:
        return False
    context = statement.context
    if statement.kind == "insert" and statement.load is None:
        return False
    if statement.kind != "update" or not context.matched:
        return not context.matched
    assigned = statement.assigned or frozenset()
    columns = statement.table.columns
    stamped = any(column.on_update_now and index not in assigned for index, column in enumerate(columns))
    return stamped or assigned <= context.reads


def is_transactional(table: Table) -> bool:
    """Whether a rollback reaches the table's rows."""
    return table.engine.lower() == "innodb"
