"""The framing that BLOB-like types share: a little-endian length of 1 to 4 bytes, then the data."""

from __future__ import annotations

from forge.errors import ScenarioError
from forge.values.base import Codec, Column
from forge.values.cells import bad_metadata, prefixed_width, split_prefix


class LengthPrefixed(Codec):
    """Base of the codecs whose cells are a length prefix, sized by the metadata, and that many bytes."""

    metadata_size = 1

    def prefix(self, column: Column) -> int:
        """Bytes of the length prefix: the column's one metadata byte, 4 if the column has none."""
        size = column.metadata[0] if column.metadata else 4
        if not 1 <= size <= 4:
            raise bad_metadata(f"a length prefix has 1 to 4 bytes, not {size}")
        return size

    def width(self, column: Column, data: bytes | memoryview, offset: int) -> int:
        return prefixed_width(self.type_name(column), self.prefix(column), data, offset)

    def payload(self, column: Column, raw: bytes) -> bytes:
        """The data behind the prefix.  Raises FormatError if the cell is longer or shorter than its prefix says."""
        return bytes(split_prefix(self.type_name(column), self.prefix(column), raw))

    def framed(self, column: Column, data: bytes) -> bytes:
        """``data`` behind its prefix.  Raises ScenarioError if it is longer than the prefix can say."""
        size = self.prefix(column)
        if len(data) >= 1 << (8 * size):
            raise ScenarioError(f"{len(data)} bytes are too long for a {self.type_name(column)} column")
        return len(data).to_bytes(size, "little") + data
