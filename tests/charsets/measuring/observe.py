"""What a running server does with bytes and characters of a set, asked over everything that can matter.

What it keeps is what a column of the set holds unchanged of the bytes (INSERT IGNORE); what it maps them to is their
conversion to utf8mb4, where '?' or U+FFFD in place of a character means "none".  What it stores for a character is the
conversion from utf8mb4, where '?' means "refused".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from forge.charsets.registry import charset
from tests.charsets.measuring.live import LiveServer

_ANY = "00-ff"
_PAIR = "00-ff 00-ff"
_UTF8 = (
    _PAIR, "e0-ef 00-ff 00-ff", "80-ff 00-ff 7f,80,bf,c0", "f0-ff 00-ff 7f,80,bf,c0 7f,80,bf,c0",
)  # fmt: skip
_SURROGATES = "d7,d8,db,dc,df,e0"

#: Byte sequences to try besides single bytes; a position is a list of byte values and ranges.
SPACES: dict[str, tuple[str, ...]] = {
    "utf8mb3": _UTF8,
    "utf8mb4": (*_UTF8, "f0-f4 80-bf 80-bf 80-bf"),
    "utf16": (_PAIR, "d8-db 00-ff dc-df 00-ff", f"{_SURROGATES} 00,ff {_SURROGATES} 00,ff"),
    "utf16le": (_PAIR, "00-ff d8-db 00-ff dc-df", f"00,ff {_SURROGATES} 00,ff {_SURROGATES}"),
    "utf32": (_PAIR, "00 00-10 00-ff 00-ff", f"00,01,ff 00,10,11,ff 00,{_SURROGATES},ff 00,ff"),
    "gb18030": (_PAIR, "81-fe 30-39 81-fe 30-39", "80,81,fe,ff 2f,30,39,3a 80,81,fe,ff 2f,30,39,3a"),
    "ujis": (_PAIR, "8f 00-ff 00-ff", "8e 00-ff 41,a1"),
    "eucjpms": (_PAIR, "8f 00-ff 00-ff", "8e 00-ff 41,a1"),
}
_REPLACEMENTS = ("?", "\ufffd")


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a server does with bytes: whether a column keeps them, and their text (None if they have none)."""

    data: bytes
    kept: bool
    text: str | None


@dataclass(frozen=True, slots=True)
class Encoded:
    """What a server stores for a character (None if it has to replace it)."""

    character: str
    data: bytes | None


def observe_encoding(server: LiveServer, name: str) -> Iterator[Encoded]:
    """What the server stores for every character of all planes (tis620, for one, looks at 16 bits only)."""
    question = charset(name).encode("?").hex().upper()
    sql = f"""{prepare()}
        CREATE TABLE point (u VARCHAR(1) CHARACTER SET utf8mb4);
        INSERT INTO point SELECT CONVERT(CONCAT(x'0000', a.b, c.b) USING utf32) FROM bytes a, bytes c
            WHERE ORD(a.b) NOT BETWEEN 0xd8 AND 0xdf;
        INSERT INTO point SELECT CONVERT(CONCAT(x'00', p.b, a.b, c.b) USING utf32) FROM bytes p, bytes a, bytes c
            WHERE ORD(p.b) BETWEEN 1 AND 16;
        SELECT HEX(CONVERT(u USING utf32)), HEX(CONVERT(u USING {name})) FROM point
            WHERE HEX(CONVERT(u USING {name})) NOT IN ('', '{question}') OR u = '?' COLLATE utf8mb4_bin;"""
    stored = {int(point, 16): bytes.fromhex(data) for point, data in server.rows(sql)}
    for point in (*range(0xD800), *range(0xE000, 0x110000)):
        yield Encoded(chr(point), stored.get(point))


def observe_decoding(server: LiveServer, name: str, encoded: list[Encoded]) -> Iterator[Decoded]:
    """What the server does with all sequences of :data:`SPACES` (all of one and two bytes for the other sets)."""
    genuine = {seen.character: seen.data for seen in encoded if seen.character in _REPLACEMENTS}
    for space in (_ANY, *SPACES.get(name, (_PAIR,))):
        positions = [f"s{number}" for number in range(len(space.split()))]
        tables = ", ".join(f"bytes {position}" for position in positions)
        value = f"CONCAT({', '.join(f'{position}.b' for position in positions)})"
        where = " AND ".join(_condition(*pair) for pair in zip(positions, space.split(), strict=True))
        sql = f"""{prepare()}
            CREATE TABLE cell (b VARBINARY(4), c VARCHAR(4) CHARACTER SET {name});
            INSERT IGNORE INTO cell SELECT {value}, {value} FROM {tables} WHERE {where};
            SELECT HEX(b), HEX(c), HEX(CONVERT(c USING utf8mb4)) FROM cell;"""
        for sent, kept, text in server.rows(sql):
            data = bytes.fromhex(sent)
            yield Decoded(data, sent == kept, mapped(data, text, genuine) if sent == kept else None)


def mapped(data: bytes, text_hex: str, genuine: dict[str, bytes | None]) -> str | None:
    """The server's text for bytes which it keeps, unless a part of it has no character."""
    if not text_hex or text_hex == "NULL":
        return None
    try:
        text = bytes.fromhex(text_hex).decode()
    except UnicodeDecodeError:
        return None  # MariaDB converts a lone surrogate to three bytes of its utf8
    for replacement in _REPLACEMENTS:
        stored = genuine.get(replacement)
        if text.count(replacement) > (data.count(stored) if stored else 0):
            return None
    return text


def prepare() -> str:
    """A database with a table of all byte values, ``bytes (b)``."""
    values = ", ".join(f"(x'{byte:02x}')" for byte in range(256))
    return f"""SET sql_mode = '', max_error_count = 0;
        DROP DATABASE IF EXISTS measured; CREATE DATABASE measured; USE measured;
        CREATE TABLE bytes (b BINARY(1)); INSERT INTO bytes VALUES {values};"""


def _condition(table: str, position: str) -> str:
    bounds = [part.partition("-") for part in position.split(",")]
    return "(" + " OR ".join(f"ORD({table}.b) BETWEEN 0x{low} AND 0x{high or low}" for low, _, high in bounds) + ")"
