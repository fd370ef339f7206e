"""What a family of column types has to say to the kernels: how its cells become an Arrow array, and back.

A *column plan* is made once a column, from the same ``Column`` that the codecs of ``forge.values`` use.  Reading has
two steps.  The row walk (forge.bulk.reading.row_walk) finds where every cell is, for which it needs only ``wire``.
Then the plan turns the cells of one column into the buffers of an Arrow array.  Writing is the reverse: the plan makes
the bytes of a whole column, and the row writer scatters them into rows.

What Arrow cannot say, and what a kernel does not know, is *odd*: its row is named, and the reference codec is asked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.bulk.machine import SLACK
from forge.values.base import Column

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int32]

#: Instead of an offset: a cell that is NULL, and one whose column the image leaves out.
NULL, ABSENT = -1, -2

#: The bits of a word that only ASCII leaves clear.
HIGH: Final = np.uint64(0x8080808080808080)

NO_ROWS: Numbers = np.empty(0, np.int32)
_NO_BYTES: Bytes = np.zeros(0, np.uint8)


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of one column in the ``len(offsets)`` rows of a batch.

    ``offsets[i]`` is where the value of row ``i`` begins in ``buffer``, behind its length prefix if the type has one;
    NULL or ABSENT (both negative) if there is no value.  ``lengths[i]`` is its number of bytes, for types with a
    prefix only; it is 0 where there is no value.  All values lie inside the buffer, which has SLACK bytes behind them.
    A negative length ``-1 - n``, in JSON columns only: the ``n`` bytes are the diffs of a partial update.  They apply
    to the document of the same row in ``before``, where that has one.
    """

    buffer: Bytes
    offsets: Numbers
    lengths: Numbers
    before: Cells | None = None

    def __len__(self) -> int:
        return len(self.offsets)


#: How cells that have lengths are gathered: as they are, or looked at whether they are ASCII.
SPANS: Final = 0
TEXTS: Final = -1


class Spans(NamedTuple):
    """Cells one behind the other, as the buffers of an Arrow binary array have them: ``data[ends[i] : ends[i + 1]]``.

    SLACK bytes stand behind the last one, in the same array.
    """

    ends: Numbers
    data: Bytes
    #: Whether all bytes of all cells are known to be ASCII.
    is_ascii: bool


@dataclass(frozen=True, slots=True)
class Read:
    """The buffers of an Arrow array but for its validity, and the rows (ascending) whose cells are odd.

    What the buffers hold for rows that are odd or without a value is of no matter, but must be valid Arrow.
    """

    buffers: tuple[Any, ...]
    odd: Numbers = field(default_factory=lambda: NO_ROWS)


@dataclass(frozen=True, slots=True)
class Wire:
    """The bytes of one column's cells, without their length prefix, in the order of the rows.

    Of a fixed width: value ``i`` is ``values[i * wire : (i + 1) * wire]``.  Otherwise it is the ``lengths[i]`` bytes
    from ``values[starts[i]]``.  What stands for NULL rows is of no matter, but lies inside ``values``.
    ``odd``: rows (ascending) that the reference codec must make or refuse; NULL ones among them do not count.
    """

    values: Bytes
    starts: npt.NDArray[np.int64] | None = None
    lengths: Numbers | None = None
    odd: Numbers = field(default_factory=lambda: NO_ROWS)


class ColumnPlan(ABC):
    """One column: its Arrow type and the two ways between it and the wire."""

    #: Whether a cell that a server writes can be odd: a zero date, an ENUM number without a member.
    can_be_odd: ClassVar[bool] = False
    #: Whether a cell is the Arrow value as it is, in 1, 2, 4 or 8 bytes.
    is_plain: ClassVar[bool] = False
    #: SPANS or TEXTS where :meth:`read_spans` makes the values.
    spans_as: int | None = None
    #: Whether cells can be diffs, and :meth:`read` wants to know those of the before image.
    reads_diffs: ClassVar[bool] = False

    def __init__(self, column: Column, arrow_type: pa.DataType, wire: int) -> None:
        self.column = column
        self.arrow_type = arrow_type
        #: Bytes of a cell of fixed width; minus the size of the length prefix (1 to 4) of any other.
        self.wire = wire

    @abstractmethod
    def read(self, cells: Cells) -> Read:
        """The values of the cells."""

    def read_spans(self, spans: Spans) -> Read:
        """The values of the cells, for plans that need no more than their bytes; they may be changed."""
        return Read((spans.ends, spans.data))

    @abstractmethod
    def write(self, array: pa.Array) -> Wire:
        """The bytes of the values of ``array``, which has this plan's Arrow type and may have an offset."""

    def of_type(self, kind: pa.DataType) -> ColumnPlan:
        """The column's plan for arrays of that type, where it has a choice; else this one."""
        return self

    def declared(self, value: Any) -> Any:
        """A value of an Arrow array, as Python has it, as the codec's ``accept`` takes it."""
        return value

    def array(self, rows: int, validity: pa.Buffer | None, nulls: int, read: Read) -> pa.Array:
        """The Arrow array of what :meth:`read` gave."""
        buffers = [validity, *(pa.py_buffer(buffer) for buffer in read.buffers)]
        return pa.Array.from_buffers(self.arrow_type, rows, buffers, nulls)

    def as_text(self, array: pa.Array) -> pa.Array:
        """The values of ``array`` as the canonical decode shows them, for plans that can be odd: an Arrow string array.

        Odd rows are replaced by the caller.
        """
        return array.cast(pa.string())


def rows_where(mask: npt.NDArray[np.bool_]) -> Numbers:
    """The numbers of the rows for which it is true."""
    return np.flatnonzero(mask).astype(np.int32)


def address(array: npt.NDArray[Any]) -> int:
    """Where the bytes of an array are, which follow each other: for a table of words that a kernel takes.

    NumPy's own ways to it take ten times as long.
    """
    found: int = pa.py_buffer(array).address
    return found


def slacked(size: int) -> Bytes:
    """An array of ``size`` bytes with room behind it for wide stores."""
    return np.empty(size + SLACK, np.uint8)


def values_of(array: pa.Array, width: int) -> Bytes:
    """The bytes of a fixed-width Arrow array's values, from its first row on; not copied, and read-only."""
    data = array.buffers()[1]
    begin, size = array.offset * width, len(array) * width
    values = np.zeros(size, np.uint8) if data is None else np.frombuffer(data, np.uint8)[begin : begin + size]
    # Whoever made the array: kernels are compiled once for arrays to write to and once for others.
    values.flags.writeable = False
    return values


def validity_of(array: pa.Array) -> tuple[Bytes, int]:
    """The validity bitmap of an array and the bit of its first row; an empty one where no row is NULL."""
    bitmap = array.buffers()[0] if array.null_count else None
    if bitmap is not None:
        return np.frombuffer(bitmap, np.uint8), array.offset
    if array.null_count:  # An array of the type null.
        return np.zeros((len(array) + 7) // 8, np.uint8), 0
    return _NO_BYTES, 0


def is_text(kind: pa.DataType) -> bool:
    """Whether it is one of Arrow's types of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def strings_of(texts: Iterable[str]) -> pa.StringArray:
    """An Arrow array of a few texts.  ``pyarrow.array`` would import pandas, where that is installed: a second."""
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded)))


def utf8(text: str) -> str:
    """The text with replacement characters for bytes that are not UTF-8, which no text or schema of Arrow can hold."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def spans_of(array: pa.Array) -> Wire:
    """The values of an Arrow string or binary array (32-bit offsets) where they lie; not copied."""
    _, offsets, data = array.buffers()
    if offsets is None:
        return Wire(np.zeros(0, np.uint8), np.zeros(len(array), np.int64), np.zeros(len(array), np.int32))
    ends = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
    values = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return Wire(values, ends[:-1].astype(np.int64), np.diff(ends))
