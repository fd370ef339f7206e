"""SQL literals and expressions that store a given JSON value with exactly its types.

JSON text gives signed integers, doubles and strings only; values of other SQL types need an expression of that
type inside JSON_ARRAY or JSON_OBJECT.  Every form was executed on MySQL 9.7 and its logged bytes compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from forge.errors import UnsupportedError
from forge.values.json.binary import Json, Opaque, SqlInteger
from forge.values.json.opaque import opaque_text
from forge.values.json.text import format_double, format_json
from forge.values.literals import quoted
from forge.values.wire_types import WireType

_CASTS: Final[dict[int, str]] = {
    WireType.DATE: "DATE",
    WireType.TIME: "TIME(6)",
    WireType.DATETIME: "DATETIME(6)",
}
#: Types whose opaque values have a text of their own.
_WITH_TEXT: Final = frozenset((*_CASTS, WireType.TIMESTAMP, WireType.NEWDECIMAL))


@dataclass(frozen=True, slots=True)
class SqlExpression:
    """Stands in a document for a value that SQL computes: the name of a column."""

    sql: str


def json_literal(value: Json) -> str:
    """An SQL literal or expression for a JSON column.  Raises UnsupportedError if there is none."""
    if is_textual(value):
        return string_literal(format_json(value))
    expression = _expression(value)
    return expression if isinstance(value, dict | list) else f"CAST({expression} AS JSON)"


def json_argument(value: Json) -> str:
    """An SQL expression that gives a JSON function this value.  Raises UnsupportedError if there is none."""
    if isinstance(value, dict | list) and is_textual(value):
        return f"CAST({string_literal(format_json(value))} AS JSON)"
    return _expression(value)


def is_textual(value: Json) -> bool:
    """Whether JSON text stores this value with its types: nothing in it is an SqlInteger, Opaque or SqlExpression."""
    if isinstance(value, dict):
        return all(map(is_textual, value.values()))
    if isinstance(value, list | tuple):
        return all(map(is_textual, value))
    return not isinstance(value, SqlInteger | Opaque | SqlExpression)


def string_literal(text: str) -> str:
    """A character literal that means ``text`` whatever the connection's character set is."""
    return quoted(text) if text.isascii() else "_utf8mb4" + quoted(text)


def _expression(value: Json) -> str:
    if isinstance(value, dict):
        members = (f"{string_literal(key)}, {_expression(member)}" for key, member in value.items())
        return f"JSON_OBJECT({', '.join(members)})"
    if isinstance(value, list | tuple):
        return f"JSON_ARRAY({', '.join(map(_expression, value))})"
    if isinstance(value, SqlExpression):
        return value.sql
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, SqlInteger):
        return f"CAST({value.value} AS UNSIGNED)" if value.unsigned else str(value.value)
    if isinstance(value, int):
        return f"CAST({value} AS UNSIGNED)" if value > 0xFFFFFFFF else str(value)
    if isinstance(value, float):
        text = format_double(value)
        return text if "e" in text else text + "e0"
    if isinstance(value, Opaque):
        return _opaque_expression(value)
    return string_literal(value)


def _opaque_expression(value: Opaque) -> str:
    if value.field_type == WireType.VARCHAR:
        return f"x'{value.data.hex()}'"
    if value.field_type == WireType.LONG_BLOB:
        return f"UNCOMPRESS(COMPRESS(x'{value.data.hex()}'))"
    if value.field_type == WireType.BIT and 0 < len(value.data) <= 8:
        number = int.from_bytes(value.data, "big")
        return _from_json_table(str(number), f"BIT({8 * len(value.data)})")
    if value.field_type == WireType.STRING and _is_utf8(value.data):
        return _from_json_table(format_json(value.data.decode()), f"BINARY({len(value.data)})")
    if value.field_type == WireType.BLOB and _is_utf8(value.data):
        return _from_json_table(format_json(value.data.decode()), "BLOB")
    if value.field_type not in _WITH_TEXT:
        raise UnsupportedError(f"no SQL expression gives an opaque JSON value of column type {value.field_type}")
    text, _ = opaque_text(value)
    if value.field_type == WireType.NEWDECIMAL:
        return _decimal_expression(text, value.data[0] - value.data[1], value.data[1])
    if value.field_type == WireType.TIMESTAMP:
        return _from_json_table(format_json(text), "TIMESTAMP(6)")
    return f"CAST('{text}' AS {_CASTS[value.field_type]})"


def _from_json_table(element: str, column_type: str) -> str:
    table = f"JSON_TABLE({string_literal(f'[{element}]')}, '$[*]' COLUMNS (c {column_type} PATH '$'))"
    return f"(SELECT c FROM {table} AS t)"


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decimal_expression(text: str, whole_digits: int, scale: int) -> str:
    """A DECIMAL whose stored precision counts ``whole_digits`` before the point.

    The server stores the digits of a literal, one more if it has leading zeros, and for a CAST the digits rounded
    up to whole groups of nine.
    """
    sign, magnitude = ("-", text[1:]) if text.startswith("-") else ("", text)
    whole, _, fraction = magnitude.partition(".")
    if whole_digits == 0:
        return f"{sign}.{fraction}"
    point = "" if scale else "."  # "100." is a DECIMAL, "100" is a BIGINT
    if whole_digits == len(whole):
        return sign + magnitude + point
    if whole_digits == len(whole) + 1 and whole != "0":
        return f"{sign}0{magnitude}{point}"
    if whole_digits % 9 == 0 and len(whole) <= whole_digits:
        return f"CAST('{text}' AS DECIMAL(65,{scale}))"
    raise UnsupportedError(f"no SQL expression gives the opaque DECIMAL {text} {whole_digits} digits before the point")
