"""How the vendors' programs write text: in quotes, names in backticks, and bytes as base64."""

from __future__ import annotations

import base64
import re
import struct

from forge.charsets import collation
from forge.errors import ForgeError
from forge.events.user_var import DECIMAL, INTEGER, REAL, UserVar
from forge.vendors.column_forms import Flavour

_ESCAPED = re.compile(rb"[\x00-\x1f\\']")
_CONTROL = re.compile(rb"[\x00-\x1f]")
_ESCAPE = re.compile(rb"\\(x[0-9a-f]{2}|.)", re.DOTALL)
_ESCAPES = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_PRINTED = {value: b"\\" + code for code, value in _ESCAPES.items()} | {b"\\": rb"\\", b"'": rb"\'"}
#: Bytes of an event that a line of base64 holds.
_LINE = 57


def escape(value: bytes) -> bytes:
    """mysqlbinlog's quoting, without the quotes."""
    return _ESCAPED.sub(lambda match: _PRINTED.get(match[0]) or b"\\x%02x" % match[0][0], value)


def unescape(text: bytes) -> bytes:
    """The inverse of mysqlbinlog's quoting (client/mysqlbinlog.cc prints other bytes as they are)."""

    def replaced(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code[1:], 16)]) if len(code) == 3 else _ESCAPES.get(code, code)

    return _ESCAPE.sub(replaced, text)


def escape_control(value: bytes) -> bytes:
    """mariadb-binlog's quoting: quotes and backslashes stay as they are, so that the text is ambiguous."""
    return _CONTROL.sub(lambda match: b"\\x%02x" % match[0][0], value)


def in_backticks(name: bytes) -> bytes:
    """A name as SQL has it."""
    return b"`" + name.replace(b"`", b"``") + b"`"


def base64_lines(raw: bytes) -> bytes:
    """The bytes of an event in a BINLOG statement."""
    return b"".join(base64.b64encode(raw[at : at + _LINE]) + b"\n" for at in range(0, len(raw), _LINE))


def variable_text(body: UserVar, flavour: Flavour) -> bytes:
    """The value of a user variable as SQL."""
    if body.value is None:
        return b"NULL"
    kind, number, raw = body.value
    if kind == REAL:
        return b"%.14g" % struct.unpack("<d", raw)[0]
    if kind in (INTEGER, DECIMAL):
        return (body.number() or "").encode()
    try:
        named = collation(number, flavour)
    except ForgeError:
        return b"???"
    digits = raw.hex().upper().encode()
    text = (b"0x" + digits if flavour == "mysql" else b"X'" + digits + b"'") if raw else b'""'
    return b"_%s %s COLLATE `%s`" % (named.charset.encode(), text, named.name.encode())
