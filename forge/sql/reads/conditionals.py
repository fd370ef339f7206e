"""Parts of a statement's text that a server may never evaluate: the branches of IF, CASE, COALESCE and their like.

What such a part reads is told in the log only if it was evaluated (MySQL; functions on MariaDB too; recorded).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forge.errors import ScenarioError
from forge.servers.facts.grammar import Grammar
from forge.sql.expressions import Operand, parse_expression
from forge.sql.lexer import Token

_CONDITIONAL = ("IF", "IFNULL", "COALESCE", "NVL", "NVL2")
#: Functions of which the log tells whether they were evaluated, but for the clock only LAST_INSERT_ID().
TOLD_CALLS = frozenset((
    "NOW", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP", "SYSDATE", "CURDATE", "CURRENT_DATE", "CURTIME",
    "CURRENT_TIME", "UTC_TIMESTAMP", "UTC_TIME", "UNIX_TIMESTAMP", "FROM_UNIXTIME", "LAST_INSERT_ID",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Conditional:
    """One such expression: its text, and the places of its tokens."""

    sql: str
    start: int
    end: int
    #: User variables, and functions of TOLD_CALLS, that stand in it behind its first argument.
    variables: frozenset[str]
    calls: frozenset[str]


def conditionals(sql: str, tokens: Sequence[Token], variables: Mapping[int, str]) -> list[Conditional]:
    """The outermost expressions of that kind that read something behind their first argument.

    ``variables``: the token of each user variable that is read -> its name.
    """
    parts: list[Conditional] = []
    index = 0
    while index < len(tokens) - 1:
        span = _span(tokens, index)
        if span is None:
            index += 1
            continue
        first, end = span
        inner = range(first, end)
        names = frozenset(variables[place] for place in inner if place in variables)
        calls = frozenset(tokens[place].text.upper() for place in inner if _is_call(tokens, place))
        if names or calls:
            text = sql[tokens[index].start : tokens[end - 1].end]
            parts.append(Conditional(text, index, end, names, calls))
        index = end
    return parts


def _span(tokens: Sequence[Token], index: int) -> tuple[int, int] | None:
    """(token behind the first argument, token behind the expression) of a conditional expression at a token."""
    if tokens[index].is_word("CASE"):
        return _case(tokens, index)
    if not tokens[index].is_word(*_CONDITIONAL) or not tokens[index + 1].is_mark("("):
        return None
    depth, first, end = 0, None, index + 1
    while tokens[end].kind != "end":
        depth += tokens[end].is_mark("(") - tokens[end].is_mark(")")
        if depth == 1 and tokens[end].is_mark(",") and first is None:
            first = end
        if depth == 0:
            return None if first is None else (first, end + 1)
        end += 1
    return None


def _case(tokens: Sequence[Token], index: int) -> tuple[int, int] | None:
    depth, first, end = 0, None, index
    while tokens[end].kind != "end":
        depth += tokens[end].is_word("CASE") - tokens[end].is_word("END")
        if depth == 1 and tokens[end].is_word("THEN") and first is None:
            first = end
        if depth == 0:
            return None if first is None else (first, end + 1)
        end += 1
    return None


def _is_call(tokens: Sequence[Token], index: int) -> bool:
    return tokens[index].kind == "word" and tokens[index].text.upper() in TOLD_CALLS


class _Traced(dict[str, Operand]):
    """The operands of an expression; it keeps those that are asked for."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__()
        self.values_of = values
        self.asked: set[str] = set()

    def __missing__(self, name: str) -> Operand:
        if name == "@@now":
            self.asked.add("@@now")
            return lambda digits: "2000-01-01 00:00:00"
        if not name.startswith("@"):
            raise ScenarioError(f"the column {name!r} differs from row to row")
        self.asked.add(name[1:])
        return self.values_of.get(name[1:])


def evaluated_parts(part: Conditional, values: Mapping[str, Any], grammar: Grammar) -> set[str] | None:
    """What the expression asks for: names of variables, and ``@@now``; None where that is not known here."""
    traced = _Traced(values)
    try:
        parse_expression(part.sql, grammar, in_statement=True).evaluate(traced)
    except ScenarioError:
        return None
    return traced.asked
