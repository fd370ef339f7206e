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
    re.VERBOSE | re.DOTALL,
)
#: Servers also print letters beyond ASCII bare, from a list of their own; both forms mean the same.
_BARE_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
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
    start = len(text) - len(text.lstrip())
    if text[start : start + 1] != "$":
        raise FormatError(f"a JSON path starts with $, not {text[:20]!r}", phase="value")
    legs: list[Leg] = []
    at, end = start + 1, len(text.rstrip())
    while at < end:
        match = _LEG.match(text, at)
        if match is None:
            raise FormatError(f"{text[at : at + 20]!r} is not a leg of a JSON path to one place", phase="value")
        legs.append(_leg(match))
        at = match.end()
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
    """The path's text; names that are not plain ASCII identifiers are quoted."""
    return "$" + "".join(map(_format_leg, legs))


def _format_leg(leg: Leg) -> str:
    if isinstance(leg, Cell):
        if leg.from_end:
            return f"[last-{leg.index}]" if leg.index else "[last]"
        return f"[{leg.index}]"
    if _BARE_NAME.fullmatch(leg.name):
        return f".{leg.name}"
    return f".{json.dumps(leg.name, ensure_ascii=False)}"
