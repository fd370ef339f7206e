"""Transactions while they run, with savepoints and turns of several clients, and those of XA that are prepared."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from forge.engine.dictionary.catalog import Catalog, declared_name
from forge.engine.dictionary.table_state import UndoLog, undo
from forge.engine.requests.statements import Statement
from forge.engine.requests.transactions import Transaction as Declared
from forge.engine.requests.transactions import XaName
from forge.errors import ScenarioError, UnsupportedError, nearest
from forge.plan.circumstances import Turn
from forge.plan.definitions import DdlStatement
from forge.plan.grouping.caches import Caches
from forge.plan.session import Session as Settings
from forge.plan.statements import RowsStatement
from forge.plan.tables import is_transactional
from forge.plan.transactions import End, ReleaseSavepoint, RollbackTo, Savepoint, Step, Transaction, XaEnd, XaId
from forge.servers import ServerLine
from forge.sql.lexer import is_nameable

XA_PART = 64


def xa_id(name: XaName, line: ServerLine) -> XaId:
    """The identifier that an entry names.  Raises ScenarioError for parts that are too long, or empty on MariaDB."""
    xa = XaId(_part(name.gtrid, "gtrid"), _part(name.bqual, "bqual"), name.format_id)
    if not xa.gtrid and not line.groups.empty_gtrids:
        raise ScenarioError("gtrid is empty", expected="1 to 64 bytes on MariaDB (error 1398)")
    return xa


def _part(declared: Any, part_name: str) -> bytes:
    literal = declared
    if isinstance(declared, dict) and declared.keys() == {"hex"}:
        with suppress(ValueError, TypeError):
            literal = bytes.fromhex(declared["hex"])
    part = str(literal).encode() if isinstance(literal, (str, int)) else literal
    if not isinstance(part, bytes) or len(part) > XA_PART:
        raise ScenarioError(f"{part_name} is {declared!r}", expected=f"text or {{hex: ...}} of at most {XA_PART} bytes")
    return part


class Prepared(Struct):
    """An XA transaction that waits for its second phase, and what it had gathered."""

    log: UndoLog
    caches: Caches
    #: The session that prepared it, by number.
    session: int
    #: What its second phase logs, and the settings before it, where XA PREPARE logs nothing.
    later: tuple[Transaction, Settings] | None = None


class PreparedTransactions(Struct):
    """The XA transactions that are prepared."""

    waiting: dict[XaId, Prepared] = field(default_factory=dict)

    def add(self, xa: XaId, prepared: Prepared) -> None:
        """Raises ScenarioError if there is one of that name."""
        if xa in self.waiting:
            raise ScenarioError("an XA transaction of that name is prepared already", expected="another gtrid or bqual")
        self.waiting[xa] = prepared
        for state, number, _ in prepared.log:
            state.locked.add(number)

    def restart(self) -> None:
        """The server is started again: InnoDB alone keeps what was prepared, if it has changed something (recorded)."""
        self.waiting = {xa: prepared for xa, prepared in self.waiting.items() if prepared.log}

    def end(
        self, xa: XaId, end: Literal["commit", "rollback"], current_database: str, session: int
    ) -> tuple[XaEnd | Transaction, Settings | None]:
        """Its second phase, and the settings before it.  Raises ScenarioError if no such transaction is prepared."""
        prepared = self.waiting.pop(xa, None)
        if prepared is None:
            raise ScenarioError(
                "no XA transaction of that name is prepared", expected="a transaction before, `end: prepared`"
            )
        for state, number, _ in prepared.log:
            state.locked.discard(number)
        if end == "rollback":
            undo(prepared.log)
        if prepared.later is not None:
            group, begun = prepared.later
            return replace(group, end=end), begun
        caches = prepared.caches
        if caches.keeps and prepared.session != session:
            # Another session of MariaDB finds only that it is prepared (recorded).
            if not caches.prepares:
                raise ScenarioError(
                    "the transaction has changed nothing, so another session cannot end it (error 1402)",
                    expected="xa_commit or xa_rollback directly after it",
                )
            return XaEnd(xa, end, current_database), None
        return XaEnd(xa, end, current_database, caches.prepares, caches.engine_first, caches.mixed), None

    def forget(self) -> None:
        """The scenario ends: nobody sees what waits for its second phase still."""
        for prepared in reversed(self.waiting.values()):
            undo(prepared.log)


def check_transaction(declared: Declared) -> None:
    """Raises ScenarioError for a transaction that contradicts itself."""
    if declared.explicit is False and (_several(declared) or declared.end == "rollback"):
        raise ScenarioError("several statements commit together only in BEGIN ... COMMIT", expected="explicit: true")


def _several(declared: Declared) -> bool:
    """Whether there are several statements; events that are placed among them are none."""
    return sum(statement.event is None for statement in declared.statements) > 1


class RunningTransaction:
    """One transaction: its statements so far, and how to take them back; ``begun`` are the settings before it."""

    def __init__(
        self, declared: Declared, catalog: Catalog, current_database: str, begun: Settings, line: ServerLine
    ) -> None:
        self.declared = declared
        self.begun = begun
        #: It stays open while others run.
        self.stays = declared.end == "open"
        #: The turns that its client had before, and how many of its changes hold locks meanwhile.
        self.turns: list[Turn] = []
        self._locked = 0
        #: How many groups were logged when its last statement had run.
        self.logged_before = 0
        self.catalog = catalog
        self.steps: list[Step] = []
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
            statement_format=begun.binlog_format == "statement",
        )
        self.caches = Caches(self.form, line)
        self.watch()

    def go_on(self, declared: Declared) -> int:
        """Its client goes on with more statements; the number of the first."""
        for state, number, _ in self.log[: self._locked]:
            state.locked.discard(number)
        before = len(self.declared.statements)
        statements = [*self.declared.statements, *declared.statements]
        self.declared = msgspec.structs.replace(self.declared, statements=statements)
        if declared.end == "rollback":
            self.form = replace(self.form, end="rollback")
            self.caches.transaction = self.form
        self.watch()
        return before

    def leave(self, turn: Turn) -> None:
        """Another client goes on; others wait for the rows that this one has changed.

        Raises UnsupportedError for changes that are logged before the transaction ends.
        """
        if self.caches.written:
            raise UnsupportedError("an open transaction that changes tables without transactions is not supported yet")
        self._unwatch()
        for state, number, _ in self.log:
            state.locked.add(number)
        self._locked = len(self.log)
        self.turns.append(turn)

    def watch(self) -> None:
        """Have the tables that a rollback may reach enter their changes."""
        needed = self.form.end != "commit" or any(step.rollback_to is not None for step in self.declared.statements)
        for state in self.catalog.states() if needed or self.stays else ():
            if is_transactional(state.table):
                state.undo = self.log

    def _unwatch(self) -> None:
        for state in self.catalog.states():
            state.undo = None

    @property
    def in_block(self) -> bool:
        """Whether the statements run between BEGIN and COMMIT, or XA START and XA END."""
        return self.form.explicit or self.form.xa is not None or self.form.end != "commit"

    def log_place(self, statement: Statement, later: Sequence[Statement]) -> tuple[int, int]:
        """Where its next statement is logged: the group, counted from the transaction's first, and its place in it.

        Changes of tables without transactions do not wait: those of ``later`` statements are groups ahead of it.
        """
        written = len(self.caches.written)
        if not self._waits(statement):
            return written, 0
        ahead = 0 if self.form.statement_format else sum(not self._waits(each) for each in later)
        return written + ahead, len(self.caches.steps)

    def _waits(self, statement: Statement) -> bool:
        """Whether what it changes is logged when the transaction commits."""
        name = statement.target
        state = None if name is None else self.catalog.known(declared_name(name), self.form.current_database)
        return state is None or is_transactional(state.table)

    def add(self, step: Step) -> None:
        """A statement is over.  Raises ScenarioError for a savepoint that is not set."""
        if isinstance(step, Savepoint):
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
        self._unwatch()
        if self.form.end == "rollback":
            undo(self.log)
        if self.form.xa is None and not any(isinstance(step, (RowsStatement, DdlStatement)) for step in self.steps):
            return None
        return replace(self.form, statements=tuple(self.steps))


def savepoint_step(statement: Statement, session: Settings | None) -> Step | None:
    """SAVEPOINT, ROLLBACK TO and RELEASE in a session of these settings; None for other statements."""
    if statement.savepoint is not None:
        return Savepoint(statement.savepoint, session)
    if statement.rollback_to is not None:
        return RollbackTo(statement.rollback_to, session)
    return None if statement.release_savepoint is None else ReleaseSavepoint(statement.release_savepoint)
