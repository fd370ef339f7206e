"""Triggers: which tables the text of one may change.

What a trigger does to rows is not computed: scenarios declare it (``further``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from forge.sql.ast.objects import CreateTrigger, RowEvent
from forge.sql.reads.triggers import body_changes

TableName = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Trigger:
    """A trigger: its table, the text that it runs, and the tables that this changes, with how."""

    table: TableName
    timing: Literal["before", "after"]
    event: RowEvent
    body: str
    changes: tuple[tuple[TableName, tuple[RowEvent, ...]], ...]
    #: Lower-case names of the columns of its own row that it may set.
    sets: frozenset[str]
    #: Those that it names as NEW and OLD, and of a BEFORE trigger those of NEW, which servers count as written.
    names: frozenset[str]
    writes: frozenset[str]


def trigger_of(statement: CreateTrigger, table: TableName) -> Trigger:
    """The trigger that the statement makes on a table, whose database is meant by names without one."""
    changes = body_changes(statement.body, table[0])
    return Trigger(
        table=table,
        timing=statement.timing,
        event=statement.event,
        body=statement.body,
        changes=changes.tables,
        sets=changes.sets,
        names=changes.new | changes.old,
        writes=changes.new if statement.timing == "before" else frozenset(),
    )
