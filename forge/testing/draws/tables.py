"""Tables and rows that they can hold."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from forge.plan.tables import Key, KeyPart, Row, Table, TableColumn
from forge.testing.draws.cells import value_of
from forge.testing.draws.source import Source
from forge.testing.draws.types import in_charset, type_named, type_of
from forge.values.base import Column
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import column_for, facts_of


def table_of(
    source: Source, server: str, most: int = 24, names: Sequence[str] = (), charsets: Sequence[str] = ()
) -> Table:
    """A table of at most so many columns, with a primary key (whole, or with prefixes) or a unique one or none.

    ``names`` and ``charsets``: of column types, in upper case, and of character sets; any, if there are none.
    Raises ScenarioError if the line has none of them.
    """

    def column_type(inner: Source) -> SqlType:
        drawn = type_named(inner, server, names) if names else type_of(inner, server)
        return in_charset(inner, drawn, server, charsets) if charsets else drawn

    types = source.several(column_type, 1, most)
    can = [place for place, one in enumerate(types) if is_key_type(one)]
    parts = source.some(can, 4)
    columns = tuple(
        TableColumn(f"c{place}", one, nullable=source.truth() and place not in parts, visible=source.truth())
        for place, one in enumerate(types)
    )
    kind = source.one_of(("primary", "primary", "unique"))
    key = Key("PRIMARY", kind, tuple(key_part(source, types[place], place) for place in parts))  # type: ignore[arg-type]
    return Table("db", "t", columns, (key,) if parts else ())


def rows_of(source: Source, table: Table, server: str, most: int = 3) -> list[Row]:
    """Rows that the table can hold, NULL among their values."""
    return source.several(lambda inner: row_of(inner, table, server), 1, most)


def row_of(source: Source, table: Table, server: str) -> Row:
    return tuple(
        None if column.nullable and source.truth() else value_of(source, described(column.type, server))
        for column in table.columns
    )


@lru_cache(maxsize=1 << 12)
def described(sql_type: SqlType, server: str) -> Column:
    """The column that a type comes to."""
    return column_for(sql_type, server=server)


def is_key_type(sql_type: SqlType) -> bool:
    """Whether a key can have such a column."""
    return facts_of(sql_type).in_key != "none" and not sql_type.compressed and sql_type.length != 0


def key_part(source: Source, sql_type: SqlType, place: int) -> KeyPart:
    """The part of a key that the column at ``place`` is: the whole of it, or a prefix."""
    facts = facts_of(sql_type)
    if facts.is_lob:
        return KeyPart(place, source.one_of((1, 10, 250, 251)))
    if facts.takes_prefix and sql_type.length is not None and source.truth():
        return KeyPart(place, source.one_of(sorted({1, sql_type.length, max(1, sql_type.length - 1)})))
    return KeyPart(place)
