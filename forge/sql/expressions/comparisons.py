"""Comparisons: of numbers, of moments, of JSON, and of text under its collation; LIKE and REGEXP."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from typing import Any

from forge.charsets import compare_key, is_exact, order_key
from forge.charsets.comparison import folding_of
from forge.errors import ScenarioError, UnsupportedError
from forge.sql.ast.expressions import Node, Unread
from forge.sql.expressions.evaluation import (
    FUNCTIONS,
    Function,
    Row,
    evaluate,
    number_of,
    plain,
    query_rows,
    surroundings,
    text_of,
)
from forge.sql.expressions.operands import (
    Document,
    Field,
    Moment,
    Operand,
)
from forge.values.literals import rounded

_DATE = re.compile(
    r"\s*(\d{4})[-/.]?(\d{1,2})[-/.]?(\d{1,2})(?:[ T]+(\d{1,2}):(\d{1,2})(?::(\d{1,2})(\.\d{1,6})?)?)?\s*"
)
_CLOCK = re.compile(r"\s*(-?)(\d{1,3}):(\d\d)(?::(\d\d)(\.\d{1,6})?)?\s*")


def exact_moment(text: str) -> str | None:
    """A moment or time with six digits of its fraction, so that texts compare as times; None for other texts."""
    if (match := _DATE.fullmatch(text)) is not None:
        year, month, day, hour, minute, second, fraction = match.groups(default="0")
        fraction = fraction.lstrip("0.") if fraction == "0" else fraction[1:]
        clock = f"{int(hour):02}:{int(minute):02}:{int(second):02}.{fraction:0<6}"
        return f"{year}-{int(month):02}-{int(day):02} {clock}"
    return None


def _clock_number(text: str) -> Decimal | None:
    match = _CLOCK.fullmatch(text)
    if match is None:
        return None
    sign, hours, minutes, seconds, fraction = match.groups(default="0")
    number = Decimal(int(hours) * 3600 + int(minutes) * 60 + int(seconds)) + Decimal(
        f"0{fraction}" if "." in fraction else 0
    )
    return -number if sign == "-" else number


def _moments(first: Operand, second: Operand) -> tuple[Any, Any]:
    """Both sides as moments, where one is: a text is read as one, a number compared with the moment's digits."""
    if not (isinstance(first, str) and isinstance(second, str)):
        return number_of(first), number_of(second)
    exact = exact_moment(first), exact_moment(second)
    clocks = _clock_number(first), _clock_number(second)
    if None not in exact:
        return exact
    if None not in clocks:
        return clocks
    raise UnsupportedError(f"the comparison of {str(first)!r} with {str(second)!r} is not supported yet")


def _of_field(first: Operand, second: Operand, *, ordered: bool) -> tuple[Any, Any]:
    """Text of LOAD DATA: of ASCII and for equality alone, whose answer no usual collation changes."""
    sides = (first, second)
    if not all(isinstance(side, str) for side in sides):
        return number_of(first), number_of(second)
    if ordered or not all(s.isascii() and s.isprintable() and not s.endswith(" ") for s in sides):
        raise UnsupportedError(f"the comparison of {first!r} with {second!r} in an expression is not supported yet")
    return first.lower(), second.lower()


def text_key(row: Row, text: str, *nodes: Node, ordered: bool) -> Any:
    """What a text is compared by beside others, which the nodes give.  Raises UnsupportedError."""
    around = surroundings(row)
    if around is None:
        raise UnsupportedError("comparisons of text in expressions are not supported yet")
    collation = around.collation(*nodes)
    if is_exact(collation) or not ordered:
        key = compare_key(collation, text)
        return key.encode() if ordered else key
    place = order_key(collation, text)
    if place is None:
        raise UnsupportedError(f"the order of {text!r} in its collation is not known")
    return place


def sort_key(row: Row, value: Operand, node: Node) -> tuple[bool, Any]:
    """What a value is sorted by; NULL comes first."""
    if value is None:
        return False, 0
    if isinstance(value, Moment):
        exact = exact_moment(value) or _clock_number(value)
        return True, exact
    if isinstance(value, str):
        return True, text_key(row, value, node, ordered=True)
    if isinstance(value, Document):
        raise UnsupportedError("the order of JSON documents is not supported yet")
    return True, value if isinstance(value, bytes) else number_of(value)


def _documents(first: Operand, second: Operand, *, ordered: bool) -> tuple[Any, Any]:
    sides = [plain(side.value) if isinstance(side, Document) else side for side in (first, second)]
    kinds = [_json_kind(side) for side in sides]
    if None not in kinds and (not ordered or kinds[0] == kinds[1] == "number"):
        return (kinds[0], sides[0]), (kinds[1], sides[1])
    raise UnsupportedError("this comparison of JSON is not supported yet")


def _json_kind(value: Operand) -> str | None:
    """Scalars of different kinds are never equal in JSON."""
    if isinstance(value, bool) or value is None:
        return "literal"
    if isinstance(value, int | float | Decimal):
        return "number"
    return "text" if type(value) is str else None


def sides(row: Row, nodes: tuple[Node, Node], first: Operand, second: Operand, *, ordered: bool) -> tuple[Any, Any]:
    """What two values, neither of them NULL, are compared by.  Raises UnsupportedError where it is not certain."""
    if isinstance(first, Field) or isinstance(second, Field):
        return _of_field(first, second, ordered=ordered)
    if isinstance(first, Document) or isinstance(second, Document):
        return _documents(first, second, ordered=ordered)
    if isinstance(first, Moment) or isinstance(second, Moment):
        return _moments(first, second)
    if isinstance(first, bytes) or isinstance(second, bytes):
        if not all(isinstance(side, bytes | str) for side in (first, second)):
            raise UnsupportedError("the comparison of bytes with a number is not supported yet")
        left, right = (side if isinstance(side, bytes) else side.encode() for side in (first, second))
        return left, right
    if isinstance(first, str) and isinstance(second, str):
        return text_key(row, first, *nodes, ordered=ordered), text_key(row, second, *nodes, ordered=ordered)
    left, right = number_of(first), number_of(second)
    if isinstance(left, float) or isinstance(right, float):
        return float(left), float(right)
    return left, right


def _compares(compare: Callable[[Any, Any], bool], *, ordered: bool) -> Function:
    def computed(row: Row, left: Node, right: Node) -> Operand:
        first, second = evaluate(left, row), evaluate(right, row)
        if first is None or second is None:
            return None
        return int(compare(*sides(row, (left, right), first, second, ordered=ordered)))

    return Function(computed, 2, 2, "nodes")


def _null_safe(row: Row, left: Node, right: Node) -> int:
    first, second = evaluate(left, row), evaluate(right, row)
    if first is None or second is None:
        return int(first is second)
    return int(operator.eq(*sides(row, (left, right), first, second, ordered=False)))


def _null_if(row: Row, left: Node, right: Node) -> Operand:
    return None if _EQUAL.compute(row, left, right) else evaluate(left, row)


def _in(row: Row, node: Node, *others: Node) -> Operand:
    value = evaluate(node, row)
    if value is None:
        return None
    if len(others) == 1 and isinstance(others[0], Unread):
        found = query_rows(others[0], row)
        if any(len(one) != 1 for one in found):
            raise ScenarioError("the subquery has several columns (error 1241)", expected="one column")
        choices: list[tuple[Node, Operand]] = [(others[0], one[0]) for one in found]
    else:
        choices = [(other, evaluate(other, row)) for other in others]
    for other, choice in choices:
        if choice is not None and operator.eq(*sides(row, (node, other), value, choice, ordered=False)):
            return 1
    return None if any(choice is None for _, choice in choices) else 0


def _between(row: Row, node: Node, low: Node, high: Node) -> Operand:
    found = [_AT_LEAST.compute(row, node, low), _AT_MOST.compute(row, node, high)]
    return 0 if 0 in found else None if None in found else 1


def _exists(row: Row, query: Node) -> int:
    if not isinstance(query, Unread):
        raise UnsupportedError("EXISTS of something else than a query is not supported yet")
    return int(bool(query_rows(query, row)))


def folded(row: Row, text: str, *nodes: Node) -> list[str]:
    """The characters of a text as its collation has them.  Raises UnsupportedError."""
    around = surroundings(row)
    if around is None:
        raise UnsupportedError("LIKE of text in expressions is not supported yet")
    table = folding_of(around.collation(*nodes))
    return [character if table is None else character.translate(table) for character in text]


def _like(row: Row, left: Node, right: Node, escape: Node | None = None) -> Operand:
    value, pattern = evaluate(left, row), evaluate(right, row)
    if value is None or pattern is None:
        return None
    mark = "\\" if escape is None else text_of(evaluate(escape, row))
    text = folded(row, text_of(value), left, right)
    # Each piece: a character, None for ``_``, or ... for ``%``.
    pieces: list[Any] = []
    written = iter(text_of(pattern))
    for character in written:
        if character == mark:
            pieces += folded(row, next(written, mark), left, right)
        elif character == "%":
            pieces.append(...)
        else:
            pieces += [None] if character == "_" else folded(row, character, left, right)
    places = {0}
    for piece in pieces:
        if piece is ...:
            places = set(range(min(places), len(text) + 1)) if places else set()
        else:
            places = {place + 1 for place in places if place < len(text) and piece in (None, text[place])}
    return int(len(text) in places)


_PLAIN_PATTERN = re.compile(r"[\w .,;:@#%&=<>/\"'!~^$+?*|()\[\]-]*", re.ASCII)


def _regexp(row: Row, left: Node, right: Node) -> Operand:
    value, pattern = evaluate(left, row), evaluate(right, row)
    if value is None or pattern is None:
        return None
    text, form = text_of(value), text_of(pattern)
    around = surroundings(row)
    if around is None or not text.isascii() or not _PLAIN_PATTERN.fullmatch(form) or "[[" in form or "(?" in form:
        raise UnsupportedError(f"REGEXP {form!r} in expressions is not supported yet")
    try:
        return int(re.search(form, text, 0 if is_exact(around.collation(left, right)) else re.IGNORECASE) is not None)
    except re.error:
        raise UnsupportedError(f"REGEXP {form!r} in expressions is not supported yet") from None


def _extreme(compare: Callable[[Any, Any], bool]) -> Function:
    """GREATEST and LEAST of values of one kind."""

    def computed(row: Row, *nodes: Node) -> Operand:
        values = [evaluate(node, row) for node in nodes]
        if None in values:
            return None
        kinds = {str if type(value) is str else Moment if isinstance(value, Moment) else int for value in values}
        if len(kinds) > 1 or any(isinstance(value, Document | bytes) for value in values):
            raise UnsupportedError("GREATEST and LEAST of values of several types are not supported yet")
        scales = [-int(number.as_tuple().exponent) for number in values if isinstance(number, Decimal)]
        found = reduce(
            lambda best, value: (
                value if compare(*sides(row, (nodes[0], nodes[1]), value, best, ordered=True)) else best
            ),
            values,
        )
        if any(isinstance(value, float) for value in values):
            return float(number_of(found))
        return rounded(Decimal(number_of(found)), max(scales)) if scales else found

    return Function(computed, 2, 1000, "nodes")


_EQUAL = _compares(operator.eq, ordered=False)
_AT_LEAST, _AT_MOST = _compares(operator.ge, ordered=True), _compares(operator.le, ordered=True)

FUNCTIONS |= {
    "=": _EQUAL,
    "<>": _compares(operator.ne, ordered=False),
    "<": _compares(operator.lt, ordered=True),
    "<=": _AT_MOST,
    ">": _compares(operator.gt, ordered=True),
    ">=": _AT_LEAST,
    "<=>": Function(_null_safe, 2, 2, "nodes"),
    "IN": Function(_in, 2, 100_000, "nodes"),
    "BETWEEN": Function(_between, 3, 3, "nodes"),
    "NULLIF": Function(_null_if, 2, 2, "nodes"),
    "EXISTS": Function(_exists, 1, 1, "nodes"),
    "LIKE": Function(_like, 2, 3, "nodes"),
    "REGEXP": Function(_regexp, 2, 2, "nodes"),
    "GREATEST": _extreme(operator.gt),
    "LEAST": _extreme(operator.lt),
}
