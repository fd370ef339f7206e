"""JSON paths that name one place, as partial updates use them: ``$.a  $."k y"  $[0]  $.b[last-1]``.

Wildcards and ranges exist in SQL and never in a diff.  Source: ``sql-common/json_path.cc``; recorded on MySQL 9.7.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from forge.errors import FormatError

_LEG: Final = re.compile(
    r"""\s* (?: \. \s* (?: (?P<quoted> "(?:[^"\\]|\\.)*" ) | (?P<name> [^\s.\[\]*"]+ ) )
           | \[ \s* (?: (?P<index> [0-9]{1,10} ) | last (?: \s* - \s* (?P<back> [0-9]{1,10} ) )? ) \s* \] )""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
#: What servers pass over between legs: ASCII's white space alone; U+0085 and U+00A0 are letters of a name (recorded).
_SPACE: Final = " \t\n\v\f\r"
_ASCII_NOT_BARE: Final = re.compile(r"[0-9].*|.*[\x00-\x23\x25-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f].*", re.DOTALL)
_MAX_INDEX: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Member:
    """A leg to an object's member."""

    name: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A leg to an array's element, counted from its start or, ``from_end``, back from its last element."""

    index: int
    from_end: bool = False

    def position(self, size: int) -> int:
        """The index in an array of ``size`` elements; negative or not below ``size`` if there is none."""
        return size - 1 - self.index if self.from_end else self.index


Leg = Member | Cell


def parse_path(text: str) -> tuple[Leg, ...]:
    """The legs of a path; none for ``$``.  Raises FormatError for a path that is malformed or names many places."""
    start = len(text) - len(text.lstrip(_SPACE))
    if text[start : start + 1] != "$":
        raise FormatError(f"a JSON path must start with $, not {text[:20]!r}", phase="value")
    legs: list[Leg] = []
    position, end = start + 1, len(text.rstrip(_SPACE))
    while position < end:
        match = _LEG.match(text, position)
        if match is None:
            raise FormatError(
                f"{text[position : position + 20]!r} is not a leg of a JSON path to one place", phase="value"
            )
        legs.append(_leg(match))
        position = match.end()
    return tuple(legs)


def _leg(match: re.Match[str]) -> Leg:
    quoted, name, index, back = match.group("quoted", "name", "index", "back")
    if quoted is not None:
        try:
            return Member(json.loads(quoted))
        except ValueError:
            raise FormatError(f"{quoted} is not a JSON string in a path", phase="value") from None
    if name is not None:
        if _ASCII_NOT_BARE.fullmatch(name):
            raise FormatError(f"the name {name!r} must be quoted in a JSON path", phase="value")
        return Member(name)
    number = int(index or back or 0)
    if number > _MAX_INDEX:
        raise FormatError(f"{number} is too large for an index in a JSON path", phase="value")
    return Cell(number, from_end=index is None)


def format_path(legs: tuple[Leg, ...]) -> str:
    """The path's text as servers print it; names that they take for no identifiers are quoted."""
    return "$" + "".join(map(_format_leg, legs))


def _format_leg(leg: Leg) -> str:
    if isinstance(leg, Cell):
        if leg.from_end:
            return f"[last-{leg.index}]" if leg.index else "[last]"
        return f"[{leg.index}]"
    if _is_bare(leg.name):
        return f".{leg.name}"
    return f".{json.dumps(leg.name, ensure_ascii=False)}"


#: What may stand inside an identifier and not begin one: combining marks, joiners, connecting punctuation.
_INSIDE: Final = frozenset((*range(0x300, 0x370), 0x200C, 0x200D, 0x203F, 0x2040, 0xFF3F))


def _is_bare(name: str) -> bool:
    """Whether the server prints a name without quotes."""
    return bool(name) and _is_letter(name[0]) and all(_is_letter(c) or _is_inside(c) for c in name)


def _is_letter(character: str) -> bool:
    """The server asks for the lowest byte of the code point, as if that were a character of one byte (recorded)."""
    low = ord(character) & 0xFF
    if character in "$_":
        return True
    is_letter = 0x41 <= low <= 0x5A or 0x61 <= low <= 0x7A or 0x80 <= low <= 0xFE
    return is_letter and ord(character) not in _INSIDE


def _is_inside(character: str) -> bool:
    return 0x30 <= ord(character) & 0xFF <= 0x39 or ord(character) in _INSIDE
