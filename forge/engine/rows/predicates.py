"""WHERE as SQL text: which rows it chooses, as servers compare.

Text is equal where the column's collation says so, numbers are compared as numbers, moments with moments.  What would
need a conversion whose result is not certain is refused by name.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from forge.charsets import compare_key, is_exact, order_key
from forge.engine.dictionary.columns import ColumnDefinition, sort_value
from forge.engine.dictionary.literals import strict_value
from forge.engine.dictionary.table_state import TableState
from forge.engine.rows.context import DmlContext
from forge.engine.rows.scope import Scope, Source
from forge.engine.rows.selects import read_query
from forge.engine.rows.where import column_index
from forge.errors import UnsupportedError, about
from forge.plan.tables import Row
from forge.sql.ast.expressions import Call, ColumnName, Literal, Node, walk
from forge.sql.cursor import Cursor
from forge.sql.expressions.evaluation import evaluate, truth
from forge.sql.parse.expressions import expression
from forge.values.base import Value
from forge.values.literals import negated
from forge.values.text.column_charset import charset_of

Holds = Callable[[Row], bool | None]
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "<>": operator.ne,
    "<=>": operator.eq,
}  # fmt: skip
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Predicate(Struct, frozen=True):
    """One of the conditions that AND joins: ``index`` is its column (-1: it has several, or an expression).

    ``holds`` says of a row whether the condition is true; None is NULL.  ``columns`` are those that it reads.
    """

    holds: Holds
    columns: tuple[int, ...]
    index: int = -1
    has_literal: bool = False
    #: The column whose key servers can search for the condition.
    range_column: int = -1


def parse_predicates(sql: str, state: TableState, context: DmlContext, alias: str | None = None) -> list[Predicate]:
    """The conditions of a WHERE; ``alias`` is what the statement calls the table.

    Raises ScenarioError for what no server takes, UnsupportedError for what the module leaves out.
    """
    cursor = Cursor(sql, context.references.line.grammar)
    tree = expression(cursor)
    if not cursor.at_end():
        cursor.wrong("an operator, or the end of WHERE")
    scope = table_scope(state, alias, context)
    return [_predicate(part, state, scope) for part in _joined(tree)]


def table_scope(state: TableState, alias: str | None, context: DmlContext) -> Scope:
    """What the expressions of a statement on one table may name."""
    return Scope([Source.of(alias or state.table.name, state.columns, state.table.database)], context, read_query)


def equal_columns(sql: str) -> set[str]:
    """The columns, in lower case, that a WHERE compares with a literal for equality, joined by AND."""
    found: set[str] = set()
    for part in _joined(expression(Cursor(sql))):
        leaf = _compared_column(part) if isinstance(part, Call) else None
        if leaf is not None and leaf[1] == "=" and leaf[2] != [None]:
            found.add(leaf[0].lower())
    return found


def _joined(node: Node) -> list[Node]:
    if isinstance(node, Call) and node.name == "AND":
        return [part for side in node.arguments for part in _joined(side)]
    return [node]


def _predicate(node: Node, state: TableState, scope: Scope) -> Predicate:
    if isinstance(node, Call) and (leaf := _compared_column(node)) is not None:
        name, _, values = leaf
        index = column_index(state, name)
        holds = _leaf(node, state, scope)
        return Predicate(holds, (index,), index, any(value is not None for value in values), index)
    names = dict.fromkeys(part.name for part in walk(node) if isinstance(part, ColumnName))
    column = _range_column(node)
    return Predicate(
        _holds(node, state, scope),
        tuple(column_index(state, name) for name in names),
        range_column=-1 if column is None else column_index(state, column),
    )


def _range_column(node: Node) -> str | None:
    """The one column that a condition compares with literals, also by OR or by the beginning of a text."""
    if not isinstance(node, Call):
        return None
    if node.name == "OR":
        sides = [_range_column(side) for side in node.arguments]
        return sides[0] if sides[0] is not None and len({str(side).lower() for side in sides}) == 1 else None
    if node.name == "LIKE":
        left, right = node.arguments[:2]
        begins = isinstance(right, Literal) and isinstance(right.value, str) and right.value[:1] not in ("", "%", "_")
        return left.name if begins and isinstance(left, ColumnName) else None
    leaf = _compared_column(node)
    return None if leaf is None else leaf[0]


def _holds(node: Node, state: TableState, scope: Scope) -> Holds:
    """Conditions inside of OR, NOT and the like, and expressions."""
    if isinstance(node, Call) and node.name in ("AND", "OR", "XOR"):
        left, right = (_holds(side, state, scope) for side in node.arguments)
        return _JOINED[node.name](left, right)
    if isinstance(node, Call) and node.name == "NOT":
        inner = _holds(node.arguments[0], state, scope)
        return lambda row: None if (held := inner(row)) is None else not held
    if isinstance(node, Call) and _compared_column(node) is not None:
        return _leaf(node, state, scope)
    return _computed(node, scope)


def _leaf(node: Call, state: TableState, scope: Scope) -> Holds:
    """A column beside literals; where they are of another kind, as expressions compare."""
    leaf = _compared_column(node)
    assert leaf is not None
    name, word, values = leaf
    index = column_index(state, name)
    column = state.columns[index].under(scope.context.catalog.dialect)
    try:
        return _comparison(column, index, word, values)
    except UnsupportedError:
        if word == "IS NULL" or column.type_facts.has_date:
            raise
        return _computed(node, scope)


def _and(left: Holds, right: Holds) -> Holds:
    def holds(row: Row) -> bool | None:
        sides = left(row), right(row)
        return False if False in sides else None if None in sides else True

    return holds


def _or(left: Holds, right: Holds) -> Holds:
    def holds(row: Row) -> bool | None:
        sides = left(row), right(row)
        return True if True in sides else None if None in sides else False

    return holds


def _xor(left: Holds, right: Holds) -> Holds:
    def holds(row: Row) -> bool | None:
        sides = left(row), right(row)
        return None if None in sides else sides[0] is not sides[1]

    return holds


_JOINED: dict[str, Callable[[Holds, Holds], Holds]] = {"AND": _and, "OR": _or, "XOR": _xor}


def _compared_column(call: Call) -> tuple[str, str, list[Any]] | None:
    """(column, operator, literals) of a comparison of a column with literals; None of other expressions."""
    if call.name in ("IS NULL",) and isinstance(call.arguments[0], ColumnName):
        return call.arguments[0].name, call.name, [None]
    sides = list(call.arguments)
    word = call.name
    if word in _COMPARISONS and isinstance(sides[1], ColumnName):
        sides.reverse()
        word = _TURNED.get(word, word)
    if word not in (*_COMPARISONS, "IN", "BETWEEN") or not isinstance(sides[0], ColumnName):
        return None
    literals = [_constant(side) for side in sides[1:]]
    if not all(known for known, _ in literals):
        return None
    return sides[0].name, word, [value for _, value in literals]


def _constant(node: Node) -> tuple[bool, Any]:
    if isinstance(node, Call) and node.name == "NEG" and isinstance(node.arguments[0], Literal):
        number = node.arguments[0].value
        return isinstance(number, int | Decimal), negated(number) if isinstance(number, int | Decimal) else None
    if not isinstance(node, Literal):
        return False, None
    return True, int(node.value) if isinstance(node.value, bool) else node.value


def _comparison(column: ColumnDefinition, index: int, word: str, literals: Sequence[Any]) -> Holds:
    if word == "IS NULL":
        if column.type.name in ("DATE", "DATETIME") and not column.column.nullable:
            raise UnsupportedError(f"IS NULL of {column.name!r}, which finds zero dates, is not supported in text")
        return lambda row: row[index] is None
    with about(f"column {column.name!r}"):
        key, bounds = _operands(column, literals, ordered=word not in ("=", "<>", "<=>", "IN"))
    if word == "BETWEEN":
        low, high = bounds

        def between(row: Row) -> bool | None:
            cell = row[index]
            if cell is None or low is None or high is None:
                return None
            return bool(low <= key(cell) <= high)

        return between
    if word == "IN":

        def within(row: Row) -> bool | None:
            cell = row[index]
            if cell is None:
                return None
            return True if key(cell) in bounds else None if None in bounds else False

        return within
    compare, bound = _COMPARISONS[word], bounds[0]
    if word == "<=>":
        return lambda row: row[index] is bound is None or (row[index] is not None and key(row[index]) == bound)
    if bound is None:
        return lambda row: None
    return lambda row: None if row[index] is None else bool(compare(key(row[index]), bound))


def _operands(
    column: ColumnDefinition, literals: Sequence[Any], *, ordered: bool
) -> tuple[Callable[[Value], Any], list[Any]]:
    """What cells and literals are compared by.  Raises UnsupportedError where a conversion is not certain."""
    facts = column.type_facts
    if not facts.comparable or facts.is_json:
        raise UnsupportedError(f"comparisons of {column.type.name} are not supported")
    if facts.kind == "approximate":
        # Compared as DOUBLE: a FLOAT has the nearest number of 32 bits.
        single = column.type.name == "FLOAT"
        return (lambda value: _single(value) if single else float(value)), [
            None if value is None else float(_number(value)) for value in literals
        ]
    if facts.is_number and facts.kind != "year":
        return _number_of, [None if value is None else _number(value) for value in literals]
    if facts.has_charset and not facts.has_members:
        return _text_operands(column, literals, ordered=ordered)
    if facts.is_bytes:
        return bytes, [None if value is None else _bytes(value) for value in literals]
    if ordered and (facts.has_members or facts.kind == "year"):
        raise UnsupportedError(f"the order of {column.type.name} is not supported in text")
    stored = [None if v is None else strict_value(column.wire, column.codec, _moment(column, v)) for v in literals]
    return (lambda value: sort_value(column, value)), [
        None if one is None else sort_value(column, one) for one in stored
    ]


def _number_of(value: Value) -> Any:
    return value if isinstance(value, int | Decimal | float) else Decimal(str(value))


def _single(value: Any) -> float:
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def _number(value: Any) -> int | Decimal:
    if isinstance(value, bytes):
        return int.from_bytes(value, "big")
    if isinstance(value, str):
        digits = value.strip()
        if not digits.lstrip("+-").replace(".", "", 1).isdecimal() or not digits.isascii():
            raise UnsupportedError(f"the comparison of a number with {value!r} is not supported")
        return Decimal(digits)
    return value  # type: ignore[no-any-return]


def _text_operands(
    column: ColumnDefinition, literals: Sequence[Any], *, ordered: bool
) -> tuple[Callable[[Value], Any], list[Any]]:
    collation = column.wire.collation
    if any(isinstance(value, int | Decimal) for value in literals) or collation is None:
        raise UnsupportedError("the comparison of a text with a number is not supported")
    charset = charset_of(column.wire)
    texts = [value.decode() if isinstance(value, bytes) else value for value in literals]

    def key(value: Any) -> Any:
        text = value if isinstance(value, str) or charset is None else charset.decode(value)
        if not ordered:
            return compare_key(collation, text)
        place = (0, text.encode()) if is_exact(collation) else order_key(collation, text)
        if place is None:
            raise UnsupportedError(f"the order of {text!r} in the column's collation is not known")
        return place

    return key, [None if text is None else key(text) for text in texts]


def _bytes(value: Any) -> bytes:
    if isinstance(value, int | Decimal):
        raise UnsupportedError("the comparison of bytes with a number is not supported")
    return value.encode() if isinstance(value, str) else bytes(value)


def _moment(column: ColumnDefinition, value: Any) -> Any:
    """The literal for a moment; a DATE is compared with a day, not with a time of the day."""
    kind = column.type_facts.kind
    if kind in ("date", "time", "moment") and not isinstance(value, str):
        raise UnsupportedError(f"the comparison of {column.type.name} with a number is not supported")
    if column.type.name == "DATE" and len(value.strip()) > len("2024-02-29"):
        raise UnsupportedError(f"the comparison of a DATE with {value!r} is not supported")
    return value


def _computed(node: Node, scope: Scope) -> Holds:
    """An expression of the row's columns."""
    bound = scope.bound(node)
    return lambda row: truth(evaluate(bound, scope.cells([row])))
