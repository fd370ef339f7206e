"""What a statement's text stands for beside its own table: what statement format tells of it, and MIXED asks.

Recorded on MySQL 9.7, MariaDB 10.11 and 11.8 (docs/servers.md, O).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forge.engine.dictionary.triggers import Trigger
from forge.engine.requests.statements import Statement
from forge.engine.rows.cells import Circumstances
from forge.engine.rows.foreign_keys import Opened, Operation
from forge.engine.session.named_tables import is_of_several_tables, named_tables
from forge.errors import ScenarioError
from forge.plan.statements import Call, RowsStatement
from forge.sql.reads.reads import reads_of


def with_text_context(
    done: RowsStatement,
    own: Sequence[tuple[RowsStatement, tuple[Operation, ...]]],
    statement: Statement,
    at: Circumstances,
) -> RowsStatement:
    """The statement with what its text opens; ``own`` are it and those joined to it, with what they do to rows."""
    opened = [Opened(one.table, events) for one, events in own]
    triggers: list[Trigger] = []
    ran: list[Trigger] = []
    for one, events in own:
        further, its_triggers = at.references.followed(one.table, events)
        opened += further
        triggers += its_triggers
        name = (one.table.database, one.table.name)
        ran += [trigger for trigger in its_triggers if trigger.table == name and _fires(trigger, one)]
    named = named_tables(_text(done, statement), at.catalog, at.current_database)
    tables = [*(one.table for one in opened), *named]
    known = {index for index, one in enumerate(opened) if one.table.foreign_keys or at.references.is_parent(one.table)}
    context = replace(
        done.context,
        databases=tuple(sorted({table.database for table in tables}, reverse=True)),
        isolated=any(at.references.isolates(opened[index].table, opened[index].events) for index in known)
        or any(at.references.is_parent(table) for table in named),
        reads_others=bool({table.full_name for table in named} - {one.table.full_name for one in opened}),
        several=_is_of_several(done, statement, at),
        numbers_further=_numbers_further(opened, len(own), at),
        trigger_calls=_calls(triggers),
        fires=bool(ran),
        fires_update=any(trigger.event == "update" for trigger in ran),
        insert_id=first_number(done),
    )
    return replace(done, context=context)


def _text(done: RowsStatement, statement: Statement) -> str:
    new = statement.insert or statement.replace
    return done.sql if statement.query is not None or (new is not None and new.select is not None) else ""


def _is_of_several(done: RowsStatement, statement: Statement, at: Circumstances) -> bool:
    if statement.query is None:
        # Our own text has that form where it needs an index hint (forge.sql.write.statements).
        return done.sql.startswith("DELETE `")
    return done.kind != "insert" and is_of_several_tables(statement.query, at.references.line)


def _fires(trigger: Trigger, done: RowsStatement) -> bool:
    """Whether a row of the statement made the trigger run; a row that stays the same does."""
    if trigger.event == "update" and done.kind == "insert":
        return done.context.updated
    return done.context.matched > 0


def _numbers_further(opened: Sequence[Opened], own: int, at: Circumstances) -> bool:
    """Whether a table with AUTO_INCREMENT is opened for writing beside the statement's own (recorded on all three).

    MySQL also takes a child table for one, when it opens the parent to check new rows (recorded on 9.7).
    """
    logged = at.references.line.cascades == "logged"
    for index, one in enumerate(opened):
        if not any(column.auto_increment for column in one.table.columns):
            continue
        if index >= own:
            if one.by_trigger or logged:
                return True
            continue
        name = (one.table.database, one.table.name)
        elsewhere = any(foreign.parent != name for foreign in one.table.foreign_keys)
        if logged and at.references.checks and elsewhere and {"insert", "update"} & set(one.events):
            return True
    return False


def _calls(triggers: Sequence[Trigger]) -> frozenset[Call]:
    calls: set[Call] = set()
    for trigger in triggers:
        try:
            calls |= reads_of(trigger.body).calls
        except ScenarioError:
            continue
    return frozenset(calls)


def first_number(done: RowsStatement) -> int | None:
    """The first AUTO_INCREMENT value that was generated, by the statement or a trigger of it."""
    early = [one.statement for one in done.further if one.at == 0 and done.changes]
    late = [one.statement for one in done.further if one.at > 0 or not done.changes]
    numbers = [*map(first_number, early), done.context.insert_id, *map(first_number, late)]
    return next((number for number in numbers if number is not None), None)
