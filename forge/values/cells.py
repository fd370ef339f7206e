"""Bounds of cells: every codec takes exactly the bytes that its column and the length prefix say, or raises."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from construct import BytesInteger, Construct

from forge.errors import FormatError, ScenarioError
from forge.layouts import fixed_layout
from forge.values.base import Codec, Column
from forge.values.clipping import Clipped
from forge.values.literals import hex_mapping, refuse
from forge.values.quick import CellReader, CellWriter, UnusualError, same

#: Characters of a type's name in messages: the members of an ENUM or SET may be many.
_LONGEST_NAME = 60


def short_name(name: str) -> str:
    """The name of a type as messages have it."""
    return name if len(name) <= _LONGEST_NAME else name.partition("(")[0]


def bad_value(rule: str, offset: int = 0) -> FormatError:
    return FormatError(rule, phase="value", offset=offset)


def bad_metadata(rule: str) -> FormatError:
    return FormatError(rule, phase="metadata", offset=0)


class FixedWidthCodec(Codec):
    """A codec whose cells all have the size that the column's type and metadata give."""

    @abstractmethod
    def size(self, column: Column) -> int:
        """Bytes of every cell.  Raises FormatError (phase "metadata") for impossible metadata."""

    def width(self, column: Column, data: bytes | memoryview, offset: int) -> int:
        size = self.size(column)
        left = len(data) - offset
        if left < size:
            raise bad_value(f"{short_name(self.type_name(column))} needs {size} bytes, {max(left, 0)} are left", offset)
        return size

    def whole(self, column: Column, raw: bytes) -> bytes:
        """``raw`` if it has exactly the column's size; FormatError otherwise."""
        size = self.size(column)
        if len(raw) != size:
            name = short_name(self.type_name(column))
            raise bad_value(f"{name} has {size} bytes, the cell has {len(raw)}", min(size, len(raw)))
        return raw


class IntegerCellCodec(FixedWidthCodec):
    """A codec whose cells are one integer."""

    @abstractmethod
    def layout(self, column: Column) -> Construct[int, int]:
        """How the column's cells are laid out.  Raises FormatError for impossible metadata."""

    @abstractmethod
    def bounds(self, column: Column) -> tuple[int, int]:
        """The smallest and the largest number that the column takes."""

    def stored_bounds(self, column: Column) -> tuple[int, int]:
        """Those that its cells can hold, as foreign files may have them."""
        return self.bounds(column)

    def checked(self, column: Column, value: int, bounds: tuple[int, int]) -> int:
        """The value.  Raises ScenarioError if it is out of bounds."""
        if not bounds[0] <= value <= bounds[1]:
            raise refuse(self.type_name(column), value, "cannot hold this number", f"{bounds[0]} to {bounds[1]}")
        return value

    def size(self, column: Column) -> int:
        return int(self.layout(column).sizeof())

    def decode(self, column: Column, raw: bytes) -> int:
        return int(self.layout(column).parse(self.whole(column, raw)))

    def encode(self, column: Column, value: int) -> bytes:
        layout = self.layout(column)
        return bytes(layout.build(self.checked(column, value, self.stored_bounds(column))))

    def shown(self, column: Column) -> Callable[[int], str]:
        """What gives the text of a number."""
        return str

    def text(self, column: Column, value: int) -> str:
        return str(value)

    def sql(self, column: Column, value: int) -> str:
        return str(value)

    def reader(self, column: Column) -> CellReader:
        declared, shown = fixed_layout(self.layout(column)), self.shown(column)
        if declared.code is not None:
            return CellReader(shown, declared.code, number=same)
        read = declared.read
        return CellReader(lambda raw: shown(read(raw)[0]), f"{declared.size}s", number=lambda raw: int(read(raw)[0]))

    def writer(self, column: Column) -> CellWriter:
        write, (low, high) = fixed_layout(self.layout(column)).write, self.bounds(column)

        def cell(value: Any) -> bytes:
            if value.__class__ is not int or not low <= value <= high:
                raise UnusualError
            return write((value,))

        return cell


@lru_cache(maxsize=16)
def length_prefix(size: int) -> Construct[int, int]:
    """The little-endian length that precedes a value of variable length."""
    return BytesInteger(size, swapped=True)


def prefixed_width(name: str, prefix: int, data: bytes | memoryview, offset: int) -> int:
    """Bytes of a cell which starts with a ``prefix``-byte length."""
    left = len(data) - offset
    if left < prefix:
        raise bad_value(f"{name} needs a {prefix}-byte length, {max(left, 0)} bytes are left", offset)
    length = int.from_bytes(data[offset : offset + prefix], "little")
    if left - prefix < length:
        raise bad_value(f"{name} says {length} bytes, {left - prefix} are left", offset)
    return prefix + length


def split_prefix(name: str, prefix: int, raw: bytes) -> bytes:
    """The value of one whole length-prefixed cell."""
    width = prefixed_width(name, prefix, raw, 0)
    if width != len(raw):
        raise bad_value(f"{name} says {width - prefix} bytes, the cell has {len(raw) - prefix}", width)
    return raw[prefix:]


class NumberCodec(FixedWidthCodec):
    """A number, which bytes and hex literals are too in a session without strict mode: big-endian ones."""

    metadata_space = "numeric"

    def clip(self, column: Column, declared: Any) -> Clipped:
        data = declared if isinstance(declared, (bytes, bytearray)) else hex_mapping(declared)
        return super().clip(column, declared if data is None else int.from_bytes(data, "big"))


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
