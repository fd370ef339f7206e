"""What a codec of one column-type family is, and the column description that it works on.

A *column* here is what a TABLE_MAP event tells of it: the wire type, its metadata bytes and, if the optional
metadata has them, signedness, collation and members.  A *codec* turns the bytes of one cell into a Python value
and back.  Every codec is an instance that its family names (forge.values.declaration.column_type).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from forge.errors import FormatError, ScenarioError
from forge.servers.facts.values import Dialect
from forge.values.clipping import Clipped
from forge.values.declaration.sqltype import SqlType
from forge.values.dialect import default_dialect
from forge.values.literals import literal_sql
from forge.values.quick import CellReader, CellWriter, UnusualError, no_writer

#: What codecs accept and return; the table is in docs/values.md.
Value = Any

#: One kind ("integer", "text", "date", ...) and what JSON holds of it without loss: numbers are decimal text.
TypedValue = dict[str, Any]

#: The columns that a record of optional metadata counts (libbinlogevents, table_map_event.h): SIGNEDNESS the numeric
#: ones, the CHARSET records character or ENUM and SET ones, GEOMETRY_TYPE and the members' records their own.
MetadataSpace = Literal["numeric", "character", "enum", "set", "geometry"]


class Piece(NamedTuple):
    """A run of bytes inside a cell and what it means there; pieces are in file order and leave no gap."""

    offset: int
    data: bytes
    meaning: str


@dataclass(frozen=True, slots=True)
class Column:
    """One column as a TABLE_MAP event describes it.

    ``type_code`` is the byte of the column-type list (254 STRING for CHAR, BINARY, ENUM and SET);
    ``metadata`` are its bytes of the metadata block, in file order.  Facts which the event does not carry are None.
    """

    type_code: int
    metadata: bytes = b""
    nullable: bool = True
    name: str | None = None
    unsigned: bool | None = None
    collation: int | None = None
    #: ENUM / SET members, in the column's character set.
    members: tuple[bytes, ...] | None = None
    geometry_type: int | None = None
    dimensions: int | None = None
    #: The type that a declaration states, for what the wire does not tell (FLOAT(7,3), UUID, ...); only ``accept``
    #: and ``sql`` look at it.  Two columns that are the same on the wire are equal.
    declared: SqlType | None = field(default=None, compare=False, repr=False)
    #: The rules by which ``accept`` takes declared values.
    dialect: Dialect = field(default_factory=default_dialect, compare=False, repr=False)


class Codec(ABC):
    """Bytes of one cell <-> Python value, for one family of column types."""

    #: Wire type codes (the bytes of TABLE_MAP's type list) served by this codec.
    type_codes: ClassVar[tuple[int, ...]]
    #: ENUM or SET: what a STRING column is whose first metadata byte is this code.
    real_type: ClassVar[int | None] = None
    #: SQL type of the declared columns that this codec is for, where others of the same wire type have another.
    declared_as: str | None = None
    #: Number of bytes that this type takes in TABLE_MAP's metadata block.
    metadata_size: ClassVar[int] = 0
    metadata_space: ClassVar[MetadataSpace | None] = None
    #: The feature (forge/servers/features.toml) that a reader of the rows needs; None for the types of all readers.
    reader_feature: ClassVar[str | None] = None

    @abstractmethod
    def width(self, column: Column, data: bytes | memoryview, offset: int) -> int:
        """Bytes that the cell at ``offset`` occupies, its length prefix included.

        Raises FormatError (phase "value") if the prefix or the value passes the end of ``data``.
        """

    @abstractmethod
    def decode(self, column: Column, raw: bytes) -> Value:
        """The value of one whole cell (length prefix included).  Raises FormatError on bytes no server writes."""

    @abstractmethod
    def encode(self, column: Column, value: Value) -> bytes:
        """The cell's bytes, length prefix included.  Raises ScenarioError if the column cannot hold the value."""

    @abstractmethod
    def accept(self, column: Column, declared: Any) -> Value:
        """The value for a declared literal (YAML scalar, Python object, or the text that :meth:`text` gives).

        Checks ranges and lengths as a server in strict mode does.  Raises ScenarioError.
        """

    @abstractmethod
    def text(self, column: Column, value: Value) -> str | None:
        """The exact text of the value in the canonical decode; None if it has none (then hex is shown)."""

    @abstractmethod
    def sql(self, column: Column, value: Value) -> str:
        """A MySQL literal which stores exactly this value in such a column."""

    @abstractmethod
    def type_name(self, column: Column) -> str:
        """The SQL name of the type as far as the column description tells it, e.g. ``BIGINT UNSIGNED``."""

    def reader(self, column: Column) -> CellReader:
        """The quick reader of the column's cells.  Raises FormatError for metadata that no such column has."""

        def text(raw: bytes) -> str | bytes:
            value = self.decode(column, raw)
            shown = self.text(column, value)
            if shown is not None:
                return shown
            if isinstance(value, bytes):
                return value
            raise UnusualError

        return CellReader(text, width=lambda data, at: self.width(column, data, at))

    def writer(self, column: Column) -> CellWriter:
        """The quick writer of the column's cells.  Raises FormatError as :meth:`reader`."""
        return no_writer

    def python_value(self, column: Column, value: Value) -> Any:
        """``value`` as the Python type that users expect of a library, where such a type holds it exactly."""
        return value

    def prefix(self, column: Column) -> int:
        """Bytes of the length in front of a cell's bytes; 0 where cells have none.

        Raises FormatError (phase "metadata") for metadata that no such column has.
        """
        return 0

    def typed(self, column: Column, value: Value) -> TypedValue:
        """The value as programs compare it that have neither MySQL's character sets nor its printing (docs/kit.md)."""
        text = self.text(column, value)
        if text is not None:
            return {"text": text}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        raise FormatError(f"{self.type_name(column)} cannot be {value!r}", phase="value")

    def longest_value(self, column: Column) -> int | None:
        """Bytes of the longest value of a character or binary column; None for other types.

        Raises FormatError (phase "metadata") for metadata that no such column has.
        """
        return None

    def examples(self, column: Column) -> tuple[Value, ...]:
        """Values worth testing with: ends of ranges, and values next to them.  () if only random ones are of use."""
        return ()

    def clip(self, column: Column, declared: Any) -> Clipped:
        """What a session without strict mode makes of a declared literal.

        Raises ScenarioError for what is an error in every mode, and for declarations whose clipping has not been
        measured.
        """
        try:
            value = self.accept(column, declared)
        except ScenarioError:
            nearest = self.nearest(column, declared)
            if nearest is None:
                raise
            return Clipped(nearest, literal_sql(declared))
        return Clipped(value, self.sql(column, value))

    def nearest(self, column: Column, declared: Any) -> Value | None:
        """What is stored of a literal that strict mode refuses; None if it is an error in every mode, or unmeasured."""
        return None

    def explain(self, column: Column, raw: bytes) -> list[Piece]:
        """The cell piece by piece; one piece unless the family has more to tell.  Raises FormatError as decode does."""
        value = self.decode(column, raw)
        text = self.text(column, value)
        return [Piece(0, raw, f"{self.type_name(column)} {raw.hex() if text is None else text}")]
