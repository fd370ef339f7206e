"""TIMESTAMP columns of a session without explicit_defaults_for_timestamp (recorded on 9.7, 10.11 and 11.8).

One whose definition says neither NULL nor NOT NULL is NOT NULL.  The first of a table that has no default is the time
of an INSERT and of an UPDATE, the others have the zero time as their default (``promote_first_timestamp_column``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from forge.engine.dictionary.catalog import Catalog
from forge.engine.dictionary.table_state import TableState
from forge.sql.ast.alter_actions import Action, AddColumn, ChangeColumn, Conditional
from forge.sql.ast.definitions import ColumnDraft, LiteralDefault, NowDefault
from forge.sql.ast.expressions import Literal
from forge.sql.errors import SqlUnsupported

_ZERO = "0000-00-00 00:00:00"


def timestamp_columns(
    drafts: Iterable[ColumnDraft], catalog: Catalog, *, has_first: bool = False
) -> tuple[ColumnDraft, ...]:
    """The columns that a statement defines as the session's server takes them.

    ``has_first``: a TIMESTAMP column of the table stands before them.
    """
    drafts = tuple(drafts)
    return drafts if catalog.explicit_timestamps else tuple(_implicit(drafts, has_first=has_first))


def with_timestamps(actions: Iterable[Action], state: TableState, catalog: Catalog) -> Iterator[Action]:
    """The actions of ALTER TABLE, with the columns that they define as the session's server takes them.

    Raises SqlUnsupported where it depends on the places of columns which of them is the first.
    """
    names = [column.name.lower() for column in state.columns if column.is_timestamp]
    for action in actions:
        inner = action.action if isinstance(action, Conditional) else action
        if catalog.explicit_timestamps or not isinstance(inner, AddColumn | ChangeColumn):
            yield action
            continue
        if inner.column.type.type.name == "TIMESTAMP" and names and inner.place is not None:
            problem = "a TIMESTAMP with FIRST or AFTER without explicit_defaults_for_timestamp is not supported yet"
            raise SqlUnsupported(problem, inner.column.offset, expected="a column at the end")
        has_first = bool(names)
        if isinstance(inner, ChangeColumn):
            if inner.column.type.type.name == "TIMESTAMP" and inner.old.lower() not in names and names:
                problem = (
                    "a column that becomes a TIMESTAMP without explicit_defaults_for_timestamp is not supported yet"
                )
                raise SqlUnsupported(problem, inner.column.offset)
            has_first = names[:1] != [inner.old.lower()] and has_first
        (column,) = timestamp_columns((inner.column,), catalog, has_first=has_first)
        if column.type.type.name == "TIMESTAMP":
            names.append(column.name.lower())
        inner = replace(inner, column=column)
        yield replace(action, action=inner) if isinstance(action, Conditional) else inner


def _implicit(drafts: Iterable[ColumnDraft], *, has_first: bool) -> Iterator[ColumnDraft]:
    for draft in drafts:
        if draft.type.type.name != "TIMESTAMP" or draft.generated is not None:
            yield draft
            continue
        column = replace(draft, nullable=False) if draft.nullable is None else draft
        if not column.nullable and column.default is None:
            digits = column.type.type.fsp
            if not has_first and column.on_update is None:
                column = replace(column, default=NowDefault(digits, column.offset), on_update=digits)
            else:
                column = replace(column, default=LiteralDefault(Literal(_ZERO), column.offset))
        has_first = True
        yield column
