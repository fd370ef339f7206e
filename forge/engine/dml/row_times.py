"""What the times of rows add to a change: the past that MariaDB's system-versioned tables keep, and what FOR PORTION OF
leaves of a row before and behind the portion (recorded on 10.11 and 11.8).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct

from forge.engine.dictionary.columns import sort_value
from forge.engine.dictionary.literals import strict_value
from forge.engine.dictionary.system_columns import last_moment
from forge.engine.dictionary.table_state import TableState
from forge.engine.rows.context import DmlContext
from forge.engine.rows.defaults import with_generated
from forge.engine.rows.where import column_index, value_sql
from forge.errors import ScenarioError, UnsupportedError, about
from forge.plan.changes import RowChange
from forge.plan.statements import RowsStatement
from forge.plan.tables import Row
from forge.sql.write import identifier
from forge.values.base import Value


class Portion(Struct, frozen=True):
    """FOR PORTION OF: the columns of the period, and the portion's begin and end."""

    columns: tuple[int, int]
    ends: tuple[Value, Value]
    sql: str

    def touches(self, state: TableState, row: Row) -> bool:
        """Whether a part of the row's time lies in the portion."""
        (start, end), (first, last) = self._times(state, row)
        return bool(start < last and first < end)

    def cut(self, state: TableState, row: Row) -> Row:
        """The row in the portion alone."""
        (start, end), (first, last) = self._times(state, row)
        return _put(row, self.columns, (self.ends[0] if start < first else None, self.ends[1] if last < end else None))

    def rest(self, state: TableState, row: Row) -> list[Row]:
        """The row before and behind the portion."""
        (start, end), (first, last) = self._times(state, row)
        before = [_put(row, self.columns, (None, self.ends[0]))] if start < first else []
        return before + ([_put(row, self.columns, (self.ends[1], None))] if last < end else [])

    def _times(self, state: TableState, row: Row) -> tuple[list[Any], list[Any]]:
        columns = [state.columns[index] for index in self.columns]
        there = [sort_value(column, row[index]) for column, index in zip(columns, self.columns, strict=True)]
        return there, [sort_value(column, value) for column, value in zip(columns, self.ends, strict=True)]


def _put(row: Row, columns: Collection[int], values: Collection[Value | None]) -> Row:
    """The row with other values in some columns; None leaves one as it is."""
    new = {index: value for index, value in zip(columns, values, strict=True) if value is not None}
    return tuple(new.get(index, value) for index, value in enumerate(row))


def declared_portion(
    state: TableState, declared: Mapping[str, list[Any]] | None, context: DmlContext
) -> Portion | None:
    """``for_portion_of`` of a statement.  Raises ScenarioError for what is no period of the table, or no time."""
    if declared is None:
        return None
    (name, ends), *_ = declared.items()
    periods = [period for period in state.definition.periods if not period.is_system]
    period = next((one for one in periods if one.name.lower() == name.lower()), None)
    if period is None:
        expected = ", ".join(one.name for one in periods) or "PERIOD FOR in its definition"
        raise ScenarioError(f"table {state.name} has no period {name!r}", expected=expected)
    start, end = column_index(state, period.start), column_index(state, period.end)
    column = state.columns[start]
    if column.is_timestamp and context.time.offset:
        raise UnsupportedError("FOR PORTION OF a period of TIMESTAMPs in another time zone is not supported yet")
    with about(f"period {period.name!r}"):
        first, last = (strict_value(column.wire, column.codec, literal) for literal in ends)
    if first is None or last is None or not sort_value(column, first) < sort_value(column, last):
        raise ScenarioError(f"the portion of {period.name!r} has no length", expected="[begin, end]")
    sql = f" FOR PORTION OF {identifier(period.name)} FROM {value_sql(column, first)} TO {value_sql(column, last)}"
    return Portion((start, end), (first, last), sql)


def stamped(state: TableState, after: Row, assigned: Collection[int], context: DmlContext) -> Row:
    """The changed row, whose time begins now if the text assigns a column that has versions."""
    if not _has_versions(state, assigned):
        return after
    start, _ = _system_columns(state)
    return with_generated(state.columns, _put(after, (start,), (context.time.cell(state.columns[start]),)))


def rest_of_change(
    state: TableState, before: Row, assigned: Collection[int], portion: Portion | None, context: DmlContext
) -> list[RowChange]:
    """What comes behind a change of the row: its parts outside the portion, and the row of the past."""
    rows = [] if portion is None else [_piece(state, row, context) for row in portion.rest(state, before)]
    past: list[Row] = []
    if _has_versions(state, assigned):
        start, end = _system_columns(state)
        now = context.time.cell(state.columns[end])
        # A row that came at the same moment has no past.
        came: Any = before[start]
        if came < now:
            past = [with_generated(state.columns, _put(before, (end,), (now,)), clips=context.clips)]
    for row in (*rows, *past):
        state.add(row)
    return [*(RowChange(None, row) for row in rows), *(RowChange(None, row, is_past=True) for row in past)]


def remove_row(
    state: TableState, number: int, portion: Portion | None, context: DmlContext, *, replacement: Row | None = None
) -> tuple[list[RowChange], list[RowsStatement]]:
    """Delete a row: what is logged of it, and of its children, in order; ``replacement`` is what REPLACE puts there."""
    if portion is None and state.table.row_end is None:
        gone, cascaded = context.references.deletion_changes(state, number, replacement=replacement)
        return [RowChange(gone, None)], cascaded
    if context.references.is_parent(state.table):
        raise UnsupportedError(f"foreign keys to {state.name}, whose rows have times, are not supported yet")
    before = state.rows[number]
    rest = [] if portion is None else portion.rest(state, before)
    if state.table.row_end is not None:
        changes = [_ended(state, number, context)]
    elif rest:
        # The row becomes the first of its parts.
        kept, *rest = rest
        kept = _numbered(state, kept, context)
        state.change(number, kept)
        changes = [RowChange(before, kept)]
    else:
        state.remove(number)
        changes = [RowChange(before, None)]
    for row in rest:
        piece = _piece(state, row, context)
        state.add(piece)
        changes.append(RowChange(None, piece))
    return changes, []


def _ended(state: TableState, number: int, context: DmlContext) -> RowChange:
    """A row of a system-versioned table ends now; where the past has such a row already, it is deleted."""
    _, end = _system_columns(state)
    before = state.rows[number]
    after = _put(before, (end,), (context.time.cell(state.columns[end]),))
    after = with_generated(state.columns, after, clips=context.clips)
    if state.conflict(after, number) is not None:
        state.remove(number)
        return RowChange(after if context.references.line.rows.ends_deleted_versions else before, None)
    state.change(number, after)
    return RowChange(before, after)


def _piece(state: TableState, row: Row, context: DmlContext) -> Row:
    """A part of a row as it is inserted."""
    if state.table.row_end is not None:
        start, end = _system_columns(state)
        now = context.time.cell(state.columns[start])
        row = _put(row, (start, end), (now, last_moment(state.columns[end].wire.dialect)))
    return _numbered(state, row, context)


def _numbered(state: TableState, row: Row, context: DmlContext) -> Row:
    """The part with a number of its own, unless several parts may have one; and generated columns computed."""
    index = state.auto_increment
    keyed = any(key.period and index in {part.column for part in key.parts} for key in state.table.keys)
    if index is not None and not keyed:
        if context.numbers != (1, 1):
            raise UnsupportedError("FOR PORTION OF with numbers in steps is not supported yet")
        row = _put(row, (index,), (state.next_auto_increment,))
        state.next_auto_increment += 1
    return with_generated(state.columns, row, clips=context.clips)


def _has_versions(state: TableState, assigned: Collection[int]) -> bool:
    return state.table.row_end is not None and any(state.table.columns[index].versioned for index in assigned)


def _system_columns(state: TableState) -> tuple[int, int]:
    """The columns with the begin and the end of a row's time."""
    roles = {column.system: index for index, column in enumerate(state.table.columns) if column.system}
    return roles["row_start"], roles["row_end"]
