"""Computing an expression's tree: operators, comparisons, conditions, and the table of everything that is known.

Operands are int, Decimal, str (text, and moments as the server prints them), list and dict (made by JSON functions),
:class:`Document` and None for NULL.  What cannot be computed exactly as servers do is an UnsupportedError.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, Decimal
from typing import Any

from forge.errors import ScenarioError, UnsupportedError
from forge.values.json.binary import Json, SqlInteger
from forge.values.json.text import format_json
from forge.values.literals import EXACT, rounded

Operand = Any
Row = Mapping[str, Operand]
Rule = Callable[[Any, Row], Operand]

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


#: How each node of a tree is computed, by the name of its class (functions that sqlglot does not know: their own).
RULES: dict[str, Rule] = {}


def kind_of(node: Any) -> str:
    """The name under which a node's rule is known."""
    kind = type(node).__name__
    return str(node.name).upper() if kind == "Anonymous" else kind


def evaluate(node: Any, row: Row) -> Operand:
    """The value of a node for the cells of a row, by lower-case column name.

    Raises ScenarioError where a server would refuse it, UnsupportedError for what is not computed here.
    """
    return RULES[kind_of(node)](node, row)


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


def _literal(node: Any, row: Row) -> Operand:
    if node.is_string:
        return node.this
    if "e" in node.this.lower():
        raise UnsupportedError("floating-point numbers in expressions are not supported yet")
    return int(node.this) if node.this.isdigit() else Decimal(node.this)


def _within_bigint(number: int, *, unsigned: bool) -> int:
    low, high = (0, UNSIGNED_MAX) if unsigned else (BIGINT_MIN, BIGINT_MAX)
    if not low <= number <= high:
        raise ScenarioError(f"the expression gives {number}", expected="a BIGINT" + " UNSIGNED" * unsigned)
    return number


def _arithmetic(compute: Callable[[Decimal, Decimal], Decimal]) -> Rule:
    def rule(node: Any, row: Row) -> Operand:
        left, right = evaluate(node.this, row), evaluate(node.expression, row)
        if left is None or right is None:
            return None
        first, second = number_of(left), number_of(right)
        exact = compute(Decimal(first), Decimal(second))
        if isinstance(first, int) and isinstance(second, int):
            unsigned = any(isinstance(side, Unsigned) for side in (left, right)) or max(first, second) > BIGINT_MAX
            whole = _within_bigint(int(exact), unsigned=unsigned)
            return Unsigned(whole) if unsigned else whole
        return exact

    return rule


def _division(compute: Callable[[Decimal, Decimal], Decimal], digits: int | None) -> Rule:
    """Division with ``digits`` more fraction digits than the dividend has; None: whole numbers stay whole."""

    def rule(node: Any, row: Row) -> Operand:
        left, right = evaluate(node.this, row), evaluate(node.expression, row)
        if left is None or right is None:
            return None
        if isinstance(left, Field) or isinstance(right, Field):
            raise UnsupportedError("the division of text is not supported yet; it gives a DOUBLE")
        dividend, divisor = number_of(left), number_of(right)
        if not divisor:
            raise ScenarioError("the expression divides by zero", expected="another divisor (strict mode)")
        exact = compute(Decimal(dividend), Decimal(divisor))
        if digits is not None:
            return rounded(exact, max(-int(Decimal(dividend).as_tuple().exponent), 0) + digits)
        return int(exact) if isinstance(dividend, int) and isinstance(divisor, int) else exact

    return rule


def _whole_quotient(dividend: Decimal, divisor: Decimal) -> Decimal:
    return EXACT.divide(dividend, divisor).to_integral_value(ROUND_DOWN)


def _negative(node: Any, row: Row) -> Operand:
    value = evaluate(node.this, row)
    if value is None:
        return None
    number = -number_of(value)
    return _within_bigint(number, unsigned=False) if isinstance(number, int) else number


def _to_whole(how: str) -> Rule:
    def rule(node: Any, row: Row) -> Operand:
        value = evaluate(node.this, row)
        return None if value is None else int(Decimal(number_of(value)).to_integral_value(how))

    return rule


def _absolute(node: Any, row: Row) -> Operand:
    value = evaluate(node.this, row)
    return None if value is None else abs(number_of(value))


def _compared(node: Any, row: Row) -> tuple[Any, Any] | None:
    """Both sides of a comparison, as numbers; None if one of them is NULL."""
    left, right = evaluate(node.this, row), evaluate(node.expression, row)
    if left is None or right is None:
        return None
    if isinstance(left, Field) or isinstance(right, Field):
        return _compared_fields(node, left, right)
    if isinstance(left, str) or isinstance(right, str):
        raise UnsupportedError("comparisons of text in expressions are not supported yet")
    return number_of(left), number_of(right)


def _compared_fields(node: Any, left: Operand, right: Operand) -> tuple[Any, Any]:
    """Text with text, of ASCII and for equality, whose answer no usual collation changes; else numbers."""
    if not (isinstance(left, str) and isinstance(right, str)):
        return number_of(left), number_of(right)
    if kind_of(node) in ("EQ", "NEQ", "Nullif") and all(
        side.isascii() and (side.isprintable() and not side.endswith(" ")) for side in (left, right)
    ):
        return left.lower(), right.lower()
    raise UnsupportedError(f"the comparison of {left!r} with {right!r} in an expression is not supported yet")


def _null_if(node: Any, row: Row) -> Operand:
    sides = _compared(node, row)
    return None if sides is not None and sides[0] == sides[1] else evaluate(node.this, row)


def _variable(node: Any, row: Row) -> Operand:
    return row[f"@{node.name.lower()}"]


def _now(node: Any, row: Row) -> Operand:
    digits = node.expressions[0] if node.expressions else node.args.get("this")
    return row["@@now"](0 if digits is None else int(digits.this))


def _comparison(compare: Callable[[Any, Any], bool]) -> Rule:
    def rule(node: Any, row: Row) -> Operand:
        sides = _compared(node, row)
        return None if sides is None else int(compare(*sides))

    return rule


def _in(node: Any, row: Row) -> Operand:
    value = evaluate(node.this, row)
    others = [evaluate(element, row) for element in node.expressions]
    if not others:
        raise UnsupportedError("IN with a query is not supported yet")
    if any(isinstance(element, str) for element in (value, *others)):
        raise UnsupportedError("comparisons of text in expressions are not supported yet")
    if value is None:
        return None
    if any(element is not None and number_of(element) == number_of(value) for element in others):
        return 1
    return None if None in others else 0


def truth(node: Any, row: Row) -> bool | None:
    """Whether a condition holds; None for NULL."""
    value = evaluate(node, row)
    return None if value is None else bool(number_of(value))


def _and(node: Any, row: Row) -> Operand:
    sides = truth(node.this, row), truth(node.expression, row)
    return 0 if False in sides else None if None in sides else 1


def _or(node: Any, row: Row) -> Operand:
    sides = truth(node.this, row), truth(node.expression, row)
    return 1 if True in sides else None if None in sides else 0


def _not(node: Any, row: Row) -> Operand:
    value = truth(node.this, row)
    return None if value is None else int(not value)


def _is(node: Any, row: Row) -> Operand:
    kind = kind_of(node.expression)
    if kind == "Null":
        return int(evaluate(node.this, row) is None)
    if kind == "Boolean":
        return int(truth(node.this, row) is bool(node.expression.this))
    raise UnsupportedError(f"IS {kind.upper()} in expressions is not supported yet")


def _if(node: Any, row: Row) -> Operand:
    chosen = node.args["true"] if truth(node.this, row) else node.args.get("false")
    return None if chosen is None else evaluate(chosen, row)


def _case(node: Any, row: Row) -> Operand:
    if node.this is not None:
        raise UnsupportedError("CASE with a value in expressions is not supported yet; CASE WHEN condition is")
    for branch in node.args["ifs"]:
        if truth(branch.this, row):
            return evaluate(branch.args["true"], row)
    default = node.args.get("default")
    return None if default is None else evaluate(default, row)


def _coalesce(node: Any, row: Row) -> Operand:
    values = (evaluate(part, row) for part in (node.this, *node.expressions))
    return next((value for value in values if value is not None), None)


def _inner(node: Any, row: Row) -> Operand:
    return evaluate(node.this, row)


def _no_value(node: Any, row: Row) -> Operand:
    """Parts of other nodes, which these read themselves."""
    return None


#: What only expressions of statements have, not those of definitions.
OF_STATEMENTS = ("Parameter", "NOW", "CurrentTimestamp")

RULES.update(
    {
        "Literal": _literal,
        "Column": lambda node, row: row[node.name.lower()],
        "Identifier": _no_value,
        "Null": _no_value,
        "Boolean": lambda node, row: bool(node.this),
        "Paren": _inner,
        "Collate": _inner,
        "Var": _no_value,
        "Neg": _negative,
        "Add": _arithmetic(EXACT.add),
        "Sub": _arithmetic(EXACT.subtract),
        "Mul": _arithmetic(EXACT.multiply),
        "Div": _division(EXACT.divide, DIVISION_DIGITS),
        "IntDiv": _division(_whole_quotient, None),
        "Mod": _division(EXACT.remainder, None),
        "Abs": _absolute,
        "Floor": _to_whole(ROUND_FLOOR),
        "Ceil": _to_whole(ROUND_CEILING),
        "EQ": _comparison(lambda a, b: a == b),
        "NEQ": _comparison(lambda a, b: a != b),
        "LT": _comparison(lambda a, b: a < b),
        "LTE": _comparison(lambda a, b: a <= b),
        "GT": _comparison(lambda a, b: a > b),
        "GTE": _comparison(lambda a, b: a >= b),
        "In": _in,
        "And": _and,
        "Or": _or,
        "Not": _not,
        "Is": _is,
        "If": _if,
        "Case": _case,
        "Coalesce": _coalesce,
        "Nullif": _null_if,
        "Parameter": _variable,
        "NOW": _now,
        "CurrentTimestamp": _now,
    }
)
