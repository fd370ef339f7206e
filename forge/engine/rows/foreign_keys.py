"""Foreign keys of a session: what they forbid, and the rows that change with their parents.

MySQL 9.7 checks and follows foreign keys in the server and logs what they change; before, and on MariaDB, InnoDB does
it and the log knows nothing of it (recorded on 9.7, 10.11 and 11.8).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Literal

from msgspec import Struct

from forge.engine.dictionary.catalog import Catalog
from forge.engine.dictionary.foreign_key_definition import children_of
from forge.engine.dictionary.table_state import TableState
from forge.engine.rows.defaults import with_generated
from forge.engine.rows.row_order import by_key
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.changes import RowChange
from forge.plan.effects import ForeignKeyEffects
from forge.plan.keys import key_entries
from forge.plan.statements import Further, RowsStatement
from forge.plan.tables import ForeignKey, Key, KeyPart, Row, Table
from forge.servers import ServerLine
from forge.sql.reads.triggers import Trigger

Operation = Literal["insert", "update", "delete"]
_CASCADED: tuple[Operation, ...] = ("delete", "update")
_EVENTS: tuple[Operation, ...] = ("insert", "update", "delete")


class Opened(Struct, frozen=True):
    """A table that a statement opens for writing besides its own, and what it may do to the rows."""

    table: Table
    events: tuple[Operation, ...]
    #: The tables whose foreign keys led to it, each from the one before.
    above: tuple[str, ...] = ()


def isolates(line: ServerLine, *, parent: bool, checked: bool) -> bool:
    """Whether writing a parent of a foreign key, or a checked child of one, makes BEGIN claim all databases."""
    return {"nothing": False, "parents": parent, "related": parent or checked}[line.query.foreign_keys_isolate]


class References:
    """The foreign keys of a session: what a statement may do, and what follows."""

    def __init__(self, catalog: Catalog, line: ServerLine, *, checks: bool) -> None:
        self.catalog = catalog
        self.line = line
        self.checks = checks

    def is_parent(self, table: Table) -> bool:
        return bool(children_of(self.catalog, table))

    def isolates(self, table: Table, events: Sequence[Operation]) -> bool:
        """Whether MySQL keeps a transaction that does this to a table's rows from running beside others: deleting a
        child's rows checks no parent (recorded).
        """
        checked = self.checks and bool(table.foreign_keys) and bool({"insert", "update"} & set(events))
        return isolates(self.line, parent=self.is_parent(table), checked=checked)

    def check_row(self, state: TableState, row: Row, before: Row | None = None) -> None:
        """A new or changed row has its parents.  Raises ScenarioError."""
        for foreign in state.table.foreign_keys if self.checks else ():
            values = [row[index] for index in foreign.columns]
            if None in values or (before is not None and values == [before[index] for index in foreign.columns]):
                continue
            parent = self.catalog.tables[foreign.parent]
            if foreign.parent == (state.table.database, state.table.name) and self._refers_to(state, foreign, row, row):
                continue
            others = (other for other in parent.rows.values() if parent.is_current(other))
            if not any(self._refers_to(state, foreign, row, other, parent) for other in others):
                shown = ", ".join(map(str, values))
                raise ScenarioError(
                    f"table {parent.name} has no row that {foreign.name} of {state.name} needs: {shown}"
                )

    def _refers_to(
        self, child: TableState, foreign: ForeignKey, row: Row, other: Row, parent: TableState | None = None
    ) -> bool:
        """Whether a child row's parent is the row ``other``."""
        parent = parent or child
        theirs = Key("", "unique", tuple(KeyPart(parent.table.column_index(name)) for name in foreign.parent_columns))
        mine = Key("", "unique", tuple(KeyPart(index) for index in foreign.columns))
        entry = next(iter(key_entries(child.table, mine, row)), None)
        return entry is not None and entry == next(iter(key_entries(parent.table, theirs, other)), None)

    def deletion_changes(
        self, state: TableState, number: int, *, replacement: Row | None = None
    ) -> tuple[Row, list[RowsStatement]]:
        """Delete a row and what follows of it: the row, and what the server logs of its children, in order.

        A row that refers to itself is its own child: RESTRICT keeps it, SET NULL changes it first (recorded).
        ``replacement`` is the row that REPLACE puts in its place: MySQL 9.7 leaves children alone whose key it has
        again (recorded).  Raises ScenarioError where a child forbids the change.
        """
        before = state.rows[number]
        changes = self._followed(state, before, None, replacement=replacement, doomed=frozenset({(state.name, number)}))
        state.remove(number)
        return before, changes

    def parent_changes(self, state: TableState, before: Row, after: Row) -> list[RowsStatement]:
        """Change the children of a row that is about to change; what the server logs of it, in order.

        Raises ScenarioError where a child forbids the change.
        """
        return self._followed(state, before, after)

    def _followed(
        self,
        state: TableState,
        before: Row,
        after: Row | None,
        *,
        replacement: Row | None = None,
        doomed: frozenset[tuple[str, int]] = frozenset(),
        updated: tuple[str, ...] = (),
    ) -> list[RowsStatement]:
        """``doomed``: rows that are being deleted.  ``updated``: tables that the update came through: it never comes
        back to one, whatever ON UPDATE says (error 1451 on all three servers).
        """
        changes: list[RowsStatement] = []
        updated = (*updated, state.name) if after is not None else ()
        for child, foreign in children_of(self.catalog, state.table) if self.checks else ():
            kept = after
            if after is None and replacement is not None and self.line.rows.cascades == "logged":
                kept = replacement
            parts = [state.table.column_index(name) for name in foreign.parent_columns]
            if kept is not None and all(before[part] == kept[part] for part in parts):
                continue
            action = foreign.on_delete if after is None else foreign.on_update
            deletes = after is None and action == "cascade"
            matching = self._matching(child, foreign, before, state)
            # MySQL 9.7 does not even look for rows when it comes back over another table (recorded).
            unseen = child is not state and self.line.rows.cascades == "logged"
            if (matching and action == "restrict") or (child.name in updated and (matching or unseen)):
                again = (
                    "" if action == "restrict" else ", and an update never comes back to a table that it has changed"
                )
                raise ScenarioError(
                    f"rows of {child.name} refer to the row ({foreign.name}){again} (error 1451)",
                    expected="no such rows",
                )
            if deletes:
                circle = [
                    number for number in matching if (child.name, number) in doomed and child.rows[number] != before
                ]
                if circle and self.line.rows.cascades == "logged":
                    raise UnsupportedError(
                        f"rows of {child.name} refer to each other in a circle: {self.line.name} logs one of them twice"
                    )
                matching = [number for number in matching if (child.name, number) not in doomed]
            self._check_depth(child, matching, "delete" if deletes else "update")
            for number in matching:
                if number in child.rows:
                    changes += self._child(child, foreign, number, action == "cascade", parts, after, doomed, updated)
        return changes

    def _check_depth(self, child: TableState, matching: list[int], operation: Operation) -> None:
        """MySQL 9.7.4 forgets the children of all rows but the first where these have children in turn (recorded)."""
        if self.line.rows.cascades != "logged" or len(matching) < 2:
            return
        for below, foreign, under in self._opened_from(child.table, operation):
            if self._opened_from(below.table, under) and any(
                self._matching(below, foreign, child.rows[number], child) for number in matching[1:]
            ):
                raise UnsupportedError(
                    f"foreign keys over three levels with several rows of {child.name}: {self.line.name} changes only"
                    f" some of the rows of {below.name}"
                )

    def _opened_from(self, table: Table, operation: Operation) -> list[tuple[TableState, ForeignKey, Operation]]:
        """The children that change with a table, and what happens to their rows."""
        opened: list[tuple[TableState, ForeignKey, Operation]] = []
        for child, foreign in children_of(self.catalog, table):
            action = foreign.on_delete if operation == "delete" else foreign.on_update
            if action != "restrict":
                cascades = operation == "delete" and action == "cascade"
                opened.append((child, foreign, "delete" if cascades else "update"))
        return opened

    def _matching(self, child: TableState, foreign: ForeignKey, before: Row, parent: TableState) -> list[int]:
        """Numbers of the child rows, in the order of the index on the foreign key."""
        chosen = [
            number
            for number, row in child.rows.items()
            if child.is_current(row) and self._refers_to(child, foreign, row, before, parent)
        ]
        if chosen and child.table.row_end is not None:
            raise UnsupportedError(f"a foreign key that reaches rows of the system-versioned table {child.name}")
        width = len(foreign.columns)
        index = next(
            key for key in child.table.keys if tuple(part.column for part in key.parts[:width]) == foreign.columns
        )
        return by_key(child, index, chosen)

    def _child(
        self,
        child: TableState,
        foreign: ForeignKey,
        number: int,
        cascades: bool,
        parts: list[int],
        after: Row | None,
        doomed: frozenset[tuple[str, int]],
        updated: tuple[str, ...],
    ) -> Iterator[RowsStatement]:
        before = child.rows[number]
        new: Row | None = None
        if after is not None or not cascades:
            values = list(before)
            for index, part in zip(foreign.columns, parts, strict=True):
                values[index] = after[part] if cascades and after is not None else None
            new = with_generated(child.columns, values)
        if new is None:
            further = self._followed(child, before, None, doomed=doomed | {(child.name, number)})
            child.remove(number)
        else:
            child.change(number, new)
            further = self._followed(child, before, new, updated=updated)
        if self.line.rows.cascades == "logged":
            yield RowsStatement(
                kind="delete" if new is None else "update",
                table=child.table,
                changes=(RowChange(before, new, after_duplicate=True),),
                further=tuple(Further(1, change) for change in further),
                foreign_keys=ForeignKeyEffects(
                    cascaded=True, checks_parents=False, is_parent=self.is_parent(child.table)
                ),
            )

    def triggers(self, table: Table, *events: Operation) -> list[Trigger]:
        """The triggers of events, in the order in which they run: BEFORE, AFTER, then by their creation."""
        if table.temporary:
            return []
        name = (table.database, table.name)
        fired = [trigger for trigger in self.catalog.live_triggers() if trigger.table == name]
        fired = [trigger for trigger in fired if trigger.event in events]
        return sorted(fired, key=lambda trigger: (_EVENTS.index(trigger.event), trigger.timing != "before"))

    def set_by_triggers(self, table: Table, event: Operation) -> frozenset[int]:
        """The columns that the texts of BEFORE triggers may give values."""
        names = [trigger.sets for trigger in self.triggers(table, event) if trigger.timing == "before"]
        return _named(table, names)

    def written_by_triggers(self, table: Table, event: Operation) -> frozenset[int]:
        """The columns that servers count as written because BEFORE triggers name them, be it to read them."""
        return _named(table, [trigger.writes for trigger in self.triggers(table, event)])

    def read_by_triggers(self, table: Table, event: Operation) -> frozenset[int]:
        return _named(table, [trigger.names for trigger in self.triggers(table, event)])

    def followed(self, table: Table, events: Sequence[Operation]) -> tuple[list[Opened], list[Trigger]]:
        """What a statement opens for writing besides its own table, in order, and the triggers that may run
        (open_tables in sql_base.cc).

        Those of foreign keys come first, then those of triggers, which bring foreign keys and triggers of their own.
        """
        queue = [Opened(table, tuple(events))]
        triggers: list[Trigger] = []
        opened = run = 0
        while opened < len(queue) or run < len(triggers):
            while opened < len(queue):
                opening = queue[opened]
                opened += 1
                queue += self._children(opening, [other.table for other in queue[1:]])
                fired = self.triggers(opening.table, *opening.events)
                triggers += [trigger for trigger in fired if trigger not in triggers]
            while run < len(triggers):
                for name, changes in triggers[run].changes:
                    state = self.catalog.tables.get(name)
                    if state is not None:
                        queue.append(Opened(state.table, changes))
                run += 1
        return queue[1:], triggers

    def held(self, tables: Sequence[Table], own: Table) -> list[Table]:
        """What LOCK TABLES opens for writing: the tables, and those that their foreign keys change, with
        foreign_key_checks or without (recorded).  Raises ScenarioError if a statement's ``own`` table is not locked.
        """
        if all(table.full_name != own.full_name for table in tables):
            raise ScenarioError(
                f"LOCK TABLES does not hold {own.full_name} for writing", expected="it among the tables"
            )
        opened, references = list(tables), References(self.catalog, self.line, checks=True)
        for table, event in product(tables, _CASCADED):
            names = {other.full_name for other in opened}
            follow, _ = references.followed(table, (event,))
            opened += [other.table for other in follow if other.table.full_name not in names]
        return opened

    def _children(self, opening: Opened, opened: list[Table]) -> list[Opened]:
        """The child tables that a table's foreign keys open next."""
        table, events = opening.table, opening.events
        operation: Operation | None = "delete" if "delete" in events else "update" if "update" in events else None
        if operation is None:
            return []
        if self.line.rows.cascades == "logged":
            # A table as often as foreign keys of others lead to it, but no way goes on from where it was (recorded).
            followed = (
                self._opened_from(table, operation) if self.checks and table.full_name not in opening.above else []
            )
            above = (*opening.above, table.full_name)
            return [
                Opened(child.table, (under,), above=above) for child, _, under in followed if child.table is not table
            ]
        if not self.line.rows.maps_silent_children:
            return []
        # MariaDB: each table once, by the names of the constraints.
        children: list[Opened] = []
        below = self._opened_from(table, operation)
        for child, _, _ in sorted(below, key=lambda entry: (entry[0].table.database, entry[1].name)):
            if child.table not in opened and all(child.table != other.table for other in children):
                children.append(Opened(child.table, tuple(events)))
        return children


def _named(table: Table, names: Sequence[frozenset[str]]) -> frozenset[int]:
    wanted = frozenset[str]().union(*names)
    return frozenset(index for index, column in enumerate(table.columns) if column.name.lower() in wanted)
