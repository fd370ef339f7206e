"""Logical timestamps: which earlier transaction a replica must have committed before this one may run.

By commit order it is the previous transaction.  By writeset (sql/rpl_trx_tracking.cc; 8.4 and later know only this) it
is the last one that wrote one of the same keys: the primary key and unique keys of every before and after image.
A transaction without keys (DDL) makes everything after it depend on it; a table without keys falls back to the
commit order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Literal

from forge.plan.grouping.groups import LoggedTransaction
from forge.plan.keys import KeyEntry, key_entries
from forge.plan.statements import RowsStatement
from forge.plan.tables import Key, KeyPart, Row, Table

#: What last_committed follows (binlog_transaction_dependency_tracking).
Tracking = Literal["COMMIT_ORDER", "WRITESET", "WRITESET_SESSION"]


class CommitOrder:
    """last_committed is the sequence number of the transaction before."""

    def __init__(self) -> None:
        self.sequence_number = 0

    def next(self, transaction: LoggedTransaction | None, client: int = 0) -> tuple[int, int]:
        """(last_committed, sequence_number) of the client's next group; None stands for a DDL statement."""
        self.sequence_number += 1
        return self.sequence_number - 1, self.sequence_number

    def next_empty(self) -> tuple[int, int]:
        """As :meth:`next`, of a group that a replica has emptied."""
        return CommitOrder.next(self, None)

    def follow(self, tracking: Tracking) -> None:
        """What last_committed follows from here on."""


class Writeset(CommitOrder):
    """As above, but no later than the last transaction that wrote one of the same keys.

    ``limit``: how many keys are remembered.  With WRITESET_SESSION, transactions of one session stay in order.
    """

    def __init__(self, limit: int, tracking: Tracking = "WRITESET") -> None:
        super().__init__()
        self.limit = limit
        self.tracking = tracking
        #: By client: the last transaction while WRITESET_SESSION was followed.
        self.last_of_client: dict[int, int] = {}
        self.history: dict[KeyEntry, int] = {}
        # Recorded: the second transaction of a file depends on the first, whatever they write.
        self.history_start = 1

    def follow(self, tracking: Tracking) -> None:
        if tracking != self.tracking:
            # Nothing that was written before is known (recorded on 8.0.33).
            self.tracking = tracking
            self._restart(max(self.sequence_number, 1))

    def next(self, transaction: LoggedTransaction | None, client: int = 0) -> tuple[int, int]:
        if self.tracking == "COMMIT_ORDER":
            return super().next(transaction)
        last_committed, number = self._by_keys(transaction)
        if self.tracking == "WRITESET_SESSION":
            last_committed = max(last_committed, self.last_of_client.get(client, 0))
            self.last_of_client[client] = number
        return last_committed, number

    def _by_keys(self, transaction: LoggedTransaction | None) -> tuple[int, int]:
        last_committed, number = super().next(transaction)
        # Statements logged in groups of their own stay in the set, those taken back by savepoint leave it (recorded).
        logged = () if transaction is None else transaction.writes
        statements = [part for statement in logged for part in statement.parts() if part.changes]
        # Children of a changed parent are not in the set, so it excludes what follows (recorded).
        alone = any(statement.foreign_keys.is_parent for statement in statements)
        keys: set[KeyEntry] = set()
        count, parent = 0, self.history_start
        for key in () if alone else chain.from_iterable(map(written_keys, statements)):
            parent = max(parent, self.history.get(key, 0))
            keys.add(key)
            # Those of the before and the after image count twice (recorded).
            count += 1
            if count > self.limit:
                # The server gives up to gather them (recorded).
                alone = True
                break
        # A savepoint does not take back that rows had no key (recorded).
        missing = transaction is not None and transaction.keyless
        if alone or not (keys or missing):
            self._restart(number)
            return last_committed, number
        if len(self.history) + count > self.limit:
            self._restart(number)
        else:
            self.history.update(dict.fromkeys(keys, number))
        if not missing:
            last_committed = min(parent, last_committed)
        return last_committed, number

    def next_empty(self) -> tuple[int, int]:
        # It writes no key, and nothing has to wait for it (recorded).
        last_committed, number = super().next_empty()
        return min(self.history_start, last_committed), number

    def _restart(self, number: int) -> None:
        self.history.clear()
        self.history_start = number


def tracking_keys(order: CommitOrder | None) -> Writeset | None:
    """The order if keys alone decide it; WRITESET_SESSION keeps the order within a session too."""
    return order if isinstance(order, Writeset) and order.tracking == "WRITESET" else None


def written_keys(statement: RowsStatement) -> Iterator[KeyEntry]:
    """Every entry in a primary or unique key of the statement's images; a key with a NULL in it names no row."""
    table = statement.table
    for key in table.keys:
        for row in _images(statement) if key.kind != "index" else ():
            for entry in key_entries(table, key, row):
                yield (table.database, table.name, key.name, *entry)
    for foreign in table.foreign_keys if statement.foreign_keys.checks_parents else ():
        key = Key(foreign.parent_key, "unique", tuple(KeyPart(index) for index in foreign.columns))
        for row in _images(statement):
            # The row's parent, as a key of the parent's.
            for entry in key_entries(table, key, _without_nulls(table, row)):
                yield (*foreign.parent, foreign.parent_key, *entry)


def _images(statement: RowsStatement) -> Iterator[Row]:
    """Those before and after each change, one by one: there may be very many."""
    for change in statement.changes:
        yield from (row for row in (change.before, change.after) if row is not None)


def _without_nulls(table: Table, row: Row) -> Row:
    """The row as a foreign key's hash sees it: what lies under a NULL counts, zero or nothing (recorded on 9.7)."""
    return tuple(
        ("" if column.type.collation is not None else 0) if value is None else value
        for column, value in zip(table.columns, row, strict=True)
    )
