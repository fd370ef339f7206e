"""What BEFORE triggers give the columns of an INSERT."""

from __future__ import annotations

from forge.engine.dictionary.table_state import TableState
from forge.engine.dml.insert_form import Kind
from forge.engine.requests.rows import Insert, Replace
from forge.engine.rows.cells import set_by_trigger
from forge.engine.rows.context import DmlContext
from forge.values.clipping import Clipped


def trigger_cells(
    state: TableState, kind: Kind, insert: Insert | Replace, context: DmlContext
) -> tuple[dict[int, Clipped], dict[int, Clipped]]:
    """What they set on INSERT, and on UPDATE where ON DUPLICATE KEY UPDATE changes a row.

    Which of the two a column is set by, the texts of the triggers say.
    """
    cells = set_by_trigger(state, kind, insert.set_by_trigger, context)
    if not isinstance(insert, Insert) or not insert.on_duplicate_key_update:
        return cells, {}
    on_insert = context.references.set_by_triggers(state.table, "insert")
    on_update = context.references.set_by_triggers(state.table, "update")
    updating = {index: cell for index, cell in cells.items() if index in on_update}
    declared = insert.set_by_update_trigger
    updating |= set_by_trigger(state, kind, declared, context, field="set_by_update_trigger")
    only = updating.keys() & on_update - on_insert
    return {index: cell for index, cell in cells.items() if index not in only}, updating
