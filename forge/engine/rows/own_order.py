"""In which order a server finds rows: of an UPDATE or DELETE whose text the scenario gives, and of a SELECT.

Recorded on MySQL 9.7, MariaDB 10.11 and 11.8 (docs/servers/row-format.md#partitions).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from forge.charsets import is_exact, order_key
from forge.engine.dictionary.cell_values import sort_value
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.table_state import TableState
from forge.engine.rows.where import Condition
from forge.errors import ScenarioError, UnsupportedError, nearest
from forge.plan.tables import Key, Row
from forge.servers import server_line
from forge.sql.words import outside, readable_tokens
from forge.values.base import Value

#: What may stand behind the terms of ORDER BY in an UPDATE or DELETE.
_ENDS = ("LIMIT", "RETURNING")
#: The way of a statement that reads no key.
SCAN = "scan"


def in_order_of_query(
    state: TableState,
    chosen: Sequence[int],
    query: str,
    conditions: Sequence[Condition],
    written: Collection[int] = (),
    found_by: str | None = None,
) -> list[int]:
    """The rows ``chosen``, which are in the order of the key that names rows, as the server finds them.

    Columns of ORDER BY decide; the order by expressions stays as it was.  Without it ``found_by`` decides, the name of
    a key or ``scan``, and without that the columns that WHERE compares and those that are ``written``.

    Raises UnsupportedError for several rows whose order is not known: the server may choose between keys, or texts have
    an order that is not known.  Raises ScenarioError for an unknown key.
    """
    named = None if found_by is None else _key(state, found_by)
    if len(chosen) < 2:
        return list(chosen)
    terms = _order_by(query)
    if terms is None:
        if found_by is not None:
            return scanned(state, chosen) if named is None else by_key(state, named, chosen)
        ways = {way: tuple(rows) for way, rows in _ways(state, chosen, conditions, written)}
        return list(agreed(state, ways, "ORDER BY in the `query:`, or `found_by:`"))
    rows = list(chosen)
    for name, descending in reversed(terms):
        index = state.definition.find(name)
        if index is None:
            return list(chosen)
        rows.sort(key=_rank(state, [index], rows), reverse=descending)
    return rows


def agreed(state: TableState, ways: dict[str, tuple[int, ...]], expected: str) -> tuple[int, ...]:
    """The order of all ways by which a server may read.  Raises UnsupportedError if they differ."""
    orders = list(dict.fromkeys(ways.values()))
    if len(orders) > 1:
        raise UnsupportedError(
            f"a server finds these rows of {state.name} in one of several orders, as it chooses what to read by:"
            f" {', '.join(ways)}",
            expected=expected,
        )
    return orders[0]


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


def _ways(
    state: TableState, chosen: Sequence[int], conditions: Sequence[Condition], written: Collection[int]
) -> Iterator[tuple[str, list[int]]]:
    """What a server may read these rows by, and their order then."""
    clustering = _clustering(state)
    ranges = "no" if clustering is None else key_ranges(state, clustering.parts[0].column, conditions)
    keyed = clustering is not None and any(part.column in written for part in clustering.parts)
    keyed |= clustering is not None and bool(written) and server_line(state.definition.server).rows.updates_by_key
    if clustering is not None and (ranges != "no" or keyed):
        yield clustering.name, by_key(state, clustering, chosen)
    if ranges != "yes" and not keyed:
        yield SCAN, scanned(state, chosen)
    compared = {condition.index for condition in conditions}
    for key in state.table.keys:
        if key is not clustering and key.parts[0].column in compared and state.table.engine != "MEMORY":
            yield key.name, by_key(state, key, chosen)


def _clustering(state: TableState) -> Key | None:
    """The key in whose order the engine keeps the rows."""
    return state.clustering if state.table.engine == "InnoDB" else None


def key_ranges(state: TableState, column: int, conditions: Sequence[Condition]) -> str:
    """Whether conditions on the first column of the key that orders the rows make a server read ranges of it: "yes",
    "no", or "maybe".
    """
    rows = server_line(state.definition.server).rows
    words = {condition.word for condition in conditions if condition.index == column}
    found = {"in": rows.lists_are_ranges, "ne": rows.unequal_is_range}
    answers = {found.get(word, "yes") for word in words}
    return next((answer for answer in ("yes", "maybe") if answer in answers), "no")


def scanned(state: TableState, chosen: Iterable[int]) -> list[int]:
    """The rows as a scan of the table finds them: partition after partition."""
    key, rows = _clustering(state), list(chosen)
    if key is not None:
        return by_partition(state, by_key(state, key, rows))
    return state.stored(rows)


def by_partition(state: TableState, rows: Iterable[int]) -> list[int]:
    """The rows partition after partition, in their order within each."""
    partition = state.table.partition
    return list(rows) if partition is None else sorted(rows, key=lambda number: partition(state.rows[number]))


def by_key(state: TableState, key: Key, chosen: Iterable[int]) -> list[int]:
    """The rows in the order of a key, all partitions together; text has the order of its collation."""
    rows = list(chosen)
    clustering = _clustering(state)
    falling = state.descending(key)
    parts = [(part.column, falls) for part, falls in zip(key.parts, falling, strict=True)]
    if clustering is not None and key is not clustering:
        rows = by_key(state, clustering, rows)
    elif clustering is None:
        entries = {tuple(state.rows[number][column] for column, _ in parts) for number in rows}
        if len(entries) < len(rows) and state.table.partition is not None:
            raise UnsupportedError(
                f"rows of {state.name} have one entry of key {key.name} in several partitions: their order is unknown",
                expected="ORDER BY, or statements on one row",
            )
        rows = state.stored(rows)
    for column, falls in reversed(parts):
        if column < len(state.columns):
            rows.sort(key=_rank(state, [column], rows), reverse=falls)
    return rows


def _rank(state: TableState, indexes: Sequence[int], rows: Sequence[int]) -> Callable[[int], list[Any]]:
    # Where all rows have the same value, its order is not asked for.
    asked = [index for index in indexes if len({state.rows[number][index] for number in rows}) > 1]

    def rank(number: int) -> list[Any]:
        row: Row = state.rows[number]
        return [(row[index] is not None, _place(state, state.columns[index], row[index])) for index in asked]

    return rank


def _place(state: TableState, column: ColumnDefinition, value: Value | None) -> Any:
    collation = column.wire.collation
    if not isinstance(value, str) or collation is None or is_exact(collation) or not column.type_facts.has_charset:
        return value if value is None else sort_value(column, value)
    place = order_key(collation, value)
    if place is None:
        raise UnsupportedError(
            f"{state.name}.{column.name}: the order of {value!r} among the rows is not known",
            expected="printable ASCII in a usual collation, ORDER BY another column, or no `query:`",
        )
    return place


def _order_by(query: str) -> list[tuple[str, bool]] | None:
    """The columns of ORDER BY, and whether each is DESC; None without it, and one without a name for expressions."""
    tokens = list(outside(readable_tokens(query)))
    starts = [
        place + 2
        for place, (token, behind) in enumerate(pairwise(tokens))
        if token.is_word("ORDER") and behind.is_word("BY")
    ]
    if not starts:
        return None
    terms: list[tuple[str, bool]] = []
    words: list[str] = []
    for token in tokens[starts[-1] :]:
        if token.is_mark(",") or token.kind == "end" or token.is_mark(";") or token.is_word(*_ENDS):
            descending = len(words) == 2 and words[1].upper() == "DESC"
            named = len(words) == 1 or (len(words) == 2 and words[1].upper() in ("ASC", "DESC"))
            terms.append((words[0] if named else "", descending))
            words = []
            if not token.is_mark(","):
                break
        else:
            words.append(token.text)
    return terms
