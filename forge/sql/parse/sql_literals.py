"""Grammar of literals."""

from __future__ import annotations

from forge.charsets import charset
from forge.errors import FormatError, ScenarioError
from forge.sql.ast.expressions import Literal
from forge.sql.cursor import Cursor
from forge.sql.errors import at_offset


def is_literal(cursor: Cursor) -> bool:
    """Whether a literal without a sign comes next."""
    token, behind = cursor.token, cursor.following()
    if token.kind != "word":
        return token.kind in ("string", "number", "hex", "bit")
    introduced = token.text.startswith("_") and behind.kind in ("string", "hex", "bit")
    moment = token.is_word("DATE", "TIME", "TIMESTAMP") and behind.kind == "string"
    return token.is_word("NULL", "TRUE", "FALSE") or introduced or moment


def literal(cursor: Cursor) -> Literal:
    """A literal; a number may have a sign.  Raises SqlError."""
    token = cursor.token
    if token.kind == "string":
        return Literal(cursor.string("a literal"))
    if token.kind in ("hex", "bit"):
        is_text = token.kind == "hex" and cursor.sql[token.start] in "xX"
        return Literal(_bytes(cursor), form="hex_text" if is_text else "")
    if token.kind == "number" or token.text in ("-", "+", "."):
        number = cursor.number()
        is_double = "e" in cursor.sql[token.start : cursor.previous_end].lower()
        return Literal(number, form="double" if is_double else "")
    if not is_literal(cursor):
        cursor.wrong("a literal, or an expression in parentheses")
    word = cursor.advance().text
    if word.startswith("_"):
        with at_offset(token.start):
            return Literal(_introduced(cursor, word[1:]), word[1:])
    if cursor.token.kind == "string" and word.upper() in ("DATE", "TIME", "TIMESTAMP"):
        return Literal(cursor.string("a literal"), form="moment")
    return Literal({"TRUE": True, "FALSE": False}.get(word.upper()))


def _bytes(cursor: Cursor) -> bytes:
    """The bytes of a hex or bit literal; 0xABC is 0ABC."""
    token = cursor.advance()
    if token.kind == "bit":
        return int(token.text or "0", 2).to_bytes((len(token.text) + 7) // 8, "big")
    return bytes.fromhex(token.text.rjust(len(token.text) + len(token.text) % 2, "0"))


def _introduced(cursor: Cursor, name: str) -> str | bytes:
    """A literal behind a character set: ``_latin1'x'``, ``_utf8mb4 x'c3a9'``."""
    if cursor.token.kind == "string":
        return cursor.string("a literal")
    data = _bytes(cursor)
    if name.lower() == "binary":
        return data
    try:
        return charset(name).decode(data)
    except FormatError as error:
        raise ScenarioError(error.rule) from None
