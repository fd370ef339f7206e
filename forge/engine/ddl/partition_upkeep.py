"""What ALTER TABLE does to single partitions: EXCHANGE, TRUNCATE, REBUILD, OPTIMIZE, ANALYZE, CHECK, REPAIR ..."""

from __future__ import annotations

from dataclasses import replace

from forge.engine.ddl.context import DdlContext
from forge.engine.dictionary.partitions import partition_places
from forge.engine.dictionary.table_state import TableState
from forge.errors import UnsupportedError
from forge.plan.definitions import TableAlteration
from forge.sql.ast.alter_actions import AlterPartitions
from forge.sql.ast.definitions import TableRef
from forge.sql.errors import SqlError

#: Recorded on 9.7: no database is named by what is only done inside the storage engine.
_WITHOUT_DATABASES = ("exchange", "truncate", "analyze", "repair", "check")
#: The answer of these is a table, not a change.
_ANSWERING = ("optimize", "analyze", "repair", "check")


def manage_partitions(
    action: AlterPartitions, plan: TableAlteration, state: TableState, context: DdlContext
) -> TableAlteration:
    """The statement as it is logged, after the table was altered.  Raises SqlError and UnsupportedError."""
    if action.local and action.kind == "add":
        # ER_NO_BINLOG_ERROR (recorded for RANGE).
        raise SqlError("ADD PARTITION cannot be kept out of the log", action.offset)
    if action.kind == "exchange":
        assert action.table is not None
        other = _exchange(action, state, action.table, context)
        plan = replace(plan, tables=(*plan.tables, other.table))
    # MySQL keeps out of the log what answers with a table, MariaDB all.
    keeps_all = context.line.ddl.local_keeps_out
    unlogged = action.kind == "check" or (action.local and (keeps_all or action.kind in _ANSWERING))
    assert plan.change is not None
    return replace(
        plan,
        databases=() if action.kind in _WITHOUT_DATABASES else plan.databases,
        change=replace(plan.change, manages_partitions=True),
        unnumbered=action.kind in _ANSWERING,
        unlogged=unlogged,
    )


def _exchange(action: AlterPartitions, state: TableState, ref: TableRef, context: DdlContext) -> TableState:
    """A partition and a table change their rows."""
    clause = state.definition.partitions
    other = context.table(ref)
    choose = state.table.partition
    if clause is None or choose is None:
        raise SqlError(f"table {state.name} has no partitions", action.offset)
    if other.table.partition is not None:
        raise SqlError(f"table {other.name} has partitions itself", ref.offset)
    if other.table.foreign_keys:
        raise SqlError(f"table {other.name} has foreign keys", ref.offset)
    mine = [(column.name.lower(), column.type, column.column.nullable) for column in state.columns]
    theirs = [(column.name.lower(), column.type, column.column.nullable) for column in other.columns]
    keys = [{(key.name.lower(), key.kind, key.parts) for key in table.table.keys} for table in (state, other)]
    if mine != theirs or keys[0] != keys[1] or state.table.engine != other.table.engine:
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
    state.number_is_lost = swapped.number_is_lost = True
    context.catalog.tables[name] = swapped
    return swapped
