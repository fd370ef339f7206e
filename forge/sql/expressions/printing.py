"""Expressions as servers keep and print them."""

from __future__ import annotations

from decimal import Decimal

from forge.errors import UnsupportedError
from forge.sql.ast.expressions import Call, ColumnName, Literal, Node
from forge.sql.expressions import Expression
from forge.sql.write import identifier, printed_text

_OPERATORS = {
    "+": "+", "-": "-", "*": "*", "/": "/", "DIV": "DIV", "%": "%", "MOD": "%", "=": "=", "<>": "<>", "<": "<",
    "<=": "<=", ">": ">", ">=": ">=", "AND": "and", "OR": "or",
}  # fmt: skip
_FUNCTIONS = {
    "CONCAT": "concat", "LOWER": "lower", "LCASE": "lower", "UPPER": "upper", "UCASE": "upper", "ABS": "abs",
    "JSON_ARRAY": "json_array",
}  # fmt: skip


def expression_sql(expression: Expression, charset: str) -> str:
    """An expression in parentheses throughout, its text literals with their character set.

    Raises UnsupportedError for functions whose printed form is not known here.
    """
    return _node_sql(expression.tree, charset)


def _node_sql(node: Node, charset: str) -> str:
    match node:
        case ColumnName():
            return identifier(node.name)
        case Literal(value=str() as text, form=""):
            return f"_{node.charset or charset}{printed_text(text)}"
        case Literal(value=number) if isinstance(number, int) and not isinstance(number, bool):
            return str(number)
        case Literal(value=Decimal() as number):
            return f"{number:f}"
        case Call() if node.name in _OPERATORS:
            left, right = (_node_sql(side, charset) for side in node.arguments)
            return f"({left} {_OPERATORS[node.name]} {right})"
        case Call(name="NEG"):
            return f"-({_node_sql(node.arguments[0], charset)})"
        case Call() if node.name in _FUNCTIONS:
            arguments = ",".join(_node_sql(argument, charset) for argument in node.arguments)
            return f"{_FUNCTIONS[node.name]}({arguments})"
    raise UnsupportedError("this expression in a table that gets an invisible primary key is not supported yet")
