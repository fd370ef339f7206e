"""Modes of a session: their bits in events, those that stand for others, and what they make of values.

The bits are those of ``sql/sql_class.h`` (MariaDB) and ``sql/system_variables.h`` (MySQL); recorded on 9.7, 10.11 and
11.8.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from forge.errors import ScenarioError, nearest
from forge.servers import ServerLine
from forge.servers.facts.values import Dialect

#: Of every server; the modes of some are a fact of their lines (``query.further_modes``).
_COMMON: Final = {
    "REAL_AS_FLOAT": 0,
    "PIPES_AS_CONCAT": 1,
    "ANSI_QUOTES": 2,
    "IGNORE_SPACE": 3,
    "ONLY_FULL_GROUP_BY": 5,
    "NO_UNSIGNED_SUBTRACTION": 6,
    "NO_DIR_IN_CREATE": 7,
    "ANSI": 18,
    "NO_AUTO_VALUE_ON_ZERO": 19,
    "NO_BACKSLASH_ESCAPES": 20,
    "STRICT_TRANS_TABLES": 21,
    "STRICT_ALL_TABLES": 22,
    "NO_ZERO_IN_DATE": 23,
    "NO_ZERO_DATE": 24,
    "ALLOW_INVALID_DATES": 25,
    "ERROR_FOR_DIVISION_BY_ZERO": 26,
    "TRADITIONAL": 27,
    "HIGH_NOT_PRECEDENCE": 29,
    "NO_ENGINE_SUBSTITUTION": 30,
    "PAD_CHAR_TO_FULL_LENGTH": 31,
}
_FURTHER: Final = {
    "NOT_USED": 4,
    "IGNORE_BAD_TABLE_OPTIONS": 4,
    "POSTGRESQL": 8,
    "ORACLE": 9,
    "MSSQL": 10,
    "DB2": 11,
    "MAXDB": 12,
    "NO_KEY_OPTIONS": 13,
    "NO_TABLE_OPTIONS": 14,
    "NO_FIELD_OPTIONS": 15,
    "MYSQL323": 16,
    "MYSQL40": 17,
    "NO_AUTO_CREATE_USER": 28,
    "TIME_TRUNCATE_FRACTIONAL": 32,
    "INTERPRET_UTF8_AS_UTF8MB4": 33,
    "EMPTY_STRING_IS_NULL": 32,
    "SIMULTANEOUS_ASSIGNMENT": 33,
    "TIME_ROUND_FRACTIONAL": 34,
}
_BITS: Final = _COMMON | _FURTHER
_FOREIGN: Final = (
    "PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE", "NO_KEY_OPTIONS", "NO_TABLE_OPTIONS", "NO_FIELD_OPTIONS",
)  # fmt: skip
#: Modes that set others, as far as the server has them (recorded).
_STANDS_FOR: Final = {
    "ANSI": ("REAL_AS_FLOAT", "PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE", "ONLY_FULL_GROUP_BY"),
    "TRADITIONAL": (
        "STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "NO_ZERO_IN_DATE", "NO_ZERO_DATE", "ERROR_FOR_DIVISION_BY_ZERO",
        "NO_AUTO_CREATE_USER", "NO_ENGINE_SUBSTITUTION",
    ),
    "POSTGRESQL": _FOREIGN,
    "ORACLE": (*_FOREIGN, "NO_AUTO_CREATE_USER", "SIMULTANEOUS_ASSIGNMENT"),
    "MSSQL": _FOREIGN,
    "DB2": _FOREIGN,
    "MAXDB": (*_FOREIGN, "NO_AUTO_CREATE_USER"),
    "MYSQL323": ("HIGH_NOT_PRECEDENCE",),
    "MYSQL40": ("HIGH_NOT_PRECEDENCE",),
}  # fmt: skip


class SqlMode(NamedTuple):
    """The modes that are in force, those that others stand for among them."""

    names: frozenset[str]

    @property
    def bits(self) -> int:
        """The number of the status variable SQL_MODE."""
        return sum(1 << _BITS[name] for name in self.names)

    @property
    def is_strict(self) -> bool:
        """Whether values that a column cannot hold are refused; else they are clipped."""
        return not self.names.isdisjoint(("STRICT_TRANS_TABLES", "STRICT_ALL_TABLES"))

    @property
    def quote(self) -> str:
        """What the server encloses names in where it writes a text anew."""
        return '"' if "ANSI_QUOTES" in self.names else "`"

    def forbids_date(self, text: str) -> bool:
        """Whether a date, or a moment, is zero or has a zero part, and NO_ZERO_DATE or NO_ZERO_IN_DATE forbids that."""
        date = text.partition(" ")[0]
        return ("NO_ZERO_DATE" if date == "0000-00-00" else "NO_ZERO_IN_DATE") in self.names and "-00" in date

    def dialect(self, line: ServerLine) -> Dialect:
        """The line's facts about values, with those that the modes decide."""
        rounds = line.values.rounds_fractions and "TIME_TRUNCATE_FRACTIONAL" not in self.names
        return msgspec.structs.replace(
            line.values,
            # Without strict mode the zero date is stored with a warning.
            takes_zero_dates=not (self.is_strict and "NO_ZERO_DATE" in self.names),
            takes_zero_parts="NO_ZERO_IN_DATE" not in self.names,
            takes_invalid_dates="ALLOW_INVALID_DATES" in self.names,
            rounds_fractions=rounds or "TIME_ROUND_FRACTIONAL" in self.names,
        )


@lru_cache(maxsize=64)
def sql_mode(text: str | None, line: ServerLine) -> SqlMode:
    """The modes that a session's ``sql_mode`` sets: names with commas between, "" for none, None for the line's
    default.

    Raises ScenarioError for a name that the line does not know.
    """
    known = [*_COMMON, *line.query.further_modes]
    if text is None:
        return SqlMode(frozenset(name for name in known if line.query.sql_mode >> _BITS[name] & 1))
    names: set[str] = set()
    for name in (name.upper() for name in text.split(",") if name):
        if name not in known:
            problem = f"{line.name} has no sql_mode {name!r}" if name in _BITS else f"there is no sql_mode {name!r}"
            raise ScenarioError(problem, suggestion=nearest(name, known))
        names |= {name} | {other for other in _STANDS_FOR.get(name, ()) if other in known}
        if name == "ANSI" and not line.query.ansi_groups_fully:
            names -= {"ONLY_FULL_GROUP_BY"} - {each.upper() for each in text.split(",")}
    return SqlMode(frozenset(names))
