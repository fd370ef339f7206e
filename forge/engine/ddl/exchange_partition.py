"""ALTER TABLE ... EXCHANGE PARTITION."""

from __future__ import annotations

from forge.engine.ddl.context import DdlContext
from forge.engine.dictionary.partitions import partition_places
from forge.engine.dictionary.table_state import TableState
from forge.errors import UnsupportedError
from forge.sql.ast.alter_actions import AlterPartitions
from forge.sql.ast.definitions import TableRef
from forge.sql.errors import SqlError


def exchange(action: AlterPartitions, state: TableState, ref: TableRef, context: DdlContext) -> TableState:
    """A partition and a table exchange their rows; the table.  Raises SqlError and UnsupportedError."""
    clause, choose = state.definition.partitions, state.table.partition
    other = context.table(ref)
    if clause is None or choose is None:
        raise SqlError(f"table {state.name} has no partitions", action.offset)
    if [column.type for column in state.columns] != [column.type for column in other.columns]:
        raise SqlError("Tables have different definitions", ref.offset, expected=f"the definition of {state.name}")
    if clause.inner is not None:
        raise UnsupportedError("EXCHANGE PARTITION of a table with subpartitions is not supported yet")
    place = partition_places(clause, action)[0]
    if any(choose(row) != place for row in other.rows.values()):
        raise SqlError(f"a row of {other.name} does not belong to partition {action.names[0]}", ref.offset)
    name = (other.table.database, other.table.name)
    swapped = TableState(other.definition, context.catalog.next_version(name))
    going = [number for number in state.ordered() if choose(state.rows[number]) == place]
    rows = [state.rows[number] for number in going]
    for number in going:
        state.remove(number)
    for number in other.ordered():
        state.add(other.rows[number])
    for row in rows:
        swapped.add(row)
    context.catalog.tables[name] = swapped
    return swapped
