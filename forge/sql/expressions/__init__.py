"""Expressions of generated columns, of DEFAULT (...), of keys and of partitions.

What they may do here is what can be computed exactly as servers compute it.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from forge.errors import ScenarioError, UnsupportedError
from forge.servers.facts.grammar import Grammar
from forge.sql.ast.expressions import Call, Cast, ColumnName, Literal, Node, Unread, Variable, renamed, walk
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError

# The modules of functions register them.
from forge.sql.expressions import (  # noqa: F401
    arithmetic,
    casts,
    comparisons,
    date_formats,
    documents,
    geometries,
    intervals,
    json_changes,
    moments,
    session_values,
    strings,
    texts,
)
from forge.sql.expressions.documents import OF_MYSQL_ONLY
from forge.sql.expressions.evaluation import (
    FUNCTIONS,
    Cells,
    evaluate,
)
from forge.sql.expressions.operands import (
    Document,
    Field,
    Moment,
    Operand,
    Single,
    Unsigned,
)
from forge.sql.expressions.session_values import OF_SESSION
from forge.sql.lexer import shown
from forge.sql.parse.expressions import expression

#: What is computed as in UTC, which only the functions of partitions ask for.
_OF_PARTITIONS = ("UNIX_TIMESTAMP",)


class Expression(Struct, frozen=True):
    """A parsed expression that can be computed."""

    sql: str
    tree: Node

    def columns(self) -> tuple[str, ...]:
        """Names of the columns that it uses."""
        return tuple(dict.fromkeys(node.name for node in walk(self.tree) if isinstance(node, ColumnName)))

    def renamed(self, old: str, new: str) -> Expression:
        """The expression after RENAME COLUMN."""
        return Expression(self.sql, renamed(self.tree, old, new))

    @property
    def is_array(self) -> bool:
        """CAST(... AS type ARRAY): a multi-valued key, whose value is the tuple of its elements."""
        return isinstance(self.tree, Cast) and self.tree.type.is_array

    def calls(self, *names: str) -> bool:
        """Whether it calls a function of one of these names."""
        return any(isinstance(node, Call) and node.name in names for node in walk(self.tree))

    def evaluate(self, row: Mapping[str, Operand]) -> Operand:
        """Its value, for the cells of the columns that it uses, by lower-case name.

        Raises ScenarioError where a server would refuse it, UnsupportedError for what is not computed here.
        """
        value = evaluate(self.tree, row)
        return value.value if isinstance(value, Unsigned) else value


def parse_expression(
    sql: str, grammar: Grammar | None = None, *, in_statement: bool = False, of_partitions: bool = False
) -> Expression:
    """The expression in ``sql``, for a server of that grammar.

    ``in_statement``: it may ask for user variables, NOW(); ``of_partitions``: it chooses a partition, or is a bound.

    Raises ScenarioError for what is not an expression, UnsupportedError for functions that are not computed here.
    """
    try:
        cursor = Cursor(sql, grammar)
        tree = expression(cursor)
        if not cursor.at_end():
            cursor.wrong("an operator, or the end")
    except SqlError as error:
        raise ScenarioError(f"{shown(sql)} is not an expression: {error.problem}", expected=error.expected) from None
    except RecursionError:
        raise ScenarioError(f"{shown(sql)} is not an expression: it is too deep") from None
    return computable(tree, sql, grammar, in_statement=in_statement, of_partitions=of_partitions)


def computable(
    tree: Node, sql: str, grammar: Grammar | None, *, in_statement: bool = False, of_partitions: bool = False
) -> Expression:
    """The expression of a tree, as :func:`parse_expression` has it.  Raises UnsupportedError."""
    with_json = grammar is None or grammar.json_expressions
    for node in walk(tree):
        if in_statement and _is_of_statement(node):
            continue
        if isinstance(node, Call) and node.name in ("CHAR", "INTERVAL") and not in_statement:
            raise UnsupportedError(f"{node.name} in expressions is not supported yet")
        if not _is_computed(node, with_json=with_json, of_partitions=of_partitions, in_statement=in_statement):
            raise UnsupportedError(f"{_called(node)} in expressions is not supported yet")
        if not in_statement and (isinstance(node, Variable) or (isinstance(node, Call) and node.name in OF_SESSION)):
            raise UnsupportedError(f"{_called(node)} in the expressions of a table is not supported yet")
    return Expression(sql, tree)


def _is_of_statement(node: Node) -> bool:
    """What no definition of a table has: subqueries, bytes, floating-point numbers, DEFAULT(column), VALUES(column)."""
    if isinstance(node, Call):
        return node.name in ("DEFAULT", "VALUES", "VALUE") and len(node.arguments) == 1
    is_open = isinstance(node, Literal) and (isinstance(node.value, bytes) or node.form == "double")
    return is_open or isinstance(node, Unread | Variable)


def _is_computed(node: Node, *, with_json: bool, of_partitions: bool, in_statement: bool) -> bool:
    match node:
        case Literal():
            return not (isinstance(node.value, bytes) or node.form == "double")
        case Call():
            function = FUNCTIONS.get(node.name)
            is_known = function is not None and function.least <= len(node.arguments) <= function.most
            is_open = of_partitions or in_statement or node.name not in _OF_PARTITIONS
            return is_known and is_open and (with_json or node.name not in OF_MYSQL_ONLY)
        case Cast():
            return with_json or not node.type.is_array
        case Variable():
            return not node.name.startswith("@@")
        case ColumnName():
            return True
        case Unread():
            return False


def _called(node: Node) -> str:
    """What an error message calls a node."""
    match node:
        case Call():
            return node.name
        case Cast():
            return f"CAST AS {node.type.name}{' ARRAY' * node.type.is_array}"
        case Literal():
            return "a hexadecimal, bit or floating-point literal"
        case ColumnName() | Variable():
            return node.name
        case Unread():
            return shown(node.sql)


__all__ = [
    "Cells", "Document", "Expression", "Field", "Moment", "Operand", "Single", "Unsigned", "computable",
    "parse_expression",
]  # fmt: skip
