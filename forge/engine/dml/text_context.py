"""What a statement's text stands for beside its own table: what statement format tells of it, and MIXED asks.

Recorded on MySQL 9.7, MariaDB 10.11 and 11.8 (docs/servers/statement-format.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from forge.engine.dictionary.catalog import Catalog
from forge.engine.requests.statements import Statement
from forge.engine.rows.context import DmlContext
from forge.engine.rows.foreign_keys import Opened, Operation
from forge.plan.statements import RowsStatement
from forge.plan.tables import Table
from forge.sql.reads.reads import body_calls
from forge.sql.reads.tables import tables_of
from forge.sql.reads.triggers import Trigger


def tables_named_in(sql: str, catalog: Catalog, current_database: str) -> list[Table]:
    """The tables that the text names; none if the text is no SQL."""
    names = sorted(tables_of(sql))
    states = (catalog.tables.get((database or current_database, name)) for database, name in names)
    return [state.table for state in states if state is not None]


def with_opened_tables(
    statement: RowsStatement,
    own: Sequence[tuple[RowsStatement, tuple[Operation, ...]]],
    declared: Statement,
    context: DmlContext,
) -> RowsStatement:
    """The statement with what its text opens; ``own`` are it and those joined to it, with what they do to rows."""
    opened = [Opened(part.table, events) for part, events in own]
    triggers: list[Trigger] = []
    for part, events in own:
        further, its_triggers = context.references.followed(part.table, events)
        opened += further
        triggers += its_triggers
    calls = {call for trigger in triggers for call in body_calls(trigger.body)}
    named = tables_named_in(_text(statement, declared), context.catalog, context.current_database)
    tables = [*(entry.table for entry in opened), *named]
    return replace(
        statement,
        opened=replace(
            statement.opened,
            databases=tuple(sorted({table.database for table in tables}, reverse=True)),
            reads_others=bool({table.full_name for table in named} - {entry.table.full_name for entry in opened}),
        ),
        triggers=replace(statement.triggers, calls=frozenset(calls)),
    )


def _text(statement: RowsStatement, declared: Statement) -> str:
    new = declared.insert or declared.replace
    has_text = declared.query is not None or (new is not None and new.select is not None)
    return statement.text.sql if has_text else ""
