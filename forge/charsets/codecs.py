"""Character sets: text <-> the bytes that a server stores for it."""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from functools import cache

from forge.charsets.collations import canonical_charset
from forge.errors import FormatError, ScenarioError, nearest


class Charset(ABC):
    """A character set of a server.

    ``min_length`` and ``max_length`` are the bytes of its shortest and longest character (mbminlen, mbmaxlen).
    """

    __slots__ = ("max_length", "min_length", "name")

    def __init__(self, name: str, min_length: int, max_length: int) -> None:
        self.name = name
        self.min_length = min_length
        self.max_length = max_length

    def __repr__(self) -> str:
        return f"Charset({self.name!r})"

    @abstractmethod
    def encode(self, text: str) -> bytes:
        """The bytes that the server stores for ``text``.

        Raises ScenarioError naming the first character that the set cannot hold.
        """

    @abstractmethod
    def decode(self, data: bytes) -> str:
        """The text of bytes in this set.

        Raises FormatError (phase "value", offset in ``data``) for bytes that the server would not accept as valid
        and for valid ones that it maps to no character.
        """

    def _cannot_hold(self, character: str) -> ScenarioError:
        shown = f"{character!r} (U+{ord(character):04X})"
        return ScenarioError(f"character set {self.name} cannot hold the character {shown}")

    def _malformed(self, data: bytes, start: int, end: int) -> FormatError:
        shown = data[start : min(end, start + 8)].hex(" ")
        return FormatError(f"bytes {shown} are no character of {self.name}", phase="value", offset=start)


class Utf8(Charset):
    """utf8mb4, and utf8mb3, which holds no character above U+FFFF."""

    __slots__ = ()

    def encode(self, text: str) -> bytes:
        if self.max_length == 3 and not text.isascii() and max(text) > "\uffff":
            raise self._cannot_hold(next(character for character in text if character > "\uffff"))
        try:
            return text.encode()
        except UnicodeEncodeError as error:
            raise self._cannot_hold(text[error.start]) from None

    def decode(self, data: bytes) -> str:
        try:
            text = bytes(data).decode()
        except UnicodeDecodeError as error:
            raise self._malformed(data, error.start, error.end) from None
        if self.max_length == 3 and not text.isascii() and max(text) > "\uffff":
            index = next(i for i, character in enumerate(text) if character > "\uffff")
            start = len(text[:index].encode())
            raise self._malformed(data, start, start + 4)
        return text


class SingleByte(Charset):
    """A set of 256 bytes at most: a Python codec and what the server does differently."""

    __slots__ = ("_decoding", "_encoding")

    def __init__(self, name: str, base: str, decoding_patch: dict[int, str | None]) -> None:
        super().__init__(name, 1, 1)
        characters = []
        for byte in range(256):
            try:
                mapped: str | None = bytes([byte]).decode(base)
            except UnicodeDecodeError:
                mapped = None
            characters.append(decoding_patch.get(byte, mapped))
        self._decoding = "".join("\ufffe" if character is None else character for character in characters)
        self._encoding = {ord(character): byte for byte, character in enumerate(characters) if character is not None}

    def encode(self, text: str) -> bytes:
        try:
            return codecs.charmap_encode(text, "strict", self._encoding)[0]
        except UnicodeEncodeError as error:
            raise self._cannot_hold(text[error.start]) from None

    def decode(self, data: bytes) -> str:
        try:
            return codecs.charmap_decode(data, "strict", self._decoding)[0]
        except UnicodeDecodeError as error:
            raise self._malformed(data, error.start, error.end) from None


class Binary(Charset):
    """Bytes without characters.  As text, each byte is the code point of its value (never what a server stores)."""

    __slots__ = ()

    def encode(self, text: str) -> bytes:
        try:
            return text.encode("latin-1")
        except UnicodeEncodeError as error:
            raise self._cannot_hold(text[error.start]) from None

    def decode(self, data: bytes) -> str:
        return bytes(data).decode("latin-1")


_LATIN1_CONTROLS: dict[int, str | None] = {byte: chr(byte) for byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}
_KNOWN = ("utf8mb4", "utf8mb3", "latin1", "ascii", "binary")


@cache
def charset(name: str) -> Charset:
    """The character set of that name ("utf8" is utf8mb3).  Raises ScenarioError with the nearest name."""
    match canonical_charset(name):
        case "utf8mb4":
            return Utf8("utf8mb4", 1, 4)
        case "utf8mb3":
            return Utf8("utf8mb3", 1, 3)
        case "latin1":
            return SingleByte("latin1", "cp1252", _LATIN1_CONTROLS)
        case "ascii":
            return SingleByte("ascii", "ascii", {})
        case "binary":
            return Binary("binary", 1, 1)
        case unknown:
            raise ScenarioError(f"unknown character set {name!r}", suggestion=nearest(unknown, _KNOWN))
