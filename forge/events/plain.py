"""Fields as plain data for JSON, and as words for a line: text, bytes and flags of the format.

Text of the format is any bytes: str with surrogate escapes here, ``{"hex": ...}`` in JSON where it is not UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from forge.errors import ScenarioError, nearest

#: The fields of an event as JSON can hold them, by name.
Fields = dict[str, Any]
#: Bits and their names, lowest first.
FlagTable = tuple[tuple[int, str], ...]

_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\", "'": r"\'"}


def to_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def text_or_hex(text: str) -> str | dict[str, str]:
    """Text of the format's own (surrogate escapes stand for bytes that are not UTF-8) as JSON can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return {"hex": to_bytes(text).hex()}
    return text


def plain(value: Any) -> Any:
    """Any field's value as plain data."""
    if isinstance(value, int):
        return value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, str):
        return text_or_hex(value)
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return value


def flag_names(value: int, table: Iterable[tuple[int, str]]) -> list[str | int]:
    """The names of the bits in ``value``; bits without a name stay numbers."""
    names: list[str | int] = []
    if not value:
        return names
    for bit, name in table:
        if value & bit:
            names.append(name)
            value &= ~bit
    while value:
        low = value & -value
        names.append(low)
        value &= ~low
    return names


def flag_value(names: object, table: Iterable[tuple[int, str]]) -> int:
    """The inverse of :func:`flag_names`, or a number.  Raises ScenarioError for a name that is not in the table."""
    bits = {name: bit for bit, name in table}
    value = 0
    for name in names if isinstance(names, (list, tuple)) else (names,):
        if isinstance(name, int) and not isinstance(name, bool):
            value |= name
        elif isinstance(name, str) and name in bits:
            value |= bits[name]
        else:
            expected, suggestion = f"one of {', '.join(bits)} or a number", nearest(str(name), bits)
            raise ScenarioError(f"unknown flag {name!r}", expected=expected, suggestion=suggestion)
    return value


def printable(text: str) -> str:
    """Text that cannot break a line or drive a terminal."""
    if text.isprintable() and "'" not in text and "\\" not in text:
        return text
    return "".join(
        _ESCAPES.get(character) or (character if character.isprintable() else _escape(character)) for character in text
    )


def words(text: Any) -> str:
    """A field of plain data on a line; text that is bytes as ``0x...``, nothing as ``-``."""
    if isinstance(text, Mapping):
        if text.keys() == {"hex"}:
            return f"0x{text['hex']}"
        return " ".join(f"{words(name)}={words(value)}" for name, value in text.items())
    if isinstance(text, (list, tuple)):
        return ", ".join(map(words, text)) or "-"
    if text is None:
        return "-"
    return printable(str(text)) if not isinstance(text, bool) else str(text).lower()


def name_text(name: Any) -> str:
    """A name, of an event or of plain data, as text that UTF-8 has; one that is not UTF-8 is ``0x`` and its bytes."""
    shown = text_or_hex(name) if isinstance(name, str) else name
    return f"0x{shown['hex']}" if isinstance(shown, Mapping) else str(shown)


def one_line(text: Any) -> str:
    """SQL text on one line, otherwise as it is."""
    if isinstance(text, Mapping):
        return words(text)
    line = " ".join(text.split())
    if line.isprintable():
        return line
    return "".join(character if character.isprintable() else _escape(character) for character in line)


def file_block(fields: Mapping[str, Any]) -> str:
    """A file of LOAD DATA, and how many bytes of it an event has."""
    return f"file {fields['file_id']}" + (f", {len(fields['block']) // 2} bytes" if "block" in fields else "")


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{{{code:x}}}"


def csv_field(text: str) -> str:
    """A text in quotes where RFC 4180 wants them, and where it is empty, which tells it from NULL."""
    quoted = not text or any(mark in text for mark in ',"\r\n')
    return '"' + text.replace('"', '""') + '"' if quoted else text
