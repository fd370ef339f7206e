"""The keys of a table: which one names a row, which are checked, and what rows have in them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from msgspec.structs import replace

from forge.charsets import compare_key
from forge.plan.tables import Key, KeyPart, Row, Table
from forge.values.registry import facts_of

#: One entry of a key: a value for each of its parts, equal for two rows if the server calls them equal.
KeyEntry = tuple[object, ...]


def key_entries(table: Table, key: Key, row: Row) -> Iterator[KeyEntry]:
    """The entries of a row: none if a part is NULL, several in a multi-valued key (none for an empty array)."""
    parts = [_comparable(table, part, row) for part in key.parts]
    if all(part is not None for part in parts):
        yield from product(*(part if isinstance(part, tuple) else (part,) for part in parts))


def overlaps(table: Table, key: Key, row: Row, other: Row) -> bool:
    """Whether two rows of the same key are there at the same time: WITHOUT OVERLAPS."""
    assert key.period is not None
    begin, end = key.period
    named = replace(key, parts=tuple(part for part in key.parts if part.column not in key.period))
    entry: Any = next(iter(key_entries(table, named, row)), None)
    times: list[Any] = [row[begin], row[end], other[begin], other[end]]
    return (
        entry is not None
        and times[2] < times[1]
        and times[0] < times[3]
        and entry == next(iter(key_entries(table, named, other)), None)
    )


def _comparable(table: Table, part: KeyPart, row: Row) -> object:
    """The value as the key's collation sees it; a prefix key sees the prefix only."""
    if part.expression is not None:
        value, collation = part.expression.compute(row), part.expression.collation
    else:
        value, collation = row[part.column], table.columns[part.column].type.collation
    if isinstance(value, (str, bytes)) and part.prefix is not None:
        value = value[: part.prefix]
    return compare_key(collation, value) if isinstance(value, str) and collation is not None else value


def key_of_rows(table: Table) -> Key | None:
    """The key by which the server identifies rows: the primary key, else the first unique key of whole NOT
    NULL columns that are stored.

    sql_table.cc sorts unique keys without NULLs first; recorded: of ``k1(d(3)), k2(c NULL), k3(b, a), k4(a)`` it is k3.
    """
    if table.primary_key is not None:
        return table.primary_key
    for key in table.keys:
        if (
            key.kind == "unique"
            and not key.hashed
            and all(
                not table.takes_null(part) and key_prefix(table, part) is None and not _is_virtual(table, part)
                for part in key.parts
            )
        ):
            return key
    return None


def _is_virtual(table: Table, part: KeyPart) -> bool:
    return part.expression is None and table.columns[part.column].generated == "virtual"


def unique_keys(table: Table) -> list[Key]:
    """The primary and unique keys in the order in which the server keeps and checks them (sort_keys in sql_table.cc).

    The primary key, those without NULLs, the others; within these, keys of whole columns before those with prefixes.
    MariaDB looks at those that it keeps as hashes ahead of all (recorded on 10.11 and 11.8).
    """

    def rank(key: Key) -> tuple[bool, bool, bool, bool]:
        nullable = any(map(table.takes_null, key.parts))
        prefixed = any(key_prefix(table, part) is not None for part in key.parts)
        return not key.hashed, key.kind != "primary", nullable, prefixed

    return sorted((key for key in table.keys if key.kind != "index"), key=rank)


def key_prefix(table: Table, part: KeyPart) -> int | None:
    """The prefix of a key part, None if it covers the whole column."""
    if part.prefix is None:
        return None
    sql_type = table.columns[part.column].type
    facts = facts_of(sql_type)
    whole = facts.takes_prefix and not facts.is_lob and part.prefix == sql_type.length
    return None if whole else part.prefix
