"""Storage engines: which are known, and which a server line has."""

from __future__ import annotations

from typing import Final

from forge.errors import ScenarioError, nearest
from forge.plan.tables import Table
from forge.servers import ServerLine
from forge.sql.ast.definitions import TableOptions
from forge.sql.errors import SqlError

INNODB: Final = "InnoDB"
#: The known engines, with the bytes that a key of their tables may take (HA_MAX_KEY_LENGTH and its like).
_KEY_BYTES: Final = {
    INNODB: 3072, "MyISAM": 1000, "MEMORY": 3072, "Aria": 2000, "CSV": 0, "ARCHIVE": 8, "BLACKHOLE": 3072,
}  # fmt: skip
_BY_WORD: Final = {name.lower(): name for name in _KEY_BYTES} | {"heap": "MEMORY"}
#: AUTO_INCREMENT may be behind other columns of a key, for numbers within each value of these (HA_AUTO_PART_KEY).
NUMBERS_GROUPS: Final = frozenset(("MyISAM", "Aria", "BLACKHOLE"))


def chosen_engine(options: TableOptions) -> str | None:
    """The engine of ``ENGINE = word``, if there is that option.  Raises SqlError for an engine that is not known."""
    word = options.engine
    if word is None:
        return None
    engine = _BY_WORD.get(word.lower())
    if engine is None:
        problem, suggestion = f"unknown storage engine {word!r}", nearest(word, _KEY_BYTES)
        raise SqlError(problem, options.engine_offset, expected=", ".join(_KEY_BYTES), suggestion=suggestion)
    return engine


def engine_named(word: str, line: ServerLine) -> str:
    """The engine of ``default_storage_engine``.  Raises ScenarioError for one that the line's servers do not have."""
    engine, known = _BY_WORD.get(word.lower()), line.ddl.engines
    if engine is None or engine not in known:
        problem, suggestion = f"{line.name} has no storage engine {word!r}", nearest(word, known)
        raise ScenarioError(problem, expected=", ".join(known), suggestion=suggestion)
    return engine


def check_engine(table: Table, line: ServerLine) -> None:
    """Raises SqlError for a table of an engine that the line's servers do not have."""
    if table.engine not in line.ddl.engines:
        problem = f"{line.name} has no storage engine {table.engine}"
        raise SqlError(problem, 0, expected=", ".join(line.ddl.engines))


def key_limit(engine: str) -> int:
    """Bytes that a key of the engine's tables may take; a longer UNIQUE key is kept as a hash."""
    return _KEY_BYTES[engine]
