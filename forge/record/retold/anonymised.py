"""A log with other texts and numbers: equal values stay equal, and different ones different, in every column and text.

A text keeps its length and what its characters are: small and capital letters, digits, all else as it is.  An integer
keeps its number of digits and the types that can hold it.  Dates move by the same number of days.  Members of ENUM and
SET, BIT, YEAR, TIME, NULL, names and definitions stay.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from forge.binlog.listing import assemble, disassemble
from forge.errors import ScenarioError
from forge.record.retold.log_parts import Document
from forge.record.retold.log_settings import CHANGES
from forge.sql.lexer import tokenize

_CLASSES = ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789")
#: Letters beyond ASCII, in alphabets whose character sets have all of them.
_ALPHABETS = tuple("".join(map(chr, run)) for run in (range(0x430, 0x450), range(0x410, 0x430), range(0x3B1, 0x3C2)))
_CLASS = {letter: alphabet for alphabet in (*_CLASSES, *_ALPHABETS) for letter in alphabet}
_HEX = "0123456789abcdef"
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)((?:[ T]\d\d:\d\d.*)?)", re.DOTALL)
_NUMBER = re.compile(r"\d+")
#: What types of integers can hold.
_BOUNDS = (1 << 7, 1 << 8, 1 << 15, 1 << 16, 1 << 23, 1 << 24, 1 << 31, 1 << 32, 1 << 63, 1 << 64)
_INTEGERS = frozenset(("TINY", "SHORT", "INT24", "LONG", "LONGLONG"))
_TEXTS = frozenset(("VARCHAR", "VAR_STRING", "STRING", "BLOB", "TINY_BLOB", "MEDIUM_BLOB", "LONG_BLOB"))
_KEPT = frozenset(("YEAR", "BIT", "TIME", "TIME2", "VECTOR"))
_MOST_DAYS = 1500


def anonymised(data: bytes, seed: str) -> bytes:
    """The log with the texts and numbers that the seed makes of its own.  Raises ScenarioError, FormatError."""
    cipher = Cipher(seed)
    documents = list(cipher.documents(list(disassemble(data))))
    return assemble("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in documents))


class Cipher:
    """Other values by a seed."""

    def __init__(self, seed: str) -> None:
        self.key = hashlib.blake2b(seed.encode(), digest_size=32).digest()
        self.days = int.from_bytes(self._hash(b"days"), "little") % _MOST_DAYS + 1
        #: The types and names of columns, by table id.
        self.tables: dict[int, tuple[list[str], list[str]]] = {}

    def documents(self, documents: list[Document]) -> list[Document]:
        return [self._document(one) for one in documents]

    def _document(self, one: Document) -> Document:
        one = {name: value for name, value in one.items() if name not in ("event_size", "log_pos", "checksum")} | (
            {"log_pos": 0} if one.get("log_pos") == 0 else {}
        )
        if "events" in one:
            return {**one, "events": self.documents(one["events"])}
        if one.get("event") == "TABLE_MAP" and "columns" in one:
            self.tables[one["table_id"]] = _columns(one)
        elif "rows" in one and isinstance(one["rows"], list):
            types, names = self.tables.get(one["table_id"], ([], []))
            kinds = dict(zip(names, types, strict=True))
            return {**one, "rows": [self._row(row, kinds) for row in one["rows"]]}
        elif isinstance(one.get("query"), str):
            is_text = one["event"] in ("ROWS_QUERY", "ANNOTATE_ROWS") or CHANGES.match(one["query"])
            return {**one, "query": self.sql(one["query"])} if is_text else one
        elif one.get("event") == "INTVAR":
            return {**one, "value": self.integer(one["value"])}
        return one

    def _row(self, row: Mapping[str, Any], kinds: Mapping[str, str]) -> dict[str, Any]:
        if set(row) >= {"before", "after"} and not {"before", "after"} & set(kinds):
            return {name: self._row(value, kinds) if isinstance(value, dict) else value for name, value in row.items()}
        return {name: self.cell(kinds.get(name, ""), value) for name, value in row.items()}

    def cell(self, kind: str, value: Any) -> Any:
        """Another cell of the type."""
        if value is None or kind in _KEPT or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return self.integer(value) if kind in _INTEGERS else value
        if isinstance(value, str):
            if kind == "JSON":
                return self._json(value)
            return self.text(value) if kind in _TEXTS or _DATE.fullmatch(value) else self._numbers(value)
        return value

    def _json(self, value: str) -> str:
        with suppress(ValueError):
            made = self._json_value(json.loads(value))
            return json.dumps(made, ensure_ascii=False)
        return value

    def _json_value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._json_value(one) for name, one in value.items()}
        if isinstance(value, list):
            return [self._json_value(one) for one in value]
        if isinstance(value, str):
            return self.text(value)
        return self.integer(value) if isinstance(value, int) and not isinstance(value, bool) else value

    def sql(self, text: str) -> str:
        """A statement with other literals; LIMIT keeps its number."""
        made, end, before = "", 0, ""
        with suppress(ScenarioError):
            for token in tokenize(text, several=True):
                piece = text[token.start : token.end]
                if token.kind == "string":
                    piece = piece[:1] + self.text(piece[1:-1]) + piece[-1:]
                elif token.kind == "number" and before.upper() != "LIMIT":
                    piece = str(self.integer(int(piece))) if piece.isdigit() else self._numbers(piece)
                made, end, before = made + text[end : token.start] + piece, token.end, token.text
        return made + text[end:]

    def text(self, text: str) -> str:
        """Another text of this length."""
        date = _DATE.fullmatch(text)
        if date is not None:
            with suppress(ValueError, OverflowError):
                return f"{dt.date.fromisoformat(date[1]) - dt.timedelta(self.days)}{date[2]}"
        if _UUID.fullmatch(text):
            return self._changed(text, lambda letter, _: _HEX if letter in _HEX else _HEX.upper())
        return self._changed(text, lambda letter, _: _CLASS.get(letter, ""))

    def integer(self, number: int) -> int:
        """Another number that the same types can hold."""
        size = bisect_right(_BOUNDS, abs(number) - (number < 0))
        found = abs(number)
        while number:
            found = int(self._numbers(str(found)))
            if bisect_right(_BOUNDS, found - (number < 0)) == size:
                break
        return -found if number < 0 else found

    def _numbers(self, text: str) -> str:
        """The text with other digits: a number begins with zero if it did before."""
        return _NUMBER.sub(lambda found: self._changed(found[0], _digits), text)

    def _changed(self, text: str, class_of: Callable[[str, int], str]) -> str:
        """Every character depends on all others: forth from the first, then back from the last."""
        letters = list(text)
        for places in (range(len(letters)), range(len(letters) - 1, -1, -1)):
            known = hashlib.blake2b(str((len(letters), places.step)).encode(), key=self.key, digest_size=8)
            for place in places:
                alphabet = class_of(letters[place], place)
                if alphabet and letters[place] in alphabet:
                    moved = int.from_bytes(known.digest(), "little")
                    letters[place] = alphabet[(alphabet.index(letters[place]) + moved) % len(alphabet)]
                known.update(letters[place].encode("utf-8", "surrogatepass"))
        return "".join(letters)

    def _hash(self, data: bytes) -> bytes:
        return hashlib.blake2b(data, key=self.key, digest_size=8).digest()


def _digits(digit: str, place: int) -> str:
    return "123456789" if place == 0 and digit != "0" else "" if place == 0 else "0123456789"


def _columns(mapped: Document) -> tuple[list[str], list[str]]:
    """The types of a table map's columns, and what they are called in rows."""
    types = [_type(column) for column in mapped["columns"]]
    records = mapped.get("optional_metadata")
    names = records.get("column_name") if isinstance(records, dict) else None
    called = list(map(str, names or ()))
    is_usable = len(set(called)) == len(called) == len(types)
    return types, called if is_usable else [f"@{number}" for number in range(1, len(types) + 1)]


def _type(column: Mapping[str, Any]) -> str:
    """The type; ENUM and SET travel as STRING."""
    metadata = str(column.get("metadata", ""))
    return "ENUM" if column["type"] == "STRING" and metadata[:2] in ("f7", "f8") else str(column["type"])
