"""In which order a server finds rows: by ORDER BY of a text, by the key that ``found_by`` names, or by a scan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise
from typing import Any

from forge.charsets import is_exact, order_key
from forge.engine.dictionary.columns import ColumnDefinition, sort_value
from forge.engine.dictionary.table_state import TableState
from forge.errors import ScenarioError, UnsupportedError, nearest
from forge.plan.tables import Key
from forge.servers import server_line
from forge.sql.ast.expressions import ColumnName
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError
from forge.sql.parse.select import order_terms
from forge.sql.words import outside, readable_tokens
from forge.values.base import Value

#: Rows of a table that is small to an optimizer.
_SMALL = 10
#: The way of a statement that reads no key.
SCAN = "scan"


def in_order_of_query(
    state: TableState,
    chosen: Sequence[int],
    query: str,
    compared: Collection[int],
    written: Collection[int] = (),
    found_by: str | None = None,
    ranges: Collection[int] = (),
) -> list[int]:
    """The rows ``chosen`` as the server finds them; WHERE has ``compared`` columns, and SET has ``written`` some.

    ``ranges`` are the columns that a key can be searched for.  Columns of ORDER BY decide, and expressions in it leave
    the rows as they are.  Without it ``found_by`` decides, the name of a key or ``scan``.  Raises ScenarioError for an
    unknown key, UnsupportedError where costs decide.
    """
    rows = list(chosen)
    key = None if found_by is None else _key(state, found_by)
    terms = _order_by(query)
    if terms is None and found_by is None:
        return as_searched(state, as_read(state, rows, compared, written), compared, ranges)
    if terms is None:
        return scanned(state, rows) if key is None else by_key(state, key, rows)
    for name, descending in reversed(terms):
        index = state.definition.find(name)
        if index is None:
            return list(chosen)
        rows.sort(key=rank(state, index), reverse=descending)
    return rows


def _key(state: TableState, found_by: str) -> Key | None:
    key = next((key for key in state.table.keys if key.name.lower() == found_by.lower()), None)
    if key is None and found_by != SCAN:
        names = [*(key.name for key in state.table.keys), SCAN]
        raise ScenarioError(
            f"table {state.name} has no key {found_by!r}",
            expected=f"one of {', '.join(names)}",
            suggestion=nearest(found_by, names),
        )
    return key


def _clustering(state: TableState) -> Key | None:
    """The key in whose order the engine keeps the rows."""
    return state.clustering if state.table.engine == "InnoDB" else None


def as_read(
    state: TableState, chosen: Iterable[int], compared: Collection[int], written: Collection[int] = ()
) -> list[int]:
    """The rows as a server reads them: by the key that orders them where its first column is compared or a column of
    it is written, else by a scan.
    """
    clustering = _clustering(state)
    columns = [part.column for part in clustering.parts] if clustering is not None else []
    if clustering is not None and (columns[0] in compared or not set(columns).isdisjoint(written)):
        return by_key(state, clustering, chosen)
    return scanned(state, chosen)


def as_searched(state: TableState, rows: list[int], compared: Collection[int], ranges: Collection[int]) -> list[int]:
    """The rows by the key that a condition is searched in; ``rows`` are in the order without one.

    Servers read such a key where it finds few of the rows, and the newest ones in small tables always (recorded on 9.7,
    10.11 and 11.8).  Raises UnsupportedError where costs may decide otherwise.
    """
    clustering = _clustering(state)
    if clustering is None or state.table.partition is not None or clustering.parts[0].column in compared:
        return rows
    keys = [key for key in state.table.keys if key is not clustering and key.parts[0].column in ranges]
    found = [by_key(state, key, rows) for key in keys]
    if len(rows) < 2 or all(order == rows for order in found):
        return rows
    total, is_small = len(state.rows), len(state.rows) <= _SMALL
    prefers = server_line(state.definition.server).rows.joins_by_unique_keys
    reads_key = (is_small and (prefers or 2 * len(rows) <= total)) or 10 * len(rows) <= total
    if not reads_key and (2 * len(rows) >= total or is_small):
        return rows
    if not reads_key or any(order != found[0] for order in found):
        names = ", ".join(key.name for key in keys)
        problem = f"whether {state.name} is read by {names} or by a scan, which change the rows in another order,"
        raise UnsupportedError(f"{problem} is not certain", expected="ORDER BY, or `found_by`")
    return found[0]


def scanned(state: TableState, chosen: Iterable[int]) -> list[int]:
    """The rows as a scan of the table finds them: partition after partition."""
    clustering = _clustering(state)
    if clustering is None and state.is_shuffled:
        problem = (
            f"{state.table.engine} puts new rows of {state.name} in the place of deleted ones: their order is unknown"
        )
        raise UnsupportedError(problem, expected="a primary key")
    if clustering is None:
        return state.stored(chosen)
    rows, partition = by_key(state, clustering, chosen), state.table.partition
    return rows if partition is None else sorted(rows, key=lambda number: partition(state.rows[number]))


def in_partitions(state: TableState, chosen: Iterable[int], names: Sequence[str]) -> list[int]:
    """The rows that lie in partitions or subpartitions of these names.  Raises ScenarioError for unknown ones."""
    clause, partition = state.definition.partitions, state.table.partition
    if clause is None or partition is None:
        raise ScenarioError(f"table {state.name} has no partitions (error 1747)", expected="no PARTITION (...)")
    inner = 1 if clause.inner is None else clause.inner.count or 1
    known: dict[str, set[int]] = {}
    for place in range(len(clause.parts) or clause.count or 1):
        name = clause.parts[place].name.lower() if clause.parts else f"p{place}"
        known[name] = set(range(place * inner, place * inner + inner))
        if clause.inner is not None:
            known |= {f"{name}sp{sub}": {place * inner + sub} for sub in range(inner)}
    for name in names:
        if name.lower() not in known:
            raise ScenarioError(f"table {state.name} has no partition {name!r}", expected=", ".join(known))
    wanted = set().union(*(known[name.lower()] for name in names))
    return [number for number in chosen if partition(state.rows[number]) in wanted]


def by_key(state: TableState, key: Key, chosen: Iterable[int]) -> list[int]:
    """The rows in the order of a key, all partitions together; text has the order of its collation."""
    clustering = _clustering(state)
    if clustering is None:
        rows = state.stored(chosen)
    else:
        rows = list(chosen) if key is clustering else by_key(state, clustering, chosen)
    for part, falls in reversed(list(zip(key.parts, state.descending(key), strict=True))):
        if part.column < len(state.columns):
            rows.sort(key=rank(state, part.column), reverse=falls)
    return rows


def rank(state: TableState, index: int) -> Callable[[int], tuple[bool, Any]]:
    """What rows are sorted by in the order of a column; NULL comes first."""
    column = state.columns[index]

    def place(number: int) -> tuple[bool, Any]:
        value = state.rows[number][index]
        return value is not None, None if value is None else _place(column, value)

    return place


def _place(column: ColumnDefinition, value: Value) -> Any:
    """What the values of a column are ordered by; where a collation is not known, texts have the order of bytes."""
    collation = column.wire.collation
    if not isinstance(value, str) or collation is None or is_exact(collation) or not column.type_facts.has_charset:
        return 0, sort_value(column, value)
    place = order_key(collation, value)
    return (1, sort_value(column, value)) if place is None else (0, place)


def _order_by(query: str) -> list[tuple[str, bool]] | None:
    """The columns of ORDER BY, and whether each is DESC; None without it, and one without a name for expressions."""
    starts = [
        token.start
        for token, behind in pairwise(outside(readable_tokens(query)))
        if token.is_word("ORDER") and behind.is_word("BY")
    ]
    if not starts:
        return None
    try:
        terms = order_terms(Cursor(query[starts[-1] :]))
    except SqlError:
        return [("", False)]
    return [(term.name if isinstance(term, ColumnName) else "", descending) for term, descending in terms]
