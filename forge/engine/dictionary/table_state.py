"""The rows of one table, as a server holds them: keys, AUTO_INCREMENT, order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from forge.engine.dictionary.columns import ColumnDefinition, sort_value
from forge.engine.dictionary.definition import Definition
from forge.engine.dictionary.key_definition import RowExpression
from forge.engine.dictionary.key_sets import KeySet, KeySets, is_taken
from forge.engine.dictionary.system_columns import hidden_columns, last_moment
from forge.engine.dictionary.tables import plan_table
from forge.errors import ScenarioError, UnsupportedError, about
from forge.plan.keys import KeyEntry, key_entries, key_of_rows, overlaps, unique_keys
from forge.plan.tables import Key, Row, Table
from forge.servers import server_line
from forge.sql.expressions import parse_expression
from forge.values.base import Value

BINARY_COLLATION = 63


#: Changes of rows that can be taken back: (table, row number, the row before or None).
UndoLog = list[tuple["TableState", int, Row | None]]


def undo(log: UndoLog, length: int = 0) -> None:
    """Take back the changes of a log beyond its first ``length``.  AUTO_INCREMENT and row numbers go on from where
    they are, as in InnoDB.
    """
    while len(log) > length:
        state, number, before = log.pop()
        state.restore(number, before)


class TableState:
    """A table: its definition, and its rows by number (the n-th row ever inserted has the number n)."""

    def __init__(self, definition: Definition, version: int, auto_increment: int = 1) -> None:
        self.definition = definition
        self.table: Table = plan_table(definition, version)
        #: With the hidden ones.
        self.columns: tuple[ColumnDefinition, ...] = (*definition.columns, *hidden_columns(definition))
        grammar = server_line(definition.server).grammar
        self._rows: dict[int, Row] = {}
        #: Rows behind those that nobody has asked for yet, with the number of the first.
        self._waiting: list[tuple[int, Sequence[Row]]] = []
        #: Index of the AUTO_INCREMENT column.
        self.auto_increment = next((i for i, each in enumerate(self.columns) if each.column.auto_increment), None)
        #: Number of the next row.
        self.inserted = 0
        #: UPDATE statements so far, for generators.
        self.updates = 0
        self.next_auto_increment = max(auto_increment, 1)
        #: The engine has given a number since the table was opened.
        self.has_numbered = False
        #: EXCHANGE PARTITION: MySQL and MariaDB go on from other numbers (recorded), by no rule that is known here.
        self.number_is_lost = False
        #: What the counter is after a new start of the server: numbers that were reserved and not stored are lost.
        self._kept_auto_increment = self.next_auto_increment
        self.unique = unique_keys(self.table)
        self._entries: list[dict[KeyEntry, int]] = [{} for _ in self.unique]
        self._waiting_entries = [KeySets() for _ in self.unique]
        #: The CHECK constraints that are enforced.
        self.enforces_checks = True
        self.checks = [
            (check, RowExpression(parse_expression(check.expression, grammar), self.columns))
            for check in definition.checks
            if check.enforced and check.computed
        ]
        #: Rows that have moved to another partition: (the last number before that, a count).
        self._moved: dict[int, tuple[int, int]] = {}
        self._row_end, self._last_moment = self.table.row_end, last_moment(self.columns[0].wire.dialect)
        #: The key that InnoDB orders rows by.
        self.clustering = key_of_rows(self.table)
        #: A MEMORY table that has not been opened since the server was started again.
        self.lost_rows = False
        #: Of another engine than InnoDB: a row was deleted, and another one may have been put in its place.
        self.has_holes = self.is_shuffled = False
        #: Rows that a prepared or open transaction has changed: nobody else may until it ends.
        self.locked: set[int] = set()
        #: Temporary: its making was logged.
        self.is_logged = False
        #: Where changes are entered while a transaction runs that may be rolled back.
        self.undo: UndoLog | None = None

    def is_current(self, row: Row) -> bool:
        """Whether the row is there; False for one of the past, which a system-versioned table keeps."""
        return self._row_end is None or row[self._row_end] == self._last_moment

    @property
    def name(self) -> str:
        return self.table.full_name

    def add(self, row: Row) -> int:
        """Store a row; its number.  Raises ScenarioError for a duplicate key."""
        number = self.inserted
        if self.table.engine == "BLACKHOLE":
            self._check_expressions(row)
            self.inserted += 1
            return number
        self._claim(row, number)
        self.rows[number] = row
        self.inserted += 1
        self.is_shuffled |= self.has_holes
        self._enter(number, None)
        if self.auto_increment is not None:
            self._keep(row[self.auto_increment] or 0)
        return number

    @property
    def rows(self) -> dict[int, Row]:
        """The rows by number."""
        self._store_waiting()
        return self._rows

    @property
    def _taken(self) -> list[dict[KeyEntry, int]]:
        """The entries of all rows in each unique key."""
        self._store_waiting()
        return self._entries

    def _store_waiting(self) -> None:
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        self._waiting_entries = [KeySets() for _ in self.unique]
        for first, rows in waiting:
            for number, row in enumerate(rows, first):
                self._claim(row, number)
                self._rows[number] = row

    def takes_generated(self) -> bool:
        """Whether :meth:`add_generated` can store rows: nothing but its unique keys on columns refuses one, and no
        rollback is going to take them back.
        """
        plain = not (self.checks or self.table.partition is not None or self.undo is not None)
        parts = [part for key in self.table.keys for part in key.parts]
        return plain and self.table.engine == "InnoDB" and all(part.expression is None for part in parts)

    def add_generated(self, rows: Sequence[Row], keys: Sequence[KeySet], largest: int) -> None:
        """Store rows, which are computed when somebody asks for them.

        ``keys``: the entries in each of the ``unique`` keys.  ``largest``: the largest AUTO_INCREMENT value.
        Raises ScenarioError if another row has one of the entries.
        """
        places = zip(self.unique, keys, self._entries, self._waiting_entries, strict=True)
        for key, entries, taken, waiting in places:
            if waiting.shares(entries) or is_taken(entries, taken, single=len(key.parts) == 1):
                raise ScenarioError(f"table {self.name} already has a row with an entry of key {key.name}")
        self._waiting.append((self.inserted, rows))
        for each, entries in zip(self._waiting_entries, keys, strict=True):
            each.add(entries)
        self.inserted += len(rows)
        if self.auto_increment is not None:
            self._keep(largest)

    def change(self, number: int, row: Row) -> None:
        """Replace a row.  Raises ScenarioError for a duplicate key."""
        self._check_lock(number)
        before = self.rows[number]
        self._release(before)
        try:
            self._claim(row, number)
        except ScenarioError:
            self._claim(before, number)
            raise
        self.rows[number] = row
        partition = self.table.partition
        if partition is not None and partition(before) != partition(row):
            # A row that moves to another partition is inserted there.
            self._moved[number] = (self.inserted - 1, len(self._moved) + 1)
        if self.table.engine == "CSV":
            # The rows of an UPDATE are written anew, ahead of those that stay (ha_tina.cc; recorded).
            self._moved[number] = (-self.updates, len(self._moved) + 1)
        self._enter(number, before)
        index = self.auto_increment
        if index is not None:
            value: int = row[index] or 0
            if value != before[index]:
                self.next_auto_increment = max(self.next_auto_increment, value + 1)
                self._keep(value)

    def restart(self) -> None:
        """The server was started again."""
        if self.table.engine == "MEMORY":
            self._empty()
            return
        self.has_numbered = False
        self.next_auto_increment = min(self.next_auto_increment, self._kept_auto_increment)

    def _empty(self) -> None:
        """What a MEMORY table held is gone; the server logs that when the table is first opened."""
        for number in list(self.rows):
            self._release(self.rows.pop(number))
        self.next_auto_increment = self._kept_auto_increment = 1
        self.lost_rows = True

    def _keep(self, value: int) -> None:
        """InnoDB writes the counter to its redo log with each row (dict_table_autoinc_log, PAGE_ROOT_AUTO_INC)."""
        self._kept_auto_increment = max(self._kept_auto_increment, value + 1)

    def conflict(self, row: Row, number: int | None = None) -> tuple[Key, int] | None:
        """The first key, in the order in which the server checks them, that another row has, and that row's number;
        ``number`` is that of the row which is to be changed.
        """
        for key, taken in zip(self.unique, self._taken, strict=True):
            for entry in key_entries(self.table, key, row):
                if taken.get(entry, number) != number:
                    return key, taken[entry]
        return None

    def refill(self, rows: Mapping[int, Row], inserted: int, next_auto_increment: int) -> None:
        """Hold other rows, by number, than those that came through statements.  Raises ScenarioError as :meth:`add`."""
        for number in list(self.rows):
            self._release(self.rows.pop(number))
        for number, row in rows.items():
            self._claim(row, number)
            self.rows[number] = row
        self.inserted, self.next_auto_increment = inserted, next_auto_increment

    def remove(self, number: int) -> None:
        """Delete a row."""
        self._check_lock(number)
        row = self.rows.pop(number)
        self.has_holes = self.table.engine in ("MyISAM", "Aria", "MEMORY")
        self._release(row)
        self._enter(number, row)

    def _check_lock(self, number: int) -> None:
        if number in self.locked:
            raise ScenarioError(
                f"a row of table {self.name} is locked by another transaction: the statement would wait for it"
                " (error 1205)",
                expected="the end of that transaction before (xa_commit or xa_rollback of a prepared one)",
            )

    def restore(self, number: int, before: Row | None) -> None:
        """Give a row the state it had before a change."""
        if number in self.rows:
            self._release(self.rows.pop(number))
        if before is not None:
            self._claim(before, number)
            self.rows[number] = before

    def _enter(self, number: int, before: Row | None) -> None:
        if self.undo is not None:
            self.undo.append((self, number, before))

    def ordered(self, numbers: Iterable[int] | None = None) -> list[int]:
        """Row numbers in the order of the clustering key, or of insertion without one."""
        chosen = list(self.rows if numbers is None else numbers)
        key = self.clustering
        if key is None:
            return self.stored(chosen)
        parts = [part.column for part in key.parts]
        return sorted(chosen, key=lambda number: [sort_value(self.columns[i], self.rows[number][i]) for i in parts])

    def stored(self, numbers: Iterable[int]) -> list[int]:
        """Row numbers in the order in which the rows lie, partition after partition, where no key orders them."""
        return sorted(numbers, key=self._stored_place)

    def descending(self, key: Key) -> list[bool]:
        """Which parts of a key are in falling order; servers before 8.0.1 and 10.8.1 take DESC for ASC.

        Keys of versioned tables have the end of the row as one more part.
        """
        drafts = {made.name: draft for made, draft in zip(self.table.keys, self.definition.keys, strict=True)}
        keeps = server_line(self.definition.server).ddl.descending_keys
        falls = [keeps and part.descending for part in drafts[key.name].parts]
        return [*falls, *[False] * (len(key.parts) - len(falls))]

    def _stored_place(self, number: int) -> tuple[int, tuple[int, int]]:
        """Where a row is without a clustering key: in its partition, behind those that came before it."""
        partition = self.table.partition
        place = 0 if partition is None else partition(self.rows[number])
        return place, self._moved.get(number, (number, 0))

    def _claim(self, row: Row, number: int) -> None:
        self._check_expressions(row)
        entries = [tuple(key_entries(self.table, key, row)) for key in self.unique]
        for key, own, taken in zip(self.unique, entries, self._taken, strict=True):
            if any(entry in taken for entry in own):
                raise self._duplicate(key, row)
            if key.period is not None and any(
                other != number and overlaps(self.table, key, row, there) for other, there in self.rows.items()
            ):
                raise ScenarioError(f"table {self.name} has a row with another period that overlaps in key {key.name}")
        for own, taken in zip(entries, self._taken, strict=True):
            taken.update(dict.fromkeys(own, number))

    def _release(self, row: Row) -> None:
        for key, taken in zip(self.unique, self._taken, strict=True):
            for entry in key_entries(self.table, key, row):
                del taken[entry]

    def _check_expressions(self, row: Row) -> None:
        """CHECK constraints refuse rows, and keys on expressions those for which these have no value."""
        if self.table.partition is not None:
            self.table.partition(row)
        for check, holds in self.checks:
            if self.enforces_checks and _refuses(holds, row):
                raise ScenarioError(
                    f"CHECK constraint {check.name} of table {self.name} does not hold: {check.expression}"
                )
        for key in self.table.keys:
            for part in key.parts:
                if part.expression is not None:
                    with about(f"key {key.name} of table {self.name}"):
                        part.expression.compute(row)

    def _duplicate(self, key: Key, row: Row) -> ScenarioError:
        shown = ", ".join(
            f"({part.expression.sql}) {part.expression.compute(row)!r}"
            if part.expression is not None
            else f"{self.columns[part.column].name} {_shown(self.columns[part.column], row[part.column])}"
            for part in key.parts
        )
        name = "primary key" if key.kind == "primary" else f"unique key {key.name}"
        return ScenarioError(f"table {self.name} already has a row whose {name} is {shown}")


def _refuses(holds: RowExpression, row: Row) -> bool:
    """Whether a CHECK constraint does not hold for a row, which is believed where it is not computed."""
    try:
        return holds(row) in (0, False)
    except UnsupportedError:
        return False


def _shown(column: ColumnDefinition, value: Value) -> str:
    text = column.codec.text(column.wire, value)
    return repr(text) if isinstance(value, str) else text if text is not None else value.hex()


class TableContents(Mapping[str, tuple[Row, ...]]):
    """The rows of every table by its full name, in the order of the clustering key."""

    def __init__(self, tables: Mapping[str, TableState]) -> None:
        self._tables = tables

    def __getitem__(self, name: str) -> tuple[Row, ...]:
        table = self._tables[name]
        return tuple(table.rows[number] for number in table.ordered())

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        return repr(dict(self))
