"""What is known of the engines of tables."""

from __future__ import annotations

from forge.plan.tables import Table


def is_transactional(table: Table) -> bool:
    """Whether changes wait for the transaction's end: a rollback reaches them, or nothing is kept (recorded)."""
    return table.engine in ("InnoDB", "BLACKHOLE")


def is_defined_atomically(table: Table) -> bool:
    """Whether the engine makes, changes and drops the table in a transaction."""
    return table.engine == "InnoDB"
