"""The file of LOAD DATA: made of rows, and taken apart as servers do (READ_INFO in sql/sql_load.cc)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from forge.errors import ScenarioError
from forge.scenario.generators import literal_of
from forge.scenario.load_model import LoadData

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
            raise ScenarioError("NULL has no form in a file without an escape character", expected="escaped_by")
        return f"{load.escaped_by}N" if load.escaped_by else "NULL"
    if isinstance(value, bool):
        value = int(value)
    if not isinstance(value, (str, int, float, Decimal)):
        raise ScenarioError(f"a file cannot hold {value!r}", expected="text, a number or null; or `text`, `hex`")
    text = f"{value:f}" if isinstance(value, Decimal) else str(value)
    special = {load.escaped_by, load.enclosed_by, load.fields_terminated_by[0], load.lines_terminated_by[0], "\0"}
    if load.escaped_by:
        text = "".join(
            load.escaped_by + _ESCAPED.get(character, character) if character in special else character
            for character in text
        )
    elif load.enclosed_by:
        text = text.replace(load.enclosed_by, load.enclosed_by * 2)
    elif any(character in text for character in special if character):
        raise ScenarioError(f"a file without an escape character cannot hold {text!r}", expected="escaped_by")
    enclosed = load.enclosed_by and (isinstance(value, str) or not load.optionally_enclosed)
    return f"{load.enclosed_by}{text}{load.enclosed_by}" if enclosed else text


@dataclass(slots=True)
class LineReader:
    """Takes the text of a file apart."""

    text: str
    load: LoadData
    at: int = 0

    def lines(self) -> Iterator[list[str | None]]:
        """The fields of each line; None is NULL."""
        for _ in range(self.load.ignore_lines):
            end = self.text.find(self.load.lines_terminated_by, self.at)
            self.at = len(self.text) if end < 0 else end + len(self.load.lines_terminated_by)
        while self._start():
            yield self._line()

    def _start(self) -> bool:
        """Go to the start of the next line; whether there is one."""
        if self.at >= len(self.text):
            return False
        if self.load.lines_starting_by:
            found = self.text.find(self.load.lines_starting_by, self.at)
            if found < 0:
                return False
            self.at = found + len(self.load.lines_starting_by)
        return True

    def _line(self) -> list[str | None]:
        fields: list[str | None] = []
        while True:
            field, ends = self._read_field()
            fields.append(field)
            if ends:
                return fields

    def _read_field(self) -> tuple[str | None, bool]:
        """A field, and whether it is the line's last."""
        load = self.load
        if load.enclosed_by and self.text.startswith(load.enclosed_by, self.at):
            self.at += 1
            return self._enclosed()
        found: list[str] = []
        start = self.at
        null = False
        while self.at < len(self.text):
            if self._escape(found):
                null = self.at - start == 2 and self.text[start + 1] == "N"
                continue
            for separator, ends in ((load.fields_terminated_by, False), (load.lines_terminated_by, True)):
                if self.text.startswith(separator, self.at):
                    null = null and self.at - start == 2
                    self.at += len(separator)
                    return self._value(found, null), ends
            found.append(self.text[self.at])
            self.at += 1
        return self._value(found, null and self.at - start == 2), True

    def _enclosed(self) -> tuple[str | None, bool]:
        load, found = self.load, list[str]()
        while self.at < len(self.text):
            if self._escape(found):
                continue
            if self.text.startswith(load.enclosed_by, self.at):
                behind = self.at + 1
                if self.text.startswith(load.enclosed_by, behind):
                    found.append(load.enclosed_by)
                    self.at += 2
                    continue
                for separator, ends in ((load.fields_terminated_by, False), (load.lines_terminated_by, True)):
                    if self.text.startswith(separator, behind):
                        self.at = behind + len(separator)
                        return "".join(found), ends
                if behind == len(self.text):
                    self.at = behind
                    return "".join(found), True
            found.append(self.text[self.at])
            self.at += 1
        return "".join(found), True

    def _escape(self, found: list[str]) -> bool:
        """Take an escape sequence, if one comes next."""
        escape = self.load.escaped_by
        if not escape or not self.text.startswith(escape, self.at) or self.at + 1 >= len(self.text):
            return False
        following = self.text[self.at + 1]
        if escape == self.load.enclosed_by and following != escape:
            return False
        found.append(_ESCAPES.get(following, following))
        self.at += 2
        return True

    def _value(self, found: Sequence[str], null: bool) -> str | None:
        """NULL is the escaped N by itself, and the word where fields are enclosed."""
        text = "".join(found)
        return None if null or (self.load.enclosed_by and text == "NULL") else text
