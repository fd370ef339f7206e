"""LOAD DATA of 3.23 to 5.0.2 in pieces, not as text: what LOAD (6), CREATE_FILE (8) and NEW_LOAD (12) have in common
(sql/log_event.h and .cc of 5.1).

CREATE_FILE is a NEW_LOAD with the first block of the file behind it; APPEND_BLOCK brings the rest, and EXEC_LOAD runs
it.
Since 8.0.2 the numbers mean nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as _Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Array, Const, Int8ul, Int32ul, Sequence, Struct

from forge.events.derived_parts import Derived
from forge.events.giving import Give, Part, giver_of
from forge.events.layout import (
    Body,
    Rest,
    ShortText,
    Span,
    Surroundings,
    Text,
    ZeroTerminated,
    derived,
    field_length,
    length_of,
)
from forge.events.plain import Fields, file_block, flag_names, text_or_hex, to_bytes, to_text, words
from forge.events.shapes import FLAGS, TEXT, Shape, array, object_of
from forge.events.taking import Take, take_bytes, taker_of

#: Bits of ``options``.
LOAD_OPTIONS = ((1, "DUMPFILE"), (2, "OPT_ENCLOSED"), (4, "REPLACE"), (8, "IGNORE"))
#: The characters that end fields, enclose them, end and start lines, and escape.
Separators = tuple[str, str, str, str, str]


class ColumnNames(Part):
    """The lengths of all names, then the names, each with a NUL."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[tuple[str, ...], int]:
        lengths, at = take_bytes(data, at, found.column_count)
        names = []
        for length in lengths:
            name, at = take_bytes(data, at, length)
            _, at = taker_of(Const(b"\0"))(data, at, found)
            names.append(to_text(name))
        return tuple(names), at

    def give(self, value: tuple[str, ...], fields: Any) -> bytes:
        names = [to_bytes(name) for name in value]
        return bytes(map(len, names)) + b"".join(name + b"\0" for name in names)

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.tuples_of(draws.texts())


class AsTuple(Part):
    """What ``subcon`` reads, as a tuple."""

    def __init__(self, subcon: Any) -> None:
        super().__init__()
        self.subcon = subcon

    def taker(self) -> Take:
        return taker_of(self.subcon)

    def giver(self) -> Give:
        return giver_of(self.subcon)

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.strategy_of(self.subcon, fields)


POST_HEADER = (
    "thread_id" / Int32ul,
    "exec_time" / Int32ul,
    "skip_lines" / Int32ul,
    "table_length" / Derived(Int8ul, length_of("table")),
    "database_length" / Derived(Int8ul, length_of("database")),
    "column_count" / Derived(Int32ul, lambda this: len(this.columns)),
)
#: Columns, table and database, behind what the kinds say of separators.
NAMES = (
    "columns" / ColumnNames(),
    "table" / Text(Span(field_length("table_length"))),
    Const(b"\0"),
    "database" / Text(Span(field_length("database_length"))),
    Const(b"\0"),
)
#: Separators of any length (4.0), and the options.
LONG_SEPARATORS = (
    "separators" / AsTuple(Sequence(*[ShortText()] * 5)),
    "options" / Int8ul,
)


_SEPARATORS = ("fields_terminated_by", "enclosed_by", "lines_terminated_by", "lines_starting_by", "escaped_by")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadStatement(Body):
    """The fields that all three have; ``options`` are the bits of LOAD_OPTIONS."""

    thread_id: int = 0
    exec_time: int = 0
    skip_lines: int = 0
    table_length: int | None = derived()
    database_length: int | None = derived()
    column_count: int | None = derived()
    options: int = 0
    columns: tuple[str, ...] = ()
    table: str
    database: str
    file_name: str

    def separator_texts(self) -> _Sequence[str]:
        """The five separators; empty where there is none."""
        raise NotImplementedError

    def canonical(self, surroundings: Surroundings) -> Fields:
        texts = map(text_or_hex, self.separator_texts())
        return self.shown_fields("separators", "options", "empty") | {
            "separators": dict(zip(_SEPARATORS, texts, strict=True)),
            "options": flag_names(self.options, LOAD_OPTIONS),
        }

    @classmethod
    def canonical_shape(cls) -> Shape:
        separators = object_of(dict.fromkeys(_SEPARATORS, TEXT))
        changed = {"separators": separators, "options": FLAGS, "columns": array(TEXT), "empty": None}
        return cls.shape_with({**changed, "file_name": TEXT})

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        columns = f" ({', '.join(map(words, fields['columns']))})" if fields["columns"] else ""
        table = f"{words(fields['database'])}.{words(fields['table'])}{columns}"
        text = f"LOAD DATA {words(fields['file_name'])} INTO {table}"
        block = [file_block(fields)] if "file_id" in fields else []
        return "  ".join([text, *map(str, fields["options"]), *block])


# LOAD (6): LOAD DATA of 3.23; one byte a separator, bits of ``empty`` say which of the five there are none of.
@dataclass(frozen=True, slots=True, kw_only=True)
class Load(LoadStatement, type_code=6, type_name="LOAD"):
    separators: tuple[int, int, int, int, int] = (9, 0, 10, 0, 92)
    empty: int = 0

    layout: ClassVar[Struct] = Struct(
        *POST_HEADER,
        "separators" / AsTuple(Array(5, Int8ul)),
        "options" / Int8ul,
        "empty" / Int8ul,
        *NAMES,
        "file_name" / Text(Rest()),
    )

    def separator_texts(self) -> tuple[str, ...]:
        return tuple(
            "" if self.empty >> place & 1 else to_text(bytes([byte])) for place, byte in enumerate(self.separators)
        )


# NEW_LOAD (12): LOAD DATA of 4.0; separators of any length.
@dataclass(frozen=True, slots=True, kw_only=True)
class NewLoad(LoadStatement, type_code=12, type_name="NEW_LOAD", features=("files_in_events",)):
    separators: Separators = ("\t", "", "\n", "", "\\")

    layout: ClassVar[Struct] = Struct(*POST_HEADER, *LONG_SEPARATORS, *NAMES, "file_name" / Text(Rest()))

    def separator_texts(self) -> Separators:
        return self.separators


# CREATE_FILE (8): LOAD DATA of 4.0; the statement, and the first block of its file.
@dataclass(frozen=True, slots=True, kw_only=True)
class CreateFile(NewLoad, type_code=8, type_name="CREATE_FILE", features=("files_in_events",)):
    file_id: int
    block: bytes

    layout: ClassVar[Struct] = Struct(
        *POST_HEADER, "file_id" / Int32ul, *LONG_SEPARATORS, *NAMES, "file_name" / ZeroTerminated(), "block" / Rest()
    )
