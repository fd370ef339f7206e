"""In which order a server changes the rows of an UPDATE or DELETE whose text the scenario gives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import Any

from forge.charsets import is_exact, order_key
from forge.engine.dictionary.cell_values import sort_value
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.table_state import TableState
from forge.errors import UnsupportedError
from forge.plan.tables import Row
from forge.sql.reads.words import outside, readable_tokens
from forge.values.base import Value

#: What may stand behind the terms of ORDER BY in an UPDATE or DELETE.
_ENDS = ("LIMIT", "RETURNING")


def in_order_of_query(state: TableState, chosen: Sequence[int], query: str, compared: Collection[int]) -> list[int]:
    """The rows ``chosen``, which are in the order of the key that names rows, as the server finds them.

    Columns of ORDER BY decide.  Without it the server reads by the key, where text has the order of its collation;
    partition after partition, unless WHERE compares the column that the key begins with (``compared``): then it reads a
    range of all partitions (recorded).  The order by expressions stays as it was.

    Raises UnsupportedError for several rows whose texts have an order that is not known.
    """
    if len(chosen) < 2:
        return list(chosen)
    terms = _order_by(query)
    if terms is None:
        return _as_read(state, chosen, compared)
    rows = list(chosen)
    for name, descending in reversed(terms):
        index = state.definition.find(name)
        if index is None:
            return list(chosen)
        rows.sort(key=_rank(state, [index]), reverse=descending)
    return rows


def _as_read(state: TableState, chosen: Sequence[int], compared: Collection[int]) -> list[int]:
    rows, partition, key = list(chosen), state.table.partition, state.clustering
    if key is not None:
        rows.sort(key=_rank(state, [part.column for part in key.parts]))
    is_range = key is not None and key.parts[0].column in compared
    return rows if partition is None or is_range else sorted(rows, key=lambda number: partition(state.rows[number]))


def _rank(state: TableState, indexes: Sequence[int]) -> Callable[[int], list[Any]]:
    def rank(number: int) -> list[Any]:
        row: Row = state.rows[number]
        return [(row[index] is not None, _place(state, state.columns[index], row[index])) for index in indexes]

    return rank


def _place(state: TableState, column: ColumnDefinition, value: Value | None) -> Any:
    collation = column.wire.collation
    if not isinstance(value, str) or collation is None or is_exact(collation) or not column.type_facts.has_charset:
        return value if value is None else sort_value(column, value)
    place = order_key(collation, value)
    if place is None:
        raise UnsupportedError(
            f"{state.name}.{column.name}: the order of {value!r} among the rows of a `query:` is not known",
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
