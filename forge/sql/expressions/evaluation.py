"""Computing an expression: operators, comparisons, conditions, and the table of everything that is known.

Operands are int, Decimal, str (text, and moments as the server prints them), list and dict (made by JSON functions),
:class:`Document` and None for NULL.  What cannot be computed exactly as servers do is an UnsupportedError.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, Decimal
from typing import Any
from typing import Literal as Choice

from forge.errors import ScenarioError, UnsupportedError
from forge.sql.ast.expressions import Call, Cast, ColumnName, Literal, Node, Unread, Variable
from forge.values.json.binary import Json, SqlInteger
from forge.values.json.text import format_json
from forge.values.literals import EXACT, rounded

Operand = Any
Row = Mapping[str, Operand]

BIGINT_MIN, BIGINT_MAX, UNSIGNED_MAX = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1
#: Digits that a division adds to those of its dividend (div_precision_increment).
DIVISION_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON value, which a Python str or int would not tell from text or a number."""

    value: Json


@dataclass(frozen=True, slots=True)
class Unsigned:
    """An operand of an UNSIGNED column: what is computed of it must not be negative."""

    value: int


class Field(str):
    """Text that LOAD DATA has read into a user variable.

    Servers compute with such text as with a DOUBLE; here only with whole numbers, of which DOUBLE is exact.
    """


_WHOLE = re.compile(r"[+-]?[0-9]{1,15}\Z")


class Cells(dict[str, Operand]):
    """The cells of a row as operands, by lower-case column name; ``document`` gives one as it is inside a document."""

    def __init__(self, cells: Mapping[str, Operand], document: Callable[[str], Json]) -> None:
        super().__init__(cells)
        self.document = document


@dataclass(frozen=True, slots=True)
class Function:
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
            raise UnsupportedError(f"{node.sql} in expressions is not supported yet")


def _call(node: Call, row: Row) -> Operand:
    function = FUNCTIONS[node.name]
    if function.takes == "nodes":
        return function.compute(row, *node.arguments)
    values = [evaluate(argument, row) for argument in node.arguments]
    if function.takes == "values" and None in values:
        return None
    return function.compute(*values)


def _literal(node: Literal) -> Operand:
    if node.form == "double":
        raise UnsupportedError("floating-point numbers in expressions are not supported yet")
    return node.value


def number_of(value: Operand) -> int | Decimal:
    """A number for arithmetic."""
    if isinstance(value, Unsigned):
        return value.value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (int, Decimal)):
        return value
    if isinstance(value, Field) and _WHOLE.match(value):
        return int(value)
    raise UnsupportedError(f"the expression computes with {value!r}, which is not supported yet; numbers are exact")


def text_of(value: Operand) -> str:
    """Text for string functions."""
    if isinstance(value, str):
        return value
    if isinstance(value, Document):
        return format_json(value.value)
    if isinstance(value, (bool, int, Unsigned)):
        return str(number_of(value))
    if isinstance(value, Decimal):
        return f"{value:f}"
    raise UnsupportedError(f"the expression makes text of {value!r}, which is not supported yet")


def plain(value: Json) -> Operand:
    """A JSON value's number without the mark of its SQL type."""
    return value.value if isinstance(value, SqlInteger) else value


def _within_bigint(number: int, *, unsigned: bool) -> int:
    low, high = (0, UNSIGNED_MAX) if unsigned else (BIGINT_MIN, BIGINT_MAX)
    if not low <= number <= high:
        raise ScenarioError(f"the expression gives {number}", expected="a BIGINT" + " UNSIGNED" * unsigned)
    return number


def _arithmetic(compute: Callable[[Decimal, Decimal], Decimal]) -> Function:
    def computed(left: Operand, right: Operand) -> Operand:
        first, second = number_of(left), number_of(right)
        exact = compute(Decimal(first), Decimal(second))
        if not (isinstance(first, int) and isinstance(second, int)):
            return exact
        unsigned = any(isinstance(side, Unsigned) for side in (left, right)) or max(first, second) > BIGINT_MAX
        whole = _within_bigint(int(exact), unsigned=unsigned)
        return Unsigned(whole) if unsigned else whole

    return Function(computed, 2, 2)


def _division(compute: Callable[[Decimal, Decimal], Decimal], digits: int | None) -> Function:
    """Division with ``digits`` more fraction digits than the dividend has; None: whole numbers stay whole."""

    def computed(left: Operand, right: Operand) -> Operand:
        if isinstance(left, Field) or isinstance(right, Field):
            raise UnsupportedError("the division of text is not supported yet; it gives a DOUBLE")
        dividend, divisor = number_of(left), number_of(right)
        if not divisor:
            raise ScenarioError("the expression divides by zero", expected="another divisor (strict mode)")
        exact = compute(Decimal(dividend), Decimal(divisor))
        if digits is not None:
            return rounded(exact, max(-int(Decimal(dividend).as_tuple().exponent), 0) + digits)
        return int(exact) if isinstance(dividend, int) and isinstance(divisor, int) else exact

    return Function(computed, 2, 2)


def _whole_quotient(dividend: Decimal, divisor: Decimal) -> Decimal:
    return EXACT.divide(dividend, divisor).to_integral_value(ROUND_DOWN)


def _negative(value: Operand) -> Operand:
    number = -number_of(value)
    return _within_bigint(number, unsigned=False) if isinstance(number, int) else number


def _to_whole(how: str) -> Function:
    return Function(lambda value: int(Decimal(number_of(value)).to_integral_value(how)))


def _compared(left: Operand, right: Operand, *, equality: bool = False) -> tuple[Any, Any]:
    """Both sides of a comparison as numbers.

    Text is compared with text of LOAD DATA alone: of ASCII and for equality, whose answer no usual collation changes.
    """
    texts = isinstance(left, str) and isinstance(right, str)
    if not any(isinstance(side, Field) for side in (left, right)):
        if isinstance(left, str) or isinstance(right, str):
            raise UnsupportedError("comparisons of text in expressions are not supported yet")
    elif texts and equality and all(s.isascii() and s.isprintable() and not s.endswith(" ") for s in (left, right)):
        return left.lower(), right.lower()
    elif texts:
        raise UnsupportedError(f"the comparison of {left!r} with {right!r} in an expression is not supported yet")
    return number_of(left), number_of(right)


def _comparison(compare: Callable[[Any, Any], bool], *, equality: bool = False) -> Function:
    return Function(lambda left, right: int(compare(*_compared(left, right, equality=equality))), 2, 2)


def _null_if(left: Operand, right: Operand) -> Operand:
    if left is None or right is None:
        return left
    first, second = _compared(left, right, equality=True)
    return None if first == second else left


def _in(value: Operand, *others: Operand) -> Operand:
    if any(isinstance(element, str) for element in (value, *others)):
        raise UnsupportedError("comparisons of text in expressions are not supported yet")
    if value is None:
        return None
    if any(element is not None and number_of(element) == number_of(value) for element in others):
        return 1
    return None if None in others else 0


def _between(value: Operand, low: Operand, high: Operand) -> Operand:
    above = _null_or(operator.ge, value, low)
    return _and(above, _null_or(operator.le, value, high))


def _null_or(compare: Callable[[Any, Any], bool], left: Operand, right: Operand) -> Operand:
    return None if left is None or right is None else int(compare(*_compared(left, right, equality=False)))


def truth(value: Operand) -> bool | None:
    """Whether a condition of that value holds; None for NULL."""
    return None if value is None else bool(number_of(value))


def _and(left: Operand, right: Operand) -> Operand:
    sides = truth(left), truth(right)
    return 0 if False in sides else None if None in sides else 1


def _or(left: Operand, right: Operand) -> Operand:
    sides = truth(left), truth(right)
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
    return row["@@now"](evaluate(digits[0], row) if digits else 0)


#: The functions that give the time of the statement.
CLOCK = ("CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP")

FUNCTIONS |= {
    "NEG": Function(_negative),
    "+": _arithmetic(EXACT.add),
    "-": _arithmetic(EXACT.subtract),
    "*": _arithmetic(EXACT.multiply),
    "/": _division(EXACT.divide, DIVISION_DIGITS),
    "DIV": _division(_whole_quotient, None),
    "%": _division(EXACT.remainder, None),
    "MOD": _division(EXACT.remainder, None),
    "ABS": Function(lambda value: abs(number_of(value))),
    "FLOOR": _to_whole(ROUND_FLOOR),
    "CEIL": _to_whole(ROUND_CEILING),
    "CEILING": _to_whole(ROUND_CEILING),
    "=": _comparison(operator.eq, equality=True),
    "<>": _comparison(operator.ne, equality=True),
    "<": _comparison(operator.lt),
    "<=": _comparison(operator.le),
    ">": _comparison(operator.gt),
    ">=": _comparison(operator.ge),
    "IN": Function(_in, 2, 1000, "nulls"),
    "BETWEEN": Function(_between, 3, 3, "nulls"),
    "AND": Function(_and, 2, 2, "nulls"),
    "OR": Function(_or, 2, 2, "nulls"),
    "NOT": Function(lambda value: int(not truth(value))),
    "IS NULL": Function(lambda value: int(value is None), takes="nulls"),
    "IS TRUE": Function(lambda value: int(truth(value) is True), takes="nulls"),
    "IS FALSE": Function(lambda value: int(truth(value) is False), takes="nulls"),
    "IF": Function(_case, 3, 3, "nodes"),
    "CASE": Function(_case, 1, 1000, "nodes"),
    "COALESCE": Function(_coalesce, 1, 1000, "nodes"),
    "IFNULL": Function(_coalesce, 2, 2, "nodes"),
    "NULLIF": Function(_null_if, 2, 2, "nulls"),
    "COLLATE": Function(lambda row, operand, _: evaluate(operand, row), 2, 2, "nodes"),
    **{name: Function(_now, 0, 1, "nodes") for name in CLOCK},
}
