"""Storage engines: which are known, and which a server line has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from forge.errors import ScenarioError, nearest
from forge.plan.tables import Table
from forge.servers import ServerLine
from forge.sql.ast.definitions import KeyDraft, TableOptions
from forge.sql.errors import SqlError

INNODB: Final = "InnoDB"
#: The known engines, with the bytes that a key of their tables may take (HA_MAX_KEY_LENGTH and its like).
_KEY_BYTES: Final = {
    INNODB: 3072, "MyISAM": 1000, "MEMORY": 3072, "Aria": 2000, "CSV": 0, "ARCHIVE": 8, "BLACKHOLE": 3072,
}  # fmt: skip
_BY_WORD: Final = {name.lower(): name for name in _KEY_BYTES} | {"heap": "MEMORY"}
#: AUTO_INCREMENT may be behind other columns of a key, for numbers within each value of these (HA_AUTO_PART_KEY).
NUMBERS_GROUPS: Final = frozenset(("MyISAM", "Aria", "BLACKHOLE"))
#: The features that special keys of InnoDB need.
_INNODB_KEYS: Final = {"FULLTEXT": "innodb_fulltext", "SPATIAL": "innodb_spatial"}


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


def check_engine(table: Table, keys: Iterable[KeyDraft], line: ServerLine) -> None:
    """Raises SqlError for an engine that the line lacks, ScenarioError for keys and clocks of later lines."""
    if table.engine not in line.ddl.engines:
        problem = f"{line.name} has no storage engine {table.engine}"
        raise SqlError(problem, 0, expected=", ".join(line.ddl.engines))
    for key in keys if table.engine == INNODB else ():
        if key.special in _INNODB_KEYS:
            line.require(_INNODB_KEYS[key.special])
    clocks = [column for column in table.columns if column.type.name == "TIMESTAMP"]
    if sum(column.default_now or column.on_update_now for column in clocks) > 1:
        line.require("timestamp_clocks")


def key_limit(engine: str) -> int:
    """Bytes that a key of the engine's tables may take; a longer UNIQUE key is kept as a hash."""
    return _KEY_BYTES[engine]
