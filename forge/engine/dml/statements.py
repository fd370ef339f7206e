"""What a declared statement does to the tables' rows, whatever its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from forge.engine.dml.insert_form import Kind
from forge.engine.dml.inserts import insert_rows
from forge.engine.dml.loads import load_rows
from forge.engine.dml.text_context import with_text_context
from forge.engine.dml.updates import delete_rows, update_rows
from forge.engine.requests.statements import Further as DeclaredFurther
from forge.engine.requests.statements import Statement
from forge.engine.rows.cells import Circumstances
from forge.engine.rows.foreign_keys import Opened, Operation
from forge.engine.session.named_tables import table_references
from forge.errors import ScenarioError
from forge.plan.statements import Further, RowsStatement
from forge.plan.tables import Table


def execute(statement: Statement, at: Circumstances) -> RowsStatement:
    """Run a statement; the rows that it changed, and its SQL.  Raises ScenarioError where a server would refuse it."""
    done = _executed(statement, at)
    follow, _ = at.references.followed(done.table, _events(statement))
    opened = [one.table for one in follow]
    further = [_executed_further(one, index, at) for index, one in enumerate(statement.further)]
    pairs = list(zip(further, statement.further, strict=True))
    locked = [done.table, *opened]
    for one, declared in pairs:
        if not declared.joined and all(other.full_name != one.table.full_name for other in locked):
            locked += one.tables
    if statement.locks is not None:
        locked = [done.table, *_locks(statement.locks, at)]
    joined = [one.table for one, declared in pairs if declared.joined]
    names = table_references(statement.query) if statement.query is not None and done.kind != "insert" else []
    if joined:
        locked = sorted([*locked, *joined], key=lambda table: _position(table, names))
    if done.kind == "delete" and len(names) > 1:
        # DELETE of several tables reads all columns.
        done = _all_columns(done)
        further = [_all_columns(one) if declared.joined else one for one, declared in pairs]
        pairs = list(zip(further, statement.further, strict=True))
    parts = [replace(one, sql=done.sql) if declared.joined else one for one, declared in pairs]
    fired = at.references.triggers(done.table, done.kind)
    triggers = [trigger for trigger in fired if trigger.timing == "before"]
    done = replace(
        done,
        has_triggers=bool(fired),
        before_trigger=None if not triggers else "rows" if triggers[0].starts_with_rows else "other",
        further=_in_order(done, statement.further, parts),
        locked=tuple(locked) if further or opened or statement.locks is not None else (),
        update_tables=_update_bits([done.table, *joined], names),
        checks_parents=at.references.checks,
        is_parent=at.references.is_parent(done.table),
        time=(at.time.second, at.time.microsecond),
    )
    if at.is_text:
        joint = [(one, _events(declared)) for one, declared in pairs if declared.joined]
        done = with_text_context(done, [(done, _events(statement)), *joint], statement, at)
    return replace(
        done,
        is_related=_is_related(statement, done, follow, further, at),
        triggered=frozenset(".".join(trigger.table) for trigger in at.catalog.live_triggers()),
    )


def _is_related(
    statement: Statement,
    done: RowsStatement,
    opened: Sequence[Opened],
    further: Sequence[RowsStatement],
    at: Circumstances,
) -> bool:
    """Whether foreign keys keep the statement from running beside others."""
    known = [(done.table, _events(statement)), *((one.table, one.events) for one in opened)]
    known += [(table, ("insert", "update", "delete")) for table in _locks(statement.locks or (), at)]
    return any(one.is_related for one in further) or any(at.references.isolates(*one) for one in known)


def _all_columns(done: RowsStatement) -> RowsStatement:
    return replace(done, changes=tuple(replace(change, after_duplicate=True) for change in done.changes))


def _executed(statement: Statement, at: Circumstances) -> RowsStatement:
    new = statement.insert or statement.replace
    if new is not None:
        kind: Kind = "insert" if statement.insert is not None else "replace"
        with at.place(kind, "into"):
            state = at.catalog.table(new.into, at.current_database)
        return insert_rows(state, statement, kind, at)
    if statement.load_data is not None:
        with at.place("load_data", "into"):
            state = at.catalog.table(statement.load_data.into, at.current_database)
        with at.place("load_data"):
            return load_rows(state, statement.load_data, at)
    if statement.update is not None:
        with at.place("update", "table"):
            state = at.catalog.table(statement.update.table, at.current_database)
        return update_rows(state, statement, statement.update, at)
    assert statement.delete is not None  # the model has seen to it
    with at.place("delete", "from"):
        state = at.catalog.table(statement.delete.table, at.current_database)
    return delete_rows(state, statement, statement.delete, at)


def _executed_further(declared: DeclaredFurther, index: int, at: Circumstances) -> RowsStatement:
    def place(*steps: Any) -> Any:
        return at.place("further", index, *steps)

    return execute(declared, replace(at, place=place))


def _events(statement: Statement) -> tuple[Operation, ...]:
    """What a statement may do to rows: REPLACE counts as INSERT and DELETE."""
    load, new = statement.load_data, statement.insert
    if statement.replace is not None or (load is not None and load.duplicates == "replace"):
        return ("insert", "delete")
    if new is not None:
        return ("insert",) if new.on_duplicate_key_update is None else ("insert", "update")
    if load is not None:
        return ("insert",)
    return ("update",) if statement.update is not None else ("delete",)


def _in_order(
    done: RowsStatement, declared: Sequence[DeclaredFurther], further: Sequence[RowsStatement]
) -> tuple[Further, ...]:
    """Around each row: what BEFORE triggers do, then foreign keys, the row itself, what AFTER triggers do."""
    count = len(done.changes)
    placed = [(one.at, 2, one.statement) for one in done.further]
    for one, statement in zip(declared, further, strict=True):
        row = count if one.row is None else one.row
        if row > count and (one.row or 0) > 1:
            raise ScenarioError(f"`row` is {row}, but the statement changes {count} rows of its own")
        placed.append((max(min(row, count) - 1, 0), 1, statement) if one.before else (min(row, count), 0, statement))
    return tuple(Further(at, statement) for at, _, statement in sorted(placed, key=lambda entry: entry[:2]))


def _locks(names: Sequence[str], at: Circumstances) -> list[Table]:
    with at.place("locks"):
        return [at.catalog.table(name, at.current_database).table for name in names]


def _position(table: Table, names: Sequence[str]) -> int:
    return names.index(table.name) if table.name in names else len(names)


def _update_bits(tables: Sequence[Table], names: Sequence[str]) -> int:
    """A bit for each table that is updated, by its place among those that the statement names."""
    if not names:
        return 1
    bits = 0
    for table in tables:
        bits |= 1 << (_position(table, names) if table.name in names else 0)
    return bits
