"""LOAD DATA of 3.23 to 5.0.2: LOAD (6), CREATE_FILE (8), NEW_LOAD (12) (sql/log_event.h and .cc of 5.1).

The statement is kept in pieces, not as text.  CREATE_FILE is a NEW_LOAD with the first block of the file behind it;
APPEND_BLOCK brings the rest, and EXEC_LOAD runs it.  Since 8.0.2 the numbers mean nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Array, Const, Construct, Int8ul, Int32ul, Prefixed, Sequence, Struct

from forge.events.layout import (
    Body,
    Derived,
    Rest,
    Span,
    Text,
    as_tuples,
    derived,
    field_length,
    length_of,
    read_exactly,
    to_bytes,
    to_text,
)

DUMPFILE, OPT_ENCLOSED, REPLACE, IGNORE = 1, 2, 4, 8
#: The characters that end fields, enclose them, end and start lines, and escape.
Separators = tuple[str, str, str, str, str]


class _Zeroed(Construct):  # type: ignore[misc]
    """Text up to a NUL."""

    def _parse(self, stream: Any, context: Any, path: str) -> str:
        found = bytearray()
        while (byte := read_exactly(stream, 1, path)) != b"\0":
            found += byte
        return to_text(bytes(found))

    def _build(self, obj: str, stream: Any, context: Any, path: str) -> str:
        stream.write(to_bytes(obj) + b"\0")
        return obj


class _Names(Construct):  # type: ignore[misc]
    """The lengths of all names, then the names, each with a NUL."""

    def _parse(self, stream: Any, context: Any, path: str) -> tuple[str, ...]:
        lengths = read_exactly(stream, context.column_count, path)
        names = []
        for length in lengths:
            names.append(to_text(read_exactly(stream, length, path)))
            Const(b"\0")._parse(stream, context, path)
        return tuple(names)

    def _build(self, obj: tuple[str, ...], stream: Any, context: Any, path: str) -> tuple[str, ...]:
        names = [to_bytes(name) for name in obj]
        stream.write(bytes(map(len, names)) + b"".join(name + b"\0" for name in names))
        return obj


class _Tuple(Construct):  # type: ignore[misc]
    """What ``subcon`` reads, as a tuple."""

    def __init__(self, subcon: Any) -> None:
        super().__init__()
        self.subcon = subcon

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        return as_tuples(self.subcon._parsereport(stream, context, path))

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        self.subcon._build(obj, stream, context, path)
        return obj


_POST_HEADER = (
    "thread_id" / Int32ul,
    "exec_time" / Int32ul,
    "skip_lines" / Int32ul,
    "table_length" / Derived(Int8ul, length_of("table")),
    "database_length" / Derived(Int8ul, length_of("database")),
    "column_count" / Derived(Int32ul, lambda this: len(this.columns)),
)
_NAMES = (
    "columns" / _Names(),
    "table" / Text(Span(field_length("table_length"))),
    Const(b"\0"),
    "database" / Text(Span(field_length("database_length"))),
    Const(b"\0"),
)
_LONG = (
    "separators" / _Tuple(Sequence(*[Text(Prefixed(Int8ul, Rest()))] * 5)),
    "options" / Int8ul,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load(Body):
    """3.23: one byte a separator; bits of ``empty`` say which of the five there are none of."""

    type_code: ClassVar[int] = 6
    type_name: ClassVar[str] = "LOAD"
    thread_id: int = 0
    exec_time: int = 0
    skip_lines: int = 0
    table_length: int | None = derived()
    database_length: int | None = derived()
    column_count: int | None = derived()
    separators: tuple[int, int, int, int, int] = (9, 0, 10, 0, 92)
    options: int = 0
    empty: int = 0
    columns: tuple[str, ...] = ()
    table: str
    database: str
    file_name: str

    layout: ClassVar[Struct] = Struct(
        *_POST_HEADER,
        "separators" / _Tuple(Array(5, Int8ul)),
        "options" / Int8ul,
        "empty" / Int8ul,
        *_NAMES,
        "file_name" / Text(Rest()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLoad(Body):
    """4.0: separators of any length."""

    type_code: ClassVar[int] = 12
    type_name: ClassVar[str] = "NEW_LOAD"
    thread_id: int = 0
    exec_time: int = 0
    skip_lines: int = 0
    table_length: int | None = derived()
    database_length: int | None = derived()
    column_count: int | None = derived()
    separators: Separators = ("\t", "", "\n", "", "\\")
    options: int = 0
    columns: tuple[str, ...] = ()
    table: str
    database: str
    file_name: str

    layout: ClassVar[Struct] = Struct(*_POST_HEADER, *_LONG, *_NAMES, "file_name" / Text(Rest()))


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateFile(Body):
    """4.0: the statement, and the first block of its file."""

    type_code: ClassVar[int] = 8
    type_name: ClassVar[str] = "CREATE_FILE"
    thread_id: int = 0
    exec_time: int = 0
    skip_lines: int = 0
    table_length: int | None = derived()
    database_length: int | None = derived()
    column_count: int | None = derived()
    file_id: int
    separators: Separators = ("\t", "", "\n", "", "\\")
    options: int = 0
    columns: tuple[str, ...] = ()
    table: str
    database: str
    file_name: str
    block: bytes

    layout: ClassVar[Struct] = Struct(
        *_POST_HEADER, "file_id" / Int32ul, *_LONG, *_NAMES, "file_name" / _Zeroed(), "block" / Rest()
    )


#: Types whose numbers are placeholders in files of 8.0.2 and later.
OLD_LOADS = frozenset(body.type_code for body in (Load, CreateFile, NewLoad))
