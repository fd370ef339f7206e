"""Storage engines: which are known, and what their tables cannot hold (recorded on 9.7, 10.11 and 11.8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from forge.errors import ScenarioError, nearest
from forge.plan.tables import Table, TableColumn
from forge.servers import ServerLine, server_line
from forge.sql.ast.definitions import KeyDraft, TableOptions
from forge.sql.errors import SqlError, SqlUnsupported
from forge.values.registry import facts_of

INNODB = "InnoDB"


@dataclass(frozen=True, slots=True)
class _Engine:
    """What an engine's tables can have.  ``key_bytes``: of a key (HA_MAX_KEY_LENGTH and its like)."""

    name: str
    key_bytes: int = 3072
    keys: Literal["any", "auto_increment", "none"] = "any"
    #: Column types that it cannot hold.
    without: Literal["blobs", "geometries"] | None = None
    takes_null: bool = True
    has_generated: bool = True
    #: DEFAULT (expression), where ``plain_engines`` holds.
    has_computed_defaults: bool = True


_ENGINES = {
    engine.name.lower(): engine
    for engine in (
        _Engine(INNODB),
        _Engine("MyISAM", 1000),
        _Engine("MEMORY", without="blobs", has_generated=False, has_computed_defaults=False),
        _Engine("Aria", 2000),
        _Engine("CSV", 0, "none", "geometries", takes_null=False, has_generated=False, has_computed_defaults=False),
        _Engine("ARCHIVE", 8, "auto_increment", has_generated=False, has_computed_defaults=False),
        _Engine("BLACKHOLE", has_generated=False, has_computed_defaults=False),
    )
}
#: The engines in which temporary tables and CREATE TABLE ... SELECT were recorded.
PLAIN_ENGINES = frozenset((INNODB, "MyISAM", "MEMORY", "Aria"))
#: AUTO_INCREMENT may be behind other columns of a key, for numbers within each value of these (HA_AUTO_PART_KEY).
NUMBERS_GROUPS = frozenset(("MyISAM", "Aria", "BLACKHOLE"))
#: The features that special keys of InnoDB need.
_INNODB_KEYS = {"FULLTEXT": "innodb_fulltext", "SPATIAL": "innodb_spatial"}
#: KEY_BLOCK_SIZE of InnoDB.
_BLOCK_SIZES = ("0", "1", "2", "4", "8", "16")
_ALIASES = {"heap": "memory"}
_OTHERS = (
    "example", "federated", "merge", "mrg_myisam", "ndb", "ndbcluster", "rocksdb",
    "sequence", "connect", "spider", "s3", "mroonga", "columnstore",
)  # fmt: skip


def chosen_engine(options: TableOptions) -> str | None:
    """The engine of ``ENGINE = word``, if there is that option.

    Raises SqlError, and SqlUnsupported for engines that this version does not know.
    """
    word, offset = options.engine, options.engine_offset
    if word is None:
        return None
    engine = _ENGINES.get(_ALIASES.get(word.lower(), word.lower()))
    if engine is not None:
        return engine.name
    if word.lower() in _OTHERS:
        raise SqlUnsupported(f"the storage engine {word} is not supported yet", offset)
    expected = ", ".join(engine.name for engine in _ENGINES.values())
    raise SqlError(f"unknown storage engine {word!r}", offset, expected=expected, suggestion=nearest(word, _ENGINES))


def engine_named(word: str, line: ServerLine) -> str:
    """The engine of ``default_storage_engine``.  Raises ScenarioError for one that the line's servers do not have."""
    engine = _ENGINES.get(_ALIASES.get(word.lower(), word.lower()))
    if engine is None or engine.name not in line.ddl.engines:
        known = line.ddl.engines
        raise ScenarioError(
            f"{line.name} has no storage engine {word!r}",
            expected=", ".join(known),
            suggestion=nearest(word, known),
        )
    return engine.name


def refuse_substitution(options: TableOptions, line: ServerLine) -> None:
    """Raises SqlUnsupported for an engine that the server takes InnoDB for, without NO_ENGINE_SUBSTITUTION."""
    word = options.engine
    if word is not None and _ALIASES.get(word.lower(), word.lower()) not in map(str.lower, line.ddl.engines):
        problem = f"the storage engine that {line.name} takes for {word} is not supported yet"
        raise SqlUnsupported(problem, options.engine_offset, expected=INNODB)


def check_row_format(options: Mapping[str, str], engine: str, *, temporary: bool = False) -> None:
    """Raises SqlError for a row format and a block size that InnoDB does not put together (1031, 1005, 1478)."""
    if engine != INNODB:
        return
    row_format, block = options.get("ROW_FORMAT", "DEFAULT").upper(), options.get("KEY_BLOCK_SIZE", "0")
    if row_format in ("FIXED", "PAGE"):
        raise SqlError(f"InnoDB tables have no ROW_FORMAT={row_format}", 0, expected="DYNAMIC")
    if block not in _BLOCK_SIZES:
        raise SqlError(f"InnoDB tables have no KEY_BLOCK_SIZE={block}", 0, expected=f"one of {', '.join(_BLOCK_SIZES)}")
    if block != "0" and row_format not in ("DEFAULT", "COMPRESSED"):
        raise SqlError(f"KEY_BLOCK_SIZE does not go with ROW_FORMAT={row_format}", 0, expected="ROW_FORMAT=COMPRESSED")
    compression = options.get("COMPRESSION", "").strip("'\"").lower()
    if compression not in ("", "none") and (block != "0" or row_format == "COMPRESSED"):
        raise SqlError(f"COMPRESSION does not go with {'KEY_BLOCK_SIZE' if block != '0' else 'ROW_FORMAT'}", 0)
    if temporary and (block != "0" or row_format == "COMPRESSED"):
        raise SqlError("a temporary table of InnoDB is not compressed", 0, expected="no KEY_BLOCK_SIZE")


def key_limit(engine: str) -> int:
    """Bytes that a key of the engine's tables may take."""
    return _ENGINES[engine.lower()].key_bytes


def check_engine(table: Table, keys: Sequence[KeyDraft], server: str) -> None:
    """Raises SqlError for a table that its engine cannot hold, SqlUnsupported for engines that are a plugin."""
    engine, line = _ENGINES[table.engine.lower()], server_line(server)
    if table.temporary and engine.name not in PLAIN_ENGINES:
        raise SqlUnsupported(f"temporary tables of {engine.name} are not supported yet", 0)
    if engine.name in line.ddl.plugin_engines:
        raise SqlUnsupported(f"the storage engine {engine.name} of {server} is a separate plugin", 0)
    if engine.name not in line.ddl.engines:
        raise SqlError(f"{server} has no storage engine {engine.name}", 0, expected="InnoDB, MyISAM or MEMORY")
    is_varbinary = line.values.vector_is_varbinary
    for column in table.columns:
        is_blob = facts_of(column.type).is_blob and not (is_varbinary and column.type.name == "VECTOR")
        problem = _column_problem(engine, column, plain=line.ddl.plain_engines, is_blob=is_blob)
        if problem is not None:
            raise SqlError(f"{engine.name} tables have no {problem}: {column.name!r}", 0)
        if table.partition is not None and facts_of(column.type).is_geometry and not line.ddl.spatial_partitions:
            raise SqlError(f"tables with partitions have no {column.type.name} columns: {column.name!r}", 0)
    _check_keys(engine, table, keys, plain=line.ddl.plain_engines)
    _check_features(engine, table, keys, line)


def _check_features(engine: _Engine, table: Table, keys: Sequence[KeyDraft], line: ServerLine) -> None:
    """Raises ScenarioError for a table of an engine or with columns that only later lines have."""
    for key in keys if engine.name == INNODB else ():
        if key.special in _INNODB_KEYS:
            line.require(_INNODB_KEYS[key.special])
    clocks = [column for column in table.columns if column.type.name == "TIMESTAMP"]
    if sum(column.default_now or column.on_update_now for column in clocks) > 1:
        line.require("timestamp_clocks")


def _column_problem(engine: _Engine, column: TableColumn, *, plain: bool, is_blob: bool) -> str | None:
    facts = facts_of(column.type)
    if (engine.without == "blobs" and is_blob) or (engine.without == "geometries" and facts.is_geometry):
        return f"{column.type.name} columns"
    if column.nullable and not engine.takes_null:
        return "nullable columns"
    if column.type.srid and engine.name != INNODB:
        return "columns with an SRID other than 0"
    if column.generated and not engine.has_generated:
        return "generated columns"
    if column.computed_default and plain and not engine.has_computed_defaults:
        return "default expressions"
    return None


def _check_keys(engine: _Engine, table: Table, drafts: Sequence[KeyDraft], *, plain: bool) -> None:
    if drafts and engine.keys == "none":
        raise SqlError(f"{engine.name} tables have no keys", drafts[0].offset)
    if engine.keys == "auto_increment" and any(
        len(key.parts) > 1 or not table.columns[key.parts[0].column].auto_increment for key in table.keys
    ):
        raise SqlError(f"{engine.name} tables have one key, on an AUTO_INCREMENT column", drafts[0].offset)
    if engine.name == "Aria" and any(
        part.expression is None and table.columns[part.column].generated == "virtual"
        for key in table.keys
        for part in key.parts
    ):
        raise SqlError("Aria tables have no keys on virtual columns", 0)
    text_key = next((draft for draft in drafts if draft.special == "FULLTEXT"), None)
    if text_key is not None and engine.name == "MEMORY":
        raise SqlError("MEMORY tables have no FULLTEXT keys", text_key.offset)
    if not plain or engine.name == INNODB:
        return
    for draft, key in zip(drafts, table.keys, strict=True):
        if any(part.descending for part in draft.parts):
            raise SqlError(f"{engine.name} tables have no descending keys", draft.offset)
        if any(part.expression or table.columns[part.column].generated == "virtual" for part in key.parts):
            raise SqlError(f"{engine.name} tables have no keys on virtual columns or expressions", draft.offset)
