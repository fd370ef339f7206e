"""Character sets with a table: a Python codec, and what the servers do differently.

The differences lie in ``data/NAME.map``, written by ``tests/charsets/measuring`` from a server's own conversions.
A line is ``direction bytes code-point count``: ``>`` bytes become a character, ``<`` a character becomes bytes,
``=`` both; ``-`` stands for "nothing".  ``count`` successive
characters have successive last bytes.  Bytes and code points are hexadecimal, counts decimal.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from forge.charsets.base import Charset

#: The Python codec nearest to each 8-bit set.
SINGLE_BYTE = {
    "armscii8": "latin-1", "ascii": "ascii", "cp1250": "cp1250", "cp1251": "cp1251", "cp1256": "cp1256",
    "cp1257": "cp1257", "cp850": "cp850", "cp852": "cp852", "cp866": "cp866", "dec8": "latin-1",
    "geostd8": "latin-1", "greek": "iso8859-7", "hebrew": "iso8859-8", "hp8": "hp-roman8", "keybcs2": "cp437",
    "koi8r": "koi8-r", "koi8u": "koi8-u", "latin1": "cp1252", "latin2": "iso8859-2", "latin5": "iso8859-9",
    "latin7": "iso8859-13", "macce": "mac_latin2", "macroman": "mac_roman", "swe7": "ascii", "tis620": "tis-620",
}  # fmt: skip


class _Shape(NamedTuple):
    codec: str
    max_length: int
    #: Regular expression of one well-formed character (the servers' ismbchar / mbcharlen rules, measured).
    shape: bytes
    mariadb_shape: bytes | None = None


_SJIS = rb"[\x00-\x7f\xa1-\xdf]|[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc]"
_UJIS = rb"[\x00-\x7f]|[\xa1-\xfe][\xa1-\xfe]|\x8f[\xa1-\xfe][\xa1-\xfe]"
_UJIS_MYSQL = _UJIS + rb"|\x8e[\xa0-\xdf]"
_UJIS_MARIADB = _UJIS + rb"|\x8e[\xa1-\xdf]"

#: East Asian sets.
MULTI_BYTE = {
    "big5": _Shape("big5", 2, rb"[\x00-\x7f]|[\xa1-\xf9][\x40-\x7e\xa1-\xfe]"),
    "cp932": _Shape("cp932", 2, _SJIS),
    "eucjpms": _Shape("euc_jp", 3, _UJIS_MYSQL, _UJIS_MARIADB),
    "euckr": _Shape("cp949", 2, rb"[\x00-\x7f]|[\x81-\xfe][\x41-\x5a\x61-\x7a\x81-\xfe]"),
    "gb18030": _Shape(
        "gb18030", 4, rb"[\x00-\x7f]|[\x81-\xfe](?:[\x40-\x7e\x80-\xfe]|[\x30-\x39][\x81-\xfe][\x30-\x39])"
    ),
    "gb2312": _Shape("gb2312", 2, rb"[\x00-\x7f]|[\xa1-\xf7][\xa1-\xfe]"),
    "gbk": _Shape("gbk", 2, rb"[\x00-\x7f]|[\x81-\xfe][\x40-\x7e\x80-\xfe]"),
    "sjis": _Shape("shift_jis", 2, _SJIS),
    "ujis": _Shape("euc_jp", 3, _UJIS_MYSQL, _UJIS_MARIADB),
}


class Patch(NamedTuple):
    """What the servers do differently from a Python codec; None: there is no such character."""

    decoding: dict[bytes, str | None]
    encoding: dict[str, bytes | None]


@cache
def patch(name: str) -> Patch:
    """The differences of the character set ``name``; empty if it has no data file."""
    differences = Patch({}, {})
    path = Path(__file__).parent / "data" / f"{name}.map"
    if not path.is_file():
        return differences
    for line in path.read_text(encoding="ascii").splitlines():
        if line.startswith("#"):
            continue
        direction, raw, point, count = line.split()
        for index in range(int(count)):
            data = None if raw == "-" else _successor(bytes.fromhex(raw), index)
            character = None if point == "-" else chr(int(point, 16) + index)
            if direction in ">=" and data is not None:
                differences.decoding[data] = character
            if direction in "<=" and character is not None:
                differences.encoding[character] = data
    return differences


def _successor(data: bytes, index: int) -> bytes:
    return data[:-1] + bytes([data[-1] + index])


def python_decode(codec: str, data: bytes) -> str | None:
    """What Python's codec makes of ``data``; None if it refuses."""
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None


def python_encode(codec: str, character: str) -> bytes | None:
    """What Python's codec makes of ``character``; None if it refuses."""
    try:
        return character.encode(codec)
    except UnicodeEncodeError:
        return None


def _any_of(characters: Iterable[str]) -> Callable[[str], re.Match[str] | None]:
    """A search for one of these characters."""
    joined = "".join(map(re.escape, characters))
    return re.compile(f"[{joined}]" if joined else "(?!)").search


class SingleByte(Charset):
    """An 8-bit set: a decoding table of 256 characters and an encoding dictionary, both used at C speed."""

    __slots__ = ("_decoding", "_encoding")

    def __init__(self, name: str) -> None:
        # Only ascii has bytes that MySQL refuses to store; MariaDB stores them and shows them as '?'.
        shape = rb"[\x00-\x7f]" if name == "ascii" else rb"."
        super().__init__(name, 1, 1, shape, rb".")
        codec = SINGLE_BYTE[name]
        differences = patch(name)
        base = {byte: python_decode(codec, bytes([byte])) for byte in range(256)}
        #: U+FFFE is how Python's character maps say "undefined".
        self._decoding = "".join(differences.decoding.get(bytes([byte]), base[byte]) or "\ufffe" for byte in range(256))
        encoding = {character: bytes([byte]) for byte, character in base.items() if character} | differences.encoding
        found = {ord(character): data[0] for character, data in encoding.items() if data}
        # Python is quicker by a map that is made of the decoding table, which most sets are the reverse of.
        reverse = {ord(character): byte for byte, character in enumerate(self._decoding) if character != "\ufffe"}
        self._encoding = codecs.charmap_build(self._decoding) if found == reverse else found

    def encode(self, text: str) -> bytes:
        try:
            return codecs.charmap_encode(text, "strict", self._encoding)[0]
        except UnicodeEncodeError as error:
            raise self._cannot_hold(text[error.start]) from None

    def decode(self, data: bytes) -> str:
        try:
            return codecs.charmap_decode(data, "strict", self._decoding)[0]
        except UnicodeDecodeError as error:
            raise self._undecodable(data, error.start) from None


class MultiByte(Charset):
    """A set of several bytes a character.

    Python's codec does the work when it succeeds and its result holds no character that a differing sequence gives;
    otherwise the text is made character by character.
    """

    __slots__ = ("_codec", "_patch", "_patched", "_suspects")

    def __init__(self, name: str) -> None:
        entry = MULTI_BYTE[name]
        super().__init__(name, 1, entry.max_length, entry.shape, entry.mariadb_shape)
        self._codec = entry.codec
        self._patch = patch(name)
        self._suspects = _any_of(python_decode(entry.codec, raw) or "" for raw in self._patch.decoding)
        self._patched = _any_of(self._patch.encoding)

    def encode(self, text: str) -> bytes:
        if self._patched(text) is None:
            try:
                return text.encode(self._codec)
            except UnicodeEncodeError as error:
                raise self._cannot_hold(text[error.start]) from None
        return b"".join(map(self._encode_character, text))

    def _encode_character(self, character: str) -> bytes:
        if character in self._patch.encoding:
            data = self._patch.encoding[character]
        else:
            data = python_encode(self._codec, character)
        if data is None:
            raise self._cannot_hold(character)
        return data

    def decode(self, data: bytes) -> str:
        text = python_decode(self._codec, bytes(data))
        if text is not None and self._suspects(text) is None:
            return text
        return self.decode_by_character(bytes(data))

    def decode_by_character(self, data: bytes) -> str:
        """The same as :meth:`decode` for any bytes, slowly; raises FormatError alike."""
        characters = []
        offset = 0
        for sequence in self.characters(data):
            differs = sequence in self._patch.decoding
            character = self._patch.decoding[sequence] if differs else python_decode(self._codec, sequence)
            if character is None:
                raise self._undecodable(data, offset)
            characters.append(character)
            offset += len(sequence)
        if offset < len(data):
            raise self._undecodable(data, offset)
        return "".join(characters)
