"""Functions that a script makes and whose bodies change rows: who calls one logs changes that are not run here."""

from __future__ import annotations

import re

from forge.sql.errors import SqlError

_FUNCTION = re.compile(
    r"\bFUNCTION\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:`?[\w$]+`?\s*\.\s*)?`?([\w$]+)`?\s*\((.*)", re.IGNORECASE | re.DOTALL
)
_CHANGES = re.compile(r"\b(?:INSERT|REPLACE|UPDATE|DELETE|CALL|TRUNCATE|CREATE|DROP)\b", re.IGNORECASE)
#: When an event runs, as a user variable says it: the log has the variable too.
_SCHEDULED = re.compile(r"\bSCHEDULE\s+(?:EVERY|AT)\s+[^;]{0,80}?@(?!@)", re.IGNORECASE)


class ChangingFunctions:
    """The names of such functions."""

    def __init__(self) -> None:
        self._calls: re.Pattern[str] | None = None
        self._names: set[str] = set()

    def add(self, sql: str) -> None:
        """Take a CREATE FUNCTION.  Raises SqlError for an event whose schedule reads a user variable."""
        made = _FUNCTION.search(sql)
        if made is not None and _CHANGES.search(made[2]):
            self._names.add(made[1])
            names = "|".join(map(re.escape, sorted(self._names)))
            self._calls = re.compile(rf"\b(?:{names})`?\s*\(", re.IGNORECASE)
        elif (scheduled := _SCHEDULED.search(sql)) is not None:
            raise SqlError("a schedule that reads a user variable is not supported yet", scheduled.end() - 1)

    def check(self, sql: str) -> None:
        """Raises SqlError for a statement that calls one of them."""
        called = None if self._calls is None else self._calls.search(sql)
        if called is not None:
            expected = "`-- forge: statements: [INSERT ..., ...]` with what it does"
            raise SqlError(
                f"{called[0]}...) changes rows, and functions are not run here", called.start(), expected=expected
            )
