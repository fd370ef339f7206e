"""Row events as the statements of a scenario: INSERT, REPLACE, UPDATE and DELETE with what they changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.table_state import TableState
from forge.errors import ForgeError, UnsupportedError
from forge.events.row_image import Image, images_of, parse_rows, present_columns
from forge.events.rows import PartialUpdateRows, RowsBody
from forge.events.table_map import TableMap
from forge.sql.write import identifier
from forge.values.base import Column, Value
from forge.values.registry import codec_for

#: The cells of an image by column.
Cells = dict[int, Value | None]
Change = tuple[Cells | None, Cells | None]
Request = dict[str, Any]


def changes_of(rows: Sequence[RowsBody], mapped: TableMap, wires: Sequence[Column], state: TableState) -> list[Change]:
    """What row events changed in a table.  Raises ForgeError where its columns are not those of the table map."""
    if bytes(mapped.types) != bytes(wire.type_code for wire in wires):
        raise UnsupportedError(f"the definition of {state.name} has other columns than its table map")
    changes = []
    for body in rows:
        if isinstance(body, PartialUpdateRows):
            raise UnsupportedError("partial updates of JSON documents do not tell the functions that made them")
        before, after = (None if bitmap is None else present_columns(bitmap, len(wires)) for bitmap in images_of(body))
        for row in parse_rows(body, wires):
            changes.append((_cells(row.before, before, wires), _cells(row.after, after, wires)))
    return changes


def _cells(image: Image | None, present: Sequence[int] | None, wires: Sequence[Column]) -> Cells | None:
    if image is None or present is None:
        return None
    return {
        index: None if cell is None else codec_for(wires[index]).decode(wires[index], cell)
        for index, cell in zip(present, image.cells, strict=True)
    }


def cell_of(column: ColumnDefinition, value: Value | None) -> Any:
    """The literal of a scenario that the column takes as this value.  Raises UnsupportedError if there is none."""
    if value is None:
        return None
    codec, wire = column.codec, column.wire
    forms: list[Any] = [value] if isinstance(value, int) else []
    with suppress(ForgeError):
        forms.append(codec.text(wire, value))
    if isinstance(value, bytes):
        forms.append({"hex": value.hex()})
    for form in forms:
        try:
            if form is not None and codec.accept(wire, form) == value:
                return form
        except (ForgeError, ValueError, TypeError):
            continue
    raise UnsupportedError(f"column {column.name}: no literal gives the value")


@dataclass(frozen=True, slots=True)
class ChangedRows:
    """What a statement changed in one table, which has the rows that were there before."""

    state: TableState
    name: str
    changes: Sequence[Change]

    def requests(self) -> Iterator[Request]:
        """The statements that may have done it, the most likely first."""
        kinds = {(before is not None, after is not None) for before, after in self.changes}
        if kinds == {(False, True)}:
            yield {"insert": self._new_rows()}
            yield {"replace": self._new_rows()}
        elif kinds == {(True, False)}:
            yield {"delete": {"from": self.name, **self._chosen()}}
        elif kinds == {(True, True)}:
            yield {"update": {"table": self.name, "set": self._set(), **self._chosen()}}
            yield {"insert": {**self._new_rows(), "on_duplicate_key_update": self._from_new_rows()}}
        elif (True, False) not in kinds:
            yield {"insert": {**self._new_rows(), "on_duplicate_key_update": self._from_new_rows()}}
        if ((False, True) in kinds and len(kinds) > 1) or kinds == {(True, True)}:
            yield {"replace": self._new_rows()}

    def of_versions(self) -> ChangedRows:
        """The changes without those of rows of the past, which the server writes by itself: a row that ends is
        deleted.
        """
        changes: list[Change] = []
        for before, after in self.changes:
            ended = after is not None and not self._is_current(after)
            if before is not None or not ended:
                changes.append((before, None if ended else after))
        return replace(self, changes=changes)

    def _is_current(self, cells: Cells) -> bool:
        return self.state.is_current(tuple(cells.get(index) for index in range(len(self.state.columns))))

    @property
    def before(self) -> list[Cells]:
        return [before for before, _ in self.changes if before is not None]

    def missing(self) -> list[Cells]:
        """Rows that the table does not have yet: they were there before the log begins."""
        known = list(self.state.rows.values())
        found: list[Cells] = []
        new: list[Cells] = []
        for before, after in self.changes:
            is_known = before is None or any(_is_of(row, before) for row in known)
            if before is not None and not is_known and not any(_same(before, other) for other in new):
                found.append(before)
            new += [] if after is None else [after]
        return found

    def existing_row(self, cells: Cells) -> dict[str, Any]:
        """A row that was there, as INSERT gives it."""
        return self._row(cells)

    def _row(self, cells: Cells) -> dict[str, Any]:
        columns = self.state.columns
        return {
            columns[index].name: cell_of(columns[index], value)
            for index, value in cells.items()
            if columns[index].generated is None and not columns[index].column.system
        }

    def _new_rows(self) -> dict[str, Any]:
        rows = [self._row(after) for _, after in self.changes if after is not None]
        return {"into": self.name, "rows": rows}

    def _from_new_rows(self) -> dict[str, Any]:
        names = [self.state.columns[index].name for index in self._changed()]
        return {name: {"values": name} for name in names}

    def _changed(self) -> list[int]:
        """The columns that UPDATE set: those whose values are others, or all that a shorter after image has."""
        width = len(self.state.columns)
        pairs = [(before, after) for before, after in self.changes if before is not None and after is not None]
        found: dict[int, None] = {}
        for before, after in pairs:
            full = len(after) == width
            for index, value in after.items():
                if not full or index not in before or before[index] != value:
                    found.setdefault(index)
        columns = self.state.columns
        own = [index for index in sorted(found) if columns[index].generated is None]
        changed = [index for index in own if not columns[index].column.system]
        if not changed:
            raise UnsupportedError("an UPDATE that changes nothing")
        return changed

    def _set(self) -> dict[str, Any]:
        pairs = [(before, after) for before, after in self.changes if before is not None and after is not None]
        given: dict[str, Any] = {}
        for index in self._changed():
            column = self.state.columns[index]
            values = [after.get(index) for _, after in pairs]
            if all(value == values[0] for value in values):
                given[column.name] = cell_of(column, values[0])
            else:
                given[column.name] = {"sql": self._case(column, values)}
        return given

    def _case(self, column: ColumnDefinition, values: Sequence[Value | None]) -> str:
        """An expression that gives each row its own value."""
        arms = [
            f"WHEN {self._condition_sql(cells)} THEN {_sql(column, value)}"
            for cells, value in zip(self.before, values, strict=True)
        ]
        return f"CASE {' '.join(arms)} END"

    def _key(self) -> list[int]:
        """The columns that tell the rows apart: those of the key, else one whose values no other row has, else all
        that can be compared.
        """
        key, columns = self.state.clustering, self.state.columns
        parts = [] if key is None else [part.column for part in key.parts if not columns[part.column].column.system]
        if parts and set(parts) <= set(self._comparable):
            return parts
        numbers = [index for index in self._comparable if self.state.columns[index].type_facts.kind == "integer"]
        one = next((index for index in (*numbers, *self._comparable) if self._tells_apart(index)), None)
        return self._comparable if one is None else [one]

    def _tells_apart(self, index: int) -> bool:
        """Whether no two rows, changed or not, have the same value in a column."""
        values = [row[index] for row in self.state.rows.values()]
        changed = [cells[index] for cells in self.before]
        return None not in changed and len(set(changed)) == len(changed) == sum(value in changed for value in values)

    @property
    def _comparable(self) -> list[int]:
        columns = self.state.columns
        shown = [index for index in self.before[0] if not columns[index].column.system]
        return [index for index in shown if columns[index].type_facts.comparable]

    def _chosen(self) -> dict[str, Any]:
        """WHERE, which chooses the rows and no others."""
        key, rows = self._key(), self.before
        columns = self.state.columns
        if not key:
            raise UnsupportedError("the rows have no column that WHERE can compare")
        varying = [index for index in key if any(cells.get(index) != rows[0].get(index) for cells in rows)]
        if len(varying) > 1:
            return {"where": " OR ".join(f"({self._condition_sql(cells)})" for cells in rows)}
        where: dict[str, Any] = {}
        for index in key:
            column = columns[index]
            cell = cell_of(column, rows[0].get(index))
            where[column.name] = [cell_of(column, cells.get(index)) for cells in rows] if index in varying else cell
        return {"where": where} | ({} if varying or len(rows) > 1 or key != self._comparable else {"limit": 1})

    def _condition_sql(self, cells: Mapping[int, Value | None]) -> str:
        parts = []
        for index in self._key():
            column, value = self.state.columns[index], cells.get(index)
            name = identifier(column.name)
            parts.append(f"{name} IS NULL" if value is None else f"{name} = {_sql(column, value)}")
        return " AND ".join(parts)


def _sql(column: ColumnDefinition, value: Value | None) -> str:
    return "NULL" if value is None else column.codec.sql(column.wire, value)


def _is_of(row: Sequence[Value | None], cells: Cells) -> bool:
    """Whether a row has these cells."""
    return all(row[index] == value for index, value in cells.items())


def _same(cells: Cells, other: Cells) -> bool:
    return all(other.get(index, value) == value for index, value in cells.items())
