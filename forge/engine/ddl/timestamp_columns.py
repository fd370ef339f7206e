"""TIMESTAMP columns of a session without explicit_defaults_for_timestamp (recorded on 9.7, 10.11 and 11.8).

One whose definition says neither NULL nor NOT NULL is NOT NULL.  The first of a table that has no default is the time
of an INSERT and of an UPDATE, the others have the zero time as their default (``promote_first_timestamp_column``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from forge.engine.dictionary.catalog import Catalog
from forge.sql.ast.definitions import ColumnDraft, LiteralDefault, NowDefault
from forge.sql.ast.expressions import Literal

_ZERO = "0000-00-00 00:00:00"


def timestamp_columns(
    drafts: Iterable[ColumnDraft], catalog: Catalog, *, has_first: bool = False
) -> tuple[ColumnDraft, ...]:
    """The columns that a statement defines as the session's server takes them.

    ``has_first``: a TIMESTAMP column of the table stands before them.
    """
    drafts = tuple(drafts)
    return drafts if catalog.explicit_timestamps else tuple(_implicit(drafts, has_first=has_first))


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
