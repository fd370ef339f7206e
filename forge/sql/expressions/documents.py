"""JSON in expressions: constructors, paths (``->``, ``->>``, JSON_EXTRACT), JSON_VALUE, JSON_UNQUOTE."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from forge.errors import FormatError, ScenarioError, UnsupportedError
from forge.sql.ast.expressions import Call, Cast, ColumnName, Literal, Node
from forge.sql.expressions.evaluation import (
    BIGINT_MAX,
    FUNCTIONS,
    Cells,
    Function,
    Row,
    evaluate,
    surroundings,
    text_of,
)
from forge.sql.expressions.operands import (
    Document,
    Operand,
    Unsigned,
)
from forge.values.json.binary import Json, Opaque, SqlInteger
from forge.values.json.opaque import opaque_decimal, opaque_text
from forge.values.json.path import Cell, Leg, Member, parse_path
from forge.values.json.text import format_json, parse_json
from forge.values.json.text_column import json_text

#: A leg that names every member or every element.
EVERY_MEMBER, EVERY_CELL = "*", "[*]"


def document_of(value: Operand) -> Json:
    """The JSON value of an operand; text is parsed.  Raises ScenarioError for text that is no document."""
    if isinstance(value, Document):
        return value.value
    if isinstance(value, str):
        return parse_json(value)
    if isinstance(value, (list, dict)):
        return value
    raise UnsupportedError(f"a JSON function of {value!r} is not supported yet")


def path_of(text: Operand) -> list[Leg | str]:
    """The legs of a path, wildcards of members and cells among them.  Raises UnsupportedError for others."""
    legs: list[Leg | str] = []
    try:
        for piece in re.split(r"(\.\*|\[\*\])", text_of(text)):
            if piece in (f".{EVERY_MEMBER}", EVERY_CELL):
                legs.append(piece.lstrip("."))
            else:
                legs += parse_path(piece if not legs else f"${piece}")
    except FormatError as error:
        raise UnsupportedError(f"the JSON path {text!r} is not supported yet: {error.rule}") from None
    return legs


def values_at(value: Json, legs: Sequence[Leg | str]) -> list[Json]:
    """The values that a path names.  A cell of what is no array is the value itself, if its index is 0."""
    values = [value]
    for leg in legs:
        values = [inner for outer in values for inner in _step(outer, leg)]
    return values


def _step(value: Json, leg: Leg | str) -> list[Json]:
    if leg == EVERY_MEMBER:
        return list(value.values()) if isinstance(value, dict) else []
    if leg == EVERY_CELL:
        return list(value) if isinstance(value, (list, tuple)) else []
    if isinstance(leg, Member):
        return [value[leg.name]] if isinstance(value, dict) and leg.name in value else []
    assert isinstance(leg, Cell)
    cells = value if isinstance(value, (list, tuple)) else [value]
    position = leg.position(len(cells))
    return [cells[position]] if 0 <= position < len(cells) else []


def _extract(value: Operand, *paths: Operand) -> Document | None:
    all_legs = [path_of(path) for path in paths]
    values = [found for legs in all_legs for found in values_at(document_of(value), legs)]
    if not values:
        return None
    is_list = len(paths) > 1 or any(isinstance(leg, str) for leg in all_legs[0])
    return Document(values) if is_list else Document(values[0])


def unquoted(value: Json) -> str:
    """JSON_UNQUOTE."""
    if isinstance(value, Opaque):
        return opaque_text(value)[0]
    return value if isinstance(value, str) else format_json(value)


def _extract_text(value: Operand, path: Operand) -> str | None:
    document = _extract(value, path)
    return None if document is None else unquoted(document.value)


def _unquote(value: Operand) -> str:
    if isinstance(value, str) and value.startswith('"'):
        raise UnsupportedError("JSON_UNQUOTE of text is not supported yet; of JSON it is")
    return unquoted(value.value) if isinstance(value, Document) else text_of(value)


def scalar_at(value: Operand, path: Operand) -> Json:
    """What JSON_VALUE finds; None for nothing, and for what is not a scalar."""
    values = values_at(document_of(value), path_of(path))
    return None if len(values) != 1 or isinstance(values[0], (list, tuple, dict)) else values[0]


def _json_value(value: Operand, path: Operand) -> str | None:
    scalar = scalar_at(value, path)
    return None if scalar is None else unquoted(scalar)


#: Functions whose integers and text are the same inside a document; others may be booleans, moments or DECIMALs there.
_SAME_INSIDE = frozenset((
    "NEG", "+", "-", "*", "DIV", "CHAR_LENGTH", "CHARACTER_LENGTH", "JSON_LENGTH", "CONCAT", "CONCAT_WS", "LOWER",
    "LCASE", "UPPER", "UCASE", "TRIM", "SUBSTRING", "LEFT", "RIGHT", "REVERSE", "JSON_EXTRACT", "->", "->>",
    "JSON_UNQUOTE", "JSON_ARRAY", "JSON_OBJECT", "JSON_SET", "JSON_INSERT", "JSON_REPLACE", "JSON_REMOVE",
    "JSON_ARRAY_APPEND", "JSON_ARRAY_INSERT", "JSON_MERGE_PATCH", "JSON_MERGE_PRESERVE", "JSON_KEYS", "REPEAT", "HEX",
    "LENGTH", "MD5", "SHA1", "SHA2", "DATE_FORMAT", "REPLACE", "LPAD", "RPAD", "YEAR", "MONTH", "DAY", "HOUR", "MINUTE",
    "SECOND", "SUBSTRING_INDEX", "UUID",
))  # fmt: skip
_CASTS_INSIDE = ("SIGNED", "UNSIGNED", "CHAR", "NCHAR", "JSON")


def element(node: Node, row: Row) -> Json:
    """What an expression is inside a document that JSON_ARRAY or JSON_OBJECT makes (recorded on MySQL 9.7)."""
    if isinstance(node, ColumnName) and isinstance(row, Cells):
        return row.document(node.name.lower())
    if isinstance(node, Call) and node.name not in _SAME_INSIDE:
        raise UnsupportedError(f"{node.name} inside JSON_ARRAY or JSON_OBJECT is not supported yet")
    if isinstance(node, Cast) and node.type.name not in _CASTS_INSIDE:
        raise UnsupportedError(f"CAST AS {node.type.name} inside JSON_ARRAY or JSON_OBJECT is not supported yet")
    value = evaluate(node, row)
    if isinstance(value, Document):
        return value.value
    if isinstance(value, Unsigned):
        return SqlInteger(value.value, unsigned=True)
    if isinstance(value, Decimal):
        signed = node.arguments[0] if isinstance(node, Call) and node.name == "NEG" else node
        if not isinstance(signed, Literal | ColumnName):
            raise UnsupportedError("a computed DECIMAL inside JSON_ARRAY or JSON_OBJECT is not supported yet")
        return opaque_decimal(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return SqlInteger(value, unsigned=value > BIGINT_MAX)
    return value


def _made(row: Row, value: Json) -> Operand:
    """What a constructor gives in a statement: a document; MariaDB's is text with the members as they come."""
    around = surroundings(row)
    return value if around is None or around.keeps_quotients else Document(value)


def _json_array(row: Row, *parts: Node) -> Operand:
    return _made(row, [element(part, row) for part in parts])


def _json_object(row: Row, *parts: Node) -> Operand:
    if len(parts) % 2:
        raise ScenarioError("JSON_OBJECT has a member without a value", expected="names and values in turn")
    members: dict[str, Json] = {}
    for name, value in zip(parts[::2], parts[1::2], strict=True):
        key = evaluate(name, row)
        if key is None:
            raise ScenarioError("a member of JSON_OBJECT is called NULL", expected="text")
        members[text_of(key)] = element(value, row)
    return _made(row, members)


def _json_valid(value: Operand) -> int:
    """JSON_VALID of a text or a document."""
    if isinstance(value, Document):
        return 1
    if not isinstance(value, str):
        raise UnsupportedError(f"JSON_VALID of {value!r} is not supported yet")
    try:
        json_text(value)
    except UnsupportedError:
        raise
    except ScenarioError:
        return 0
    return 1


#: Those that MariaDB has not, or computes on text as it is written.
OF_MYSQL_ONLY = frozenset((
    "->", "->>", "JSON_EXTRACT", "JSON_UNQUOTE", "JSON_VALUE", "JSON_LENGTH", "JSON_SET", "JSON_INSERT", "JSON_REPLACE",
    "JSON_REMOVE", "JSON_ARRAY_APPEND", "JSON_ARRAY_INSERT", "JSON_MERGE_PATCH", "JSON_MERGE_PRESERVE", "JSON_MERGE",
    "JSON_CONTAINS", "JSON_CONTAINS_PATH", "JSON_KEYS", "JSON_TYPE", "JSON_DEPTH", "JSON_QUOTE", "MEMBER",
))  # fmt: skip

FUNCTIONS |= {
    **dict.fromkeys(("->", "JSON_EXTRACT"), Function(_extract, 2, 1000)),
    "->>": Function(_extract_text, 2, 2),
    "JSON_VALUE": Function(_json_value, 2, 2),
    "JSON_UNQUOTE": Function(_unquote),
    "JSON_VALID": Function(_json_valid),
    "JSON_ARRAY": Function(_json_array, 0, 1000, "nodes"),
    "JSON_OBJECT": Function(_json_object, 0, 1000, "nodes"),
}
