"""Collation ids, names and defaults of MySQL and MariaDB.

The facts lie in ``data/collations.tsv``: one line a collation, read from the servers' own tables
(``information_schema.collations``; MariaDB: ``collation_character_set_applicability``, whose FULL_COLLATION_NAME and ID
also cover the uca1400 family).  Pad attributes of MariaDB, which it does not publish, were recorded by comparing
'a' with 'a ' under every collation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from forge.errors import ScenarioError, nearest

#: Letters of the servers in the data file.
_MYSQL, _MARIADB_10, _MARIADB_11 = "m", "a", "b"
#: Without a family the first server that knows the collation tells about it.
_PREFERENCE = _MYSQL + _MARIADB_10 + _MARIADB_11
#: The first MySQL collation id that needs 8.0 (the UCA 9.0.0 family of utf8mb4).
_FIRST_UCA_900 = 255
#: MariaDB knows MySQL's utf8mb4_0900_* names and ids from this version, as aliases of its own uca1400 collations.
_MARIADB_WITH_0900 = (11, 4)
#: Other collations that came late to MySQL, by their names (recorded on 5.5.34, 5.6.24 and 8.0.33).
_MYSQL_SINCE = {
    re.compile(r"utf16le_|(ucs2|utf16|utf32|utf8mb[34])_(german2|croatian|unicode_520|vietnamese)_"): (5, 6),
    re.compile(r"gb18030_"): (5, 7),
    re.compile(r"utf8mb3_tolower_ci$"): (8, 0),
}
#: MariaDB's collations of UCA 14 came with 10.10.1, those without padding with 10.2.2, by parts of their names.
_MARIADB_SINCE = {"_uca1400_": (10, 10), "_nopad_": (10, 2)}
#: MariaDB's character_set_collations makes uca1400_ai_ci the default of the Unicode sets from this version.
_MARIADB_WITH_UCA1400_DEFAULT = (11, 5)


@dataclass(frozen=True, slots=True)
class Collation:
    """One collation as a server names and numbers it.

    ``is_default``: it is the default of its character set on the server that was asked for.
    ``pad_space``: comparisons ignore trailing spaces (PAD SPACE), as all do but the 0900, nopad and binary ones.
    """

    id: int
    name: str
    charset: str
    is_default: bool
    pad_space: bool


@dataclass(frozen=True, slots=True)
class _Line:
    """A server line, as far as collations depend on it."""

    letters: str
    version: tuple[int, int] | None

    def knows(self, fields: list[str]) -> str | None:
        """The letter under which this line knows the collation of a data line; None if it does not."""
        letter = next((x for x in self.letters if x in fields[4].lower()), None)
        if letter == _MYSQL and self.version and self.version < (8, 0) and int(fields[0]) >= _FIRST_UCA_900:
            return None
        if letter == _MYSQL and self.version:
            needed = (since for pattern, since in _MYSQL_SINCE.items() if pattern.match(fields[1]))
            if any(self.version < since for since in needed):
                return None
        if letter != _MYSQL and self.version:
            needed = (since for part, since in _MARIADB_SINCE.items() if part in fields[1])
            if any(self.version < since for since in needed):
                return None
        return letter


def canonical_charset(name: str) -> str:
    """``name`` in lower case with the alias ``utf8`` resolved (a server means utf8mb3 by it)."""
    lowered = name.strip().lower()
    return "utf8mb3" if lowered == "utf8" else lowered


def canonical_collation(name: str) -> str:
    """``name`` in lower case; the ``utf8_`` names that servers wrote before MySQL 8.0.30 become ``utf8mb3_``."""
    lowered = name.strip().lower()
    return f"utf8mb3_{lowered[5:]}" if lowered.startswith("utf8_") else lowered


@cache
def _line(family: str | None) -> _Line:
    """What a family ("mysql", "mariadb") or server line ("mysql-8.0", "mariadb-11.8") means here."""
    if family is None:
        return _Line(_PREFERENCE, None)
    # Behind a second dash stands a flavour, which has the collations of its release.
    product, number, *_ = [*family.strip().lower().split("-"), ""]
    parts = number.split(".")
    version = None
    if number:
        if not all(part.isdigit() for part in parts[:2]):
            raise ScenarioError(f"unknown server line {family!r}", expected="a line such as mysql-9.7 or mariadb-10.11")
        version = (int(parts[0]), int(parts[1]) if len(parts) > 1 else 0)
    if product == "mysql":
        return _Line(_MYSQL, version)
    if product == "mariadb":
        if version is None:
            return _Line(_MARIADB_10 + _MARIADB_11, None)
        return _Line(_MARIADB_11 if version >= _MARIADB_WITH_0900 else _MARIADB_10, version)
    raise ScenarioError(
        f"unknown server family {family!r}",
        expected="mysql or mariadb",
        suggestion=nearest(product, ("mysql", "mariadb")),
    )


@cache
def _table() -> tuple[dict[int, list[list[str]]], dict[str, list[list[str]]]]:
    """The data file: its lines, split into fields, by id and by name (neither is unique: see ``croatian``)."""
    by_id: dict[int, list[list[str]]] = {}
    by_name: dict[str, list[list[str]]] = {}
    text = (Path(__file__).parent / "data" / "collations.tsv").read_text(encoding="ascii")
    for text_line in text.splitlines():
        if not text_line.startswith("#"):
            fields = text_line.split("\t")
            by_id.setdefault(int(fields[0]), []).append(fields)
            by_name.setdefault(fields[1], []).append(fields)
    return by_id, by_name


def _collation(fields: list[str], letter: str) -> Collation:
    return Collation(int(fields[0]), fields[1], fields[2], letter.upper() in fields[4], fields[3] == "p")


@cache
def _find(key: int | str, family: str | None) -> Collation | None:
    """The collation of that id or canonical name which the first server of the family has."""
    line = _line(family)
    by_id, by_name = _table()
    lines = by_id.get(key, ()) if isinstance(key, int) else by_name.get(key, ())
    candidates = [(line.knows(fields), fields) for fields in lines]
    ranked = [(line.letters.index(letter), letter, fields) for letter, fields in candidates if letter]
    if not ranked:
        return None
    _, letter, fields = min(ranked)
    return _collation(fields, letter)


def find_collation(number: int, family: str | None = None) -> Collation | None:
    """The collation of that id, for readers of foreign bytes; None if no server has it.

    The collation of ``family`` ("mysql", "mariadb", or a server line) is preferred, that of another family is
    better than none: ids 122, 149, 181, 213 and 245 have different names in MySQL and MariaDB.
    """
    return _find(number, family) or _find(number, None)


@cache
def collation(key: int | str, family: str | None = None) -> Collation:
    """The collation of that id or name, as ``family`` ("mysql", "mariadb", or a server line) knows it.

    Raises ScenarioError if it does not exist there, with the nearest name.
    """
    entry = _find(key if isinstance(key, int) else canonical_collation(key), family)
    if entry is not None:
        return entry
    if isinstance(key, int):
        raise ScenarioError(f"unknown collation id {key}{_of(family)}")
    line = _line(family)
    names = [name for name, lines in _table()[1].items() if any(line.knows(fields) for fields in lines)]
    raise ScenarioError(f"unknown collation {key!r}{_of(family)}", suggestion=nearest(canonical_collation(key), names))


def _of(family: str | None) -> str:
    return f" for {family}" if family else ""


@cache
def default_collation(charset_name: str, server_family: str = "mysql") -> Collation:
    """The collation that a table of this character set gets on a server line when none is named.

    utf8mb4: 255 utf8mb4_0900_ai_ci on MySQL 8.0 and later, 45 utf8mb4_general_ci on MySQL 5.7 and MariaDB to 11.4,
    2304 utf8mb4_uca1400_ai_ci on MariaDB 11.5 and later (recorded on MySQL 9.7, MariaDB 10.11 and 11.8).
    Raises ScenarioError for an unknown character set or server.
    """
    line = _line(server_family)
    name = canonical_charset(charset_name)
    letter = line.letters[0]
    if letter == _MARIADB_11 and line.version and line.version < _MARIADB_WITH_UCA1400_DEFAULT:
        letter = _MARIADB_10
    if letter == _MYSQL and name == "utf8mb4" and line.version and line.version < (8, 0):
        return Collation(45, "utf8mb4_general_ci", name, True, True)
    names = set()
    for fields in (fields for lines in _table()[0].values() for fields in lines):
        if letter.upper() in fields[4] and fields[2] == name and line.knows(fields):
            return _collation(fields, letter)
        if letter in fields[4].lower() and line.knows(fields):
            names.add(fields[2])
    raise ScenarioError(f"unknown character set {charset_name!r}{_of(server_family)}", suggestion=nearest(name, names))


def known_collations() -> Iterator[Collation]:
    """Every collation of every server, by id; one whose id has two names comes twice."""
    for lines in _table()[0].values():
        for fields in lines:
            yield _collation(fields, fields[4][0].lower())
