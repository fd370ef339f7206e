"""Foreign keys of a replica: rows that need a parent, and those that follow or forbid a change of theirs."""

from __future__ import annotations

from msgspec import Struct

from forge.errors import UnsupportedError
from forge.plan.tables import ForeignKey
from forge.replay.replica import Replica
from forge.replay.replica_table import BINARY, Cells, ReplicaTable, Undo
from forge.replay.stops import StopError


class Reference(Struct, frozen=True):
    """A foreign key of a child table, with the columns of the parent."""

    child: ReplicaTable
    key: ForeignKey
    columns: tuple[int, ...]


class ForeignKeys:
    """Those of one table, both ways; ``checked`` is whether the event's flags ask for them."""

    def __init__(self, replica: Replica, table: ReplicaTable, *, checked: bool) -> None:
        self._replica, self._table = replica, table
        self._own = table.table.foreign_keys if checked else ()
        name = table.table.database, table.table.name
        found = [
            Reference(child, key, tuple(table.table.column_index(one) for one in key.parent_columns))
            for child in replica.tables.values()
            for key in child.table.foreign_keys
            if key.parent == name
        ]
        #: Whether other tables refer to this one.
        self.referred = bool(found)
        self._references = found if checked else []

    @property
    def looks_at_rows(self) -> bool:
        """Whether a change of any row may be refused, or change others."""
        return bool(self._own or self._references or self.referred)

    def check_parents(self, cells: Cells, before: Cells | None = None) -> None:
        """Raises StopError (1452) for a row whose parent is missing."""
        for key in self._own:
            wanted = [cells[index] for index in key.columns]
            same = before is not None and [before[index] for index in key.columns] == wanted
            if same or any(raw is None for raw in wanted):
                continue
            parent = self._replica.tables.get(key.parent)
            if parent is not None and self._has_entry(parent, key, cells):
                continue
            text = "Cannot add or update a child row: a foreign key constraint fails"
            raise StopError(1452, text, "foreign key of the replica", "no_parent")

    def _has_entry(self, parent: ReplicaTable, key: ForeignKey, cells: Cells) -> bool:
        columns = tuple(parent.table.column_index(name) for name in key.parent_columns)
        _refuse_text(self._table, key)
        entry = tuple(cells[index] for index in key.columns)
        # A row may be its own parent.
        itself = parent is self._table and tuple(cells[index] for index in columns) == entry
        return itself or bool(parent.matching(columns, entry))

    def loses_children(self, before: Cells, after: Cells | None) -> bool:
        """Whether rows refer to a row by something that a change takes away."""
        return any(self._referring(one, before, after) for one in self._references)

    @staticmethod
    def _referring(one: Reference, before: Cells, after: Cells | None) -> list[int]:
        old = tuple(before[index] for index in one.columns)
        if any(raw is None for raw in old) or (after is not None and old == tuple(after[i] for i in one.columns)):
            return []
        _refuse_text(one.child, one.key)
        return list(one.child.matching(one.key.columns, old))

    def follow(
        self, number: int, after: Cells | None, undo: Undo | None, seen: frozenset[tuple[int, int]] = frozenset()
    ) -> None:
        """Change what refers to a row that changes, or goes (``after`` is None).

        Raises StopError (1451) where a key forbids it, UnsupportedError for what has not been measured.
        """
        if not self._references:
            return
        before, seen = self._table.rows[number], seen | {(id(self._table), number)}
        for one in self._references:
            numbers = [n for n in self._referring(one, before, after) if (id(one.child), n) not in seen]
            if not numbers:
                continue
            action = one.key.on_delete if after is None else one.key.on_update
            if action in ("restrict", "no_action"):
                text = "Cannot delete or update a parent row: a foreign key constraint fails"
                raise StopError(1451, text, "foreign key of the replica", "referenced")
            if action not in ("cascade", "set_null"):
                raise UnsupportedError(f"foreign key {one.key.name} of {one.child.name} ({action}) is not measured")
            for child in numbers:
                self._follow_one(one, child, after if action == "cascade" else None, action, undo, seen)

    def _follow_one(
        self, one: Reference, number: int, after: Cells | None, action: str, undo: Undo | None,
        seen: frozenset[tuple[int, int]],
    ) -> None:  # fmt: skip
        nested = ForeignKeys(self._replica, one.child, checked=True)
        if number not in one.child.rows:
            return
        if action == "cascade" and after is None:
            nested.follow(number, None, undo, seen)
            one.child.remove(number, undo)
            return
        if one.child.computed or one.child is self._table:
            raise UnsupportedError(f"foreign key {one.key.name} of {one.child.name} changes its rows: not measured")
        cells = list(one.child.rows[number])
        for index, column in zip(one.key.columns, one.columns, strict=True):
            cells[index] = None if after is None else after[column]
        changed = tuple(cells)
        if one.child.conflict(changed, number) is not None:
            raise UnsupportedError(f"foreign key {one.key.name} of {one.child.name} makes a duplicate: not measured")
        nested.follow(number, changed, undo, seen)
        one.child.change(number, changed, undo)


def _refuse_text(child: ReplicaTable, key: ForeignKey) -> None:
    types = [child.table.columns[index].type for index in key.columns]
    if any(one.collation not in (None, BINARY) for one in types):
        raise UnsupportedError(f"foreign key {key.name} of {child.name} on text is not measured")
