"""What the SELECT of a view names: its columns, and the tables that they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from forge.sql.ast.definitions import TableRef
from forge.sql.lexer import Token, tokenize
from forge.sql.words import calls, inside, keywords, outside

_SETS = ("UNION", "EXCEPT", "INTERSECT")
_NOT_MERGED = (*_SETS, "GROUP", "HAVING", "DISTINCT", "DISTINCTROW", "LIMIT", "FETCH")
_AGGREGATES = (
    "COUNT", "SUM", "MIN", "MAX", "AVG", "BIT_AND", "BIT_OR", "BIT_XOR", "STD", "STDDEV", "STDDEV_POP", "STDDEV_SAMP",
    "VAR_POP", "VAR_SAMP", "VARIANCE", "GROUP_CONCAT", "JSON_ARRAYAGG", "JSON_OBJECTAGG", "ST_COLLECT",
)  # fmt: skip
_ENDS = ("WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "WINDOW", "WITH", "FOR")
_JOINS = ("JOIN", "INNER", "LEFT", "RIGHT", "OUTER", "CROSS", "NATURAL", "STRAIGHT_JOIN")


@dataclass(frozen=True, slots=True)
class SelectItem:
    """An item of a SELECT's list; names are in lower case.

    ``column`` is the column that it is, ``*`` for all, None for an expression; ``table`` the alias before it.
    ``name`` is what the result calls it, of an expression its text.  ``reads_zone``: an expression that asks for the
    session's time zone as soon as it is read.
    """

    name: str
    column: str | None = None
    table: str | None = None
    reads_zone: bool = False


@dataclass(frozen=True, slots=True)
class ViewSelect:
    """The SELECT of a view: ``tables`` by their aliases (lower case), ``names`` are all names in it.

    ``is_set``: UNION and the like.  ``nests``: it has another SELECT inside, or is none itself; nothing is known of the
    items then.
    """

    is_set: bool
    nests: bool
    names: frozenset[str]
    items: tuple[SelectItem, ...] = ()
    tables: tuple[tuple[str, TableRef], ...] = ()


def is_mergeable(body: str) -> bool:
    """Whether a view's SELECT can be merged into the statements that read it: one without a table, with groups, a limit
    or UNION cannot, whatever its subqueries have (recorded on 9.7, 10.11 and 11.8).
    """
    tokens = _without_parentheses(tokenize(body))
    words = set(keywords(list(outside(tokens))))
    own = _outside_of_subqueries(tokens)
    grouped = calls(own, *_AGGREGATES) or any(token.is_word("OVER") for token in own)
    return "FROM" in words and words.isdisjoint(_NOT_MERGED) and not grouped


def _without_parentheses(tokens: list[Token]) -> list[Token]:
    """The tokens of ``(SELECT ...)`` without the parentheses around all of it."""
    while tokens[0].is_mark("(") and len(list(inside(tokens, 0))) == len(tokens) - 3:
        tokens = [*tokens[1:-2], tokens[-1]]
    return tokens


def _outside_of_subqueries(tokens: Sequence[Token]) -> list[Token]:
    own: list[Token] = []
    index = 0
    while index < len(tokens):
        own.append(tokens[index])
        if tokens[index].is_mark("(") and tokens[index + 1].is_word("SELECT", "WITH"):
            index += len(list(inside(tokens, index)))
        index += 1
    return own


def view_select(body: str) -> ViewSelect:
    """What a view's SELECT says.  Raises SqlError for a quote that is not closed."""
    tokens = _without_parentheses(tokenize(body))
    names = frozenset(token.text for token in tokens if token.is_name)
    is_set = any(token.is_word(*_SETS) for token in tokens)
    if not tokens[0].is_word("SELECT") or any(token.is_word("SELECT") for token in tokens[1:]):
        return ViewSelect(is_set, nests=True, names=names)
    lists, end = _item_tokens(tokens)
    tables = _tables(tokens[end + 1 :]) if tokens[end].is_word("FROM") else []
    items = tuple(_item(body, item) for item in lists)
    return ViewSelect(is_set, nests=False, names=names, items=items, tables=tuple(tables))


def _item_tokens(tokens: Sequence[Token]) -> tuple[list[list[Token]], int]:
    """The tokens of each item of the list, and the index of the token behind the list."""
    index = 2 if tokens[1].is_word("DISTINCT", "ALL", "DISTINCTROW") else 1
    items: list[list[Token]] = [[]]
    depth = 0
    while tokens[index].kind != "end":
        token = tokens[index]
        depth += token.is_mark("(") - token.is_mark(")")
        if depth == 0 and token.is_word("FROM", *_ENDS):
            break
        if depth == 0 and token.is_mark(","):
            items.append([])
        else:
            items[-1].append(token)
        index += 1
    return items, index


def _item(body: str, tokens: Sequence[Token]) -> SelectItem:
    parts = list(tokens)
    table = None
    if len(parts) > 2 and parts[0].is_name and parts[1].is_mark("."):
        table, parts = parts[0].text.lower(), parts[2:]
    if len(parts) > 1 and parts[1].is_word("AS"):
        parts = [parts[0], *parts[2:]]
    is_column = bool(parts) and (parts[0].is_name or parts[0].is_mark("*"))
    if is_column and len(parts) <= 2 and all(part.is_name for part in parts[1:]):
        return SelectItem(parts[-1].text.lower(), parts[0].text.lower(), table)
    text = body[tokens[0].start : tokens[-1].end].lower() if tokens else ""
    literal = any(token.is_word("TIMESTAMP") and behind.kind == "string" for token, behind in pairwise(tokens))
    return SelectItem(text, reads_zone=literal or calls(tokens, "FROM_UNIXTIME"))


def _tables(tokens: Sequence[Token]) -> list[tuple[str, TableRef]]:
    """Aliases and names of the tables behind FROM."""
    tables: list[tuple[str, TableRef]] = []
    expected, depth, index = True, 0, 0
    while tokens[index].kind != "end" and not (depth == 0 and tokens[index].is_word(*_ENDS)):
        token = tokens[index]
        index += 1
        if token.is_mark("("):
            # A join may stand in parentheses; others are of conditions.
            depth += depth > 0 or not expected
        elif token.is_mark(")"):
            depth -= depth > 0
        elif depth:
            continue
        elif token.is_word(*_JOINS) or token.is_mark(","):
            expected = True
        elif expected and token.is_name:
            expected = False
            ref = TableRef(None, token.text, token.start)
            if tokens[index].is_mark(".") and tokens[index + 1].is_name:
                ref = TableRef(token.text, tokens[index + 1].text, token.start)
                index += 2
            index += tokens[index].is_word("AS")
            named = tokens[index].is_name and not tokens[index].is_word("ON", "USING", *_JOINS, *_ENDS)
            tables.append((tokens[index].text.lower() if named else ref.name.lower(), ref))
            index += named
    return tables
