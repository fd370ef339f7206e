"""Folding text to a key that is equal for strings which a collation calls equal.

The facts are in ``data/*.fold``, made from the servers' WEIGHT_STRING by ``tests/charsets/measuring``.  A section
``[name parent base]`` tells what one collation does to single characters: first its own lines, then its parent's,
then its base, an operation of Unicode's own that comes near.  A line is ``first count key``: that many characters
from ``first`` on become ``key`` ("-": ignored; "61.65": two characters; with "+": successive characters become
successive keys).  Code points are hexadecimal, counts decimal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from pathlib import Path

from forge.charsets.collations import Collation
from forge.charsets.unicode import UNICODE

_DATA = Path(__file__).parent / "data"
#: MySQL's ids of the collation that MariaDB calls croatian_mysql561_ci (MariaDB's croatian_ci is another one).
_MYSQL_CROATIAN = frozenset((122, 149, 181, 213, 245))
#: The file of a Unicode collation, by what its name contains; ``unicode`` has those of UCA 4.0 and 5.2.
_FILES = (
    (re.compile(r"uca1400"), "uca1400"),
    (re.compile(r"0900"), "uca0900"),
    (re.compile(r"general|tolower"), "general"),
)


def _without_marks(character: str) -> str:
    """Case folded, without accents."""
    plain = "".join(part for part in _compatible(character) if not unicodedata.combining(part))
    return _compatible(plain.casefold())


def _compatible(character: str) -> str:
    return unicodedata.normalize("NFKD", character)


def _canonical(character: str) -> str:
    return unicodedata.normalize("NFD", character)


def _caseless(character: str) -> str:
    """Case folded, accents kept."""
    return _compatible(_compatible(character).casefold())


BASES: dict[str, Callable[[str], str]] = {
    "same": str,
    "ai_ci": _without_marks,
    "as_ci": _caseless,
    "cs": _canonical,
}


class Folding(dict[int, str]):
    """A table for str.translate which is filled as characters are met."""

    def __init__(self, own: dict[int, str], fallback: Callable[[int], str]) -> None:
        super().__init__(own)
        self._fallback = fallback

    def __missing__(self, point: int) -> str:
        return self.setdefault(point, self._fallback(point))


def place_of(collation: Collation) -> tuple[str, str]:
    """The data file and the section of a collation's folding; the Unicode sets share theirs."""
    name = collation.name.replace("_nopad", "")
    if collation.charset not in UNICODE:
        return "national", name
    section = "croatian_mysql561_ci" if collation.id in _MYSQL_CROATIAN else name.removeprefix(f"{collation.charset}_")
    return next((file for pattern, file in _FILES if pattern.search(section)), "unicode"), section


@cache
def folding(file: str, section: str) -> Folding | None:
    """The table of a section; None if there is none of that name."""
    text = _text(file)
    start = text.find(f"\n[{section} ")
    if start < 0:
        return None
    header, *lines = text[start + 1 :].partition("\n[")[0].splitlines()
    _, parent, base = header.strip("[]").split()
    own = _expanded(lines)
    if parent != "-":
        above = folding(file, parent)
        assert above is not None
        return Folding(own, above.__getitem__)
    operation = BASES[base]
    return Folding(own, lambda point: operation(chr(point)))


@cache
def _text(name: str) -> str:
    return (_DATA / f"{name}.fold").read_text(encoding="ascii")


def _expanded(lines: list[str]) -> dict[int, str]:
    table: dict[int, str] = {}
    for line in lines:
        first, count, key = line.split()
        start = int(first, 16)
        if key.endswith("+"):
            target = int(key[:-1], 16)
            table.update((start + index, chr(target + index)) for index in range(int(count)))
        else:
            text = "" if key == "-" else "".join(chr(int(part, 16)) for part in key.split("."))
            table.update(dict.fromkeys(range(start, start + int(count)), text))
    return table
