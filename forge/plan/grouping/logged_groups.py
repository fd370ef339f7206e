"""Which groups of the log the transactions of a session become."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from forge.plan.definitions import (
    AlterationStart,
    DdlStatement,
    TableAlteration,
    TableCreation,
    TableCreationSelect,
)
from forge.plan.grouping.caches import Caches
from forge.plan.grouping.drops import logged_definitions
from forge.plan.grouping.groups import LoggedGroup, LoggedTransaction
from forge.plan.keys import key_of_rows
from forge.plan.statements import RowsStatement
from forge.plan.tables import is_transactional
from forge.plan.transactions import (
    Group,
    LoggedStatement,
    Transaction,
    XaEnd,
)
from forge.servers import ServerLine


def logged_groups(groups: Iterable[Group], line: ServerLine) -> Iterator[LoggedGroup]:
    """The groups that a server of the line writes of what a client did."""
    for group in groups:
        if isinstance(group, DdlStatement | Transaction) and group.unlogged:
            continue
        if isinstance(group, Transaction):
            caches = Caches(group, line)
            for step in group.statements:
                caches.add(step)
            yield from caches.finish()
        elif isinstance(group, XaEnd):
            if group.logged:
                yield group
        elif isinstance(group, LoggedStatement):
            yield group
        else:
            yield from _groups_of_definition(group, line)


def _groups_of_definition(statement: DdlStatement, line: ServerLine) -> Iterator[LoggedGroup]:
    match statement:
        case TableCreationSelect(selected=RowsStatement() as rows) if _fills_later(rows, line):
            yield from _created_and_filled(statement, rows)
        case TableCreation() if statement.no_effect and not line.ddl.logs_create_of_existing:
            # IF NOT EXISTS of a temporary table is logged all the same (recorded).
            yield from (statement,) if statement.temporary else ()
        case TableAlteration(two_phase=True):
            yield AlterationStart(statement.text, statement.databases, alteration=statement)
            yield statement
        case _:
            yield from logged_definitions(statement, line)


def _fills_later(selected: RowsStatement, line: ServerLine) -> bool:
    return line.ddl.splits_create_select and not is_transactional(selected.table)


def _created_and_filled(statement: TableCreationSelect, selected: RowsStatement) -> Iterator[LoggedGroup]:
    """CREATE TABLE ... SELECT of an engine without transactions: the rows are a group of their own (recorded)."""
    yield replace(statement, selected=None, databases=())
    if selected.first is not None:
        yield LoggedTransaction(
            steps=(selected,),
            current_database=statement.current_database,
            in_block=False,
            alone=True,
            writes=(selected,),
            keyless=key_of_rows(selected.table) is None,
        )
