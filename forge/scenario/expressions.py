"""Expressions of generated columns and of DEFAULT (...): arithmetic, CONCAT, COALESCE, and JSON constructors.

sqlglot reads them.  What they may do here is what can be computed exactly as servers compute it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from forge.errors import ScenarioError, UnsupportedError
from forge.values.literals import EXACT

#: Values that take part: exact numbers, text, JSON containers, NULL.
Operand = Any


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression; ``tree`` is sqlglot's."""

    sql: str
    tree: Any

    def columns(self) -> tuple[str, ...]:
        """Names of the columns that it uses."""
        from sqlglot import exp

        return tuple(dict.fromkeys(column.name for column in self.tree.find_all(exp.Column)))

    def renamed(self, old: str, new: str) -> Expression:
        """The expression after RENAME COLUMN."""
        from sqlglot import exp

        tree = self.tree.copy()
        for column in tree.find_all(exp.Column):
            if column.name.lower() == old.lower():
                column.set("this", exp.to_identifier(new))
        return Expression(self.sql, tree)

    def evaluate(self, row: Mapping[str, Operand]) -> Operand:
        """Its value, for the cells of the columns that it uses, by lower-case name.  Raises ScenarioError."""
        return _evaluate(self.tree, row)


def parse_expression(sql: str) -> Expression:
    """Raises ScenarioError for what is no expression, UnsupportedError for functions that are not computed here."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        tree = sqlglot.parse_one(sql, read="mysql")
    except (SqlglotError, RecursionError):
        raise ScenarioError(f"{sql!r} is not an expression") from None
    for node in tree.walk():
        if _kind(node) not in _NODES:
            raise UnsupportedError(f"{_kind(node).upper()} in expressions is not supported yet")
    return Expression(sql, tree)


def _kind(node: Any) -> str:
    """The class of a node; of a function that sqlglot does not know, its name."""
    kind = type(node).__name__
    return str(node.name).upper() if kind == "Anonymous" else kind


def _evaluate(node: Any, row: Mapping[str, Operand]) -> Operand:
    return _NODES[_kind(node)](node, row)


def _literal(node: Any, row: Mapping[str, Operand]) -> Operand:
    if node.is_string:
        return node.this
    return int(node.this) if node.this.isdigit() else Decimal(node.this)


def _column(node: Any, row: Mapping[str, Operand]) -> Operand:
    return row[node.name.lower()]


def _number(value: Operand) -> int | Decimal:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (int, Decimal)):
        return value
    raise ScenarioError(f"the expression computes with {value!r}", expected="integers and DECIMALs")


def _arithmetic(compute: Callable[[Decimal, Decimal], Decimal]) -> Callable[[Any, Mapping[str, Operand]], Operand]:
    def evaluate(node: Any, row: Mapping[str, Operand]) -> Operand:
        left, right = _evaluate(node.this, row), _evaluate(node.expression, row)
        if left is None or right is None:
            return None
        one, other = _number(left), _number(right)
        exact = compute(Decimal(one), Decimal(other))
        if isinstance(one, int) and isinstance(other, int):
            whole = int(exact)
            if not -(1 << 63) <= whole < 1 << 64:
                raise ScenarioError(f"the expression gives {whole}", expected="a BIGINT")
            return whole
        return exact

    return evaluate


def _negative(node: Any, row: Mapping[str, Operand]) -> Operand:
    value = _evaluate(node.this, row)
    return None if value is None else -_number(value)


def _text(value: Operand) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (int, str)):
        return str(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    raise ScenarioError(f"the expression makes text of {value!r}", expected="text, integers or DECIMALs")


def _concat(node: Any, row: Mapping[str, Operand]) -> Operand:
    parts = [_evaluate(part, row) for part in node.expressions]
    return None if any(part is None for part in parts) else "".join(map(_text, parts))


def _coalesce(node: Any, row: Mapping[str, Operand]) -> Operand:
    values = (_evaluate(part, row) for part in (node.this, *node.expressions))
    return next((value for value in values if value is not None), None)


def _json_array(node: Any, row: Mapping[str, Operand]) -> Operand:
    return [_evaluate(part, row) for part in node.expressions]


def _json_object(node: Any, row: Mapping[str, Operand]) -> Operand:
    return {_text(_evaluate(pair.this, row)): _evaluate(pair.expression, row) for pair in node.expressions}


_NODES: dict[str, Callable[[Any, Mapping[str, Operand]], Operand]] = {
    "Literal": _literal,
    "Column": _column,
    "Identifier": lambda node, row: None,
    "Null": lambda node, row: None,
    "Boolean": lambda node, row: bool(node.this),
    "Paren": lambda node, row: _evaluate(node.this, row),
    "Neg": _negative,
    "Add": _arithmetic(lambda a, b: EXACT.add(a, b)),
    "Sub": _arithmetic(lambda a, b: EXACT.subtract(a, b)),
    "Mul": _arithmetic(lambda a, b: EXACT.multiply(a, b)),
    "Concat": _concat,
    "Coalesce": _coalesce,
    "JSON_ARRAY": _json_array,
    "JSONObject": _json_object,
    "JSONKeyValue": lambda node, row: None,
}
