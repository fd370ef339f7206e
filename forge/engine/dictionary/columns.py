"""Columns of a table's definition, with how their cells are coded."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from forge.charsets import charset, collation, compare_key
from forge.engine.dictionary.literals import under
from forge.plan.tables import Row, TableColumn
from forge.servers.facts.values import Dialect
from forge.sql.ast.definitions import (
    ColumnDraft,
)
from forge.sql.expressions import Document, Expression, Moment, Operand, Single, Unsigned
from forge.values.base import Codec, Column, Value
from forge.values.declaration.facts import TypeFacts
from forge.values.declaration.sqltype import SqlType
from forge.values.json.binary import decode_document
from forge.values.numeric.integers import bounds
from forge.values.registry import codec_for, column_for, facts_of
from forge.values.text.column_charset import charset_of


class ColumnDefinition(Struct, frozen=True):
    """A column, with the expressions that its values come from, and how its cells are coded."""

    column: TableColumn
    wire: Column
    codec: Codec
    default: Expression | None = None
    generated: Expression | None = None
    offset: int = 0
    #: What it was last defined by.
    draft: ColumnDraft | None = None
    #: What a server keeps in it of a long UNIQUE key.
    row_hash: Callable[[Row], int | None] | None = None

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def type(self) -> SqlType:
        return self.column.type

    @property
    def type_facts(self) -> TypeFacts:
        return facts_of(self.column.type)

    @property
    def is_timestamp(self) -> bool:
        """Whether servers convert the column's values from and to the session's time zone."""
        return self.column.type.name == "TIMESTAMP"

    def under(self, dialect: Dialect | None) -> ColumnDefinition:
        """The column as a session takes its values; None is for a session that has the server's own modes."""
        return replace(self, wire=under(self.wire, dialect))

    @property
    def holds_json(self) -> bool:
        """Whether the column was declared as JSON, whatever the server makes of that."""
        return self.wire.declared is not None and self.wire.declared.name == "JSON"

    def operand(self, value: Value | None) -> Operand:
        """A cell as expressions compute with it."""
        if value is None:
            return None
        facts = self.type_facts
        if facts.is_json:
            return Document(decode_document(value) if value else None)
        if facts.has_members:
            return self.codec.text(self.wire, value)
        if facts.is_temporal:
            return Moment(value)
        if facts.is_approximate:
            return Single(value) if self.type.name == "FLOAT" else float(value)
        return Unsigned(value) if self.wire.unsigned and isinstance(value, int) else value

    def replace(self, **changes: object) -> ColumnDefinition:
        """The definition with other facts of its column."""
        column = replace(self.column, **changes)
        return replace(
            self, column=column, wire=dataclasses.replace(self.wire, name=column.name, nullable=column.nullable)
        )


def in_charset(defined: ColumnDefinition, collation_id: int, server: str) -> ColumnDefinition:
    """The text column in another collation; a TEXT grows where its characters may take more bytes (recorded)."""
    sql_type = defined.type
    old, new = (
        charset(collation(number, server).charset).max_length for number in (sql_type.collation or 0, collation_id)
    )
    larger = defined.type_facts.larger if new > old else None
    sql_type = replace(sql_type, name=larger or sql_type.name, collation=collation_id)
    wire = column_for(sql_type, name=defined.name, nullable=defined.column.nullable, server=server)
    recoded = replace(defined, wire=wire, codec=codec_for(wire))
    return recoded.replace(type=sql_type)


def comparable(column: ColumnDefinition, value: Value | None) -> Any:
    """A value that is equal for two cells if the server calls them equal (approximately, for text)."""
    if isinstance(value, str) and column.wire.collation is not None:
        return compare_key(column.wire.collation, value)
    return value


def sort_value(column: ColumnDefinition, value: Value) -> Any:
    """What values of a column are ordered by.

    Text sorts by its bytes, which is known of every collation; the SQL of a statement asks for this order.
    """
    if isinstance(value, (str, bytes)) and column.wire.collation is not None:
        return stored_bytes_of(column, value)
    return _signed_time(value) if column.type_facts.kind == "time" else value


def stored_bytes_of(column: ColumnDefinition, value: Value) -> bytes:
    """The bytes of a text or binary value, in the column's character set."""
    if isinstance(value, str):
        charset = charset_of(column.wire)
        return value.encode() if charset is None else charset.encode(value)
    return bytes(value)


def largest_number(column: ColumnDefinition) -> int:
    """The largest value of an integer column."""
    size = column.codec.width(column.wire, b"\0" * 8, 0)
    return bounds(size, bool(column.wire.unsigned))[1]


def _signed_time(value: str) -> tuple[int, ...]:
    sign = -1 if value.startswith("-") else 1
    whole, _, fraction = value.lstrip("-").partition(".")
    parts = [*map(int, whole.split(":")), int(fraction or "0")]
    return tuple(sign * part for part in parts)
