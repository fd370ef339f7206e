"""What rows have in the keys of their table: what has to be unique, and what transactions depend on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from forge.charsets import compare_key
from forge.plan.tables import Key, KeyPart, Row, Table

#: One entry of a key: a value for each of its parts, equal for two rows if the server calls them equal.
KeyEntry = tuple[object, ...]


def key_entries(table: Table, key: Key, row: Row) -> Iterator[KeyEntry]:
    """The entries of a row: none if a part is NULL, several in a multi-valued key (none for an empty array)."""
    parts = [_comparable(table, part, row) for part in key.parts]
    if all(part is not None for part in parts):
        yield from product(*(part if isinstance(part, tuple) else (part,) for part in parts))


def _comparable(table: Table, part: KeyPart, row: Row) -> object:
    """The value as the key's collation sees it; a prefix key sees the prefix only."""
    if part.expression is not None:
        value, collation = part.expression.compute(row), part.expression.collation
    else:
        value, collation = row[part.column], table.columns[part.column].type.collation
    if isinstance(value, (str, bytes)) and part.prefix is not None:
        value = value[: part.prefix]
    return compare_key(collation, value) if isinstance(value, str) and collation is not None else value
