"""Values of SQL types inside declared JSON documents: ``{price: !decimal 1.50, day: !date 2024-02-29}``.

=====================================  ================================================================
``!decimal 1.50``                      a DECIMAL literal of these digits
``!decimal 1.50 precision 10``         one of another precision; its scale is that of the digits
``!date``, ``!time``, ``!datetime``    DATE, TIME(6), DATETIME(6)
``!timestamp``                         TIMESTAMP(6), in UTC
``!bit 0101``                          a BIT of as many bits
``!hex 00ff``, ``!!binary AP8=``       a binary string
``!blob 00ff``                         a LONGBLOB
``!unsigned 5``, ``!signed 5``         an integer of an UNSIGNED or SIGNED expression, of as few bytes as hold it
``!opaque 252 00ff``                   the bytes of a value of the column type with that number
``!column price``                      what another column of the row holds (UPDATE, in JSON functions)
=====================================  ================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from forge.engine.dictionary.columns import ColumnDefinition
from forge.errors import FormatError, ScenarioError, UnsupportedError
from forge.located import Tagged
from forge.servers.facts.values import Dialect
from forge.sql.expressions import Cells, Operand
from forge.values import decode, encode
from forge.values.base import Value
from forge.values.json.binary import Json, Opaque, SqlInteger, check_opaque, decode_document
from forge.values.json.opaque import (
    opaque_date,
    opaque_datetime,
    opaque_decimal,
    opaque_time,
)
from forge.values.numeric.decimals import GROUP_DIGITS
from forge.values.text.column_charset import charset_of
from forge.values.wire_types import WireType

#: The tags of YAML that scenarios know.
TAGS: Final = frozenset(
    ("decimal", "date", "time", "datetime", "timestamp", "bit", "hex", "blob", "unsigned", "signed", "opaque", "column")
)
_DEEPEST: Final = 100
#: Bits below the hour of a packed TIME.
_HOUR: Final = 36


def with_types(declared: Any, column: Callable[[str], Any] | None = None, depth: int = 0) -> Any:
    """A declared document with its tagged values made; ``column`` gives what stands for ``!column``.

    Raises ScenarioError for texts that are no such value, and for a column where there is none.
    """
    if isinstance(declared, Tagged):
        if declared.tag != "column":
            return _typed(declared)
        if column is None:
            raise ScenarioError("!column is allowed only in the JSON functions of an UPDATE", expected="a value")
        return column(declared.text)
    if isinstance(declared, bytes) and (depth or column is not None):
        # By itself it is a whole document.
        return Opaque(WireType.VARCHAR, declared)
    if depth > _DEEPEST:
        return declared
    if isinstance(declared, dict):
        return {key: with_types(member, column, depth + 1) for key, member in declared.items()}
    if isinstance(declared, list | tuple):
        return [with_types(element, column, depth + 1) for element in declared]
    return declared


def _typed(tagged: Tagged) -> Json:
    tag, text = tagged.tag, tagged.text.strip()
    try:
        if tag == "decimal":
            return _decimal(text)
        if tag in ("unsigned", "signed"):
            return SqlInteger(int(text), unsigned=tag == "unsigned")
        if tag == "opaque":
            number, _, data = text.partition(" ")
            value = Opaque(int(number), bytes.fromhex(data))
            check_opaque(value)
            return value
        if tag == "bit":
            return Opaque(WireType.BIT, int(text, 2).to_bytes((len(text) + 7) // 8, "big"))
        if tag in ("hex", "blob"):
            return Opaque(WireType.VARCHAR if tag == "hex" else WireType.LONG_BLOB, bytes.fromhex(text))
    except (InvalidOperation, ValueError, OverflowError, FormatError):
        raise ScenarioError(f"{tagged} is not a value of that type", expected=_EXPECTED[tag]) from None
    kind = {"date": "DATE", "time": "TIME(6)"}.get(tag, "DATETIME(6)")
    moment = decode(kind, encode(kind, text))
    if isinstance(moment, timedelta):
        return opaque_time(moment)
    if isinstance(moment, datetime):
        return opaque_datetime(moment, WireType.TIMESTAMP) if tag == "timestamp" else opaque_datetime(moment)
    if isinstance(moment, date):
        return opaque_date(moment)
    raise ScenarioError(f"{tagged} is not a date of the calendar", expected="another date")


def _decimal(text: str) -> Opaque:
    digits, word, precision = text.partition(" precision ")
    value = Decimal(digits)
    if not word:
        return opaque_decimal(value)
    exponent = value.as_tuple().exponent
    scale = max(-exponent, 0) if isinstance(exponent, int) else 0
    return opaque_decimal(value, whole_digits=int(precision) - scale)


_EXPECTED: Final = {
    "decimal": "its digits, and a precision: !decimal 1.50 precision 10",
    "signed": "digits: !signed 5",
    "opaque": "the number of a column type, and hex: !opaque 252 00ff",
    "unsigned": "digits: !unsigned 5",
    "bit": "bits: !bit 0101",
    "hex": "digits of hex in pairs: !hex 00ff",
    "blob": "digits of hex in pairs: !blob 00ff",
}


def stored_times(value: Json, dialect: Dialect) -> Json:
    """The document as the server stores its TIMEs."""
    if not dialect.json_days_of_32_hours:
        return value
    if isinstance(value, dict):
        return {key: stored_times(member, dialect) for key, member in value.items()}
    if isinstance(value, list):
        return [stored_times(element, dialect) for element in value]
    if not isinstance(value, Opaque) or value.field_type != WireType.TIME:
        return value
    packed = int.from_bytes(value.data, "little", signed=True)
    # A day too many has 8 hours that are none.
    packed -= (-1 if packed < 0 else 1) * ((abs(packed) >> _HOUR >> 5) * 8 << _HOUR)
    return Opaque(WireType.TIME, packed.to_bytes(8, "little", signed=True))


def document_of_cell(column: ColumnDefinition, value: Value | None) -> Json:
    """What a cell of a row is inside a JSON document (recorded on MySQL 9.7).

    Raises ScenarioError for a vector, UnsupportedError for a geometry, which becomes GeoJSON.
    """
    if value is None:
        return None
    name, facts = column.type.name, column.type_facts
    if facts.is_json:
        return decode_document(value)
    if facts.has_charset:
        return _text_of_cell(column, value)
    if facts.json_wire_type is not None:
        padded = bytes(value).ljust(column.type.length or 0, b"\0") if name == "BINARY" else value
        return Opaque(facts.json_wire_type, padded)
    if facts.kind == "bit":
        return Opaque(WireType.BIT, value.to_bytes(((column.type.length or 1) + 7) // 8, "big"))
    if facts.kind == "decimal":
        precision, scale = column.wire.metadata
        return opaque_decimal(value, whole_digits=_stored_whole_digits(value, precision - scale, scale))
    if facts.is_approximate:
        return float(value)
    if facts.is_temporal:
        return _typed(Tagged(name.lower(), value))
    if facts.kind == "vector":
        raise ScenarioError(f"{column.name} is a VECTOR, which JSON cannot hold")
    if facts.is_geometry:
        raise UnsupportedError(f"{column.name} in a JSON document, where a geometry becomes GeoJSON")
    return SqlInteger(value, unsigned=bool(column.wire.unsigned) or facts.kind == "year")


def _stored_whole_digits(value: Decimal, whole_digits: int, scale: int) -> int:
    """Digits before the point that reading a stored DECIMAL counts: those of the column without its leading groups of
    zeros, where digits are packed in nines (bin2decimal; recorded).
    """
    needed = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    head = whole_digits % GROUP_DIGITS
    while whole_digits > needed:
        group = head or GROUP_DIGITS
        if whole_digits - group < needed:
            break
        whole_digits, head = whole_digits - group, 0
    # The number 0 keeps one digit.
    return whole_digits or (0 if scale else 1)


def _text_of_cell(column: ColumnDefinition, value: Value) -> Json:
    text = column.codec.text(column.wire, value) if column.type_facts.has_members else value
    if not isinstance(text, str):
        raise UnsupportedError(f"{column.name} in a JSON document: its bytes are not of its character set")
    charset = charset_of(column.wire)
    if charset is not None and charset.min_length > 1:
        # The server takes them as they are stored.
        return Opaque(WireType.VAR_STRING, charset.encode(text))
    return text


def cells_for(
    columns: Sequence[ColumnDefinition], row: Sequence[Value | None], names: Container[str]
) -> Mapping[str, Operand]:
    """The cells of the columns called ``names`` (lower-case), for an expression."""
    used = {
        column.name.lower(): (column, value)
        for column, value in zip(columns, row, strict=True)
        if column.name.lower() in names
    }
    operands = {name: column.operand(value) for name, (column, value) in used.items()}
    dialect = columns[0].wire.dialect
    if dialect.json_is_text:
        # Its documents are text.
        return operands
    return Cells(operands, lambda name: stored_times(document_of_cell(*used[name]), dialect))
