"""What is true of an SQL type whatever a column's arguments are: the questions that code asks of a type.

Code never compares a type's name with a list of names: it asks ``facts_of`` (forge.values.registry).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from forge.values.wire_types import WireType

#: What the values of a type are.  ``moment`` is DATETIME and TIMESTAMP, ``network`` MariaDB's UUID, INET4 and INET6.
Kind = Literal[
    "integer", "approximate", "decimal", "bit", "year", "date", "time", "moment", "text", "bytes", "enum", "set",
    "json", "geometry", "vector", "network", "other",
]  # fmt: skip


class TypeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of one SQL type (sql/field.h, sql/field.cc and the manual's chapter on data types)."""

    kind: Kind
    #: The field is a Field_blob or derived from it: MEMORY tables cannot hold it, and no partition is found by it.
    is_blob: bool = False
    #: In a key: "whole" columns, columns that need a "prefix", or "none" at all.
    in_key: Literal["whole", "prefix", "none"] = "whole"
    #: DEFAULT may be a literal, and not only an expression.
    literal_default: bool = True
    #: WHERE may compare it with a literal here.
    comparable: bool = True
    #: A field of LOAD DATA is what a literal of SQL is.
    loadable: bool = True
    #: May be UNSIGNED and ZEROFILL.
    takes_unsigned: bool = False
    #: May be COMPRESSED (MariaDB).
    takes_compressed: bool = False
    #: The feature (forge/servers/features.toml) that a line needs for it; None for the types of all lines.
    feature: str | None = None
    #: The literal that rows get which are there when a NOT NULL column is added; None if there is none.
    implicit_default: Any = ""
    #: Strict mode refuses to add such a column to a table that has rows.
    refuses_implicit_default: bool = False
    #: NULL in a NOT NULL column is an error without strict mode as well.
    refuses_null_always: bool = False
    #: Length of a column that is declared without one.
    default_length: int | None = None
    #: Display widths that SHOW CREATE TABLE prints of integers without one: signed, unsigned.
    display_widths: tuple[int, int] | None = None
    #: The type that CHARACTER SET binary makes of it.
    binary_name: str | None = None
    #: The next larger type, which it becomes where its characters take more bytes.
    larger: str | None = None
    #: The wire type of its values inside JSON documents, where they are bytes to JSON.
    json_wire_type: WireType | None = None

    @property
    def is_integer(self) -> bool:
        return self.kind == "integer"

    @property
    def is_approximate(self) -> bool:
        """FLOAT and DOUBLE."""
        return self.kind == "approximate"

    @property
    def is_number(self) -> bool:
        """Integers, FLOAT, DOUBLE, DECIMAL and YEAR; not BIT."""
        return self.kind in ("integer", "approximate", "decimal", "year")

    @property
    def is_text(self) -> bool:
        """CHAR, VARCHAR and the TEXT types."""
        return self.kind == "text"

    @property
    def is_bytes(self) -> bool:
        """BINARY, VARBINARY and the BLOB types."""
        return self.kind == "bytes"

    @property
    def is_binary(self) -> bool:
        """Types of bytes, and VECTOR: their collation is binary, whatever the table's is."""
        return self.is_bytes or self.kind == "vector"

    @property
    def is_lob(self) -> bool:
        """The TEXT and BLOB types."""
        return self.is_blob and self.kind in ("text", "bytes")

    @property
    def is_varying(self) -> bool:
        """VARCHAR and VARBINARY: in the row, as long as the value is."""
        return self.takes_prefix and not self.is_blob and self.default_length is None

    @property
    def has_members(self) -> bool:
        """ENUM and SET."""
        return self.kind in ("enum", "set")

    @property
    def has_charset(self) -> bool:
        """CHARACTER SET and COLLATE may be said of it."""
        return self.is_text or self.has_members

    @property
    def is_json(self) -> bool:
        return self.kind == "json"

    @property
    def is_geometry(self) -> bool:
        return self.kind == "geometry"

    @property
    def has_date(self) -> bool:
        """DATE, DATETIME and TIMESTAMP."""
        return self.kind in ("date", "moment")

    @property
    def has_fraction(self) -> bool:
        """TIME, DATETIME and TIMESTAMP: fractional seconds may be declared."""
        return self.kind in ("time", "moment")

    @property
    def is_moment(self) -> bool:
        """DATETIME and TIMESTAMP: the default may be CURRENT_TIMESTAMP."""
        return self.kind == "moment"

    @property
    def is_temporal(self) -> bool:
        """DATE, TIME, DATETIME and TIMESTAMP."""
        return self.has_date or self.has_fraction

    @property
    def takes_prefix(self) -> bool:
        """A key may hold its first characters or bytes only."""
        return self.is_text or self.is_bytes
