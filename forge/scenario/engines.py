"""Storage engines: which are known, and what their tables cannot hold."""

from __future__ import annotations

from forge.compile.tables import Table
from forge.errors import nearest
from forge.scenario.tokens import SqlError, SqlUnsupported
from forge.servers import server_line

INNODB = "InnoDB"
#: Word of ENGINE= (lower-case) -> the engine's own name.
_ENGINES = {"innodb": INNODB, "myisam": "MyISAM", "memory": "MEMORY", "heap": "MEMORY", "aria": "Aria"}
_OTHERS = (
    "archive", "blackhole", "csv", "example", "federated", "merge", "mrg_myisam", "ndb", "ndbcluster", "rocksdb",
    "sequence", "connect", "spider", "s3", "mroonga", "columnstore",
)  # fmt: skip
_NOT_IN_MEMORY = frozenset((
    "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "JSON", "GEOMETRY",
    "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION", "VECTOR",
))  # fmt: skip
#: Bytes of a key (HA_MAX_KEY_LENGTH of myisam.h, MAX_KEY_LENGTH of my_base.h, MARIA_MAX_KEY_LENGTH).
_KEY_BYTES = {INNODB: 3072, "MyISAM": 1000, "Aria": 2000, "MEMORY": 3072}


def engine_named(word: str, offset: int) -> str:
    """The engine of ``ENGINE = word``.  Raises SqlError, SqlUnsupported for engines that this version does not know."""
    found = _ENGINES.get(word.lower())
    if found is not None:
        return found
    if word.lower() in _OTHERS:
        raise SqlUnsupported(f"the storage engine {word} is not supported yet", offset)
    expected = "InnoDB, MyISAM, MEMORY, or Aria on MariaDB"
    raise SqlError(f"unknown storage engine {word!r}", offset, expected=expected, suggestion=nearest(word, _ENGINES))


def key_limit(engine: str) -> int:
    """Bytes that a key of the engine's tables may take."""
    return _KEY_BYTES[engine]


def check_engine(table: Table, server: str) -> None:
    """Raises SqlError for a table that its engine cannot hold, SqlUnsupported for one that is not made yet."""
    engine = table.engine
    if engine == "Aria" and server_line(server).family != "mariadb":
        raise SqlError(f"{server} has no storage engine Aria", 0, expected="InnoDB, MyISAM or MEMORY")
    if engine == "MEMORY":
        for column in table.columns:
            if column.type.name in _NOT_IN_MEMORY:
                raise SqlError(f"a MEMORY table has no {column.type.name} columns: {column.name!r}", 0)
    if engine != INNODB and any(column.generated for column in table.columns):
        raise SqlUnsupported(f"generated columns in {engine} tables are not supported yet", 0)
