"""Parts of a statement's text that a server may never evaluate: the branches of IF, CASE, COALESCE and their like.

The variables of such a part are told in the log only if it was evaluated (MySQL; recorded).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from forge.errors import ScenarioError
from forge.servers.facts.grammar import Grammar
from forge.sql.ast.expressions import Call, Variable, walk
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError
from forge.sql.expressions import Operand, parse_expression
from forge.sql.lexer import Token
from forge.sql.parse.expressions import operand

_CONDITIONAL = ("IF", "IFNULL", "COALESCE", "NVL", "NVL2")


@dataclass(frozen=True, slots=True)
class Conditional:
    """One such expression: its text, and its places in that of the statement."""

    sql: str
    start: int
    end: int
    #: User variables that stand in it behind its first argument.
    variables: frozenset[str]


def conditionals(sql: str, tokens: Sequence[Token]) -> Iterator[Conditional]:
    """The outermost expressions of that kind that read something behind their first argument."""
    end = 0
    for token, behind in pairwise(tokens):
        called = token.is_word(*_CONDITIONAL) and behind.is_mark("(")
        if token.start < end or not (called or token.is_word("CASE")):
            continue
        cursor = Cursor(sql[token.start :])
        try:
            node = operand(cursor)
        except SqlError:
            continue
        inner = [part for argument in node.arguments[1:] for part in walk(argument)] if isinstance(node, Call) else []
        names = frozenset(part.name[1:] for part in inner if isinstance(part, Variable))
        if names:
            end = token.start + cursor.previous_end
            yield Conditional(sql[token.start : end], token.start, end, names)


class _Traced(dict[str, Operand]):
    """The operands of an expression; it keeps those that are asked for."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__()
        self.values_of = values
        self.asked: set[str] = set()

    def __missing__(self, name: str) -> Operand:
        if name == "@@now":
            return lambda digits: "2000-01-01 00:00:00"
        if not name.startswith("@"):
            raise ScenarioError(f"the column {name!r} differs from row to row")
        self.asked.add(name[1:])
        return self.values_of.get(name[1:])


def evaluated_parts(part: Conditional, values: Mapping[str, Any], grammar: Grammar) -> set[str] | None:
    """The names of the variables that the expression asks for; None where that is not known here."""
    traced = _Traced(values)
    try:
        parse_expression(part.sql, grammar, in_statement=True).evaluate(traced)
    except ScenarioError:
        return None
    return traced.asked
