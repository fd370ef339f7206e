"""JSON in expressions: constructors, paths (``->``, ``->>``, JSON_EXTRACT), JSON_VALUE, JSON_UNQUOTE."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from forge.errors import FormatError, ScenarioError, UnsupportedError
from forge.sql.expressions.evaluation import (
    BIGINT_MAX,
    Cells,
    Document,
    Operand,
    Row,
    Rule,
    Unsigned,
    evaluate,
    kind_of,
    text_of,
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


def path_of(node: Any) -> list[Leg | str]:
    """The legs of a path as sqlglot reads it.  Raises UnsupportedError for what is not read here."""
    if type(node).__name__ == "Literal":
        try:
            return list(parse_path(node.this))
        except FormatError as error:
            raise UnsupportedError(f"the JSON path {node.this!r} is not supported yet: {error.rule}") from None
    if type(node).__name__ != "JSONPath":
        raise UnsupportedError("a JSON path that is computed is not supported yet")
    legs: list[Leg | str] = []
    for leg in node.expressions[1:]:
        kind, name = type(leg).__name__, leg.args.get("this")
        if kind == "JSONPathKey" and isinstance(name, str):
            legs.append(Member(name))
        elif kind == "JSONPathSubscript" and isinstance(name, int):
            legs.append(Cell(name))
        elif type(name).__name__ == "JSONPathWildcard":
            legs.append(EVERY_MEMBER if kind == "JSONPathKey" else EVERY_CELL)
        else:
            raise UnsupportedError("JSON paths with ** are not supported yet")
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


def _extract(node: Any, row: Row) -> Operand:
    if node.expressions:
        raise UnsupportedError("JSON_EXTRACT with several paths is not supported yet")
    value = evaluate(node.this, row)
    if value is None:
        return None
    legs = path_of(node.expression)
    values = values_at(document_of(value), legs)
    if not values:
        return None
    return Document(values) if any(isinstance(leg, str) for leg in legs) else Document(values[0])


def unquoted(value: Json) -> str:
    """JSON_UNQUOTE."""
    if isinstance(value, Opaque):
        return opaque_text(value)[0]
    return value if isinstance(value, str) else format_json(value)


def _extract_text(node: Any, row: Row) -> Operand:
    document = _extract(node, row)
    return None if document is None else unquoted(document.value)


def _unquote(node: Any, row: Row) -> Operand:
    value = evaluate(node.expressions[0], row)
    if isinstance(value, str) and value.startswith('"'):
        raise UnsupportedError("JSON_UNQUOTE of text is not supported yet; of JSON it is")
    return None if value is None else unquoted(value.value) if isinstance(value, Document) else text_of(value)


def scalar_at(node: Any, row: Row) -> Json:
    """What JSON_VALUE finds; None for NULL, for nothing, and for what is not a scalar."""
    value = evaluate(node.this, row)
    if value is None:
        return None
    values = values_at(document_of(value), path_of(node.args["path"]))
    return None if len(values) != 1 or isinstance(values[0], (list, tuple, dict)) else values[0]


#: Nodes whose integers and text are the same inside a document; others may be booleans, moments or DECIMALs there.
_SAME_INSIDE = frozenset((
    "Literal", "Boolean", "Null", "Neg", "Paren", "Add", "Sub", "Mul", "IntDiv", "Length", "JSON_LENGTH",
    "Concat", "ConcatWs", "Lower", "Upper", "Trim", "Substring", "Left", "Right", "Reverse",
    "JSONExtract", "JSONExtractScalar", "JSON_UNQUOTE", "JSON_ARRAY", "JSONObject",
))  # fmt: skip


def _element(node: Any, row: Row) -> Json:
    """What an expression is inside a document that JSON_ARRAY or JSON_OBJECT makes (recorded on MySQL 9.7)."""
    kind = kind_of(node)
    if kind == "Column" and isinstance(row, Cells):
        return row.document(node.name.lower())
    if kind == "Cast" and node.args["to"].this.name in ("BIGINT", "UBIGINT", "CHAR", "NCHAR", "JSON"):
        pass
    elif kind not in _SAME_INSIDE and kind != "Column":
        raise UnsupportedError(f"{kind.upper()} inside JSON_ARRAY or JSON_OBJECT is not supported yet")
    value = evaluate(node, row)
    if isinstance(value, Document):
        return value.value
    if isinstance(value, Unsigned):
        return SqlInteger(value.value, unsigned=True)
    if isinstance(value, Decimal):
        if kind_of(node.this if kind == "Neg" else node) not in ("Literal", "Column"):
            raise UnsupportedError("a computed DECIMAL inside JSON_ARRAY or JSON_OBJECT is not supported yet")
        return opaque_decimal(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return SqlInteger(value, unsigned=value > BIGINT_MAX)
    return value


def _json_array(node: Any, row: Row) -> Operand:
    return [_element(part, row) for part in node.expressions]


def _json_object(node: Any, row: Row) -> Operand:
    members = {}
    for pair in node.expressions:
        key = evaluate(pair.this, row)
        if key is None:
            raise ScenarioError("a member of JSON_OBJECT is called NULL", expected="text")
        members[text_of(key)] = _element(pair.expression, row)
    return members


def _json_length(node: Any, row: Row) -> Operand:
    value = evaluate(node.expressions[0], row)
    if value is None:
        return None
    if len(node.expressions) > 1:
        raise UnsupportedError("JSON_LENGTH with a path is not supported yet")
    document = document_of(value)
    return len(document) if isinstance(document, (list, tuple, dict)) else 1


def _json_valid(node: Any, row: Row) -> Operand:
    """JSON_VALID of a text or a document."""
    value = evaluate(node.expressions[0], row)
    if value is None or isinstance(value, Document):
        return None if value is None else 1
    if not isinstance(value, str):
        raise UnsupportedError(f"JSON_VALID of {value!r} is not supported yet")
    try:
        json_text(value)
    except UnsupportedError:
        raise
    except ScenarioError:
        return 0
    return 1


DOCUMENT_RULES: dict[str, Rule] = {
    "JSON_VALID": _json_valid,
    "JSONExtract": _extract,
    "JSONExtractScalar": _extract_text,
    "JSON_UNQUOTE": _unquote,
    "JSON_LENGTH": _json_length,
    "JSON_ARRAY": _json_array,
    "JSONObject": _json_object,
    "JSONKeyValue": lambda node, row: None,
    "JSONPath": lambda node, row: None,
    "JSONPathRoot": lambda node, row: None,
    "JSONPathKey": lambda node, row: None,
    "JSONPathSubscript": lambda node, row: None,
    "JSONPathWildcard": lambda node, row: None,
}
#: Those that MariaDB has not, or computes on text as it is written.
OF_MYSQL_ONLY = frozenset({"JSONExtract", "JSONExtractScalar", "JSON_UNQUOTE", "JSONValue", "JSON_LENGTH"})
