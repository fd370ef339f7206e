"""USER_VAR (14): a user variable that the next QUERY reads.  Statement format only.

``value`` are the bytes: text, a double, eight bytes of an integer, or precision, scale and packed decimal.  The flags
byte (1 = UNSIGNED) is there for integers only, and not in 5.1 (recorded on 9.7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Construct, Int8ul, Int32ul, Struct

from forge.events.layout import Body, Derived, Span, Text, WhileMore, derived, field_length, length_of, read_exactly

STRING, REAL, INTEGER, ROW, DECIMAL = range(5)


class _Value(Construct):  # type: ignore[misc]
    """(type, collation, bytes), or None for NULL."""

    def _parse(self, stream: Any, context: Any, path: str) -> tuple[int, int, bytes] | None:
        if context.is_null:
            return None
        kind, collation, length = (int(part.parse_stream(stream)) for part in (Int8ul, Int32ul, Int32ul))
        return kind, collation, read_exactly(stream, length, path)

    def _build(self, obj: tuple[int, int, bytes] | None, stream: Any, context: Any, path: str) -> Any:
        if obj is not None:
            kind, collation, value = obj
            stream.write(Int8ul.build(kind) + Int32ul.build(collation) + Int32ul.build(len(value)) + value)
        return obj


@dataclass(frozen=True, slots=True, kw_only=True)
class UserVar(Body):
    type_code: ClassVar[int] = 14
    type_name: ClassVar[str] = "USER_VAR"
    name_length: int | None = derived()
    name: str
    is_null: int | None = derived()
    value: tuple[int, int, bytes] | None = None
    value_flags: int | None = None
    layout: ClassVar[Struct] = Struct(
        "name_length" / Derived(Int32ul, length_of("name")),
        "name" / Text(Span(field_length("name_length"))),
        "is_null" / Derived(Int8ul, lambda this: int(this.value is None)),
        "value" / Derived(_Value(), lambda this: None),
        "value_flags" / WhileMore(Int8ul),
    )
