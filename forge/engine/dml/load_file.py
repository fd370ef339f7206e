"""The file of LOAD DATA: made of rows, and split as servers split it (READ_INFO in sql/sql_load.cc)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from msgspec import Struct

from forge.engine.requests.cells import literal_of
from forge.engine.requests.rows import LoadData
from forge.errors import ScenarioError

_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}
_ESCAPED = {character: letter for letter, character in _ESCAPES.items() if letter in "0Z"}


def file_text(load: LoadData) -> str:
    """The file that holds the declared rows.  Raises ScenarioError for cells that it cannot hold."""
    lines = []
    for row in load.rows or ():
        fields = load.fields_terminated_by.join(_field(literal_of(cell), load) for cell in row)
        lines.append(f"{load.lines_starting_by}{fields}{load.lines_terminated_by}")
    return "".join(lines)


def _field(value: Any, load: LoadData) -> str:
    if value is None:
        if not load.escaped_by and not load.enclosed_by:
            raise ScenarioError("a file without an escape character cannot hold NULL", expected="escaped_by")
        return f"{load.escaped_by}N" if load.escaped_by else "NULL"
    if isinstance(value, bool):
        value = int(value)
    if not isinstance(value, (str, int, float, Decimal)):
        raise ScenarioError(f"a file cannot hold {value!r}", expected="text, a number or null; or `text`, `hex`")
    characters = f"{value:f}" if isinstance(value, Decimal) else str(value)
    special = {load.escaped_by, load.enclosed_by, load.fields_terminated_by[0], load.lines_terminated_by[0], "\0"}
    if load.escaped_by:
        characters = "".join(
            load.escaped_by + _ESCAPED.get(character, character) if character in special else character
            for character in characters
        )
    elif load.enclosed_by:
        characters = characters.replace(load.enclosed_by, load.enclosed_by * 2)
    elif any(character in characters for character in special if character):
        raise ScenarioError(f"a file without an escape character cannot hold {characters!r}", expected="escaped_by")
    enclosed = load.enclosed_by and (isinstance(value, str) or not load.optionally_enclosed)
    return f"{load.enclosed_by}{characters}{load.enclosed_by}" if enclosed else characters


@lru_cache(maxsize=16)
def _without(characters: str) -> re.Pattern[str]:
    """Any number of characters but these."""
    return re.compile(f"[^{re.escape(characters)}]*" if characters else ".*", re.DOTALL)


class LineReader(Struct):
    """Splits the text of a file, ``width`` fields a line; None: all that a line has.

    A field that begins with the enclosing character ends with it before a separator, or at the end of the file, where
    the character is part of it.  Behind the last field a line is passed over up to its end, whatever is enclosed.
    """

    text: str
    load: LoadData
    width: int | None = None
    position: int = 0
    #: The line that was read last had more fields.
    is_cut: bool = False
    #: How many characters had to be looked at for the fields of the line; the end of the file counts as one.
    looked_at: int = 0
    _line_ends: bool = False
    _has_null: bool = False

    def lines(self) -> Iterator[list[str | None]]:
        """The fields of each line; None is NULL."""
        for _ in range(self.load.ignore_lines):
            self._pass_line()
        while True:
            self._line_ends = False
            fields = list(self._fields())
            if not fields:
                return
            self.looked_at = max(self.looked_at, self.position)
            self.is_cut = not self._line_ends and self._pass_line()
            yield fields

    @property
    def _line_terminator(self) -> str:
        """Empty where fields are ended by the same, so that their number alone makes a line."""
        load = self.load
        return "" if load.lines_terminated_by == load.fields_terminated_by else load.lines_terminated_by

    def _fields(self) -> Iterator[str | None]:
        """The fields of the line that comes next."""
        if self.load.lines_starting_by:
            start = self.text.find(self.load.lines_starting_by, self.position)
            self.position = len(self.text) if start < 0 else start + len(self.load.lines_starting_by)
        count = 0
        while not self._line_ends and count != self.width:
            if self.position >= len(self.text):
                self._meet_end()
                return
            yield self._field()
            count += 1

    def _meet_end(self) -> None:
        self.looked_at = len(self.text) + 1

    def _pass_line(self) -> bool:
        """Go behind the end of the line; whether there was anything before it."""
        terminator, passed = self._line_terminator, False
        while terminator and self.position < len(self.text):
            if self.load.escaped_by and self.text[self.position] == self.load.escaped_by:
                self.position += 1
            elif self._takes(terminator):
                return passed
            self.position += 1
            passed = True
        return passed

    def _takes(self, separator: str) -> bool:
        if not separator or not self.text.startswith(separator, self.position):
            return False
        self.position += len(separator)
        return True

    def _field(self) -> str | None:
        """One field; whether it is the line's last is in ``_line_ends``."""
        load, enclosing = self.load, self.load.enclosed_by
        characters: list[str] = []
        self._has_null = False
        plain = _without(load.escaped_by + enclosing + load.fields_terminated_by[:1] + self._line_terminator[:1])
        is_open = bool(enclosing) and self._takes(enclosing)
        while self.position < len(self.text):
            if self._escape(characters):
                continue
            if is_open and self._takes(enclosing):
                if self._takes(enclosing):
                    characters.append(enclosing)
                    continue
                if self.position >= len(self.text):
                    self._meet_end()
                if self.position >= len(self.text) or self._takes(self._line_terminator):
                    self._line_ends = True
                    return self._value(characters, enclosed=True)
                if self._takes(load.fields_terminated_by):
                    return self._value(characters, enclosed=True)
                characters.append(enclosing)
                continue
            if not is_open and self._takes(self._line_terminator):
                self._line_ends = True
                return self._value(characters)
            if not is_open and self._takes(load.fields_terminated_by):
                return self._value(characters)
            following = plain.match(self.text, self.position + 1)
            end = self.position + 1 if following is None else following.end()
            characters.append(self.text[self.position : end])
            self.position = end
        self._line_ends = True
        self._meet_end()
        return self._value([enclosing, *characters] if is_open else characters)

    def _escape(self, characters: list[str]) -> bool:
        """Take an escape sequence, if one comes next."""
        escape = self.load.escaped_by
        if not escape or self.text[self.position] != escape:
            return False
        if self.position + 1 >= len(self.text):
            self.position += 1
            characters.append(escape)
            return True
        following = self.text[self.position + 1]
        if escape == self.load.enclosed_by and following != escape:
            return False
        self._has_null |= following == "N"
        characters.append(_ESCAPES.get(following, following))
        self.position += 2
        return True

    def _value(self, characters: Sequence[str], *, enclosed: bool = False) -> str | None:
        """NULL is an escaped N by itself, and the word where fields are enclosed and it is not."""
        text = "".join(characters)
        is_word = text == "NULL" and bool(self.load.enclosed_by) and not enclosed
        return None if is_word or (len(text) == 1 and self._has_null) else text
