"""Statements of the plan: what belongs to them, and in which order it is logged."""

from __future__ import annotations

from forge.plan.changes import RowChange
from forge.plan.definitions import DatabaseDrop, DefinitionText, DroppedTable, TableDrop, dropped_tables
from forge.plan.effects import ForeignKeyEffects
from forge.plan.statement_text import StatementText
from forge.plan.statements import Further, RowsStatement
from forge.plan.tables import Table, TableColumn
from forge.values.declaration.sqltype import SqlType

COLUMNS = (TableColumn("a", SqlType("INT")),)
OWN, OTHER = Table("d", "own", COLUMNS), Table("d", "other", COLUMNS)


def inserted(table: Table, sql: str, *rows: int, further: tuple[Further, ...] = ()) -> RowsStatement:
    changes = tuple(RowChange(None, (row,)) for row in rows)
    return RowsStatement("insert", table, changes, StatementText(sql), further=further)


def test_what_a_trigger_changes_stands_between_the_rows_that_it_belongs_to() -> None:
    trigger = inserted(OTHER, "INSERT INTO other", 10)
    statement = inserted(OWN, "INSERT INTO own", 1, 2, further=(Further(1, trigger),))
    rows = [(part.table.name, change.after) for part, change in statement.logged()]
    assert rows == [("own", (1,)), ("other", (10,)), ("own", (2,))]
    assert [table.name for table in statement.tables] == ["own", "other"]


def test_the_text_that_is_logged_is_that_of_the_first_change_unless_a_foreign_key_made_it() -> None:
    first = inserted(OTHER, "INSERT INTO other", 10)
    assert inserted(OWN, "INSERT INTO own", 1, further=(Further(0, first),)).logged_sql == "INSERT INTO other"
    cascade = RowsStatement("delete", OTHER, (RowChange((1,), None),), foreign_keys=ForeignKeyEffects(cascaded=True))
    assert inserted(OWN, "REPLACE INTO own", 1, further=(Further(0, cascade),)).logged_sql == "REPLACE INTO own"


def test_only_base_tables_that_were_there_are_dropped() -> None:
    there, missing = DroppedTable(("d", "t"), transactional=False), DroppedTable(("d", "u"), exists=False)
    temporary = DroppedTable(("d", "v"), temporary=True)
    text = DefinitionText("DROP TABLE IF EXISTS t, u, v", "d")
    statement = TableDrop(text, named=(there, missing, temporary), if_exists=True)
    assert list(dropped_tables(statement)) == ["d.t"]
    assert (statement.missing, statement.irrevocable) == ((missing,), (there,))
    assert list(dropped_tables(DatabaseDrop(text, ("d",), inside=(there,)))) == ["d.t"]
