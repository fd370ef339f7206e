"""Modes of a session: their bits in events, and which sets of modes change nothing but those bits.

The bits are those of ``sql/sql_class.h`` (MariaDB) and ``sql/system_variables.h`` (MySQL); recorded on 9.7, 10.11 and
11.8.
"""

from __future__ import annotations

from typing import Final

from forge.errors import ScenarioError, UnsupportedError, nearest
from forge.servers import ServerLine

#: Modes that change neither what a text means here nor what is stored of it.
_IDLE: Final = {
    "IGNORE_SPACE": 3,
    "ONLY_FULL_GROUP_BY": 5,
    "NO_UNSIGNED_SUBTRACTION": 6,
    "NO_DIR_IN_CREATE": 7,
    "STRICT_TRANS_TABLES": 21,
    "STRICT_ALL_TABLES": 22,
    "NO_ZERO_IN_DATE": 23,
    "NO_ZERO_DATE": 24,
    "ERROR_FOR_DIVISION_BY_ZERO": 26,
    "HIGH_NOT_PRECEDENCE": 29,
    "NO_ENGINE_SUBSTITUTION": 30,
    "PAD_CHAR_TO_FULL_LENGTH": 31,
}
#: One that some servers do not have; those that do have it among their defaults.
_PERHAPS: Final = {"NO_AUTO_CREATE_USER": 28}
#: Modes that servers have and that are not modelled.
_OTHERS: Final = frozenset((
    "REAL_AS_FLOAT", "PIPES_AS_CONCAT", "ANSI_QUOTES", "ANSI", "NO_AUTO_VALUE_ON_ZERO", "NO_BACKSLASH_ESCAPES",
    "ALLOW_INVALID_DATES", "TRADITIONAL", "TIME_TRUNCATE_FRACTIONAL", "ORACLE", "MSSQL", "EMPTY_STRING_IS_NULL",
    "SIMULTANEOUS_ASSIGNMENT", "TIME_ROUND_FRACTIONAL", "IGNORE_BAD_TABLE_OPTIONS",
))  # fmt: skip


def sql_mode_bits(text: str, line: ServerLine) -> int:
    """The number of a ``sql_mode``, names with commas between; "" is 0.

    Raises ScenarioError for an unknown name, UnsupportedError for modes that change what is stored: all but "" have to
    be strict, and to take dates with zeros if the line's default does.
    """
    if not text:
        return 0
    known = _IDLE | {name: bit for name, bit in _PERHAPS.items() if line.query.sql_mode >> bit & 1}
    names = [name.strip().upper() for name in text.split(",")]
    for name in names:
        if name not in known and name in _OTHERS:
            raise UnsupportedError(f"sql_mode {name} is not supported yet", expected=f"some of {', '.join(known)}")
        if name not in known:
            raise ScenarioError(f"there is no sql_mode {name!r}", suggestion=nearest(name, known))
    takes_zeros = line.values.takes_zero_dates
    zeros = {"NO_ZERO_DATE", "NO_ZERO_IN_DATE"} & set(names)
    if not {"STRICT_TRANS_TABLES", "STRICT_ALL_TABLES"} & set(names) or len(zeros) != (0 if takes_zeros else 2):
        raise UnsupportedError(
            f"sql_mode {text!r} is not supported yet",
            expected="'', or a strict one"
            + (" without" if takes_zeros else " with")
            + " NO_ZERO_DATE and NO_ZERO_IN_DATE",
        )
    return sum(1 << known[name] for name in set(names))
