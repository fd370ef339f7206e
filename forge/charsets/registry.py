"""The character sets by name."""

from __future__ import annotations

from functools import cache

from forge.charsets import tables, unicode
from forge.charsets.base import Charset
from forge.charsets.collations import canonical_charset
from forge.errors import ScenarioError, nearest


def charset(name: str) -> Charset:
    """The character set of that name ("utf8" is utf8mb3).  Raises ScenarioError with the nearest name."""
    canonical = canonical_charset(name)
    if canonical not in charset_names():
        raise ScenarioError(f"unknown character set {name!r}", suggestion=nearest(canonical, charset_names()))
    return _codec_of(canonical)


@cache
def _codec_of(name: str) -> Charset:
    if name in unicode.UNICODE:
        return unicode.Unicode(name)
    if name == "binary":
        return unicode.Binary()
    if name in tables.SINGLE_BYTE:
        return tables.SingleByte(name)
    return tables.MultiByte(name)


def forget() -> None:
    """Forget what was read from the data files, which have changed."""
    _codec_of.cache_clear()
    tables.patch.cache_clear()


@cache
def charset_names() -> tuple[str, ...]:
    """Names of all character sets, in alphabetical order."""
    return tuple(sorted(["binary", *unicode.UNICODE, *tables.SINGLE_BYTE, *tables.MULTI_BYTE]))
