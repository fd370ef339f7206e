"""Transactions while they run: savepoints, and what can be taken back."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from forge.engine.dictionary.catalog import Catalog
from forge.engine.dictionary.names import declared_name
from forge.engine.dictionary.table_state import TableState, UndoLog, undo
from forge.engine.requests.statements import Statement
from forge.engine.requests.transactions import Transaction as Declared
from forge.engine.session.prepared import xa_id
from forge.errors import ScenarioError, nearest
from forge.plan.definitions import DdlStatement
from forge.plan.grouping.caches import Caches
from forge.plan.grouping.engine_parts import engine_parts
from forge.plan.session import Session
from forge.plan.statements import RowsStatement
from forge.plan.tables import Table, is_transactional
from forge.plan.transactions import End, ReleaseSavepoint, RollbackTo, Savepoint, Step, Transaction
from forge.servers import ServerLine
from forge.sql.lexer import is_nameable


def check_transaction(declared: Declared) -> None:
    """Raises ScenarioError for a transaction that contradicts itself."""
    if declared.explicit is False and (_several(declared) or declared.end == "rollback"):
        raise ScenarioError("several statements commit together only in BEGIN ... COMMIT", expected="explicit: true")


def _several(declared: Declared) -> bool:
    """Whether there are several statements; events that are placed among them are none."""
    return sum(statement.event is None for statement in declared.statements) > 1


class RunningTransaction:
    """One transaction: its statements so far, and how to take them back."""

    def __init__(
        self,
        declared: Declared,
        catalog: Catalog,
        current_database: str,
        line: ServerLine,
        *,
        statement_format: bool = False,
    ) -> None:
        self.declared = declared
        #: It stays open while others run.
        self.stays = declared.end == "open"
        #: How many groups were logged when its last statement had run.
        self.logged_before = 0
        self.catalog = catalog
        self.steps: list[Step] = []
        self._declared: list[tuple[int, Step]] = []
        self.log: UndoLog = []
        #: Savepoints that are set, oldest first: name -> length of the undo log.
        self._savepoints: dict[str, int] = {}
        end: End = "rollback" if declared.end == "rollback" else "commit"
        if declared.xa is not None and end == "commit" and not declared.xa.one_phase:
            end = "prepare" if line.knows("xa_prepare") or declared.xa.end == "prepared" else declared.xa.end
        self.form = Transaction(
            statements=(),
            current_database=current_database,
            explicit=bool(declared.explicit) or _several(declared) or self.stays,
            end=end,
            xa=None if declared.xa is None else xa_id(declared.xa, line),
            statement_format=statement_format,
        )
        self.caches = Caches(self.form, line)
        self.watch()

    def go_on(self, declared: Declared) -> int:
        """More statements of it; the number of the first."""
        before = len(self.declared.statements)
        statements = [*self.declared.statements, *declared.statements]
        self.declared = msgspec.structs.replace(self.declared, statements=statements)
        if declared.end == "rollback":
            self.form = replace(self.form, end="rollback")
            self.caches.transaction = self.form
        self.watch()
        return before

    def leave(self) -> None:
        """Another client goes on."""
        for state in (*self.catalog.tables.values(), *self.catalog.temporary.values()):
            state.undo = None

    def watch(self) -> None:
        """Have the tables that a rollback may reach enter their changes."""
        for state in self._revocable():
            state.undo = self.log

    def _revocable(self) -> list[TableState]:
        """The tables that a rollback reaches, if the transaction may have one."""
        needed = self.form.end != "commit" or any(step.rollback_to is not None for step in self.declared.statements)
        needed |= self.stays
        states = (*self.catalog.tables.values(), *self.catalog.temporary.values())
        return [state for state in states if needed and is_transactional(state.table)]

    @property
    def in_block(self) -> bool:
        """Whether the statements run between BEGIN and COMMIT, or XA START and XA END."""
        return self.form.explicit or self.form.xa is not None or self.form.end != "commit"

    @property
    def is_intricate(self) -> bool:
        """Whether more than the order of statements decides in which group each is logged."""
        return any(
            statement.rollback_to is not None or not self._is_transactional(statement)
            for statement in self.declared.statements
        )

    @property
    def takes_time(self) -> bool:
        """Whether the tables of the statements hold the time of a change."""
        names = {statement.target for statement in self.declared.statements} - {None}
        tables = [table for table in map(self._table, names) if table is not None]
        return any(column.default_now or column.on_update_now for table in tables for column in table.columns)

    def _table(self, name: str | None) -> Table | None:
        """The table that a statement changes, as far as there is one of that name."""
        try:
            if name is None:
                return None
            return self.catalog.table(declared_name(name), self.form.current_database).table
        except ScenarioError:
            return None

    def _is_transactional(self, statement: Statement) -> bool:
        table = self._table(statement.target)
        return table is None or is_transactional(table)

    def check_gtid_consistency(self, statement: Statement, *, logs_temporary: bool) -> None:
        """Raises ScenarioError for what a server with GTIDs refuses (error 1785): what is not logged may change."""
        table = self._table(statement.target)
        unlogged = table is not None and table.temporary and not logs_temporary
        if self.caches.has_changes and not self._is_transactional(statement) and not unlogged:
            raise ScenarioError(
                "a table without transactions is changed after other statements of the transaction, which"
                " enforce_gtid_consistency forbids",
                expected="a transaction of its own, or session.gtid: false",
            )

    def check_engines(self, rows: RowsStatement, line: ServerLine) -> None:
        """As :meth:`check_gtid_consistency`, of a statement that has run: its triggers may change other engines."""
        if engine_parts(rows, line) is not None:
            raise ScenarioError(
                "the statement and its triggers change tables with and without transactions, which"
                " enforce_gtid_consistency forbids",
                expected="tables of one kind, or session.gtid: false",
            )

    def places(self) -> dict[int, tuple[int, int]]:
        """Declared statement -> (group of the transaction, index in it), of those that are logged; it is over then."""
        logged = {
            id(step): (group, index)
            for group, transaction in enumerate(self.caches.finish())
            for index, step in enumerate(transaction.steps)
        }
        written = [(index, self.caches.own_parts.get(id(step), step)) for index, step in self._declared]
        return {index: logged[id(step)] for index, step in written if id(step) in logged}

    def add(self, step: Step, index: int) -> None:
        """The declared statement ``index`` is over.  Raises ScenarioError for a savepoint that is not set."""
        self._declared.append((index, step))
        if isinstance(step, Savepoint):
            if self.caches.unprepared:
                raise ScenarioError("the transaction uses an Aria table, and Aria has no savepoints")
            if not is_nameable(step.name):
                expected = "characters from U+0001 to U+FFFF"
                raise ScenarioError(f"{step.name!r} cannot be the name of a savepoint", expected=expected)
            self._savepoints.pop(step.name.lower(), None)
            self._savepoints[step.name.lower()] = len(self.log)
        elif isinstance(step, (RollbackTo, ReleaseSavepoint)):
            self._to_savepoint(step)
        self.steps.append(step)
        self.caches.add(step)

    def _to_savepoint(self, step: RollbackTo | ReleaseSavepoint) -> None:
        """Both drop the savepoints set after it; RELEASE drops itself too."""
        name = step.name.lower()
        if name not in self._savepoints:
            suggestion = nearest(name, self._savepoints)
            raise ScenarioError(f"there is no savepoint {step.name!r}", suggestion=suggestion)
        if isinstance(step, RollbackTo):
            undo(self.log, self._savepoints[name])
        names = list(self._savepoints)
        kept = names.index(name) + (1 if isinstance(step, RollbackTo) else 0)
        for later in names[kept:]:
            del self._savepoints[later]

    def finish(self) -> Transaction | None:
        """The transaction, or None if it changed nothing at all."""
        self.leave()
        if self.form.end == "rollback":
            undo(self.log)
        if self.form.xa is None and not any(isinstance(step, (RowsStatement, DdlStatement)) for step in self.steps):
            return None
        return replace(self.form, statements=tuple(self.steps))


def savepoint_step(statement: Statement, session: Session | None) -> Step | None:
    """SAVEPOINT, ROLLBACK TO and RELEASE in a session of these settings; None for other statements."""
    if statement.savepoint is not None:
        return Savepoint(statement.savepoint, session)
    if statement.rollback_to is not None:
        return RollbackTo(statement.rollback_to, session)
    return None if statement.release_savepoint is None else ReleaseSavepoint(statement.release_savepoint)
