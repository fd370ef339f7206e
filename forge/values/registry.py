"""The column types: one line a module that brings some.

A module's ``FAMILY`` (forge.values.declaration.column_type) has its codecs, by wire type, and its SQL types, by name.
docs/add-a-type.md shows how to add one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from typing import Final

from forge.errors import ScenarioError, UnsupportedError, nearest
from forge.values.base import Codec, Column, MetadataSpace
from forge.values.declaration.column_type import ColumnType, Family, Temporals
from forge.values.declaration.facts import TypeFacts
from forge.values.declaration.sqltype import SqlType
from forge.values.dialect import dialect_of
from forge.values.wire_types import WireType

#: Modules of forge.values.
_MODULES = (
    "numeric.integers",
    "numeric.floats",
    "numeric.decimals",
    "numeric.bits",
    "temporal.year",
    "temporal.types",
    "text.types",
    "text.member_types",
    "network",
    "vector",
    "json.codec",
    "json.typed_array",
    "spatial.geometry",
)

_FAMILIES: tuple[Family, ...] = tuple(import_module(f"forge.values.{name}").FAMILY for name in _MODULES)
_CODECS = tuple(codec for family in _FAMILIES for codec in family.codecs)
_BY_CODE: dict[int, Codec] = {
    code: codec for codec in _CODECS if codec.declared_as is None for code in codec.type_codes
}
#: What a STRING stands for, by the first metadata byte; anything else is CHAR or BINARY.
_BY_REAL_TYPE: dict[int, Codec] = {codec.real_type: codec for codec in _CODECS if codec.real_type is not None}
_BY_DECLARED: dict[tuple[str, int], Codec] = {
    (codec.declared_as, code): codec for codec in _CODECS if codec.declared_as is not None for code in codec.type_codes
}
#: DECIMAL of before 5.0 counts, although no codec reads it.
_SPACES: dict[int, MetadataSpace | None] = {
    WireType.DECIMAL: "numeric",
    **{code: codec.metadata_space for code, codec in _BY_CODE.items()},
}
_COLUMN_TYPES = {column_type.name: column_type for family in _FAMILIES for column_type in family.column_types}

#: Members of an ENUM or SET whose columns are kept.
_KEPT_MEMBERS = 64
_STRING: Final = int(WireType.STRING)  # a plain integer: it is compared for every cell
#: Wire types that the servers' headers name and that have no codec here.
_NAMES = {
    WireType.DECIMAL: "DECIMAL of MySQL before 5.0",
    WireType.NULL: "NULL",
    243: "INVALID",
    244: "BOOL",
    WireType.TINY_BLOB: "TINY_BLOB",
    WireType.MEDIUM_BLOB: "MEDIUM_BLOB",
    WireType.LONG_BLOB: "LONG_BLOB",
}


def column_types() -> Mapping[str, ColumnType]:
    """Every SQL type by its name."""
    return _COLUMN_TYPES


def column_type(name: str) -> ColumnType:
    """The SQL type of that name, in upper case.  Raises ScenarioError, with the nearest name."""
    named = _COLUMN_TYPES.get(name)
    if named is None:
        raise ScenarioError(f"unknown column type {name!r}", suggestion=nearest(name, _COLUMN_TYPES))
    return named


def facts_of(sql_type: SqlType) -> TypeFacts:
    """The facts of a declared type.  Raises ScenarioError for a type that no server has."""
    return column_type(sql_type.name).facts


def column_for(
    sql_type: SqlType,
    *,
    name: str | None = None,
    nullable: bool = True,
    server: str = "mysql",
    temporals: Temporals = "new",
) -> Column:
    """The column that a server logs for a declared type, with all facts that optional metadata can tell.

    ``server`` is a family or line such as "mariadb-11.8": MariaDB stores JSON as LONGTEXT and VECTOR as VARBINARY, and
    takes some values otherwise (forge.values.dialect).
    ``temporals="old"`` gives the TIME, DATETIME and TIMESTAMP of servers before 5.6.
    Raises ScenarioError for a type that no server has and for arguments that it refuses.
    """
    made = _kept_column if len(sql_type.members) <= _KEPT_MEMBERS else _column
    return made(sql_type, name, nullable, server, temporals)


def _column(sql_type: SqlType, name: str | None, nullable: bool, server: str, temporals: Temporals) -> Column:
    declare, dialect = column_type(sql_type.name).declare, dialect_of(server)
    column = declare(sql_type, dialect, temporals)
    return replace(column, name=name, nullable=nullable, declared=sql_type, dialect=dialect)


#: A table's columns are asked for with each statement on it.
_kept_column = lru_cache(maxsize=4096)(_column)


def stored_type(sql_type: SqlType, server: str) -> SqlType:
    """The type that a column has in the dictionary of a line: LONGTEXT for MariaDB's JSON."""
    stored_as = column_type(sql_type.name).stored_as
    return sql_type if stored_as is None else stored_as(sql_type, dialect_of(server))


def disguises(column: Column) -> Iterator[str]:
    """The types that travel as this column's type does, with their length."""
    for sql_type in _COLUMN_TYPES.values():
        name = None if sql_type.disguised is None else sql_type.disguised(column)
        if name is not None:
            yield name


def codec_for(column: Column) -> Codec:
    """The codec of a column: that of its declared type where this has one of its own, else that of the wire type.

    Raises UnsupportedError naming the type.
    """
    code, declared = column.type_code, column.declared
    if declared is not None and (declared.name, code) in _BY_DECLARED:
        return _BY_DECLARED[declared.name, code]
    codec = _BY_CODE.get(code)
    if code == _STRING and column.metadata:
        codec = _BY_REAL_TYPE.get(column.metadata[0], codec)
    if codec is None:
        raise UnsupportedError(f"column type {type_label(code)} is not supported")
    return codec


def metadata_space(column: Column) -> MetadataSpace | None:
    """Which columns of optional metadata it counts among; None for none, and for types that are not known."""
    space = _SPACES.get(column.type_code)
    if column.type_code == _STRING and column.metadata and column.metadata[0] in _BY_REAL_TYPE:
        space = _BY_REAL_TYPE[column.metadata[0]].metadata_space
    return space


def reader_feature(type_code: int) -> str | None:
    """The feature (forge/servers/features.toml) that a reader of rows with this type needs; None if all have it."""
    codec = _BY_CODE.get(type_code)
    return None if codec is None else codec.reader_feature


def metadata_size(type_code: int) -> int | None:
    """Bytes of the type's metadata in TABLE_MAP; None for a type that is not known.

    TYPED_ARRAY (20) has more than this minimum: its element's type byte, then that type's metadata.
    """
    codec = _BY_CODE.get(type_code)
    return None if codec is None else codec.metadata_size


def type_label(type_code: int) -> str:
    """The number of a wire type, with its name if it has no codec but is known."""
    name = _NAMES.get(type_code)
    return f"{type_code} ({name})" if name else str(type_code)
