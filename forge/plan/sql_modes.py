"""Modes of a session: their bits in events, those that stand for others, and what they make of values.

Which modes there are, ``forge/servers/sql_modes.toml`` says.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from forge.errors import ScenarioError, nearest
from forge.servers import ServerLine
from forge.servers.facts.values import Dialect
from forge.servers.shipped import shipped

_MODES: Final = shipped("sql_modes.toml")
_COMMON: Final[dict[str, int]] = _MODES["common"]
_BITS: Final[dict[str, int]] = _COMMON | _MODES["further"]
#: Modes that set others, as far as the server has them.
_STANDS_FOR: Final[dict[str, list[str]]] = _MODES["stands_for"]


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


def mode_text(bits: int, line: ServerLine) -> str | None:
    """The ``sql_mode`` that a status variable shows; None if it is the line's default, or has an unknown bit."""
    names = [name for name in (*_COMMON, *line.query.further_modes) if bits >> _BITS[name] & 1]
    known = sum(1 << _BITS[name] for name in names)
    return None if bits in (line.query.sql_mode, bits & ~known) or known != bits else ",".join(names)
