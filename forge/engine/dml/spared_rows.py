"""Rows of an INSERT that servers store with a warning though a session in strict mode has them refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from forge.engine.dictionary.table_state import TableState
from forge.engine.rows.context import DmlContext
from forge.engine.rows.defaults import NoDefault
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.tables import is_transactional


@contextmanager
def spared(state: TableState, context: DmlContext, *, number: int, rows: int, updates: bool) -> Iterator[None]:
    """Refusals of the row ``number`` of ``rows`` are UnsupportedErrors where servers may take the row.

    STRICT_TRANS_TABLES alone spares the rows behind the first in tables without transactions; MariaDB misses no
    default with ON DUPLICATE KEY UPDATE (``updates``) in several rows, nor of a column that it sets, nor beside
    ON UPDATE CURRENT_TIMESTAMP, nor without strict mode.
    """
    try:
        yield
    except UnsupportedError:
        raise
    except ScenarioError as error:
        omits = isinstance(error, NoDefault)
        spares = context.spares_rows and not is_transactional(state.table) and rows > 1 and (number > 0 or omits)
        forgets = omits and context.references.line.rows.forgets_missing_defaults
        forgets = forgets and (updates or context.clips or any(column.column.on_update_now for column in state.columns))
        if spares or forgets:
            problem = f"{error.problem}: taken with a warning, which is not supported yet"
            raise UnsupportedError(problem, expected=error.expected) from None
        raise
