"""CAST(... AS type [ARRAY]) and JSON_VALUE(... RETURNING type), as strict mode makes them.

Recorded on MySQL 9.7 for keys on expressions: what would be cut is refused (3751, 3907), what is not a number too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from forge.errors import ScenarioError, UnsupportedError
from forge.sql.expressions.documents import document_of, scalar_at, unquoted
from forge.sql.expressions.evaluation import (
    BIGINT_MAX,
    BIGINT_MIN,
    UNSIGNED_MAX,
    Document,
    Operand,
    Row,
    Rule,
    Unsigned,
    evaluate,
    number_of,
    plain,
    text_of,
)
from forge.sql.expressions.moments import parts_of
from forge.values.declaration.typetext import parse_type
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
    if isinstance(value, str):
        if _WHOLE.fullmatch(value):
            return int(value)
        if _NUMBER.fullmatch(value):
            return Decimal(value.strip())
        raise ScenarioError(f"the expression casts {value!r} to a number", expected="the text of a number")
    return number_of(value)


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
    return text[:10]


def _temporal(name: str, digits: int) -> Callable[[Operand], Operand]:
    """TIME or DATETIME with so many digits behind the second."""
    column = column_for(parse_type(f"{name}({digits})"))

    def cast(value: Operand) -> Operand:
        text = unquoted(value.value) if isinstance(value, Document) else value
        if name == "DATETIME":
            parts_of(text)
        stored: str = codec_for(column).accept(column, text)
        return stored

    return cast


def _binary(length: int | None) -> Callable[[Operand], Operand]:
    def cast(value: Operand) -> Operand:
        data = (unquoted(value.value) if isinstance(value, Document) else text_of(value)).encode()
        if length is not None and len(data) > length:
            raise ScenarioError(f"the expression casts {data!r}", expected=f"at most {length} bytes")
        return data

    return cast


def _sizes(target: Any) -> list[int]:
    return [int(size.name) for size in target.expressions]


def cast_to(target: Any) -> Callable[[Operand], Operand]:
    """How values become those of a type, as sqlglot has it.  Raises UnsupportedError."""
    name, sizes = target.this.name, _sizes(target)
    if name == "BIGINT":
        return _integer(BIGINT_MIN, BIGINT_MAX, wraps=True)
    if name == "UBIGINT":
        return _integer(0, UNSIGNED_MAX, wraps=True)
    if name in ("CHAR", "NCHAR"):
        return _character(sizes[0] if sizes else None)
    if name == "DECIMAL":
        return _decimal(*(sizes + [10, 0][len(sizes) :])[:2])
    if name == "DATE":
        return _date
    if name in ("DATETIME", "TIME"):
        return _temporal(name, sizes[0] if sizes else 0)
    if name == "JSON":
        return lambda value: Document(document_of(value))
    raise UnsupportedError(f"CAST AS {name} in expressions is not supported yet")


def _element_cast(target: Any) -> Callable[[Operand], Operand]:
    """How elements of an array become those of a key; integers out of range are refused."""
    name = target.this.name
    if name == "BIGINT":
        return _integer(BIGINT_MIN, BIGINT_MAX, wraps=False)
    if name == "BINARY":
        return _binary(_sizes(target)[0] if _sizes(target) else None)
    return _integer(0, UNSIGNED_MAX, wraps=False) if name == "UBIGINT" else cast_to(target)


def _array(value: Operand, element_type: Any) -> tuple[Operand, ...]:
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


def is_array(node: Any) -> bool:
    """Whether a node is CAST(... AS type ARRAY), parentheses apart."""
    while type(node).__name__ == "Paren":
        node = node.this
    return type(node).__name__ == "Cast" and node.args["to"].this.name == "ARRAY"


def _cast(node: Any, row: Row) -> Operand:
    value = evaluate(node.this, row)
    if value is None:
        return None
    target = node.args["to"]
    return _array(value, target.expressions[0]) if is_array(node) else cast_to(target)(value)


def _json_value(node: Any, row: Row) -> Operand:
    """JSON_VALUE(document, path [RETURNING type]): NULL for what the type cannot hold (NULL ON ERROR)."""
    scalar = scalar_at(node, row)
    if scalar is None:
        return None
    target = node.args.get("returning")
    try:
        return cast_to(target)(Document(scalar)) if target else unquoted(scalar)
    except ScenarioError as error:
        if isinstance(error, UnsupportedError):
            raise
        return None


CAST_RULES: dict[str, Rule] = {
    "Cast": _cast,
    "JSONValue": _json_value,
    "DataType": lambda node, row: None,
    "DataTypeParam": lambda node, row: None,
}
