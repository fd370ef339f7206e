"""Rows that come, change and go on a replica: defaults, generated columns, constraints, duplicates, foreign keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forge.engine.rows.defaults import StatementTime, omitted_value, with_generated
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.tables import ForeignKey
from forge.replay.replica import Replica
from forge.replay.replica_table import Cells, ReplicaTable, Undo
from forge.replay.row_event import EventForm, not_null_cells
from forge.replay.stops import StopError
from forge.servers.facts.applier import Applier

Image = Mapping[int, bytes | None]
NO_FOREIGN_KEY_CHECKS, COMPLETE_ROWS = 0x0002, 0x0008


class RowChanges:
    """Changes rows of one table for one event.

    All raise StopError for what the server refuses, UnsupportedError for what has not been measured.
    """

    def __init__(self, replica: Replica, form: EventForm, applier: Applier, second: int, flags: int) -> None:
        self._replica, self.form, self.table, self._applier = replica, form, form.table, applier
        self._flags = flags
        self._time = StatementTime(second, 0)
        self._width = max((place for place in form.places if place is not None), default=-1) + 1
        self._defaults: dict[int, bytes | None] | None = None
        self._checks = bool(self.table.state.checks or self.table.state.definition.checks)
        self._references = () if flags & NO_FOREIGN_KEY_CHECKS else self.table.table.foreign_keys
        self._children = () if flags & NO_FOREIGN_KEY_CHECKS else self._referring()

    @property
    def defaults(self) -> Mapping[int, bytes | None]:
        """The cell that each column has where no image gives one.  AUTO_INCREMENT has none."""
        if self._defaults is None:
            self._defaults = {index: self._default(index) for index in range(len(self.table.columns))}
        return self._defaults

    def _default(self, index: int) -> bytes | None:
        column = self.table.definitions[index]
        if column.column.auto_increment:
            return self.table.codecs[index].encode(self.table.columns[index], 0)
        if column.column.generated:
            return None
        if column.column.default_now and column.column.now_digits:
            raise UnsupportedError(f"the default of column {column.name!r} of {self.table.name} reads microseconds")
        try:
            value = omitted_value(column, self._time, clips=True)
        except ScenarioError as error:
            raise UnsupportedError(f"{self.table.name}: {error}") from None
        return None if value is None else self.table.codecs[index].encode(self.table.columns[index], value)

    def before_record(self, image: Image) -> dict[int, bytes | None]:
        """The record that MariaDB looks for: what the image lacks has defaults."""
        missing = any(index not in image for index in range(len(self.table.columns)))
        record = dict(self.defaults) if missing else {}
        record.update(image)
        return record

    def full_image(self, image: Image) -> dict[int, bytes | None]:
        """An image with defaults for NULL in columns that hold none."""
        if all(raw is not None or self.table.table.columns[place].nullable for place, raw in image.items()):
            return dict(image)
        return not_null_cells(self.table, image, self.defaults)

    def insert(self, image: Image, undo: Undo | None, *, idempotent: bool) -> None:
        """Store a new row."""
        table, image = self.table, self.full_image(image)
        given = len(image) == len(table.columns)
        record = [image.get(index) if given else self.defaults[index] for index in range(len(table.columns))]
        for place, raw in image.items():
            record[place] = raw
        self._number(record, image)
        cells = self._finished(record, image)
        while True:
            found = table.conflict(cells)
            if found is None:
                self._check_parents(cells)
                table.insert(cells, undo)
                return
            place, number = found
            if not idempotent:
                raise self._duplicate(place, cells)
            if not self._flags & COMPLETE_ROWS:
                kept = list(table.rows[number])
                for column, raw in image.items():
                    kept[column] = raw
                cells = self._finished(kept, image)
            if place == len(table.unique) - 1 and not self._referring():
                self._check_parents(cells)
                table.change(number, cells, undo)
                return
            self._check_children(table.rows[number], None)
            table.remove(number, undo)

    def _number(self, record: list[bytes | None], image: Image) -> None:
        """A number for an AUTO_INCREMENT column that the event does not have; the counter goes on from others."""
        table, index = self.table, self.table.state.auto_increment
        if index is None:
            return
        codec, column = table.codecs[index], table.columns[index]
        raw = record[index]
        if index in image:
            value = 0 if raw is None else codec.decode(column, raw)
        elif index < self._width:
            raise UnsupportedError(
                f"{table.name}: an event without the AUTO_INCREMENT column that it maps is not measured"
            )
        else:
            value = table.next_auto_increment
            record[index] = codec.encode(column, value)
        table.next_auto_increment = max(table.next_auto_increment, int(value) + 1)

    def update(self, number: int, image: Image, undo: Undo | None) -> None:
        """Give a row new values."""
        table, image = self.table, self.full_image(image)
        before = table.rows[number]
        record = list(before)
        for place, raw in image.items():
            record[place] = raw
        cells = self._finished(record, image)
        if cells == before:
            return
        found = table.conflict(cells, number)
        if found is not None:
            raise self._duplicate(found[0], cells)
        self._check_parents(cells, before)
        self._check_children(before, cells)
        table.change(number, cells, undo)

    def delete(self, number: int, undo: Undo | None) -> None:
        """Take a row away."""
        self._check_children(self.table.rows[number], None)
        self.table.remove(number, undo)

    def _finished(self, record: list[bytes | None], image: Image) -> Cells:
        """The row with its generated columns; what refuses it but keys."""
        table = self.table
        cells = tuple(record)
        if table.computed:
            try:
                values = with_generated(table.definitions, table.decoded(cells), clips=True)
            except UnsupportedError:
                raise
            except ScenarioError as error:
                raise UnsupportedError(f"{table.name}: {error}") from None
            computed = table.encoded(values)
            if not self._applier.replaces_generated and any(
                image.get(place, computed[place]) != computed[place] for place in image
            ):
                raise UnsupportedError(
                    f"{table.name}: a generated column with another value than logged is not measured"
                )
            cells = computed
        partition = table.table.partition
        if partition is not None or (self._checks and self._applier.checks_constraints):
            self._check_row(cells)
        return cells

    def _check_row(self, cells: Cells) -> None:
        table = self.table
        values = table.decoded(cells)
        if self._applier.checks_constraints:
            if any(check.enforced and not check.computed for check in table.state.definition.checks):
                raise UnsupportedError(f"a CHECK constraint of {table.name} is not computed here")
            for check, holds in table.state.checks:
                if holds(values) in (0, False):
                    text = f"Check constraint '{check.name}' is violated."
                    raise StopError(3819, text, "CHECK of the replica", "none")
        partition = table.table.partition
        if partition is not None:
            try:
                partition(values)
            except UnsupportedError:
                raise
            except ScenarioError:
                shown = self._partition_value(values)
                text = f"Table has no partition for value {shown}"
                raise StopError(1526, text, "no partition for the row", "partition") from None

    def _partition_value(self, values: Sequence[object]) -> str:
        columns = sorted(self.table.table.partition_columns)
        return str(values[columns[0]]) if len(columns) == 1 else "from column_list"

    def _duplicate(self, place: int, cells: Cells) -> StopError:
        """Error 1062, with the entry as the server writes it."""
        table, key = self.table, self.table.unique[place].key
        shown = []
        for part in key.parts:
            raw = None if part.expression is not None else cells[part.column]
            codec, column = table.codecs[part.column], table.columns[part.column]
            value = None if raw is None else codec.decode(column, raw)
            if isinstance(value, (str, bytes)) and part.prefix is not None:
                value = value[: part.prefix]
            text = "NULL" if value is None else codec.text(column, value)
            shown.append(text if text is not None else str(value))
        name = "PRIMARY" if key.kind == "primary" else key.name
        named = name if self._applier.old_words else f"{table.table.name}.{name}"
        text = f"Duplicate entry '{'-'.join(shown)}' for key '{named}'"
        return StopError(1062, text, "R6: a unique key of the replica", "duplicate")

    def _check_parents(self, cells: Cells, before: Cells | None = None) -> None:
        for key in self._references:
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
        ours = [self.table.table.columns[index].type for index in key.columns]
        theirs = [parent.table.columns[index].type for index in columns]
        if any(one.collation is not None and one.collation != 63 for one in (*ours, *theirs)):
            raise UnsupportedError(f"foreign key {key.name} of {self.table.name} on text is not measured")
        return bool(parent.matching(columns, tuple(cells[index] for index in key.columns)))

    def _referring(self) -> tuple[tuple[ReplicaTable, ForeignKey], ...]:
        name = (self.table.table.database, self.table.table.name)
        return tuple(
            (child, key)
            for child in self._replica.tables.values()
            for key in child.table.foreign_keys
            if key.parent == name
        )

    def _check_children(self, before: Cells, after: Cells | None) -> None:
        for child, key in self._children:
            columns = tuple(self.table.table.column_index(name) for name in key.parent_columns)
            old = tuple(before[index] for index in columns)
            if any(raw is None for raw in old) or (after is not None and old == tuple(after[i] for i in columns)):
                continue
            if not child.matching(key.columns, old):
                continue
            action = key.on_delete if after is None else key.on_update
            if action not in ("restrict", "no_action"):
                raise UnsupportedError(f"foreign key {key.name} of {child.name} changes its rows: not measured")
            text = "Cannot delete or update a parent row: a foreign key constraint fails"
            raise StopError(1451, text, "foreign key of the replica", "referenced")
