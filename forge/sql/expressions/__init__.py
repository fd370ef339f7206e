"""Expressions of generated columns, of DEFAULT (...), of keys and of partitions.

sqlglot reads them.  What they may do here is what can be computed exactly as servers compute it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from forge.errors import ScenarioError, UnsupportedError
from forge.servers.facts.grammar import Grammar
from forge.sql.expressions.casts import CAST_RULES, is_array
from forge.sql.expressions.documents import DOCUMENT_RULES, OF_MYSQL_ONLY
from forge.sql.expressions.evaluation import (
    OF_STATEMENTS,
    RULES,
    Cells,
    Document,
    Field,
    Operand,
    Unsigned,
    evaluate,
    kind_of,
)
from forge.sql.expressions.geometries import GEOMETRY_RULES
from forge.sql.expressions.moments import MOMENT_RULES
from forge.sql.expressions.text import TEXT_RULES
from forge.sql.lexer import shown

RULES.update({**TEXT_RULES, **MOMENT_RULES, **DOCUMENT_RULES, **GEOMETRY_RULES, **CAST_RULES})


_CONDITIONS = frozenset(("And", "Or", "Not", "EQ", "NEQ", "LT", "LTE", "GT", "GTE", "Is", "In", "Boolean"))


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

    @property
    def is_array(self) -> bool:
        """CAST(... AS type ARRAY): a multi-valued key, whose value is the tuple of its elements."""
        return is_array(self.tree)

    @property
    def is_condition(self) -> bool:
        """Whether its value is true, false or NULL by its form (Item::is_bool_func)."""
        return kind_of(self.tree.unnest()) in _CONDITIONS

    @property
    def asks_for_time(self) -> bool:
        """Whether its value depends on when it is computed."""
        return any(kind_of(node) in ("CurrentTimestamp", "NOW") for node in self.tree.walk())

    @property
    def changes_case(self) -> bool:
        """Whether UPPER or LOWER is in it."""
        return any(kind_of(node) in ("Upper", "Lower") for node in self.tree.walk())

    @property
    def casts_to_datetime(self) -> bool:
        """Whether CAST(... AS DATETIME) is in it."""
        return any(name == "DATETIME" for name in self._cast_types())

    @property
    def casts_to_text(self) -> bool:
        """Whether CAST(... AS CHAR) is in it."""
        return any("CHAR" in name for name in self._cast_types())

    def _cast_types(self) -> Iterator[str]:
        from sqlglot import exp

        for cast in self.tree.find_all(exp.Cast):
            yield from (kind.this.name for kind in cast.to.find_all(exp.DataType))

    def evaluate(self, row: Mapping[str, Operand]) -> Operand:
        """Its value, for the cells of the columns that it uses, by lower-case name.

        Raises ScenarioError where a server would refuse it, UnsupportedError for what is not computed here.
        """
        value = evaluate(self.tree, row)
        return value.value if isinstance(value, Unsigned) else value


#: What is computed as in UTC, which only the functions of partitions ask for.
_OF_PARTITIONS = ("UNIX_TIMESTAMP",)


def parse_expression(
    sql: str, grammar: Grammar | None = None, *, in_statement: bool = False, of_partitions: bool = False
) -> Expression:
    """The expression in ``sql``, for a server of that grammar.

    ``in_statement``: it may ask for user variables, NOW(); ``of_partitions``: it chooses a partition, or is a bound.

    Raises ScenarioError for what is not an expression, UnsupportedError for functions that are not computed here.
    """
    import sqlglot
    from sqlglot.errors import SqlglotError

    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    try:
        tree = sqlglot.parse_one(sql, read="mysql")
    except (SqlglotError, RecursionError):
        raise ScenarioError(f"{shown(sql)} is not an expression") from None
    with_json = grammar is None or grammar.json_expressions
    if type(tree).__name__ == "Command":
        raise UnsupportedError(f"the expression {shown(sql)} is not computed here")
    for node in tree.walk():
        kind = kind_of(node)
        if kind in _OF_PARTITIONS and not of_partitions:
            raise UnsupportedError(f"{kind} in expressions is not supported yet")
        if kind not in RULES or (not with_json and (kind in OF_MYSQL_ONLY or is_array(node))):
            raise UnsupportedError(f"{_name_of(node)} in expressions is not supported yet")
        if kind in OF_STATEMENTS and not in_statement:
            raise UnsupportedError(f"{_name_of(node)} in the expressions of a table is not supported yet")
    return Expression(sql, tree)


def _name_of(node: Any) -> str:
    """What SQL calls a function, with its underscores; the text of what is none."""
    kind = kind_of(node).upper()
    if not hasattr(node, "sql_name"):
        return kind if type(node).__name__ == "Anonymous" else shown(node.sql(dialect="mysql"))
    name = str(node.sql_name())
    return name if name.replace("_", "") == kind else kind


__all__ = ["Cells", "Document", "Expression", "Field", "Operand", "Unsigned", "parse_expression"]
