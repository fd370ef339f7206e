"""What a declared statement does to the tables' rows, whatever its kind."""

from __future__ import annotations

from dataclasses import replace

from forge.compile.model import RowsStatement
from forge.scenario.cells import Circumstances
from forge.scenario.inserts import Kind, insert_rows
from forge.scenario.loads import load_rows
from forge.scenario.model import Statement
from forge.scenario.updates import delete_rows, update_rows


def execute(statement: Statement, at: Circumstances) -> RowsStatement:
    """Run a statement; the rows that it changed, and its SQL.  Raises ScenarioError where a server would refuse it."""
    return replace(_executed(statement, at), time=(at.time.second, at.time.microsecond))


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
