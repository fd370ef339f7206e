"""Changed rows as statements: INSERT, UPDATE, DELETE and REPLACE, or those that take the change back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from forge.changed.known_tables import KnownTables
from forge.changed.sql_cells import SqlCells
from forge.decode.cells import Cell, MappedTable, RowChange
from forge.engine.dictionary.system_columns import last_moment
from forge.engine.dictionary.table_state import TableState
from forge.errors import UnsupportedError
from forge.events.column_kinds import is_enum
from forge.events.columns import completed
from forge.events.plain import name_text
from forge.plan.keys import key_prefix
from forge.sql.write import identifier, qualified
from forge.values.base import Column, Value
from forge.values.wire_types import WireType

Style = Literal["update", "replace", "binlog"]
#: The cells of an image by the index of their column.
Cells = Mapping[int, Cell]
#: Columns that a server sets at an UPDATE by itself, unless it is told that they are not.
_CLOCKS = (WireType.TIMESTAMP, WireType.TIMESTAMP2, WireType.DATETIME, WireType.DATETIME2)


@dataclass(frozen=True, slots=True)
class SqlTable:
    """A mapped table as statements name it."""

    name: str
    columns: tuple[Column, ...]
    #: None where neither the log nor a definition tells them.
    names: tuple[str, ...] | None
    #: Columns of keys that tell rows apart, the best first.
    keys: tuple[tuple[int, ...], ...]
    #: Columns whose values the server makes by itself.
    made: frozenset[int]
    #: Columns that UPDATE sets by itself.
    clocks: tuple[int, ...]
    #: Index of the column with the end of a row's time, and what it holds while the row is there.
    row_end: int | None = None
    no_end: Value | None = None

    def errors(self, change: RowChange) -> bool:
        """Whether an ENUM of the row has what is none of its members."""
        cells = (*(change.before or ()), *(change.after or ()))
        return any(cell.raw is not None and is_enum(cell.column) and not any(cell.raw) for cell in cells)

    def column_name(self, index: int) -> str:
        """Raises UnsupportedError where it is not told."""
        if self.names is None:
            raise UnsupportedError("the log does not tell the names of the columns", expected="--schema FILE.sql")
        return self.names[index]


def sql_table(mapped: MappedTable, tables: KnownTables) -> SqlTable:
    """The table of a map whose columns are known, with what its definition adds."""
    assert mapped.columns is not None
    body = mapped.body
    known = tables.state_of(body)
    columns = mapped.columns if known is None else completed(mapped.columns, known[1])
    names = None
    if all(column.name is not None for column in columns):
        names = tuple(identifier(name_text(column.name)) for column in columns)
    primary = body.primary_key()
    keys = [] if primary is None else [tuple(index for index, _ in primary)]
    hidden = [i for i, column in enumerate(columns) if (column.name or "").startswith("!hidden!")]
    hidden += [i for i, column in enumerate(columns) if column.type_code == WireType.TYPED_ARRAY]
    clocks = [i for i, column in enumerate(columns) if column.type_code in _CLOCKS]
    made, row_end, no_end = set(hidden), None, None
    if known is not None:
        table = known[0].table
        keys += [key for key in _unique_keys(known[0]) if key not in keys]
        made |= {i for i, one in enumerate(table.columns) if one.generated is not None or one.system}
        clocks = [i for i in clocks if table.columns[i].on_update_now]
        row_end, no_end = table.row_end, last_moment(known[0].columns[0].wire.dialect)
        keys = [tuple(i for i in key if not table.columns[i].system) for key in keys]
    name = qualified(name_text(body.database), name_text(body.table))
    return SqlTable(name, columns, names, tuple(keys), frozenset(made), tuple(clocks), row_end, no_end)


def _unique_keys(state: TableState) -> Iterable[tuple[int, ...]]:
    for key in state.unique:
        whole = key.kind == "primary" or all(key_prefix(state.table, part) is None for part in key.parts)
        if whole and key.period is None and all(part.expression is None for part in key.parts):
            yield tuple(part.column for part in key.parts)


@dataclass(frozen=True, slots=True)
class RowStatements:
    """How the rows of a log are said."""

    cells: SqlCells
    style: Style = "update"
    flashback: bool = False
    #: The columns that are written, by name in backticks; None: all.
    columns: frozenset[str] | None = None

    def statement(self, table: SqlTable, change: RowChange) -> str | None:
        """The statement of a row, without its end; None for one that changes nothing that is asked for.

        Raises ForgeError where its images do not tell enough.
        """
        before = None if change.before is None else {cell.number - 1: cell for cell in change.before}
        after = None if change.after is None else {cell.number - 1: cell for cell in change.after}
        if table.row_end is not None:
            if _is_past(table, before if after is None else after):
                # An update to a row of the past is how a deletion is logged.
                after = None
            if (before is None and after is None) or (before is not None and _is_past(table, before)):
                raise UnsupportedError("a row of the past, which the server keeps by itself")
        width = len(table.columns)
        if before is None:
            assert after is not None
            return self._delete(table, after) if self.flashback else self._insert(table, after, width)
        if after is None:
            return self._insert(table, _whole(table, before), width) if self.flashback else self._delete(table, before)
        if self.flashback:
            return self._taken_back(table, before, after)
        whole = _merged(before, after)
        if self._replaces(table, before, whole):
            return self._insert(table, whole, width)
        return self._update(table, before, after)

    def _replaces(self, table: SqlTable, old: Cells, new: Cells) -> bool:
        """Whether REPLACE of the new row does away with the old one: it has the same key."""
        if self.style != "replace" or not table.keys or len(new) < len(table.columns):
            return False
        return all(index in old and old[index].raw == new[index].raw for index in table.keys[0])

    def _insert(self, table: SqlTable, cells: Cells, width: int) -> str | None:
        verb = "REPLACE" if self.style == "replace" else "INSERT"
        chosen = [index for index in sorted(cells) if index not in table.made and self._is_asked(table, index)]
        if self.columns is not None and not chosen:
            return None
        if self.columns is not None and table.keys:
            chosen = sorted({*chosen, *(index for index in table.keys[0] if index in cells)})
        values = ", ".join(self.cells.literal(table.columns[index], cells[index].raw) for index in chosen)
        if table.names is None and len(chosen) == width:
            return f"{verb} INTO {table.name} VALUES ({values})"
        names = ", ".join(table.column_name(index) for index in chosen)
        return f"{verb} INTO {table.name} ({names}) VALUES ({values})"

    def _delete(self, table: SqlTable, cells: Cells) -> str:
        return f"DELETE FROM {table.name} WHERE {self._where(table, cells)}"

    def _taken_back(self, table: SqlTable, before: Cells, after: Cells) -> str | None:
        for index in after:
            if index not in before and index not in table.made:
                raise UnsupportedError(f"the before image lacks column {index + 1}, which the update changes")
        whole = _merged(before, after)
        if self._replaces(table, whole, before):
            return self._insert(table, before, len(table.columns))
        return self._update(table, whole, before)

    def _update(self, table: SqlTable, old: Cells, new: Cells) -> str | None:
        """UPDATE of the row ``old`` to the cells ``new``."""
        own = [i for i in sorted(new) if i not in table.made and self._is_asked(table, i)]
        changed = [i for i in own if new[i].partial or i not in old or old[i].raw != new[i].raw]
        if not changed and self.columns is not None:
            return None
        sets = {i: self.cells.changed(new[i], table.column_name(i)) for i in changed or own}
        if not sets:
            return None
        for index in table.clocks:
            if index not in sets and index not in table.made:
                sets[index] = table.column_name(index)
        assigned = ", ".join(f"{table.column_name(i)} = {sets[i]}" for i in sorted(sets))
        return f"UPDATE {table.name} SET {assigned} WHERE {self._where(table, old)}"

    def _where(self, table: SqlTable, cells: Cells) -> str:
        for key in table.keys:
            if all(i in cells and not cells[i].partial and cells[i].raw is not None for i in key):
                return self._conditions(table, cells, key, exactly=False)
        chosen = [index for index in sorted(cells) if not cells[index].partial and not _is_hidden(table, index)]
        if not chosen:
            raise UnsupportedError("the image has no column to find the row by")
        return self._conditions(table, cells, chosen, exactly=True) + " LIMIT 1"

    def _conditions(self, table: SqlTable, cells: Cells, chosen: Sequence[int], *, exactly: bool) -> str:
        return " AND ".join(
            self.cells.condition(table.columns[i], cells[i].raw, table.column_name(i), exactly=exactly) for i in chosen
        )

    def _is_asked(self, table: SqlTable, index: int) -> bool:
        return self.columns is None or table.column_name(index) in self.columns


def _is_past(table: SqlTable, cells: Cells | None) -> bool:
    """Whether the row of a system-versioned table has ended."""
    cell = None if cells is None or table.row_end is None else cells.get(table.row_end)
    return cell is not None and cell.raw is not None and cell.value() != table.no_end


def _is_hidden(table: SqlTable, index: int) -> bool:
    column = table.columns[index]
    return column.type_code == WireType.TYPED_ARRAY or (column.name or "").startswith("!hidden!")


def _whole(table: SqlTable, cells: Cells) -> Cells:
    """The cells of a deleted row.  Raises UnsupportedError where they are not all logged."""
    for index in range(len(table.columns)):
        if index not in cells and index not in table.made:
            raise UnsupportedError(f"the before image lacks column {index + 1} of the deleted row")
    return cells


def _merged(before: Cells, after: Cells) -> Cells:
    """The row after an update: what the after image lacks is as before.  Raises FormatError."""
    merged = dict(before)
    for index, cell in after.items():
        if not cell.partial:
            merged[index] = cell
        elif cell.base is not None:
            merged[index] = Cell(cell.number, cell.column, cell.updated_raw())
        else:
            merged.pop(index, None)
    return merged
