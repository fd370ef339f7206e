"""Whether a statement asked a table's engine to change a row."""

from __future__ import annotations

from forge.plan.statements import RowsStatement
from forge.plan.written_columns import read_besides
from forge.servers import ServerLine


def changes_nothing(statement: RowsStatement, line: ServerLine) -> bool:
    """Whether no engine was asked to change a row (recorded).

    An UPDATE compares a row with what it was only if it has read all columns that it sets (sql_update.cc,
    records_are_comparable); else the engine has to find that nothing changes.
    """
    if statement.changes:
        return False
    if changes_none_of_several(statement, line):
        return True
    if statement.text.clauses.deletes_all:
        # One call of the engine, which counts as a change (handler::ha_delete_all_rows).
        return False
    if statement.kind == "insert" and statement.text.load is None:
        return False
    if statement.kind != "update" or not statement.search.matched:
        return not statement.search.matched
    assigned = statement.text.assigned or frozenset()
    columns = statement.table.columns
    # MariaDB reads all columns for the sake of one ON UPDATE, be it assigned or not.
    every = line.texts.stamp_reads_all
    stamped = any(column.on_update_now and (every or index not in assigned) for index, column in enumerate(columns))
    return stamped or assigned <= statement.text.reads | read_besides(statement.table, assigned, line)


def changes_none_of_several(statement: RowsStatement, line: ServerLine) -> bool:
    """Whether an UPDATE of several tables asked no engine: where it changes rows as it finds them, it may (10.11)."""
    several = statement.kind == "update" and statement.text.clauses.several_tables
    if not (several and statement.as_text and statement.first is None):
        return False
    return not (line.texts.updates_on_the_fly and statement.search.matched)
