"""Aggregates: COUNT, SUM, AVG, MIN, MAX, GROUP_CONCAT and the like over the rows of a group."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from decimal import Decimal
from functools import reduce

from msgspec import Struct

from forge.charsets import compare_key
from forge.engine.rows.scope import Scope, ScopeCells
from forge.errors import UnsupportedError
from forge.sql.ast.expressions import Call, Literal, Node, Unread
from forge.sql.cursor import Cursor
from forge.sql.expressions import Document, Operand, Unsigned
from forge.sql.expressions.comparisons import sort_key
from forge.sql.expressions.documents import element
from forge.sql.expressions.evaluation import DIVISION_DIGITS, evaluate, number_of, text_of
from forge.sql.parse.expressions import expression
from forge.values.json.binary import Json
from forge.values.literals import EXACT, rounded

AGGREGATES = (
    "COUNT", "SUM", "AVG", "MIN", "MAX", "GROUP_CONCAT", "BIT_AND", "BIT_OR", "BIT_XOR", "JSON_ARRAYAGG",
    "JSON_OBJECTAGG", "ANY_VALUE",
)  # fmt: skip
#: group_concat_max_len of servers' defaults; MariaDB's is larger.
_LONGEST = 1024


class Aggregate(Struct, frozen=True):
    """An aggregate of a query; no arguments stand for ``*``."""

    name: str
    arguments: tuple[Node, ...]
    distinct: bool = False
    order: tuple[tuple[Node, bool], ...] = ()
    separator: str = ","

    def of(self, rows: Sequence[ScopeCells]) -> Operand:
        """Its value for the rows of a group.  Raises UnsupportedError for what is not computed here."""
        if not self.arguments:
            return len(rows)
        values = [(cells, tuple(evaluate(node, cells) for node in self.arguments)) for cells in rows]
        if self.name == "JSON_ARRAYAGG":
            elements: list[Json] = [element(self.arguments[0], cells) for cells in rows]
            return Document(elements) if rows else None
        if self.name == "JSON_OBJECTAGG":
            members = {text_of(found[0]): element(self.arguments[1], cells) for cells, found in values}
            return Document(members) if rows else None
        values = [(cells, found) for cells, found in values if None not in found]
        if self.name == "ANY_VALUE":
            return evaluate(self.arguments[0], rows[0]) if rows else None
        if self.distinct:
            kept: dict[object, tuple[ScopeCells, tuple[Operand, ...]]] = {}
            for cells, found in values:
                key = tuple(group_key(cells, value, node) for value, node in zip(found, self.arguments, strict=True))
                kept.setdefault(key, (cells, found))
            values = list(kept.values())
        if self.name == "COUNT":
            return len(values)
        if self.name == "GROUP_CONCAT":
            return self._concatenated(values)
        return self._reduced([(cells, found[0]) for cells, found in values])

    def _reduced(self, values: list[tuple[ScopeCells, Operand]]) -> Operand:
        if self.name.startswith("BIT_"):
            result = (1 << 64) - 1 if self.name == "BIT_AND" else 0
            for _, value in values:
                bits = int(number_of(value)) % (1 << 64)
                result = {"BIT_AND": result & bits, "BIT_OR": result | bits, "BIT_XOR": result ^ bits}[self.name]
            return Unsigned(result)
        if not values:
            return None
        if self.name in ("MIN", "MAX"):
            choose = min if self.name == "MIN" else max
            return choose(values, key=lambda pair: sort_key(pair[0], pair[1], self.arguments[0]))[1]
        numbers = [number_of(value) for _, value in values]
        if any(isinstance(number, float) for number in numbers):
            total = sum(map(float, numbers))
            return total if self.name == "SUM" else total / len(numbers)
        exact = reduce(EXACT.add, map(Decimal, numbers), Decimal(0))
        if self.name == "SUM":
            return exact
        scale = max(max(-int(Decimal(number).as_tuple().exponent), 0) for number in numbers)
        return rounded(EXACT.divide(exact, Decimal(len(numbers))), scale + DIVISION_DIGITS)

    def _concatenated(self, values: list[tuple[ScopeCells, tuple[Operand, ...]]]) -> Operand:
        for node, falls in reversed(self.order):
            values = sorted(values, key=lambda pair: sort_key(pair[0], evaluate(node, pair[0]), node), reverse=falls)
        text = self.separator.join("".join(map(text_of, found)) for _, found in values)
        if len(text.encode()) > _LONGEST:
            raise UnsupportedError(f"GROUP_CONCAT of more than {_LONGEST} bytes is not supported yet")
        return text if values else None


def group_key(cells: ScopeCells, value: Operand, node: Node) -> Hashable:
    """What equal values of a group have in common; the order of text need not be known."""
    if type(value) is str:
        return True, compare_key(cells.scope.collation(node), value)
    return sort_key(cells, value, node)


def aggregate_of(call: Call, scope: Scope) -> Aggregate:
    """An aggregate with what its parentheses say.  Raises SqlError, UnsupportedError."""
    first = call.arguments[0] if call.arguments else None
    if isinstance(first, Unread) and first.sql == "*":
        return Aggregate(call.name, ())
    if isinstance(first, Unread) and first.sql.startswith("("):
        words = first.sql[1:-1].lstrip()
        if words[:8].upper() == "DISTINCT":
            return _read(call.name, words[8:], scope, distinct=True)
        if words[:3].upper() == "ALL":
            return _read(call.name, words[3:], scope, distinct=False)
    plain = [part for part in call.arguments if not isinstance(part, Unread) or part.sql.startswith("(")]
    rest = " ".join(part.sql for part in call.arguments if isinstance(part, Unread) and part not in plain)
    made = _read(call.name, rest, scope, distinct=False, first=tuple(plain))
    if call.name != "GROUP_CONCAT" and (rest or len(plain) != 1 + (call.name == "JSON_OBJECTAGG")):
        raise UnsupportedError(f"this form of {call.name} is not supported yet")
    return made


def _read(name: str, sql: str, scope: Scope, *, distinct: bool, first: tuple[Node, ...] = ()) -> Aggregate:
    cursor = Cursor(sql, scope.context.references.line.grammar)
    arguments = list(first)
    while not first and not cursor.at_end() and not cursor.token.is_word("ORDER", "SEPARATOR"):
        arguments.append(expression(cursor))
        cursor.accept_mark(",")
    order: list[tuple[Node, bool]] = []
    if cursor.accept("ORDER", "BY"):
        while not order or cursor.accept_mark(","):
            order.append((scope.bound(expression(cursor)), cursor.accept_any("ASC", "DESC") == "DESC"))
    separator = cursor.string("a separator") if cursor.accept("SEPARATOR") else ","
    if not cursor.at_end():
        raise UnsupportedError(f"this form of {name} is not supported yet")
    if any(isinstance(term, Literal) for term, _ in order):
        raise UnsupportedError("ORDER BY of a number in GROUP_CONCAT is not supported yet")
    return Aggregate(name, tuple(scope.bound(node) for node in arguments), distinct, tuple(order), separator)
