"""What a character set is: text <-> the bytes that a server stores for it.

Text is a sequence of Unicode scalar values.  A lone surrogate is no character here, although MariaDB keeps the bytes
of one in utf8mb3, utf8mb4, ucs2 and utf32 columns (MySQL: in ucs2 alone, where it converts to nothing).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cache
from typing import Literal

from forge.errors import FormatError, ScenarioError

Family = Literal["mysql", "mariadb"]


class Charset(ABC):
    """A character set of the servers.

    ``min_length`` and ``max_length`` are the bytes of its shortest and longest character (mbminlen, mbmaxlen).
    ``shape`` is a regular expression for one well-formed character; ``mariadb_shape`` is MariaDB's where it differs.
    """

    __slots__ = ("_mariadb_shape", "_shape", "max_length", "min_length", "name")

    def __init__(
        self, name: str, min_length: int, max_length: int, shape: bytes, mariadb_shape: bytes | None = None
    ) -> None:
        self.name = name
        self.min_length = min_length
        self.max_length = max_length
        self._shape = shape
        self._mariadb_shape = mariadb_shape or shape

    def __repr__(self) -> str:
        return f"Charset({self.name!r})"

    @abstractmethod
    def encode(self, text: str) -> bytes:
        """The bytes that the server stores for ``text`` sent to it as utf8mb4.

        Raises ScenarioError naming the first character that the set cannot hold.
        """

    def encode_or_mark(self, character: str) -> bytes:
        """The bytes of one character, those of ``?`` if the set cannot hold it."""
        try:
            return self.encode(character)
        except ScenarioError:
            return self.encode("?")

    @abstractmethod
    def decode(self, data: bytes) -> str:
        """The text of bytes in this set.

        Raises FormatError (phase "value", offset in ``data``) for bytes that the server would not accept as valid
        and for valid ones that it maps to no character.
        """

    def well_formed(self, data: bytes, family: Family = "mysql") -> bool:
        """Whether the server stores ``data`` unchanged in a column of this set (mapped to characters or not)."""
        return self.well_formed_length(data, family) == len(data)

    def well_formed_length(self, data: bytes, family: Family = "mysql") -> int:
        """Bytes of the longest well-formed prefix of ``data``."""
        run = _run(self._shape_of(family))
        end = 0
        while (match := run.match(data, end)) and match.end() > end:
            end = match.end()
        return end

    def characters(self, data: bytes, family: Family = "mysql") -> Iterator[bytes]:
        """The well-formed characters that ``data`` begins with."""
        end = self.well_formed_length(data, family)
        return (match.group() for match in _character(self._shape_of(family)).finditer(data, 0, end))

    def _shape_of(self, family: Family) -> bytes:
        return self._mariadb_shape if family == "mariadb" else self._shape

    def _cannot_hold(self, character: str) -> ScenarioError:
        shown = f"{character!r} (U+{ord(character):04X})"
        return ScenarioError(f"character set {self.name} cannot hold the character {shown}")

    def _undecodable(self, data: bytes, start: int) -> FormatError:
        match = _character(self._shape).match(data, start)
        shown = bytes(data[start : match.end() if match else start + self.max_length]).hex(" ")
        why = f"are valid {self.name} but no character" if match else f"are not valid {self.name}"
        return FormatError(f"the bytes {shown} {why}", phase="value", offset=start)


@cache
def _character(shape: bytes) -> re.Pattern[bytes]:
    return re.compile(shape, re.DOTALL)


@cache
def _run(shape: bytes) -> re.Pattern[bytes]:
    """Up to 1,024 characters: a greedy group remembers each repetition, so without a bound memory grows with the data.

    A possessive one would forget them, but Python before 3.11.5 ends it in the middle of a character.
    """
    return re.compile(b"(?:" + shape + b"){0,1024}", re.DOTALL)
