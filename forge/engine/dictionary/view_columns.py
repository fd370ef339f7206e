"""Which columns of a view have a moment as their default.

MySQL reads the defaults of the columns that a view names when it is made, and a DATETIME or TIMESTAMP literal takes the
session's time zone (recorded on 9.7: a column alone, also of another view; none inside expressions, UNION and WHERE).
"""

from __future__ import annotations

from forge.engine.dictionary.catalog import Catalog
from forge.sql.ast.objects import ViewStatement
from forge.sql.errors import SqlUnsupported
from forge.sql.views import SelectItem, view_select
from forge.values.registry import facts_of

Name = tuple[str, str]
_NOT_FOLLOWED = "a view of this form on tables with DATETIME or TIMESTAMP defaults is not supported yet"


def moments_of(catalog: Catalog, view: ViewStatement, current: str) -> frozenset[str]:
    """The view's columns (lower case) that have such a default.

    Raises SqlUnsupported for a SELECT that names such a table in a way that is not followed.
    """
    select = view_select(view.body)
    if select.is_set:
        return frozenset()
    if select.nests:
        names = (name for name in (*catalog.tables, *catalog.view_moments) if name[1] in select.names)
        if any(any(_columns(catalog, name).values()) for name in names):
            raise SqlUnsupported(_NOT_FOLLOWED, view.name.offset)
        return frozenset()
    tables = {alias: catalog.name_of(ref, current) for alias, ref in select.tables}
    moments: dict[str, bool] = {}
    for item in select.items:
        moments |= _item(catalog, item, tables)
    if view.columns:
        moments = dict(zip((name.lower() for name in view.columns), moments.values(), strict=False))
    return frozenset(name for name, is_moment in moments.items() if is_moment)


def _columns(catalog: Catalog, name: Name) -> dict[str, bool]:
    """Columns of a table or view, and whether they have a moment as their default."""
    state = catalog.find(name)
    if state is not None:
        return {
            column.name.lower(): facts_of(column.type).is_moment and column.has_default and column.default is not None
            for column in state.table.columns
        }
    return dict.fromkeys(catalog.view_moments.get(name, ()), True)


def _item(catalog: Catalog, item: SelectItem, tables: dict[str, Name]) -> dict[str, bool]:
    if item.column is None:
        return {item.name: item.reads_zone}
    chosen = [_columns(catalog, name) for alias, name in tables.items() if item.table in (None, alias)]
    if item.column == "*":
        return {name: is_moment for columns in chosen for name, is_moment in columns.items()}
    return {item.name: any(columns.get(item.column, False) for columns in chosen)}
