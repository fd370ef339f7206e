"""The rows of one statement on tables that a rollback reaches, and on tables that it does not.

A trigger may change tables of other engines than the statement.  A server gathers their rows in the caches of those
engines, each with TABLE_MAPs of its own (recorded on 9.7, 10.11 and 11.8).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from forge.plan.effects import OpenedTables
from forge.plan.statements import Further, RowsStatement
from forge.plan.tables import is_transactional
from forge.servers import ServerLine


def engine_parts(step: RowsStatement, line: ServerLine) -> tuple[RowsStatement, RowsStatement] | None:
    """(what no rollback reaches, what one does) of a statement that is logged as rows; None if it is not of both.

    One of them has the text: the part with the statement's own table, or that which is written first, which is the one
    that no rollback reaches.
    """
    if step.as_text or not step.further or step.first is None:
        return None
    own = is_transactional(step.table)
    others = [further for further in step.further if is_transactional(further.statement.table) != own]
    if not others or not step.changes or any(part.table.temporary for part in step.parts()):
        return None
    text = replace(step.text, source=step.logged_sql)
    with_own = replace(
        step,
        text=text,
        further=tuple(further for further in step.further if further not in others),
        opened=_opened(step, transactional=own),
    )
    if not own:
        apart = _joined([further.statement for further in others])
        return with_own, _silent(replace(apart, context=step.context))
    # The circumstances are those of the statement, which has no rows of its own here.
    later = tuple(Further(1, further.statement) for further in others)
    stays = replace(step, text=text, changes=(), further=later, opened=_opened(step, transactional=False))
    return (stays, _silent(with_own)) if line.rows.text_before == "first" else (_silent(stays), with_own)


def _opened(step: RowsStatement, *, transactional: bool) -> OpenedTables:
    locked = tuple(table for table in step.tables if is_transactional(table) == transactional)
    return replace(step.opened, locked=locked)


def _joined(statements: Sequence[RowsStatement]) -> RowsStatement:
    first, *rest = statements
    behind = len(first.changes)
    return replace(first, further=(*first.further, *(Further(behind, statement) for statement in rest)))


def _silent(statement: RowsStatement) -> RowsStatement:
    return replace(statement, context=replace(statement.context, rows_query=False))
