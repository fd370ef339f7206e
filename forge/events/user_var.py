"""USER_VAR (14): a user variable that the next QUERY reads.  Statement format only.

``value`` are the bytes: text, a double, eight bytes of an integer, or precision, scale and packed decimal.  The flags
byte (1 = UNSIGNED) is there for integers only, and not in 5.1 (recorded on 9.7).  MariaDB adds the name of a data
type that is none of these: ``02``, its length, ``geometry`` (recorded on 10.11 and 11.8).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Const, Construct, FocusedSeq, Int8ul, Int32ul, Prefixed, Struct, Subconstruct

from forge.events.layout import (
    Body,
    Derived,
    Rest,
    Span,
    Text,
    WhileMore,
    derived,
    field_length,
    length_of,
    read_exactly,
)

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


class _Flags(Subconstruct):  # type: ignore[misc]
    """The flags byte where it stands: behind an integer, and as the last byte of anything else."""

    def __init__(self, subcon: Any) -> None:
        super().__init__(subcon)
        self.flagbuildnone = True

    def _parse(self, stream: Any, context: Any, path: str) -> int | None:
        here = stream.tell()
        following = stream.read(2)
        stream.seek(here)
        is_integer = context.value is not None and context.value[0] == INTEGER
        if not following or (len(following) > 1 and not is_integer):
            return None
        return int(self.subcon._parsereport(stream, context, path))

    def _build(self, obj: int | None, stream: Any, context: Any, path: str) -> int | None:
        if obj is not None:
            self.subcon._build(obj, stream, context, path)
        return obj


#: Chunk DATA_TYPE_NAME of MariaDB's Log_event_data_type.
_DATA_TYPE = FocusedSeq("name", Const(b"\x02"), "name" / Text(Prefixed(Int8ul, Rest())))


@dataclass(frozen=True, slots=True, kw_only=True)
class UserVar(Body):
    type_code: ClassVar[int] = 14
    type_name: ClassVar[str] = "USER_VAR"
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
        "value" / Derived(_Value(), lambda this: None),
        "value_flags" / _Flags(Int8ul),
        "data_type" / WhileMore(_DATA_TYPE),
    )
