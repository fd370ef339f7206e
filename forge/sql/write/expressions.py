"""Expressions as servers keep and print them."""

from __future__ import annotations

from typing import Any

from forge.errors import UnsupportedError
from forge.sql.expressions import Expression
from forge.sql.expressions.evaluation import kind_of
from forge.sql.write.identifiers import identifier
from forge.sql.write.literals import printed_text

_OPERATORS = {
    "Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "IntDiv": "DIV", "Mod": "%", "EQ": "=", "NEQ": "<>", "LT": "<",
    "LTE": "<=", "GT": ">", "GTE": ">=", "And": "and", "Or": "or",
}  # fmt: skip
_FUNCTIONS = {"Concat": "concat", "Lower": "lower", "Upper": "upper", "JSON_ARRAY": "json_array", "Abs": "abs"}


def expression_sql(expression: Expression, charset: str) -> str:
    """An expression in parentheses throughout, its text literals with their character set.

    Raises UnsupportedError for functions whose printed form is not known here.
    """
    return _node_sql(expression.tree, charset)


def _node_sql(node: Any, charset: str) -> str:
    kind = kind_of(node)
    if kind == "Paren":
        return _node_sql(node.this, charset)
    if kind == "Column":
        return identifier(node.name)
    if kind == "Literal":
        return f"_{charset}{printed_text(node.this)}" if node.is_string else str(node.this)
    if kind in _OPERATORS:
        return f"({_node_sql(node.this, charset)} {_OPERATORS[kind]} {_node_sql(node.expression, charset)})"
    if kind == "Neg":
        return f"-({_node_sql(node.this, charset)})"
    if kind in _FUNCTIONS:
        arguments = (_node_sql(argument, charset) for argument in node.expressions or [node.this])
        return f"{_FUNCTIONS[kind]}({','.join(arguments)})"
    raise UnsupportedError(f"{kind.upper()} in a table that gets an invisible primary key is not supported yet")
