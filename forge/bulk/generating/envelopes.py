"""Events around the rows of a volume's transactions: compiled once by the reference path, one form after the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from forge.bulk.generating.definitions import Definitions
from forge.bulk.rows.envelopes import event_template, rows_template
from forge.bulk.writing.interleaving import StatementShape, TransactionForm
from forge.compile.files.compilation import LOGS
from forge.compile.files.log import DEFAULT_TABLE_ID
from forge.compile.query.clock import TIMESTAMPS, ZONED
from forge.engine.rows.foreign_keys import isolates
from forge.events.event import Event
from forge.events.query import Query
from forge.events.rows import ROWS_BODIES
from forge.events.table_map import TableMap
from forge.plan.changes import ChangeKind, RowChange
from forge.plan.effects import ForeignKeyEffects
from forge.plan.facts import Facts
from forge.plan.grouping.logged_groups import logged_groups
from forge.plan.statement_text import StatementText
from forge.plan.statements import RowsStatement
from forge.plan.tables import Table
from forge.plan.transactions import Transaction

KINDS: Final[tuple[ChangeKind, ...]] = ("insert", "update", "delete")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a transaction: a table of the epoch, and what is done to its rows.

    ``assigned``: the columns that an UPDATE sets; ``zoned``: the first row is given a moment, for which servers ask
    for the time zone.
    """

    table: int
    kind: ChangeKind
    assigned: frozenset[int] | None = None
    zoned: bool = False


class FormCompiler:
    """The forms and shapes of transactions in one epoch."""

    def __init__(self, definitions: Definitions, epoch: int) -> None:
        self.definitions = definitions
        self.tables = definitions.epochs[epoch].tables
        # Definitions are opened once each: those that no statement has changed keep their numbers.
        known: dict[tuple[str, str, int], int] = {}
        for each in definitions.epochs:
            for table in each.tables:
                known.setdefault((table.database, table.name, table.version), len(known))
        self._ids = [known[table.database, table.name, table.version] + DEFAULT_TABLE_ID for table in self.tables]
        self._parents = {foreign.parent for table in self.tables for foreign in table.foreign_keys}

    def compiled(self, statements: Sequence[Statement]) -> tuple[TransactionForm, list[StatementShape]]:
        """The form of a transaction of these statements, and their shapes."""
        events = self._events(statements)
        places = [place for place, event in enumerate(events) if isinstance(event.body, ROWS_BODIES)]
        first = next(place for place, event in enumerate(events) if isinstance(event.body, TableMap))
        names = iter(("begin_exec_time", "commit_exec_time"))
        templates = [
            event_template(event, next(names) if isinstance(event.body, Query) else None, sessions=True)
            for event in events
        ]
        shapes = []
        begin = first
        for place, statement in zip(places, statements, strict=True):
            table, session = self.tables[statement.table], self.definitions.plan.session
            rows = rows_template(events[place], statement.kind, table, session, None)
            shapes.append(StatementShape(tuple(templates[begin:place]), rows))
            begin = place + 1
        return TransactionForm(tuple(templates[:first]), tuple(templates[begin:])), shapes

    def zoned_columns(self, table: int) -> list[int]:
        """The columns whose values make a server ask for the session's time zone."""
        zoned = ZONED if self.definitions.line.values.takes_offsets else TIMESTAMPS
        return [index for index, column in enumerate(self.tables[table].columns) if column.type.name in zoned]

    def _events(self, statements: Sequence[Statement]) -> list[Event]:
        """The events of such a transaction, with header time 1."""
        plan, line = self.definitions.plan, self.definitions.line
        ids = [self._ids[statement.table] for statement in statements]
        facts = Facts(timestamps=[[1]], table_ids=ids)
        session = msgspec.structs.replace(plan.session, facts=facts)
        log = LOGS[line.family](dataclasses.replace(plan, session=session), line)
        database = session.database or self.tables[0].database
        transaction = Transaction(tuple(map(self._statement, statements)), database, explicit=len(statements) > 1)
        (group,) = logged_groups((transaction,), line)
        return list(log.group(0, group))

    def _statement(self, statement: Statement) -> RowsStatement:
        table, kind = self.tables[statement.table], statement.kind
        nothing = (None,) * len(table.columns)
        change = RowChange(None if kind == "insert" else nothing, None if kind == "delete" else nothing)
        assigned = frozenset(range(len(table.columns))) if kind == "insert" else statement.assigned
        return RowsStatement(
            kind,
            table,
            (change,),
            StatementText(
                assigned=None if kind == "delete" else assigned,
                system_variables=frozenset(("time_zone",)) if statement.zoned else frozenset(),
            ),
            foreign_keys=self._foreign_keys(table, kind),
        )

    def _foreign_keys(self, table: Table, kind: ChangeKind) -> ForeignKeyEffects:
        checks = self.definitions.plan.session.foreign_key_checks
        parent = (table.database, table.name) in self._parents
        return ForeignKeyEffects(
            checks_parents=checks,
            is_parent=parent,
            is_related=isolates(
                self.definitions.line, parent=parent, checked=checks and bool(table.foreign_keys) and kind != "delete"
            ),
        )
