"""The one table of column types: wire type code -> codec."""

from __future__ import annotations

from forge.errors import UnsupportedError
from forge.values.base import Codec, Column
from forge.values.declaration.declare import column_for
from forge.values.json.codec import JSON
from forge.values.json.typed_array import TYPED_ARRAY
from forge.values.numeric.bits import BIT
from forge.values.numeric.decimals import DECIMAL
from forge.values.numeric.floats import FLOAT
from forge.values.numeric.integers import INTEGER
from forge.values.spatial.geometry import GEOMETRY
from forge.values.temporal.current import DATE, DATETIME, TIME, TIMESTAMP
from forge.values.temporal.old import OLD_DATETIME, OLD_TIME, OLD_TIMESTAMP
from forge.values.temporal.year import YEAR
from forge.values.text.compressed import COMPRESSED_BLOB, COMPRESSED_VARCHAR
from forge.values.text.enums import ENUM, SET
from forge.values.text.strings import BLOB_CODEC, CHAR, VARCHAR_CODEC
from forge.values.vector import VECTOR
from forge.values.wire_types import WireType

__all__ = ["codec_for", "column_for", "metadata_size", "type_label"]

_CODECS: tuple[Codec, ...] = (
    INTEGER,
    FLOAT,
    DECIMAL,
    BIT,
    YEAR,
    DATE,
    TIME,
    DATETIME,
    TIMESTAMP,
    OLD_TIME,
    OLD_DATETIME,
    OLD_TIMESTAMP,
    CHAR,
    VARCHAR_CODEC,
    BLOB_CODEC,
    COMPRESSED_VARCHAR,
    COMPRESSED_BLOB,
    JSON,
    GEOMETRY,
    VECTOR,
    TYPED_ARRAY,
)

_BY_CODE: dict[int, Codec] = {code: codec for codec in _CODECS for code in codec.type_codes}
#: What STRING 254 stands for, by the first metadata byte; anything else is CHAR or BINARY.
_STRINGS: dict[int, Codec] = {WireType.ENUM: ENUM, WireType.SET: SET}

#: Type codes that the servers' headers name and that have no codec here.
_NAMES = {
    WireType.DECIMAL: "DECIMAL of MySQL before 5.0",
    WireType.NULL: "NULL",
    243: "INVALID",
    244: "BOOL",
    WireType.TINY_BLOB: "TINY_BLOB",
    WireType.MEDIUM_BLOB: "MEDIUM_BLOB",
    WireType.LONG_BLOB: "LONG_BLOB",
}


def codec_for(column: Column) -> Codec:
    """The codec of a column; ENUM's and SET's for a STRING that is one.  Raises UnsupportedError naming the type."""
    codec = _BY_CODE.get(column.type_code)
    if codec is None:
        raise UnsupportedError(f"column type {type_label(column.type_code)} is not supported")
    if column.type_code == WireType.STRING and column.metadata:
        return _STRINGS.get(column.metadata[0], codec)
    return codec


def metadata_size(type_code: int) -> int | None:
    """Bytes of the type's metadata in TABLE_MAP; None for a type that is not known.

    TYPED_ARRAY (20) has more than this minimum: its element's type byte, then that type's metadata.
    """
    codec = _BY_CODE.get(type_code)
    return None if codec is None else codec.metadata_size


def type_label(type_code: int) -> str:
    """The number of a wire type, with its name if it has no codec but is known."""
    name = _NAMES.get(type_code)
    return f"{type_code} ({name})" if name else str(type_code)
