"""Character sets: text <-> the bytes that a server stores for it.

Text is a sequence of Unicode scalar values.  A lone surrogate is no character here, although MariaDB keeps the bytes
of one in utf8mb3, utf8mb4, ucs2 and utf32 columns (MySQL: in ucs2 alone, where it converts to nothing).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cache
from typing import Literal

from forge.charsets.collations import canonical_charset
from forge.errors import FormatError, ScenarioError, nearest

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
        match = _whole(self._mariadb_shape if family == "mariadb" else self._shape).match(data)
        return match.end() if match else 0

    def characters(self, data: bytes) -> Iterator[bytes]:
        """The well-formed characters that ``data`` begins with, as MySQL delimits them."""
        end = self.well_formed_length(data)
        return (match.group() for match in _one(self._shape).finditer(data, 0, end))

    def _cannot_hold(self, character: str) -> ScenarioError:
        shown = f"{character!r} (U+{ord(character):04X})"
        return ScenarioError(f"character set {self.name} cannot hold the character {shown}")

    def _undecodable(self, data: bytes, start: int) -> FormatError:
        match = _one(self._shape).match(data, start)
        shown = bytes(data[start : match.end() if match else start + self.max_length]).hex(" ")
        why = f"are valid {self.name} but no character" if match else f"are not valid {self.name}"
        return FormatError(f"the bytes {shown} {why}", phase="value", offset=start)


@cache
def _one(shape: bytes) -> re.Pattern[bytes]:
    return re.compile(shape, re.DOTALL)


@cache
def _whole(shape: bytes) -> re.Pattern[bytes]:
    return re.compile(b"(?:" + shape + b")*+", re.DOTALL)


class Unicode(Charset):
    """A Unicode encoding that Python has too; ``last`` is the last character that the server's set can hold."""

    __slots__ = ("_codec", "_last")

    def __init__(
        self, name: str, lengths: tuple[int, int], codec: str, shape: bytes, mariadb_shape: bytes | None = None
    ) -> None:
        super().__init__(name, *lengths, shape, mariadb_shape)
        self._codec = codec
        self._last = "\uffff" if name in ("utf8mb3", "ucs2") else "\U0010ffff"

    def encode(self, text: str) -> bytes:
        if self._last == "\uffff" and not text.isascii() and max(text) > "\uffff":
            raise self._cannot_hold(next(character for character in text if character > "\uffff"))
        try:
            return text.encode(self._codec)
        except UnicodeEncodeError as error:
            raise self._cannot_hold(text[error.start]) from None

    def decode(self, data: bytes) -> str:
        try:
            text = str(data, self._codec)
        except UnicodeDecodeError as error:
            raise self._undecodable(data, error.start) from None
        if self._last == "\uffff" and not text.isascii() and max(text) > "\uffff":
            index = next(i for i, character in enumerate(text) if character > "\uffff")
            raise self._undecodable(data, len(text[:index].encode(self._codec)))
        return text


class Binary(Charset):
    """Bytes without characters.  As text each byte is the code point of its value, which no server stores."""

    __slots__ = ()

    def encode(self, text: str) -> bytes:
        try:
            return text.encode("latin-1")
        except UnicodeEncodeError as error:
            raise self._cannot_hold(text[error.start]) from None

    def decode(self, data: bytes) -> str:
        return str(data, "latin-1")


_UTF8_UP_TO_2 = rb"[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]"
_UTF8_3 = rb"|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]"
_UTF8_3_WITH_SURROGATES = rb"|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}"
_UTF8_4 = rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}"
_UTF32 = rb"\x00\x00(?:[\x00-\xd7\xe0-\xff].)|\x00[\x01-\x10].."

_UNICODE = {
    "utf8mb4": lambda name: Unicode(
        name,
        (1, 4),
        "utf-8",
        _UTF8_UP_TO_2 + _UTF8_3 + _UTF8_4,
        _UTF8_UP_TO_2 + _UTF8_3_WITH_SURROGATES + _UTF8_4,
    ),
    "utf8mb3": lambda name: Unicode(
        name, (1, 3), "utf-8", _UTF8_UP_TO_2 + _UTF8_3, _UTF8_UP_TO_2 + _UTF8_3_WITH_SURROGATES
    ),
    "ucs2": lambda name: Unicode(name, (2, 2), "utf-16-be", rb".."),
    "utf16": lambda name: Unicode(
        name, (2, 4), "utf-16-be", rb"[\x00-\xd7\xe0-\xff].|[\xd8-\xdb].[\xdc-\xdf]."
    ),
    "utf16le": lambda name: Unicode(
        name, (2, 4), "utf-16-le", rb".[\x00-\xd7\xe0-\xff]|.[\xd8-\xdb].[\xdc-\xdf]"
    ),
    "utf32": lambda name: Unicode(name, (4, 4), "utf-32-be", _UTF32, rb"\x00[\x00-\x10].."),
    "binary": lambda name: Binary(name, 1, 1, rb"."),
}  # fmt: skip


@cache
def charset(name: str) -> Charset:
    """The character set of that name ("utf8" is utf8mb3).  Raises ScenarioError with the nearest name."""
    from forge.charsets import tables

    known = canonical_charset(name)
    if known in _UNICODE:
        return _UNICODE[known](known)
    if known in tables.SINGLE_BYTE:
        return tables.SingleByte(known)
    if known in tables.MULTI_BYTE:
        return tables.MultiByte(known)
    raise ScenarioError(f"unknown character set {name!r}", suggestion=nearest(known, charset_names()))


def charset_names() -> tuple[str, ...]:
    """Names of all character sets, in alphabetical order."""
    from forge.charsets import tables

    return tuple(sorted([*_UNICODE, *tables.SINGLE_BYTE, *tables.MULTI_BYTE]))
