"""VECTOR columns of MySQL 9 (type 242): ``u32 length | float32 LE ...``, and MariaDB's, which is a VARBINARY.

A value may have fewer dimensions than the column.  An empty one is not a vector in SQL and yet logged: INSERT IGNORE
leaves it in a NOT NULL column without a value, and a session without strict mode in place of a vector that is too
long (corpora/recordings/values/vectors).  The value of a cell is its bytes.  MariaDB's VECTOR(n) travels as a
VARBINARY(4n) of exactly n floats, from which the wire does not tell it: only a declared column knows.
"""

from __future__ import annotations

import math
import re
import struct
from decimal import Decimal
from typing import Any, Final

from forge.errors import FormatError, ScenarioError, UnsupportedError
from forge.servers.facts.values import Dialect
from forge.values.base import Column, Piece, TypedValue, Value
from forge.values.cells import LengthPrefixed
from forge.values.clipping import Clipped
from forge.values.declaration.arguments import check_argument
from forge.values.declaration.column_type import ColumnType, Family, Temporals
from forge.values.declaration.facts import TypeFacts
from forge.values.declaration.sqltype import SqlType
from forge.values.literals import hex_mapping, number, quoted, shown
from forge.values.numeric.floats import float_text, to_float32
from forge.values.text.column_charset import BINARY_COLLATION
from forge.values.text.strings import Text, VarcharCodec
from forge.values.wire_types import WireType

_FLOAT: Final = struct.Struct("<f")
#: What MySQL 9.7 makes of VECTOR(0).
_NO_DIMENSIONS: Final = (1 << 32) - 1
#: Dimensions of a VECTOR column at most, on MySQL 9.7.
DEFAULT_DIMENSIONS: Final = 2048
MAX_DIMENSIONS: Final = 16383
_TEXT: Final = re.compile(r"\s*\[(.*)\]\s*", re.DOTALL)
_EXPECTED: Final = "a list of numbers, or its text like '[1, 2.5]'"


class VectorCodec(LengthPrefixed):
    """32-bit floats behind a length of 4 bytes."""

    type_codes = (WireType.VECTOR,)
    reader_feature = "vector_type"
    metadata_space = "character"

    def decode(self, column: Column, raw: bytes) -> bytes:
        """The floats' bytes.  Raises FormatError for half a float, NaN and infinities, which servers refuse."""
        value = self.payload(column, raw)
        if len(value) % _FLOAT.size:
            raise FormatError(
                f"{len(value)} bytes are not a whole number of 32-bit floats",
                phase="value",
                offset=self.prefix(column),
            )
        for index, item in enumerate(_floats(value)):
            if not math.isfinite(item):
                offset = self.prefix(column) + index * _FLOAT.size
                raise FormatError(f"{item} cannot be in a vector", phase="value", offset=offset)
        return value

    def encode(self, column: Column, value: Value) -> bytes:
        """The cell of floats' bytes, which are not looked at: broken vectors can be made on purpose."""
        if not isinstance(value, bytes):
            raise ScenarioError(f"a VECTOR value is bytes, not {type(value).__name__}")
        return self.framed(column, value)

    def accept(self, column: Column, declared: Any) -> bytes:
        """The value for a list of numbers, its text, or the bytes of 32-bit floats.

        Raises ScenarioError for no numbers, more than the column has dimensions, or a number beyond 32-bit floats.
        """
        hexadecimal = hex_mapping(declared)
        value = declared if isinstance(declared, bytes) else hexadecimal
        if value is None:
            value = b"".join(_FLOAT.pack(self._float(item)) for item in _items(declared))
        if not value or len(value) % _FLOAT.size or not all(map(math.isfinite, _floats(value))):
            raise ScenarioError(f"a vector cannot be {shown(declared)}", expected=_EXPECTED)
        most = MAX_DIMENSIONS if column.dimensions is None else column.dimensions % _NO_DIMENSIONS
        if len(value) // _FLOAT.size > most:
            raise ScenarioError(f"a VECTOR({most}) column cannot hold {len(value) // _FLOAT.size} numbers")
        return value

    def nearest(self, column: Column, declared: Any) -> bytes | None:
        """More numbers than the column has dimensions become an empty vector (recorded on 9.7)."""
        value = declared if isinstance(declared, bytes) else hex_mapping(declared)
        if not value or column.dimensions is None or len(value) % _FLOAT.size:
            return None
        return b"" if len(value) // _FLOAT.size > column.dimensions % _NO_DIMENSIONS else None

    @staticmethod
    def _float(item: Any) -> float:
        single = to_float32(item) if isinstance(item, float) else _nearest_float32(number("VECTOR", item))
        if not math.isfinite(single):
            raise ScenarioError(f"a vector cannot hold the number {item}", expected="32-bit floats")
        return single

    def text(self, column: Column, value: Value) -> str:
        """``[1,0.1]``: the shortest digits that give each float back; VECTOR_TO_STRING shows only six."""
        return f"[{','.join(str(float_text(item, single=True)) for item in _floats(value))}]"

    def typed(self, column: Column, value: Value) -> TypedValue:
        return {"vector": [float_text(item, single=True) for item in _floats(value)]}

    def sql(self, column: Column, value: Value) -> str:
        """A binary literal: STRING_TO_VECTOR refuses numbers below 1.17549435e-38."""
        if not value:
            raise UnsupportedError("no SQL literal stores an empty vector")
        return f"x'{value.hex()}'"

    def type_name(self, column: Column) -> str:
        return "VECTOR" if column.dimensions is None else f"VECTOR({column.dimensions})"

    def explain(self, column: Column, raw: bytes) -> list[Piece]:
        size = self.prefix(column)
        value = self.decode(column, raw)
        pieces = [Piece(0, raw[:size], f"{len(value)} bytes: {len(value) // _FLOAT.size} floats")]
        for index, item in enumerate(_floats(value)):
            offset = size + index * _FLOAT.size
            pieces.append(Piece(offset, raw[offset : offset + _FLOAT.size], str(float_text(item, single=True))))
        return pieces


def _floats(value: bytes) -> list[float]:
    return [item for (item,) in _FLOAT.iter_unpack(value)]


def _nearest_float32(exact: Decimal) -> float:
    """The float32 nearest to a decimal number: a double in between must not round it twice."""
    double = float(exact)
    if math.isfinite(double) and Decimal(double) != exact and not struct.unpack("<q", struct.pack("<d", double))[0] & 1:
        double = math.nextafter(double, math.inf if exact > Decimal(double) else -math.inf)
    return to_float32(double)


def _items(declared: Any) -> list[Any]:
    if isinstance(declared, str) and (match := _TEXT.fullmatch(declared)):
        return match[1].split(",")
    if isinstance(declared, list | tuple):
        return list(declared)
    raise ScenarioError(f"a vector cannot be {shown(declared)}", expected=_EXPECTED)


VECTOR = VectorCodec()


class VectorBytesCodec(VarcharCodec):
    """A VARBINARY column that MariaDB made of a VECTOR."""

    type_codes = (WireType.VARCHAR,)
    declared_as = "VECTOR"

    def accept(self, column: Column, declared: Any) -> Text:
        return super().accept(column, _exact_bytes(column, declared))

    def clip(self, column: Column, declared: Any) -> Clipped:
        """Text that is no vector becomes zeros."""
        try:
            value = self.accept(column, declared)
        except ScenarioError:
            if not isinstance(declared, str):
                raise
            return Clipped(bytes(self.limit(column)), quoted(declared))
        return Clipped(value, self.sql(column, value))


def _exact_bytes(column: Column, declared: Any) -> bytes:
    """The floats of a vector with as many dimensions as its column: a list, its text, or bytes."""
    limit = int.from_bytes(column.metadata, "little")
    data = VECTOR.accept(Column(WireType.VECTOR, b"\x04", dimensions=limit // _FLOAT.size), declared)
    if len(data) != limit:
        count = len(data) // _FLOAT.size
        raise ScenarioError(f"a VECTOR({limit // _FLOAT.size}) column of MariaDB cannot hold {count} numbers")
    # Field_vector::store refuses a vector whose square is beyond FLOAT (recorded on 11.8).
    square = 0.0
    for item in _floats(data):
        square = to_float32(square + to_float32(item * item))
    if math.isinf(square):
        raise ScenarioError("a VECTOR column of MariaDB cannot hold so long a vector", expected="below 1.8e19")
    return data


def _declare(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    dimensions = DEFAULT_DIMENSIONS if sql_type.length is None else sql_type.length
    if not dimensions and not dialect.vector_is_varbinary:
        # MySQL 9.7 takes VECTOR(0) for VECTOR(4294967295), which holds nothing but NULL (recorded).
        return Column(WireType.VECTOR, b"\x04", collation=BINARY_COLLATION, dimensions=_NO_DIMENSIONS)
    check_argument("dimension", sql_type, dimensions, 1, MAX_DIMENSIONS)
    if dialect.vector_is_varbinary:
        if sql_type.length is None:
            raise ScenarioError("MariaDB's VECTOR needs a dimension", expected="VECTOR(3)")
        size = _FLOAT.size * dimensions
        return Column(WireType.VARCHAR, size.to_bytes(2, "little"), collation=BINARY_COLLATION)
    return Column(WireType.VECTOR, b"\x04", collation=BINARY_COLLATION, dimensions=dimensions)


def _disguised(column: Column) -> str | None:
    size = int.from_bytes(column.metadata, "little")
    is_binary = column.type_code == WireType.VARCHAR and column.collation in (None, BINARY_COLLATION)
    return f"VECTOR({size // _FLOAT.size})" if is_binary and size and size % _FLOAT.size == 0 else None


FAMILY = Family(
    codecs=(VECTOR, VectorBytesCodec()),
    column_types=(
        ColumnType(
            name="VECTOR",
            facts=TypeFacts(
                kind="vector",
                is_blob=True,
                in_key="none",
                literal_default=False,
                comparable=False,
                loadable=False,
                feature="vector",
                refuses_null_always=True,
                default_length=DEFAULT_DIMENSIONS,
            ),
            declare=_declare,
            arguments="length",
            examples=tuple(SqlType("VECTOR", length=dimensions) for dimensions in (8, 250, 251, MAX_DIMENSIONS)),
            disguised=_disguised,
        ),
    ),
)
