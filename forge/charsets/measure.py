"""Comparing our character sets with a real server's, over every sequence of bytes that can matter.

``python -m forge.charsets.measure --server DIR [--charset NAME]`` lists every difference.  With ``--write`` the
differences between the server and Python's codecs become the data files ``data/NAME.map`` first.

What the server accepts is what a column of the set keeps unchanged of the bytes (INSERT IGNORE); what it maps them to
is their conversion to utf8mb4, where '?' or U+FFFD in place of a character means "none".  What it encodes is the
conversion from utf8mb4, where '?' means "refused".
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from forge.charsets.codecs import Charset, charset, charset_names
from forge.charsets.live import LiveServer
from forge.charsets.tables import MULTI_BYTE, SINGLE_BYTE
from forge.errors import FormatError, ScenarioError

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
#: Sets that reach beyond the BMP; of the others only a sample of the supplementary characters is tried.
_WIDE = ("utf8mb4", "utf16", "utf16le", "utf32", "gb18030")
_REPLACEMENTS = ("?", "\ufffd")


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which ours and the server disagree; ``ours`` and ``server`` are None where refused."""

    charset: str
    what: Literal["decode", "encode", "well-formed"]
    given: str
    ours: str | None
    server: str | None

    def __str__(self) -> str:
        return f"{self.charset}: {self.what} {self.given}: ours {self.ours or 'refuses'}, server {self.server or 'refuses'}"


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


def measure(server_run: Path, charset: str) -> list[Difference]:
    """Every difference between our character set and that of an unpacked server (``NAME.run`` or its folder).

    Raises EnvironmentMissing if the server is not there, ScenarioError if it or we do not know the set.
    """
    with LiveServer(server_run) as server:
        return differences(server, charset)


def differences(server: LiveServer, name: str) -> list[Difference]:
    """Every difference between our character set and that of a running server."""
    ours = charset(name)
    _require(server, ours.name)
    found = []
    encoded = list(observe_encoding(server, ours.name))
    for seen in encoded:
        data = _encode(ours, seen.character)
        if data != seen.data:
            found.append(Difference(ours.name, "encode", f"U+{ord(seen.character):04X}", _hex(data), _hex(seen.data)))
    for kept in observe_decoding(server, ours.name, encoded):
        given = kept.data.hex(" ")
        well_formed = ours.well_formed(kept.data, server.family)
        if well_formed != kept.kept:
            found.append(Difference(ours.name, "well-formed", given, str(well_formed), str(kept.kept)))
        text = _decode(ours, kept.data)
        if text != kept.text:
            found.append(Difference(ours.name, "decode", given, _points(text), _points(kept.text)))
    return found


def _require(server: LiveServer, name: str) -> None:
    known = {row[0] for row in server.rows("SELECT character_set_name FROM information_schema.character_sets")}
    if name not in known:
        raise ScenarioError(f"the server {server.run.stem} has no character set {name}")


def observe_encoding(server: LiveServer, name: str) -> Iterator[Encoded]:
    """What the server stores for every character of the BMP, and for the supplementary ones (see ``_WIDE``)."""
    planes = "BETWEEN 1 AND 16" if name in _WIDE else "= 15"
    step = "" if name in _WIDE else "AND ORD(c.b) IN (0, 255)"
    sql = f"""{_prepare()}
        CREATE TABLE point (u VARCHAR(1) CHARACTER SET utf8mb4);
        INSERT INTO point SELECT CONVERT(CONCAT(x'0000', a.b, c.b) USING utf32) FROM bytes a, bytes c
            WHERE ORD(a.b) NOT BETWEEN 0xd8 AND 0xdf;
        INSERT INTO point SELECT CONVERT(CONCAT(x'00', p.b, a.b, c.b) USING utf32) FROM bytes p, bytes a, bytes c
            WHERE ORD(p.b) {planes} {step};
        SELECT HEX(CONVERT(u USING utf32)), HEX(CONVERT(u USING {name})) FROM point;"""
    question = charset(name).encode("?").hex().upper()
    for point, stored in server.rows(sql):
        character = chr(int(point, 16))
        refused = not stored or stored == "NULL" or (stored == question and character != "?")
        yield Encoded(character, None if refused else bytes.fromhex(stored))


def observe_decoding(server: LiveServer, name: str, encoded: list[Encoded]) -> Iterator[Decoded]:
    """What the server does with all sequences of :data:`SPACES` (all of one and two bytes for the other sets)."""
    genuine = {seen.character: seen.data for seen in encoded if seen.character in _REPLACEMENTS}
    for space in (_ANY, *SPACES.get(name, (_PAIR,))):
        positions = [f"s{number}" for number in range(len(space.split()))]
        tables = ", ".join(f"bytes {position}" for position in positions)
        value = f"CONCAT({', '.join(f'{position}.b' for position in positions)})"
        where = " AND ".join(_condition(*pair) for pair in zip(positions, space.split(), strict=True))
        sql = f"""{_prepare()}
            CREATE TABLE cell (b VARBINARY(4), c VARCHAR(4) CHARACTER SET {name});
            INSERT IGNORE INTO cell SELECT {value}, {value} FROM {tables} WHERE {where};
            SELECT HEX(b), HEX(c), HEX(CONVERT(c USING utf8mb4)) FROM cell;"""
        for given, kept, text in server.rows(sql):
            data = bytes.fromhex(given)
            yield Decoded(data, given == kept, _mapped(data, text, genuine) if given == kept else None)


def _mapped(data: bytes, text_hex: str, genuine: dict[str, bytes | None]) -> str | None:
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


def _prepare() -> str:
    values = ", ".join(f"(x'{byte:02x}')" for byte in range(256))
    return f"""SET sql_mode = '', max_error_count = 0;
        DROP DATABASE IF EXISTS measured; CREATE DATABASE measured; USE measured;
        CREATE TABLE bytes (b BINARY(1)); INSERT INTO bytes VALUES {values};"""


def _condition(table: str, position: str) -> str:
    bounds = [part.partition("-") for part in position.split(",")]
    return "(" + " OR ".join(f"ORD({table}.b) BETWEEN 0x{low} AND 0x{high or low}" for low, _, high in bounds) + ")"


def _encode(ours: Charset, character: str) -> bytes | None:
    try:
        return ours.encode(character)
    except ScenarioError:
        return None


def _decode(ours: Charset, data: bytes) -> str | None:
    try:
        return ours.decode(data)
    except FormatError:
        return None


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex(" ")


def _points(text: str | None) -> str | None:
    return None if text is None else " ".join(f"U+{ord(character):04X}" for character in text)


def main(arguments: list[str] | None = None) -> int:
    """Measure one or all character sets; exit code 1 if there is a difference."""
    parser = argparse.ArgumentParser(prog="python -m forge.charsets.measure", description=__doc__)
    parser.add_argument("--server", type=Path, required=True, help="an unpacked server: NAME.run or its folder")
    parser.add_argument("--charset", action="append", help="the set to measure (default: all that the server has)")
    parser.add_argument("--write", action="store_true", help="write the data files from this server first")
    options = parser.parse_args(arguments)
    total = 0
    with LiveServer(options.server) as server:
        for name in options.charset or _names(server):
            if options.write and name in {**SINGLE_BYTE, **MULTI_BYTE}:
                from forge.charsets.patching import write_patch

                write_patch(server, name)
            found = differences(server, name)
            for difference in found:
                print(difference)
            print(f"{name}: {len(found)} differences from {server.run.stem}", file=sys.stderr, flush=True)
            total += len(found)
    return 1 if total else 0


def _names(server: LiveServer) -> list[str]:
    known = {row[0] for row in server.rows("SELECT character_set_name FROM information_schema.character_sets")}
    return [name for name in charset_names() if name in known and name != "binary"]


if __name__ == "__main__":
    sys.exit(main())
