"""ON DUPLICATE KEY UPDATE: what it gives the columns of the row that is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.literals import taken
from forge.engine.dictionary.table_state import TableState
from forge.engine.dml.insert_form import Kind
from forge.engine.dml.json_updates import JsonUpdate, is_json_update
from forge.engine.requests.cells import ColumnPlace
from forge.engine.requests.rows import Insert, Replace
from forge.engine.rows.cells import cell_value, not_null
from forge.engine.rows.context import DmlContext
from forge.engine.rows.time_zones import check_reads
from forge.engine.rows.where import column_index
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.tables import Row
from forge.values.base import Value
from forge.values.clipping import Clipped

#: What a column gets: a literal, the value of a column of the new row, or what JSON functions make.
Source = Clipped | int | JsonUpdate
#: Types whose values are each other's text, but for their digits.


def declared_updates(
    state: TableState, insert: Insert | Replace, kind: Kind, context: DmlContext
) -> Iterator[tuple[int, Source]]:
    """What ON DUPLICATE KEY UPDATE sets, by column: a literal, the column of the new row, or JSON functions."""
    declared = insert.on_duplicate_key_update if isinstance(insert, Insert) else None
    seen: set[int] = set()
    for name, cell in (declared or {}).items():
        with context.place(kind, "on_duplicate_key_update", name):
            index = column_index(state, name)
            column = state.columns[index]
            if index in seen:
                raise ScenarioError(f"column {column.name!r} is set twice")
            seen.add(index)
            if isinstance(cell, Mapping) and set(cell) == {"values"}:
                yield index, column_index(state, str(cell["values"]))
                continue
            if is_json_update(column, cell):
                yield index, JsonUpdate(state, index, cell, context)
                continue
            yield index, cell_value(column, cell, ColumnPlace(state.name, column.name), state.inserted, context)


def updated_cells(
    state: TableState, updates: Mapping[int, Source], before: Row, new: Row, context: DmlContext, *, rows: int
) -> dict[int, Value | None]:
    """The values that the columns in ``updates`` get in the row ``before``.

    ``new`` is the row that could not be added, of ``rows``.  Raises ScenarioError and UnsupportedError.
    """
    # Without strict mode several rows are spared what one row is not (ER_BAD_NULL_ERROR).
    spares = context.ignores or (context.clips and rows > 1)
    values: dict[int, Value | None] = {}
    for index, source in updates.items():
        if isinstance(source, int):
            column = state.columns[index]
            value = _as_of(column, state.columns[source], new[source], context)
            values[index] = not_null(column, value, state.name, clips=spares)
        elif isinstance(source, JsonUpdate):
            # Here the server does not patch the stored document.
            row = [values.get(place, value) for place, value in enumerate(before)]
            update = source.apply(row[index], row, patches=False)
            values[index] = update.document
        else:
            # NULL is refused only where a row gets it.
            values[index] = not_null(state.columns[index], source.value, state.name, clips=spares)
    return values


def _as_of(
    column: ColumnDefinition, source: ColumnDefinition, value: Value | None, context: DmlContext
) -> Value | None:
    """A value of one column in another."""
    if value is None or column.type == source.type:
        return value
    check_reads([column, source], context.time.offset)
    if (column.type_facts.is_moment and source.type_facts.is_moment) or column.type.name == source.type.name:
        return taken(context.wire(column), value, clips=context.clips or context.ignores).value
    raise UnsupportedError(
        f"VALUES({source.name}) of type {source.type.name} for {column.type.name} column {column.name!r}"
        " is not supported"
    )
