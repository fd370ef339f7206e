"""Which tables of the catalog the text of a statement names."""

from __future__ import annotations

from forge.engine.dictionary.catalog import Catalog
from forge.plan.tables import Table
from forge.sql.reads.tables import named_tables
from forge.sql.words import readable_tokens


def tables_named_in(sql: str, catalog: Catalog, current_database: str) -> list[Table]:
    """The tables that the text names; of a text that cannot be taken apart none."""
    names = sorted(set(named_tables(readable_tokens(sql))))
    states = (catalog.tables.get((database or current_database, name)) for database, name in names)
    return [state.table for state in states if state is not None]
