"""USER_VAR (14): a user variable that the next QUERY reads.  Statement format only.

``value`` are the bytes: text, a double, eight bytes of an integer, or precision, scale and packed decimal.  The flags
byte (1 = UNSIGNED) is there for integers only, and not in 5.1 (recorded on 9.7).  MariaDB adds the name of a data
type that is none of these: ``02``, its length, ``geometry`` (recorded on 10.11 and 11.8).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Const, Int8ul, Int32ul, Sequence, Struct

from forge.charsets import charset, find_collation
from forge.errors import ForgeError
from forge.events.column_fields import COLLATION_SHAPE, collation_fields
from forge.events.derived_parts import Derived, WhileMore
from forge.events.giving import Part, giver_of
from forge.events.layout import Body, ShortText, Span, Surroundings, Text, derived, field_length, length_of
from forge.events.plain import Fields, flag_names, printable, text_or_hex, words
from forge.events.shapes import FLAGS, HEX, TEXT, Shape, described, either, object_of, one_of
from forge.events.taking import take_bytes, taker_of
from forge.values.base import Column
from forge.values.registry import codec_for
from forge.values.wire_types import WireType

STRING, REAL, INTEGER, ROW, DECIMAL = range(5)
_KINDS = {STRING: "STRING", REAL: "REAL", INTEGER: "INTEGER", ROW: "ROW", DECIMAL: "DECIMAL"}
_UNSIGNED = 1
#: Type, collation and length of a value.
_VALUE_HEAD = Sequence(Int8ul, Int32ul, Int32ul)
_VALUE_FLAGS = ((_UNSIGNED, "UNSIGNED"),)


class _Value(Part):
    """(type, collation, bytes), or None for NULL."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[tuple[int, int, bytes] | None, int]:
        if found.is_null:
            return None, at
        (kind, collation, length), at = taker_of(_VALUE_HEAD)(data, at, found)
        value, end = take_bytes(data, at, length)
        return (kind, collation, value), end

    def give(self, value: tuple[int, int, bytes] | None, fields: Any) -> bytes:
        if value is None:
            return b""
        kind, collation, data = value
        return giver_of(_VALUE_HEAD)((kind, collation, len(data)), fields) + data


class _Flags(Part):
    """The flags byte where it stands: behind an integer, and as the last byte of anything else."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[int | None, int]:
        is_integer = found.value is not None and found.value[0] == INTEGER
        stands = at < len(data) and (is_integer or at == len(data) - 1)
        return (data[at], at + 1) if stands else (None, at)

    def give(self, value: int | None, fields: Any) -> bytes:
        return b"" if value is None else bytes([value])

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.unsigned(8)


class _DataType(ShortText):
    """Chunk DATA_TYPE_NAME of MariaDB's Log_event_data_type."""

    rule = ""

    def take(self, data: bytes, at: int, found: Any) -> tuple[str, int]:
        _, start = taker_of(_DATA_TYPE_MARK)(data, at, found)
        return super().take(data, start, found)

    def give(self, value: str, fields: Any) -> bytes:
        return bytes(_DATA_TYPE_MARK.value) + super().give(value, fields)


_DATA_TYPE_MARK = Const(b"\x02")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserVar(Body, type_code=14, type_name="USER_VAR", features=("user_var",)):
    name_length: int | None = derived()
    name: str
    is_null: int | None = derived()
    value: tuple[int, int, bytes] | None = None
    value_flags: int | None = None
    data_type: str | None = None
    layout: ClassVar[Struct] = Struct(
        "name_length" / Derived(Int32ul, length_of("name")),
        "name" / Text(Span(field_length("name_length"))),
        "is_null" / Derived(Int8ul, lambda this: int(this.value is None)),
        "value" / _Value(),
        "value_flags" / _Flags(),
        "data_type" / WhileMore(_DataType()),
    )

    def canonical(self, surroundings: Surroundings) -> Fields:
        """``value`` is null, or has ``type``, ``collation`` and ``value``; bytes stand under ``hex``."""
        shown: Fields = {"name": text_or_hex(self.name), "value": None}
        if self.value is not None:
            shown["value"] = self._value_fields(surroundings.family)
        if self.value_flags is not None:
            shown["value_flags"] = flag_names(self.value_flags, _VALUE_FLAGS)
        if self.data_type is not None:
            shown["data_type"] = text_or_hex(self.data_type)
        return shown

    def _value_fields(self, family: str) -> Fields:
        assert self.value is not None
        kind, number, raw = self.value
        head = {"type": _KINDS.get(kind, kind), "collation": collation_fields(number, family)}
        collation = find_collation(number, family)
        text = self.number()
        if kind == STRING and collation is not None and collation.charset != "binary":
            with suppress(ForgeError):
                text = charset(collation.charset).decode(raw)
        return head | ({"hex": raw.hex()} if text is None else {"value": text})

    def number(self) -> str | None:
        """The exact text of a number; None for text, NULL, and bytes that are not a number of their type."""
        kind, _, raw = self.value or (STRING, 0, b"")
        unsigned = bool((self.value_flags or 0) & _UNSIGNED)
        try:
            if kind == INTEGER and len(raw) == 8:
                return str(int.from_bytes(raw, "little", signed=not unsigned))
            if kind == REAL and len(raw) == 8:
                return _text_of(Column(WireType.DOUBLE, b"\x08"), raw)
            if kind == DECIMAL and len(raw) > 2:
                return _text_of(Column(WireType.NEWDECIMAL, raw[:2]), raw[2:])
        except (ForgeError, ValueError, IndexError):
            pass
        return None

    @classmethod
    def canonical_shape(cls) -> Shape:
        fields: Shape = {
            "type": one_of(_KINDS.values()),
            "collation": COLLATION_SHAPE,
            "value": described({"type": "string"}, "The exact text."),
            "hex": described(HEX, "The bytes of a binary string, and of what is no value of the type."),
        }
        value = object_of(fields, "value", "hex") | {"oneOf": [{"required": ["value"]}, {"required": ["hex"]}]}
        nullable = described(either({"type": "null"}, value), "null for NULL.")
        properties: Shape = {"name": TEXT, "value": nullable, "value_flags": FLAGS, "data_type": TEXT}
        return object_of(properties, "value_flags", "data_type")

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        name, value = f"@{words(fields['name'])}", fields["value"]
        if value is None:
            return f"{name} = NULL"
        if "hex" in value:
            return f"{name} = 0x{value['hex']}"
        if value["type"] != "STRING":
            return f"{name} = {value['value']}"
        return f"{name} = '{printable(value['value'])}' ({value['collation']['name']})"

    def statement(self, surroundings: Surroundings) -> str | None:
        if self.value is None:
            return f"@{self.name} NULL"
        if self.value[0] == REAL:
            # Vendors' readers print fewer digits than it has.
            return None
        return f"@{self.name} {self.number() or '0x' + self.value[2].hex()}"


def _text_of(column: Column, raw: bytes) -> str | None:
    codec = codec_for(column)
    return codec.text(column, codec.decode(column, raw))
