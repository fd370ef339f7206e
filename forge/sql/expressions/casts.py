"""CAST(... AS type [ARRAY]) and JSON_VALUE(... RETURNING type), as strict mode makes them.

Recorded on MySQL 9.7 for keys on expressions: what would be cut is refused (3751, 3907), what is not a number too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from forge.errors import ScenarioError, UnsupportedError
from forge.sql.ast.expressions import Call, Cast, CastType
from forge.sql.expressions.documents import document_of, scalar_at, unquoted
from forge.sql.expressions.evaluation import (
    BIGINT_MAX,
    BIGINT_MIN,
    FUNCTIONS,
    UNSIGNED_MAX,
    Function,
    Row,
    evaluate,
    number_of,
    plain,
    text_of,
)
from forge.sql.expressions.moments import parts_of
from forge.sql.expressions.operands import (
    Document,
    Moment,
    Operand,
    Unsigned,
)
from forge.values.declaration.typetext import parse_type
from forge.values.json.binary import SqlInteger
from forge.values.literals import rounded
from forge.values.registry import codec_for, column_for

_WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_NUMBER = re.compile(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)\s*", re.ASCII)


def _number(value: Operand) -> int | Decimal:
    """A number to cast, also out of text and JSON."""
    if isinstance(value, Document):
        value = plain(value.value)
        if isinstance(value, float):
            value = Decimal(repr(value))
        if value is None or isinstance(value, (list, tuple, dict)):
            raise ScenarioError("the expression casts a JSON value that is not a number", expected="a number")
    if isinstance(value, str) and not isinstance(value, Moment):
        if _WHOLE.fullmatch(value):
            return int(value)
        if _NUMBER.fullmatch(value):
            return Decimal(value.strip())
        raise ScenarioError(f"the expression casts {value!r} to a number", expected="the text of a number")
    number: int | Decimal = Decimal(repr(exact)) if isinstance(exact := number_of(value), float) else exact
    return number


def _integer(low: int, high: int, *, wraps: bool) -> Callable[[Operand], Operand]:
    def cast(value: Operand) -> Operand:
        whole = int(rounded(Decimal(_number(value)), 0))
        if not low <= whole <= high and wraps and isinstance(value, int) and BIGINT_MIN <= whole <= UNSIGNED_MAX:
            # An integer keeps its 64 bits.
            whole = whole % (1 << 64) if low == 0 else whole - (1 << 64)
        if not low <= whole <= high:
            raise ScenarioError(f"the expression casts {whole}", expected=f"{low} to {high}")
        return Unsigned(whole) if low == 0 else whole

    return cast


def _character(length: int | None) -> Callable[[Operand], Operand]:
    def cast(value: Operand) -> Operand:
        text = unquoted(value.value) if isinstance(value, Document) else text_of(value)
        if length is not None and len(text) > length:
            raise ScenarioError(f"the expression casts {text!r}", expected=f"at most {length} characters")
        return text

    return cast


def _decimal(precision: int, scale: int) -> Callable[[Operand], Operand]:
    def cast(value: Operand) -> Operand:
        number = rounded(Decimal(_number(value)), scale)
        if abs(number) >= 10 ** (precision - scale):
            raise ScenarioError(f"the expression casts {number}", expected=f"a DECIMAL({precision},{scale})")
        return number

    return cast


def _date(value: Operand) -> Operand:
    text = unquoted(value.value) if isinstance(value, Document) else value
    parts_of(text)
    return Moment(text[:10])


def _temporal(name: str, digits: int) -> Callable[[Operand], Operand]:
    """TIME or DATETIME with so many digits behind the second."""
    column = column_for(parse_type(f"{name}({digits})"))

    def cast(value: Operand) -> Operand:
        text = unquoted(value.value) if isinstance(value, Document) else value
        if name == "DATETIME":
            parts_of(text)
        return Moment(codec_for(column).accept(column, text))

    return cast


def _real(value: Operand) -> Operand:
    number = _number(value) if isinstance(value, Document) else number_of(value)
    return float(number)


def _binary(length: int | None) -> Callable[[Operand], Operand]:
    def cast(value: Operand) -> Operand:
        data = (unquoted(value.value) if isinstance(value, Document) else text_of(value)).encode()
        if length is not None and len(data) > length:
            raise ScenarioError(f"the expression casts {data!r}", expected=f"at most {length} bytes")
        return data

    return cast


def _padded_bytes(length: int | None) -> Callable[[Operand], Operand]:
    def cast(value: Operand) -> Operand:
        data: bytes = value if isinstance(value, bytes) else _binary(length)(value)
        return data if length is None else data.ljust(length, b"\0")

    return cast


def _json(value: Operand) -> Operand:
    if isinstance(value, int) and not isinstance(value, bool):
        return Document(SqlInteger(value, unsigned=value > BIGINT_MAX))
    return Document(document_of(value))


def cast_to(target: CastType) -> Callable[[Operand], Operand]:
    """How values become those of a type.  Raises UnsupportedError."""
    name, size = target.name, target.sizes[0] if target.sizes else None
    match name:
        case "SIGNED":
            return _integer(BIGINT_MIN, BIGINT_MAX, wraps=True)
        case "UNSIGNED":
            return _integer(0, UNSIGNED_MAX, wraps=True)
        case "CHAR" | "NCHAR":
            return _character(size)
        case "DECIMAL":
            return _decimal(*(*target.sizes, *(10, 0)[len(target.sizes) :])[:2])
        case "DATE":
            return _date
        case "DATETIME" | "TIME":
            return _temporal(name, size or 0)
        case "DOUBLE" | "REAL":
            return _real
        case "BINARY":
            return _padded_bytes(size)
        case "JSON":
            return _json
    raise UnsupportedError(f"CAST AS {name} in expressions is not supported yet")


def _element_cast(target: CastType) -> Callable[[Operand], Operand]:
    """How elements of an array become those of a key; integers out of range are refused."""
    match target.name:
        case "SIGNED":
            return _integer(BIGINT_MIN, BIGINT_MAX, wraps=False)
        case "UNSIGNED":
            return _integer(0, UNSIGNED_MAX, wraps=False)
        case "BINARY":
            return _binary(target.sizes[0] if target.sizes else None)
    return cast_to(target)


def _array(value: Operand, element_type: CastType) -> tuple[Operand, ...]:
    """The elements of a multi-valued key."""
    document = document_of(value)
    if isinstance(document, dict):
        raise ScenarioError("the expression casts a JSON object to an array", expected="an array or a scalar")
    cast = _element_cast(element_type)
    elements: list[Operand] = []
    for element in document if isinstance(document, (list, tuple)) else [document]:
        if element is None or isinstance(element, (list, tuple, dict)):
            raise ScenarioError("a multi-valued key has an element that is not a scalar", expected="numbers or text")
        entry = cast(Document(element))
        elements.append(entry.value if isinstance(entry, Unsigned) else entry)
    return tuple(dict.fromkeys(elements))


def _cast(row: Row, node: Cast) -> Operand:
    """CAST; JSON_VALUE ... RETURNING gives NULL for what the type cannot hold (NULL ON ERROR)."""
    if isinstance(node.operand, Call) and node.operand.name == "JSON_VALUE":
        values = [evaluate(argument, row) for argument in node.operand.arguments]
        scalar = None if None in values else scalar_at(*values)
        try:
            return None if scalar is None else cast_to(node.type)(Document(scalar))
        except ScenarioError as error:
            if isinstance(error, UnsupportedError):
                raise
            return None
    value = evaluate(node.operand, row)
    if value is None:
        return None
    return _array(value, node.type) if node.type.is_array else cast_to(node.type)(value)


FUNCTIONS["CAST"] = Function(_cast, takes="nodes")
