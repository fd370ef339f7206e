"""How the cells of one column are read and written quickly, bound once a column.

A quick reader or writer knows only what is usual and has no error messages.  At anything else it raises one of
:data:`UNUSUAL`; the codec's ``decode``, ``accept`` and ``encode``, which are the specification, then say what the cell
is or what is wrong with it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from forge.errors import ForgeError

#: The cell's bytes, length prefix included, of a value as ``decode`` gives it, or as ``text`` shows it for types whose
#: values are text: what ``accept`` and ``encode`` make of it.
CellWriter = Callable[[Any], bytes]


class UnusualError(Exception):
    """A cell, a row or a text that the quick path does not know.  It is never shown to anybody."""


#: What readers and writers raise at anything that is not usual.
UNUSUAL = (UnusualError, ForgeError, ValueError, ArithmeticError, LookupError, struct.error)


class CellReader(NamedTuple):
    """One of three framings, and what is made of what it takes from the rows.

    ``code``: a cell of fixed size, as ``struct`` unpacks it in little-endian order (``4s`` for four bytes as they are).
    ``prefix``: a length of so many bytes, little-endian, and the bytes behind it.
    ``width``: gives the size of the cell at a place; the whole cell is taken, a length prefix included.

    ``text`` gives the text of the canonical decode, or the bytes of a value that is bytes.
    ``number`` gives the value of types whose values are integers; it is None for all others.
    """

    text: Callable[[Any], str | bytes]
    code: str | None = None
    prefix: int = 0
    width: Callable[[bytes, int], int] | None = None
    number: Callable[[Any], int] | None = None


def same(number: int) -> int:
    """The number of a cell that ``struct`` reads as it is."""
    return number


def no_writer(value: Any) -> NoReturn:
    """The writer of a column for which no value is usual."""
    raise UnusualError
