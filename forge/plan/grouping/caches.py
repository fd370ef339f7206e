"""What a connection gathers of a transaction, statement by statement, until it is logged.

A connection has two caches (binlog_cache_mngr in sql/binlog.cc): one of the transaction, which is written at its end,
and one of the statement, for tables that no rollback reaches; that one is written as a group of its own as soon as the
statement is over, ahead of the transaction.

A statement that is logged as its text stays where it stood among the others: behind changes of transactional tables
even that of a table which no rollback reaches waits in the transaction's cache, which is then written with ROLLBACK
at its end if the transaction is rolled back.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from forge.plan.definitions import DdlStatement, TableCreationSelect, TableDrop
from forge.plan.grouping.asked_engines import changes_none_of_several, changes_nothing
from forge.plan.grouping.drops import logged_definitions
from forge.plan.grouping.engine_parts import engine_parts
from forge.plan.grouping.groups import LoggedTransaction
from forge.plan.keys import key_of_rows
from forge.plan.statements import RowsStatement
from forge.plan.tables import is_transactional
from forge.plan.transactions import (
    OwnEvent,
    ReleaseSavepoint,
    RollbackTo,
    Savepoint,
    Step,
    Transaction,
)
from forge.servers import ServerLine


class _Mark(Struct, frozen=True):
    """A savepoint: what the transaction was when it was set (``length`` counts its own SAVEPOINT)."""

    length: int
    registered: bool
    joined: frozenset[str]


class Caches:
    """What a connection has gathered of one transaction (recorded on 9.7, 10.11 and 11.8)."""

    def __init__(self, transaction: Transaction, line: ServerLine) -> None:
        self.transaction = transaction
        self.line = line
        #: MariaDB keeps what was rolled back, and says so, once the transaction has changed what cannot be.
        self.keeps = line.groups.keeps_rolled_back
        #: The transaction's cache.
        self.steps: list[Step] = []
        #: Groups that are written already.
        self.written: list[LoggedTransaction] = []
        #: The part with its own table of a statement that is in both caches, by the statement's identity.
        self.own_parts: dict[int, RowsStatement] = {}
        self._rows: list[RowsStatement] = []
        self._keyless = False
        self._savepoints: dict[str, _Mark] = {}
        #: Savepoints by name as written -> number of statements before: the set of written keys tells upper from lower
        #: case (rpl_transaction_write_set_ctx.cc), the savepoints themselves do not (recorded on 9.7).
        self._writes_before: dict[str, int] = {}
        #: The log takes part in the transaction: from its first logged row on, in either cache.
        self.registered = False
        #: Engines that know of the transaction, those that did before the log did, and those asked to write for it.
        self._joined: set[str] = set()
        self._before_log: set[str] = set()
        self._asked: set[str] = set()
        #: What no rollback reaches was changed.
        self.mixed = False
        #: Temporary tables came or went, logged or not.
        self.made_temporary = self.logged_temporary = False

    def add(self, step: Step) -> None:
        """A statement is over."""
        if isinstance(step, RowsStatement):
            self._rows_statement(step)
        elif isinstance(step, OwnEvent):
            self.steps.append(step)
        elif isinstance(step, DdlStatement):
            self._temporary(step)
        elif isinstance(step, Savepoint):
            self.steps += [step] if self.registered else []
            self._savepoints[step.name.lower()] = _Mark(len(self.steps), self.registered, frozenset(self._joined))
            self._writes_before[step.name] = len(self._rows)
        elif isinstance(step, RollbackTo):
            self._rollback_to(step)
        else:
            assert isinstance(step, ReleaseSavepoint)

    def finish(self) -> list[LoggedTransaction]:
        """The transaction's groups, in the order of the log."""
        end, xa = self.transaction.end, self.transaction.xa
        # MariaDB takes back a ROLLBACK of rows whole, one of XA not.
        takes_back = self.keeps and xa is None and not self.transaction.statement_format and not self.made_temporary
        # MIXED has the text of a temporary table that no rollback reaches among the others.
        takes_back &= not any(isinstance(step, RowsStatement) and self._stays(step) for step in self.steps)
        if end == "rollback" and (takes_back or not self._keeps_rolled_back):
            self.steps.clear()
        elif has_statements(self.steps) or (end == "prepare" and self.prepares):
            self.written.append(self._group(self.steps))
        return self.written

    @property
    def has_changes(self) -> bool:
        """Whether a statement waits in the transaction's cache."""
        return has_statements(self.steps)

    @property
    def engaged(self) -> bool:
        """InnoDB takes part in the transaction."""
        return "InnoDB" in self._asked

    @property
    def unprepared(self) -> bool:
        """An engine that can neither prepare nor set savepoints knows of the transaction, if only by a fruitless
        UPDATE (recorded).
        """
        return "Aria" in self._joined

    @property
    def engine_first(self) -> bool:
        """An engine took part, and knew of the transaction before the log did (recorded on 10.11 and 11.8)."""
        known = self._joined if self.line.groups.gtid_unknown_engines == "unless_any" else self._before_log
        return bool(known & self._asked)

    @property
    def prepares(self) -> bool:
        """Whether XA PREPARE is logged."""
        return self.registered or self.engaged if self.keeps else has_statements(self.steps)

    @property
    def _keeps_rolled_back(self) -> bool:
        """Whether what is rolled back stays in the log: on MySQL only if the cache has a change that stays.

        That is trx_cache.cannot_rollback in sql/binlog.cc, and trans_has_updated_non_trans_table in MariaDB's log.cc.
        """
        if self.keeps:
            return self.mixed or self.made_temporary
        return any(
            isinstance(step, DdlStatement) or (isinstance(step, RowsStatement) and self._stays(step))
            for step in self.steps
        )

    def _stays(self, step: RowsStatement) -> bool:
        """Whether the statement changed what no rollback reaches."""
        if is_transactional(step.table):
            return False
        return bool(step.changes) or (step.kind == "insert" and self.line.groups.counts_ignored_rows)

    def _waits(self, step: RowsStatement) -> bool:
        """Whether the statement is logged in the transaction's cache."""
        if step.as_text and has_statements(self.steps):
            return True
        if self.keeps and changes_none_of_several(step, self.line):
            # An UPDATE of several tables looks at their engines only as it changes rows (recorded on MariaDB).
            return False
        return is_transactional(step.table)

    def _temporary(self, step: DdlStatement) -> None:
        """A temporary table comes or goes; one that no rollback reaches in a group of its own, where it can."""
        self.made_temporary = True
        # MariaDB fills one in row format too as it does a table that is logged.
        self.logged_temporary |= isinstance(step, TableCreationSelect) and self.keeps
        for part in () if step.unlogged else logged_definitions(step, self.line):
            self.logged_temporary = self.registered = True
            if isinstance(part, TableDrop):
                revocable, by_rows = not part.irrevocable, part.in_row_format
            else:
                revocable, by_rows = not part.no_effect and all(map(is_transactional, part.tables)), False
            if revocable or (has_statements(self.steps) and not by_rows):
                self.steps.append(part)
            else:
                self.written.append(replace(self._group([part]), alone=True, xa=None, end="commit"))

    def _rows_statement(self, step: RowsStatement) -> None:
        engine = step.table.engine
        if engine == "InnoDB" or (engine == "Aria" and self.line.groups.aria_takes_part):
            self._before_log |= set() if self.registered or engine in self._joined else {engine}
            self._joined.add(engine)
            # What a temporary table holds is not for recovery (handler::mark_trx_read_write).
            written = not step.table.temporary and (bool(step.changes) or not changes_nothing(step, self.line))
            self._asked |= {engine} if written else set()
        if not step.as_text and (step.table.temporary or step.first is None):
            self.mixed |= self.keeps and self._stays(step)
            return
        self._rows.append(step)
        self._keyless |= any(part.changes and key_of_rows(part.table) is None for part in step.parts())
        parts = engine_parts(step, self.line)
        self.mixed |= self._stays(step) if parts is None else self.transaction.in_block
        if parts is not None:
            self.own_parts[id(step)] = parts[1] if is_transactional(step.table) else parts[0]
            self._both(*parts)
        elif self._waits(step):
            self.steps.append(step)
        else:
            self.written.append(replace(self._group([step]), alone=True, xa=None, end="commit"))
        self.registered = True

    def _both(self, stays: RowsStatement, goes: RowsStatement) -> None:
        """A statement changed what a rollback reaches and what none does: both caches have rows of it.

        In autocommit mode MariaDB writes them as one group.
        """
        self._joined.add("InnoDB")
        self._asked.add("InnoDB")
        if self.keeps and not self.transaction.in_block:
            self.steps += [stays, goes]
            return
        self.written.append(replace(self._group([stays]), alone=True, xa=None, end="commit"))
        self.steps.append(goes)

    def _rollback_to(self, step: RollbackTo) -> None:
        """Events since the savepoint vanish; its own SAVEPOINT stays, but on the oldest lines."""
        mark = self._savepoints[step.name.lower()]
        if not mark.registered:
            # The log was not part of the transaction at the savepoint: for it, all is rolled back.
            self._flush_rollback(mark.length)
            self.registered = False
        elif self._keeps_rolled_back:
            self.steps.append(step)
        else:
            del self.steps[mark.length - (0 if self.line.groups.savepoints_stay else 1) :]
        # An engine that was there at the savepoint has changed something all the same (ha_rollback_to_savepoint).
        self._joined &= mark.joined
        self._before_log &= mark.joined
        self._asked &= mark.joined
        if step.name in self._writes_before:
            del self._rows[self._writes_before[step.name] :]

    def _flush_rollback(self, length: int) -> None:
        """The cache is emptied."""
        if has_statements(self.steps) and self._keeps_rolled_back:
            self.written.append(replace(self._group(self.steps), end="rollback", cut_off=True))
        del self.steps[length:]

    def _group(self, steps: list[Step]) -> LoggedTransaction:
        return LoggedTransaction(
            steps=tuple(steps),
            current_database=self.transaction.current_database,
            in_block=self.transaction.in_block,
            end=self.transaction.end,
            xa=self.transaction.xa,
            writes=tuple(self._rows),
            keyless=self._keyless,
            engine_first=self.engine_first,
            two_phase=self.engaged and not self.unprepared,
            mixed=self.mixed,
            made_temporary=self.logged_temporary,
        )


def has_statements(steps: Iterable[Step]) -> bool:
    """Whether a statement is among the steps; events that a scenario places are nobody's."""
    return not all(isinstance(step, OwnEvent) for step in steps)
