"""The character sets by name."""

from __future__ import annotations

from functools import cache

from forge.charsets import tables, unicode
from forge.charsets.base import Charset
from forge.charsets.collations import canonical_charset
from forge.errors import ScenarioError, nearest


def charset(name: str) -> Charset:
    """The character set of that name ("utf8" is utf8mb3).  Raises ScenarioError with the nearest name."""
    known = canonical_charset(name)
    if known not in charset_names():
        raise ScenarioError(f"unknown character set {name!r}", suggestion=nearest(known, charset_names()))
    return _made(known)


@cache
def _made(known: str) -> Charset:
    if known in unicode.UNICODE:
        return unicode.Unicode(known)
    if known == "binary":
        return unicode.Binary()
    if known in tables.SINGLE_BYTE:
        return tables.SingleByte(known)
    return tables.MultiByte(known)


def forget() -> None:
    """Forget what was read from the data files, which have changed."""
    _made.cache_clear()
    tables.patch.cache_clear()


@cache
def charset_names() -> tuple[str, ...]:
    """Names of all character sets, in alphabetical order."""
    return tuple(sorted(["binary", *unicode.UNICODE, *tables.SINGLE_BYTE, *tables.MULTI_BYTE]))
