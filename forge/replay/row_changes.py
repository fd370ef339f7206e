"""Rows that come, change and go on a replica: defaults, generated columns, constraints, duplicates, foreign keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from forge.engine.dictionary.literals import zero_value
from forge.engine.rows.defaults import StatementTime, omitted_value, with_generated
from forge.errors import ScenarioError, UnsupportedError
from forge.replay.referring_rows import ForeignKeys
from forge.replay.replica import Replica
from forge.replay.replica_table import Cells, Undo
from forge.replay.row_event import EventForm, not_null_cells
from forge.replay.stops import StopError
from forge.servers.facts.applier import Applier


class _Defaults(dict[int, "bytes | None"]):
    """Cells by column; one that is asked for and missing is made."""

    def __init__(self, made: Callable[[int], bytes | None]) -> None:
        super().__init__()
        self._made = made

    def __missing__(self, column: int) -> bytes | None:
        self[column] = value = self._made(column)
        return value


Image = Mapping[int, bytes | None]
NO_FOREIGN_KEY_CHECKS, COMPLETE_ROWS = 0x0002, 0x0008
_JSON_PREFIX = 4


class RowChanges:
    """Changes rows of one table for one event.

    All raise StopError for what the server refuses, UnsupportedError for what has not been measured.
    """

    def __init__(self, replica: Replica, form: EventForm, applier: Applier, second: int, flags: int) -> None:
        self._replica, self.form, self.table, self._applier = replica, form, form.table, applier
        self._flags = flags
        self._time = StatementTime(second, 0)
        self._width = max((place for place in form.places if place is not None), default=-1) + 1
        #: The cell that each column has where no image gives one.  AUTO_INCREMENT has 0.
        self.defaults: Mapping[int, bytes | None] = _Defaults(self._default)
        #: Stored generated columns beyond the event's, which a record that MariaDB looks for has.
        self._computed_extra = [
            index
            for index, column in enumerate(self.table.table.columns)
            if column.generated == "stored" and index >= self._width
        ]
        self._checks = bool(self.table.state.checks or self.table.state.definition.checks)
        self._keys = ForeignKeys(replica, self.table, checked=not flags & NO_FOREIGN_KEY_CHECKS)

    def _default(self, index: int, *, clock: bool = False) -> bytes | None:
        column = self.table.definitions[index]
        if column.column.auto_increment:
            return self.table.codecs[index].encode(self.table.columns[index], 0)
        if column.column.generated:
            return None
        if column.holds_json and not column.column.nullable and not column.column.has_default:
            # A document of no bytes, which MySQL shows as null.
            return bytes(_JSON_PREFIX)
        has_default = column.default is not None or column.column.has_default
        if column.type_facts.is_blob and has_default and not self._applier.replaces_generated:
            raise UnsupportedError(
                f"the default of BLOB or TEXT column {column.name!r} of {self.table.name}: not measured"
            )
        if column.column.default_now and not self._applier.fills_clock_defaults and not clock:
            zero = None if column.column.nullable else zero_value(column.wire)
            return None if zero is None else self.table.codecs[index].encode(self.table.columns[index], zero)
        try:
            value = omitted_value(column, self._time, clips=True)
        except ScenarioError as error:
            raise UnsupportedError(f"{self.table.name}: {error}") from None
        return None if value is None else self.table.codecs[index].encode(self.table.columns[index], value)

    def before_record(self, image: Image) -> dict[int, bytes | None]:
        """The record that MariaDB looks for: what the image lacks has defaults."""
        record = _Defaults(self._default)
        record.update(image)
        if self._computed_extra:
            values = self.table.decoded(tuple(record[index] for index in range(len(self.table.columns))))
            computed = self.table.encoded(with_generated(self.table.definitions, values, clips=True))
            record.update((index, computed[index]) for index in self._computed_extra)
        return record

    def full_image(self, image: Image) -> dict[int, bytes | None]:
        """An image with defaults for NULL in columns that hold none."""
        if all(raw is not None or self.table.table.columns[place].nullable for place, raw in image.items()):
            return dict(image)
        return not_null_cells(self.table, image, lambda index: self._default(index, clock=True))

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
                self._keys.check_parents(cells)
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
            referred = self._keys.referred
            if referred and not self._applier.replaces_by_deleting and place < len(table.unique) - 1:
                raise UnsupportedError(f"IDEMPOTENT and a row of {table.name} that others refer to are not measured")
            if place == len(table.unique) - 1 and not (referred and self._applier.replaces_by_deleting):
                self._keys.check_parents(cells)
                if referred and self._keys.loses_children(table.rows[number], cells):
                    raise UnsupportedError(f"IDEMPOTENT and a row of {table.name} that others refer to: not measured")
                table.change(number, cells, undo)
                return
            self._keys.follow(number, None, undo)
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
        elif index in self.form.places:
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
        self._keys.check_parents(cells, before)
        self._keys.follow(number, cells, undo)
        table.change(number, cells, undo)

    def delete(self, number: int, undo: Undo | None) -> None:
        """Take a row away."""
        self._keys.follow(number, None, undo)
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
            if not self._applier.replaces_generated:
                computed = self._as_logged(computed, image)
            cells = computed
        partition = table.table.partition
        if partition is not None or (self._checks and self._applier.checks_constraints):
            self._check_row(cells)
        return cells

    def _as_logged(self, computed: Cells, image: Image) -> Cells:
        """A row whose stored generated columns are what the event has of them."""
        columns = self.table.table.columns
        kept = tuple(
            image[place] if place in image and columns[place].generated == "stored" else raw
            for place, raw in enumerate(computed)
        )
        if kept != computed and sum(column.generated is not None for column in columns) > 1:
            raise UnsupportedError(
                f"{self.table.name}: several generated columns with other values than logged are not measured"
            )
        return kept

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
