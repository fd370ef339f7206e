"""The Unicode sets, and binary."""

from __future__ import annotations

from typing import NamedTuple

from forge.charsets.base import Charset

_UTF8_UP_TO_2 = rb"[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]"
_UTF8_3 = rb"|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]"
_UTF8_3_WITH_SURROGATES = rb"|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}"
_UTF8_4 = rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}"
_UTF32 = rb"\x00\x00(?:[\x00-\xd7\xe0-\xff].)|\x00[\x01-\x10].."


class _Form(NamedTuple):
    lengths: tuple[int, int]
    codec: str
    shape: bytes
    mariadb_shape: bytes | None = None


UNICODE = {
    "utf8mb4": _Form(
        (1, 4), "utf-8", _UTF8_UP_TO_2 + _UTF8_3 + _UTF8_4, _UTF8_UP_TO_2 + _UTF8_3_WITH_SURROGATES + _UTF8_4
    ),
    "utf8mb3": _Form((1, 3), "utf-8", _UTF8_UP_TO_2 + _UTF8_3, _UTF8_UP_TO_2 + _UTF8_3_WITH_SURROGATES),
    "ucs2": _Form((2, 2), "utf-16-be", rb".."),
    "utf16": _Form((2, 4), "utf-16-be", rb"[\x00-\xd7\xe0-\xff].|[\xd8-\xdb].[\xdc-\xdf]."),
    "utf16le": _Form((2, 4), "utf-16-le", rb".[\x00-\xd7\xe0-\xff]|.[\xd8-\xdb].[\xdc-\xdf]"),
    "utf32": _Form((4, 4), "utf-32-be", _UTF32, rb"\x00[\x00-\x10].."),
}


class Unicode(Charset):
    """A Unicode encoding, which Python has too; utf8mb3 and ucs2 end at U+FFFF."""

    __slots__ = ("_codec", "_last")

    def __init__(self, name: str) -> None:
        form = UNICODE[name]
        super().__init__(name, *form.lengths, form.shape, form.mariadb_shape)
        self._codec = form.codec
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

    def __init__(self) -> None:
        super().__init__("binary", 1, 1, rb".")

    def encode(self, text: str) -> bytes:
        try:
            return text.encode("latin-1")
        except UnicodeEncodeError as error:
            raise self._cannot_hold(text[error.start]) from None

    def decode(self, data: bytes) -> str:
        return str(data, "latin-1")
