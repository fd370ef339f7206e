"""Cells of row images as SQL: literals that a table takes back as they were, and conditions that are true of them.

A literal is the same in every ``sql_mode``: a text with a backslash or a control character is written as its bytes.
Statements with them are for a session of utf8mb4 whose time zone is that of the literals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from forge.charsets import find_collation
from forge.decode.cells import Cell, unprefixed
from forge.events.column_kinds import longest_value
from forge.values.base import Column
from forge.values.json.binary import decode_document
from forge.values.json.diff import Diff, function_of
from forge.values.json.sql import json_argument, string_literal
from forge.values.literals import hexadecimal
from forge.values.registry import codec_for
from forge.values.text.column_charset import BINARY_COLLATION
from forge.values.wire_types import WireType

_TIMESTAMPS = (WireType.TIMESTAMP, WireType.TIMESTAMP2)
_TEXTS = (WireType.BLOB, WireType.VARCHAR, WireType.VAR_STRING, WireType.STRING)
_WITHOUT_TEXT = (WireType.GEOMETRY, WireType.VECTOR)
#: A quoted text with a backslash, a control character, or both.
_ODD_TEXT = re.compile(r"(_\w+\s*)?'((?:[^'\\]|\\.|'')*)'", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\\]")
_ESCAPED = re.compile(r"\\(.)|''", re.DOTALL)
_MEANS = {"0": "\0", "b": "\b", "t": "\t", "n": "\n", "r": "\r", "Z": "\x1a"}
#: Character sets in which ASCII has other bytes.
_NOT_ASCII = frozenset(("ucs2", "utf16", "utf16le", "utf32"))
_UTF8 = frozenset(("utf8mb4", "utf8mb3", "utf8"))


@dataclass(frozen=True, slots=True)
class SqlCells:
    """The literals of a session with that offset from UTC, in minutes; ``utf8`` is its character set."""

    offset: int = 0
    utf8: str = "utf8mb4"

    def settings(self) -> str:
        """What makes a session such."""
        return (
            f"SET NAMES {self.utf8};\nSET SESSION time_zone = '{offset_text(self.offset)}',"
            " sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES';\n"
        )

    def literal(self, column: Column, raw: bytes | None) -> str:
        """The SQL that stores a cell.  Raises ForgeError where there is none."""
        if raw is None:
            return "NULL"
        codec = codec_for(column)
        return self.of_value(column, codec.decode(column, raw))

    def of_value(self, column: Column, value: object) -> str:
        """The same for a value that is not NULL."""
        if self.offset and column.type_code in _TIMESTAMPS:
            value = self._moved(str(value))
        return self.portable(codec_for(column).sql(column, value))

    def changed(self, cell: Cell, name: str) -> str:
        """What SET gives the column ``name`` of this cell of an after image.  Raises ForgeError."""
        if not cell.partial or cell.raw is None:
            return self.literal(cell.column, cell.raw)
        return self.portable(diffs_sql(cell.diffs(), name))

    def condition(self, column: Column, raw: bytes | None, name: str, *, exactly: bool) -> str:
        """A condition on the column; ``exactly``: of that value alone, where the collation has several for equal.

        Raises ForgeError.
        """
        if raw is None:
            return f"{name} IS NULL"
        codec = codec_for(column)
        value = codec.decode(column, raw)
        if column.type_code in _WITHOUT_TEXT:
            return f"HEX({name}) = '{value.hex().upper()}'"
        if column.type_code == WireType.JSON:
            text = codec.text(column, value) or ""
            return f"CAST(CAST({name} AS CHAR) AS BINARY) = {self.portable(string_literal(text))}"
        if column.type_code in _TEXTS and isinstance(value, (str, bytes)) and codec.declared_as is None:
            return self._of_text(column, value, raw, name, exactly)
        return f"{name} = {self.of_value(column, value)}"

    def _of_text(self, column: Column, value: str | bytes, raw: bytes, name: str, exactly: bool) -> str:
        if isinstance(value, bytes):
            # Zeros at the end of BINARY(n) are not in the log.
            if column.collation is None and column.type_code == WireType.STRING:
                return f"TRIM(TRAILING x'00' FROM CAST({name} AS BINARY)) = {hexadecimal(value)}"
            if column.collation == BINARY_COLLATION and column.type_code == WireType.STRING:
                value = value.ljust(longest_value(column) or 0, b"\0")
            return f"{name} = {hexadecimal(value)}"
        if not exactly:
            return f"{name} = {self.of_value(column, value)}"
        found = None if column.collation is None else find_collation(column.collation)
        if found is not None and (found.charset in _UTF8 or (value.isascii() and found.charset not in _NOT_ASCII)):
            return f"CAST({name} AS BINARY) = {self.of_value(column, value)}"
        return f"CAST({name} AS BINARY) = {hexadecimal(unprefixed(column, raw))}"

    def portable(self, sql: str) -> str:
        """A literal or an expression whose texts mean the same with and without NO_BACKSLASH_ESCAPES."""
        if _CONTROL.search(sql) is None:
            return sql
        return _ODD_TEXT.sub(self._as_bytes, sql)

    def _as_bytes(self, found: re.Match[str]) -> str:
        if _CONTROL.search(found[2]) is None:
            return found[0]
        text = _ESCAPED.sub(lambda one: "'" if one[1] is None else _MEANS.get(one[1], one[1]), found[2])
        if _CONTROL.search(text) is None:
            return f"{found[1] or ''}'{text.replace(chr(39), chr(39) * 2)}'"
        return f"_{self.utf8} x'{text.encode('utf-8', 'surrogatepass').hex()}'"

    def _moved(self, text: str) -> str:
        """A TIMESTAMP, which the log has in UTC, as the session's time zone shows it."""
        if text.startswith("0000-00-00"):
            return text
        whole, point, fraction = text.partition(".")
        return f"{datetime.fromisoformat(whole) + timedelta(minutes=self.offset)}{point}{fraction}"


def diffs_sql(diffs: Sequence[Diff], target: str) -> str:
    """The calls of JSON functions that make a partial update of ``target``."""
    text = target
    for diff in diffs:
        value = "" if diff.value is None else f", {json_argument(decode_document(diff.value))}"
        text = f"{function_of(diff)}({text}, {string_literal(diff.path)}{value})"
    return text


def offset_text(minutes: int) -> str:
    """Minutes from UTC as a server takes them."""
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"
