"""Computing an expression: operators, comparisons, conditions, and the table of everything that is known.

Operands are int, Decimal, float (DOUBLE), str (text), :class:`Moment`, bytes, list and dict (made by JSON functions),
:class:`Document` and None for NULL.  What cannot be computed exactly as servers do is an UnsupportedError.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, Decimal
from typing import Any, Protocol
from typing import Literal as Choice

from msgspec import Struct

from forge.errors import ScenarioError, UnsupportedError
from forge.sql.ast.expressions import Call, Cast, ColumnName, Literal, Node, Unread, Variable
from forge.sql.expressions.operands import (
    Document,
    Field,
    Interval,
    Moment,
    Operand,
    Quotient,
    Rounded,
    Single,
    Unsigned,
    double_text,
)
from forge.values.json.binary import Json, SqlInteger, decode_document, encode_document
from forge.values.json.text import format_json
from forge.values.literals import EXACT, negated, rounded

Row = Mapping[str, Operand]

BIGINT_MIN, BIGINT_MAX, UNSIGNED_MAX = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1
#: Digits that a division adds to those of its dividend (div_precision_increment).
DIVISION_DIGITS = 4


_WHOLE = re.compile(r"[+-]?[0-9]{1,15}\Z")


class Surroundings(Protocol):
    """What an expression of a statement asks for beside the cells of its rows."""

    keeps_quotients: bool
    """Quotients have digits that are not shown."""

    def collation(self, *nodes: Node) -> int:
        """The collation by which texts are compared.  Raises UnsupportedError where they have several."""

    def rows(self, query: Unread, row: Row) -> list[tuple[Operand, ...]]:
        """The rows that a subquery gives, where ``row`` are the cells around it."""

    def value(self, name: str) -> Operand:
        """A user variable (``@x``), a system variable, or what the session knows (``@@now``)."""


class Cells(dict[str, Operand]):
    """The cells of a row as operands, by lower-case column name; ``document`` gives one as it is inside a document."""

    def __init__(
        self, cells: Mapping[str, Operand], document: Callable[[str], Json], around: Surroundings | None = None
    ) -> None:
        super().__init__(cells)
        self.document, self.around = document, around

    def __missing__(self, name: str) -> Operand:
        if self.around is None:
            raise KeyError(name)
        return self.around.value(name)


def surroundings(row: Row) -> Surroundings | None:
    """What the statement around a row's expression knows; None in the definition of a table."""
    return row.around if isinstance(row, Cells) else None


class Function(Struct, frozen=True):
    """How a function or operator of ``least`` to ``most`` arguments is computed.

    ``takes`` says what ``compute`` gets: the values of the arguments, of which a NULL makes the result NULL; any
    values; or the row and the nodes of the arguments.
    """

    compute: Callable[..., Operand]
    least: int = 1
    most: int = 1
    takes: Choice["values", "nulls", "nodes"] = "values"


#: Every function and operator that is computed, by the name that :class:`Call` has.
FUNCTIONS: dict[str, Function] = {}


def evaluate(node: Node, row: Row) -> Operand:
    """The value of a node for the cells of a row, by lower-case column name.

    Raises ScenarioError where a server would refuse it, UnsupportedError for what is not computed here.
    """
    match node:
        case Literal():
            return _literal(node)
        case ColumnName():
            return row[node.name.lower()]
        case Variable():
            return row[node.name]
        case Call():
            return _call(node, row)
        case Cast():
            return FUNCTIONS["CAST"].compute(row, node)
        case Unread():
            return _scalar(node, row)


def _call(node: Call, row: Row) -> Operand:
    function = FUNCTIONS[node.name]
    if function.takes == "nodes":
        return function.compute(row, *node.arguments)
    values = [evaluate(argument, row) for argument in node.arguments]
    if function.takes == "values" and None in values:
        return None
    return function.compute(*values)


def query_rows(node: Unread, row: Row) -> list[tuple[Operand, ...]]:
    """The rows of a subquery.  Raises UnsupportedError where there can be none."""
    around = surroundings(row)
    if around is None:
        raise UnsupportedError(f"{node.sql} in expressions is not supported yet")
    return around.rows(node, row)


def _scalar(node: Unread, row: Row) -> Operand:
    found = query_rows(node, row)
    if len(found) > 1:
        raise ScenarioError("the subquery returns more than 1 row (error 1242)", expected="one row")
    if found and len(found[0]) != 1:
        raise ScenarioError("the subquery has several columns (error 1241)", expected="one column")
    return found[0][0] if found else None


def _literal(node: Literal) -> Operand:
    if node.form == "double":
        return float(node.value or 0)
    return Moment(node.value) if node.form == "moment" else node.value


_NUMBER = re.compile(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)


def number_of(value: Operand) -> Any:
    """A number for arithmetic: int, Decimal, or float for a DOUBLE."""
    if isinstance(value, Unsigned):
        return value.value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, Quotient):
        raise UnsupportedError(f"computing with the quotient {value}, of which MariaDB keeps more digits")
    if isinstance(value, (int, Decimal, float)):
        return value
    if isinstance(value, Field):
        if _WHOLE.match(value):
            return int(value)
    elif isinstance(value, Moment):
        digits = re.sub("[-: ]", "", value.lstrip("-"))
        number = Decimal(digits) if "." in digits else int(digits)
        return -number if value.startswith("-") else number
    elif isinstance(value, Document):
        inner = plain(value.value)
        if isinstance(inner, int | float):
            return int(inner) if isinstance(inner, bool) else inner
    elif isinstance(value, str):
        if _NUMBER.fullmatch(value):
            return float(value)
        raise UnsupportedError(f"the expression computes with {value!r}, which is not supported yet: no number")
    raise UnsupportedError(f"the expression computes with {value!r}, which is not supported yet")


def text_of(value: Operand) -> str:
    """Text for string functions."""
    if isinstance(value, str):
        return value
    if isinstance(value, Document):
        return format_json(decode_document(encode_document(value.value)))
    if isinstance(value, (bool, int, Unsigned)):
        return str(number_of(value))
    if isinstance(value, Decimal):
        return f"{rounded(value, value.scale) if isinstance(value, Quotient) else value:f}"
    if isinstance(value, Rounded):
        return f"{value:.{value.places}f}"
    if isinstance(value, (dict, list)):
        return format_json(value)
    if isinstance(value, float):
        return double_text(value.shown if isinstance(value, Single) else value)
    raise UnsupportedError(f"the expression makes text of {value!r}, which is not supported yet")


def plain(value: Json) -> Operand:
    """A JSON value's number without the mark of its SQL type."""
    return value.value if isinstance(value, SqlInteger) else value


def _within_bigint(number: int, *, unsigned: bool) -> int:
    low, high = (0, UNSIGNED_MAX) if unsigned else (BIGINT_MIN, BIGINT_MAX)
    if not low <= number <= high:
        raise ScenarioError(f"the expression gives {number}", expected="a BIGINT" + " UNSIGNED" * unsigned)
    return number


def _arithmetic(compute: Callable[[Decimal, Decimal], Decimal], of_doubles: Callable[[Any, Any], Any]) -> Function:
    def computed(left: Operand, right: Operand) -> Operand:
        if isinstance(right, Interval):
            return FUNCTIONS["DATE_SUB" if of_doubles is operator.sub else "DATE_ADD"].compute(left, right)
        if isinstance(left, Interval):
            return FUNCTIONS["DATE_ADD"].compute(right, left)
        first, second = number_of(left), number_of(right)
        if isinstance(first, float) or isinstance(second, float):
            return _double(of_doubles(float(first), float(second)))
        exact = compute(Decimal(first), Decimal(second))
        if not (isinstance(first, int) and isinstance(second, int)):
            return exact
        unsigned = any(isinstance(side, Unsigned) for side in (left, right)) or max(first, second) > BIGINT_MAX
        whole = _within_bigint(int(exact), unsigned=unsigned)
        return Unsigned(whole) if unsigned else whole

    return Function(computed, 2, 2)


def _double(number: float) -> float:
    if not math.isfinite(number):
        raise ScenarioError("the expression gives a number beyond DOUBLE (error 1690)", expected="a smaller number")
    return number


def _divided(dividend: Operand, divisor: Operand) -> tuple[Any, Any]:
    if isinstance(dividend, Field) or isinstance(divisor, Field):
        raise UnsupportedError("the division of text is not supported yet; it gives a DOUBLE")
    first, second = number_of(dividend), number_of(divisor)
    if not second:
        raise ScenarioError("the expression divides by zero", expected="another divisor (strict mode)")
    return first, second


def _scale(number: int | Decimal) -> int:
    return max(-int(Decimal(number).as_tuple().exponent), 0)


def _quotient(row: Row, left: Node, right: Node) -> Operand:
    """Division with DIVISION_DIGITS more fraction digits than the dividend has."""
    dividend, divisor = evaluate(left, row), evaluate(right, row)
    if dividend is None or divisor is None:
        return None
    first, second = _divided(dividend, divisor)
    if isinstance(first, float) or isinstance(second, float):
        return _double(float(first) / float(second))
    exact = EXACT.divide(Decimal(first), Decimal(second))
    shown = rounded(exact, _scale(first) + DIVISION_DIGITS)
    around = surroundings(row)
    if around is None or not around.keeps_quotients or shown == exact:
        return shown
    # Groups of nine digits (do_div_mod), cut.
    groups = [-(-_scale(number) // 9) * 9 for number in (first, second)]
    more = max(DIVISION_DIGITS - (sum(groups) - _scale(first) - _scale(second)), 0)
    digits = -(-(sum(groups) + more) // 9) * 9
    kept = Quotient(exact.quantize(Decimal(1).scaleb(-digits), ROUND_DOWN, EXACT))
    kept.scale = _scale(first) + DIVISION_DIGITS
    return kept


def _whole_division(compute: Callable[[Decimal, Decimal], Decimal]) -> Function:
    def computed(left: Operand, right: Operand) -> Operand:
        dividend, divisor = _divided(left, right)
        if isinstance(dividend, float) or isinstance(divisor, float):
            raise UnsupportedError("DIV and % of floating-point numbers are not supported yet")
        exact = compute(Decimal(dividend), Decimal(divisor))
        return int(exact) if isinstance(dividend, int) and isinstance(divisor, int) else exact

    return Function(computed, 2, 2)


def _whole_quotient(dividend: Decimal, divisor: Decimal) -> Decimal:
    return EXACT.divide(dividend, divisor).to_integral_value(ROUND_DOWN)


def _negative(value: Operand) -> Operand:
    number = negated(number_of(value))
    return _within_bigint(number, unsigned=False) if isinstance(number, int) else number


def _size(value: Operand) -> Operand:
    number = number_of(value)
    return EXACT.abs(number) if isinstance(number, Decimal) else abs(number)


def _to_whole(how: str) -> Function:
    def compute(value: Operand) -> Operand:
        number = number_of(value)
        whole = int(Decimal(number).to_integral_value(how))
        return float(whole) if isinstance(number, float) else whole

    return Function(compute)


def truth(value: Operand) -> bool | None:
    """Whether a condition of that value holds; None for NULL."""
    return None if value is None else bool(number_of(value))


def _and(row: Row, *nodes: Node) -> Operand:
    """What decides is not followed by what it decides over."""
    left = truth(evaluate(nodes[0], row))
    if left is False:
        return 0
    sides = left, truth(evaluate(nodes[1], row))
    return 0 if False in sides else None if None in sides else 1


def _or(row: Row, *nodes: Node) -> Operand:
    left = truth(evaluate(nodes[0], row))
    if left is True:
        return 1
    sides = left, truth(evaluate(nodes[1], row))
    return 1 if True in sides else None if None in sides else 0


def _case(row: Row, *parts: Node) -> Operand:
    """Conditions and values in turn, and the value of ELSE."""
    for condition, value in zip(parts[:-1:2], parts[1::2], strict=True):
        if truth(evaluate(condition, row)):
            return evaluate(value, row)
    return evaluate(parts[-1], row)


def _coalesce(row: Row, *parts: Node) -> Operand:
    return next((value for part in parts if (value := evaluate(part, row)) is not None), None)


def _now(row: Row, *digits: Node) -> Operand:
    return Moment(row["@@now"](evaluate(digits[0], row) if digits else 0))


#: The functions that give the time of the statement.
CLOCK = ("CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP")

FUNCTIONS |= {
    "NEG": Function(_negative),
    "+": _arithmetic(EXACT.add, operator.add),
    "-": _arithmetic(EXACT.subtract, operator.sub),
    "*": _arithmetic(EXACT.multiply, operator.mul),
    "/": Function(_quotient, 2, 2, "nodes"),
    "DIV": _whole_division(_whole_quotient),
    "%": _whole_division(EXACT.remainder),
    "MOD": _whole_division(EXACT.remainder),
    "ABS": Function(_size),
    "FLOOR": _to_whole(ROUND_FLOOR),
    "CEIL": _to_whole(ROUND_CEILING),
    "CEILING": _to_whole(ROUND_CEILING),
    "AND": Function(_and, 2, 2, "nodes"),
    "OR": Function(_or, 2, 2, "nodes"),
    "XOR": Function(lambda left, right: int(truth(left) is not truth(right)), 2, 2),
    "NOT": Function(lambda value: int(not truth(value))),
    "IS NULL": Function(lambda value: int(value is None), takes="nulls"),
    "IS TRUE": Function(lambda value: int(truth(value) is True), takes="nulls"),
    "IS FALSE": Function(lambda value: int(truth(value) is False), takes="nulls"),
    "IF": Function(_case, 3, 3, "nodes"),
    "CASE": Function(_case, 1, 1000, "nodes"),
    "COALESCE": Function(_coalesce, 1, 1000, "nodes"),
    "IFNULL": Function(_coalesce, 2, 2, "nodes"),
    "COLLATE": Function(lambda row, operand, _: evaluate(operand, row), 2, 2, "nodes"),
    **{name: Function(_now, 0, 1, "nodes") for name in CLOCK},
}
