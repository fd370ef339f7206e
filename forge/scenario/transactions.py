"""Transactions while they run: savepoints, what can be taken back, XA transactions that wait for their end."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from forge.compile.grouping import Caches, is_transactional
from forge.compile.model import (
    End,
    ReleaseSavepoint,
    RollbackTo,
    RowsStatement,
    Savepoint,
    Step,
    Transaction,
    XaId,
)
from forge.errors import ScenarioError, nearest
from forge.scenario.catalog import Catalog
from forge.scenario.generators import literal_of
from forge.scenario.model import Statement, XaName
from forge.scenario.model import Transaction as Declared
from forge.scenario.state import TableState, UndoLog, undo
from forge.servers import ServerLine

XA_PART = 64


def declared_transaction(entry: list[Statement] | Declared) -> Declared:
    """A transaction in its full form.  Raises ScenarioError for what contradicts itself."""
    if isinstance(entry, list):
        if not entry:
            raise ScenarioError("the transaction is empty", expected="at least one statement")
        entry = Declared(statements=entry)
    if entry.explicit is False and (_several(entry) or entry.end == "rollback"):
        raise ScenarioError("several statements commit together only in BEGIN ... COMMIT", expected="explicit: true")
    return entry


def _several(declared: Declared) -> bool:
    """Whether there are several statements; events that are placed among them are none."""
    return sum(statement.event is None for statement in declared.statements) > 1


def xa_id(name: XaName) -> XaId:
    """The identifier that an entry names.  Raises ScenarioError for parts that are too long."""
    return XaId(_part(name.gtrid, "gtrid"), _part(name.bqual, "bqual"), name.format_id)


def _part(declared: Any, what: str) -> bytes:
    literal = literal_of(declared)
    if isinstance(literal, int):
        literal = str(literal)
    part = literal.encode() if isinstance(literal, str) else literal
    if not isinstance(part, bytes) or len(part) > XA_PART or (what == "gtrid" and not part):
        raise ScenarioError(f"{what} is {declared!r}", expected=f"text or {{hex: ...}} of at most {XA_PART} bytes")
    return part


class RunningTransaction:
    """One transaction: its statements so far, and how to take them back."""

    def __init__(self, declared: Declared, catalog: Catalog, current_database: str, line: ServerLine) -> None:
        self.declared = declared
        self.catalog = catalog
        self.steps: list[Step] = []
        self.log: UndoLog = []
        #: Savepoints that are set, oldest first: name -> length of the undo log.
        self._savepoints: dict[str, int] = {}
        end: End = "rollback" if declared.end == "rollback" else "commit"
        if declared.xa is not None and end == "commit" and not declared.xa.one_phase:
            end = "prepare"
        self.form = Transaction(
            statements=(),
            current_database=current_database,
            explicit=bool(declared.explicit) or _several(declared),
            end=end,
            xa=None if declared.xa is None else xa_id(declared.xa),
        )
        self.caches = Caches(self.form, line)
        for state in self._revocable():
            state.undo = self.log

    def _revocable(self) -> list[TableState]:
        """The tables that a rollback reaches, if the transaction may have one."""
        needed = self.form.end != "commit" or any(step.rollback_to is not None for step in self.declared.statements)
        return [state for state in self.catalog.tables.values() if needed and is_transactional(state.table)]

    def place(self, index: int) -> tuple[int, int]:
        """(groups that are logged before, index in its group) of the declared statement that runs next."""
        written = len(self.caches.written)
        if not self._is_transactional(self.declared.statements[index]):
            return written, 0
        # Groups that later statements are going to log ahead of the transaction.
        later = self.declared.statements[index + 1 :]
        return written + sum(not self._is_transactional(one) for one in later), len(self.caches.steps)

    def _is_transactional(self, statement: Statement) -> bool:
        if statement.target is None:
            return True
        try:
            return is_transactional(self.catalog.table(statement.target, self.form.current_database).table)
        except ScenarioError:
            return True

    def add(self, step: Step) -> None:
        """A statement is over.  Raises ScenarioError for a savepoint that is not set."""
        if isinstance(step, Savepoint):
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
        for state in self.catalog.tables.values():
            state.undo = None
        if self.form.end == "rollback":
            undo(self.log)
        if not any(isinstance(step, RowsStatement) for step in self.steps):
            return None
        return replace(self.form, statements=tuple(self.steps))


@dataclass(slots=True)
class Prepared:
    """An XA transaction that waits for its second phase; ``logged``: it changed something."""

    log: UndoLog
    logged: bool


@dataclass(slots=True)
class PreparedTransactions:
    """The XA transactions that are prepared."""

    found: dict[XaId, Prepared] = field(default_factory=dict)

    def add(self, xa: XaId, prepared: Prepared) -> None:
        """Raises ScenarioError if there is one of that name."""
        if xa in self.found:
            raise ScenarioError("an XA transaction of that name is prepared already", expected="another gtrid or bqual")
        self.found[xa] = prepared

    def end(self, xa: XaId, *, commit: bool) -> bool:
        """Whether its end is logged.  Raises ScenarioError if no such transaction is prepared."""
        prepared = self.found.pop(xa, None)
        if prepared is None:
            raise ScenarioError(
                "no XA transaction of that name is prepared", expected="a transaction before, `end: prepared`"
            )
        if not commit:
            undo(prepared.log)
        return prepared.logged

    def changed(self, state: TableState) -> bool:
        """Whether a prepared transaction holds locks in the table."""
        return any(entry[0] is state for prepared in self.found.values() for entry in prepared.log)


def savepoint_step(statement: Statement) -> Step | None:
    """SAVEPOINT, ROLLBACK TO and RELEASE; None for other statements."""
    if statement.savepoint is not None:
        return Savepoint(statement.savepoint)
    if statement.rollback_to is not None:
        return RollbackTo(statement.rollback_to)
    return None if statement.release_savepoint is None else ReleaseSavepoint(statement.release_savepoint)
