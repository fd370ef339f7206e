"""Whether ALTER TABLE copies the table row by row (ALGORITHM=COPY).

The rules are those of the server's comparison of definitions (sql/sql_table.cc, Field::is_equal), recorded on
MySQL 9.7 by whether a copied DATETIME made the statement's event name the time zone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forge.charsets import collation
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.literals import is_zero_date
from forge.engine.dictionary.table_state import TableState
from forge.errors import UnsupportedError
from forge.values.base import Value
from forge.values.declaration.sqltype import SqlType

#: Pairs of an old column and the column that it becomes, with the old one's index.
Kept = Sequence[tuple[int, ColumnDefinition, ColumnDefinition]]


def needs_copy(before: TableState, after: TableState, kept: Kept) -> bool:
    """Whether the table has to be copied to get from one definition to the other."""
    if _clustering_is_lost(before, after):
        return True
    indexed = {part.column for key in before.table.keys for part in key.parts}
    if any(_column_needs_copy(old, new, index in indexed) for index, old, new in kept):
        return True
    names = {new.name for _, _, new in kept}
    return any(column.column.generated == "stored" and column.name not in names for column in after.columns)


def copies_moments(before: TableState, kept: Kept) -> bool:
    """Whether copying the rows converts a value by the time zone: to DATETIME, or to or from TIMESTAMP."""
    return any(True for _ in _copied_moments(before, kept))


def changes_timestamps(before: TableState, kept: Kept) -> bool:
    """Whether a row has a value in a column that becomes a TIMESTAMP, or is one no longer."""
    places = [index for index, old, new in kept if old.is_timestamp != new.is_timestamp and new.generated is None]
    return any(row[index] is not None for row in before.rows.values() for index in places)


def check_copied_moments(before: TableState, kept: Kept, *, forbidden: bool) -> None:
    """Raises UnsupportedError for a zero date that sql_mode forbids, or of a generated column, where it may stand for
    what its expression gave and was no date: neither is converted (recorded on 9.7, without strict mode).
    """
    for column, value in _copied_moments(before, kept):
        if isinstance(value, str) and is_zero_date(value) and (forbidden or column.generated is not None):
            kind = "column" if column.generated is None else "generated column"
            problem = f"ALTER TABLE that copies the {kind} {column.name!r} with a zero date"
            raise UnsupportedError(f"{problem} is not supported yet")


def check_changed_moments(before: TableState, kept: Kept) -> None:
    """Raises UnsupportedError for a generated column of a table with rows that becomes a moment, or another one: the
    log shows what its values are (recorded on 9.7 and 11.8).
    """
    for _, old, new in kept if before.rows else ():
        is_generated = old.generated is not None and new.generated is not None
        if is_generated and new.type_facts.is_moment and old.type != new.type:
            problem = f"the generated column {new.name!r} that becomes a {new.type.name} in a table with rows"
            raise UnsupportedError(f"{problem} is not supported yet")


def _copied_moments(before: TableState, kept: Kept) -> Iterator[tuple[ColumnDefinition, Value]]:
    # A column that becomes generated is computed.
    copied = [pair for pair in kept if pair[1].generated is not None or pair[2].generated is None]
    places = [(index, old) for index, old, new in copied if new.type_facts.is_moment or old.is_timestamp]
    for row in before.rows.values():
        yield from ((column, row[index]) for index, column in places if row[index] is not None)


def _clustering_is_lost(before: TableState, after: TableState) -> bool:
    """A table without its primary key, or the key that stands in for it, is made anew unless it gets another."""
    key = before.clustering
    if key is None or after.table.primary_key is not None:
        return False
    names = [before.columns[part.column].name for part in key.parts]
    return not any(
        other.name == key.name and len(other.parts) == len(names)
        for other in after.table.keys
        if other.kind == "unique"
    )


def _column_needs_copy(old: ColumnDefinition, new: ColumnDefinition, indexed: bool) -> bool:
    if old.column.auto_increment != new.column.auto_increment:
        return True
    if old.generated is not None or new.generated is not None:
        same = old.generated is not None and new.generated is not None and old.generated.sql == new.generated.sql
        if not same or old.column.generated != new.column.generated:
            return True
    before, after = old.type, new.type
    facts = old.type_facts
    if facts.is_varying and new.type_facts.is_varying:
        return _varying_needs_copy(old, new, indexed)
    if (before.name, before.unsigned, before.fsp, before.srid) != (after.name, after.unsigned, after.fsp, after.srid):
        return True
    if facts.has_members:
        return after.members[: len(before.members)] != before.members or old.wire.metadata != new.wire.metadata
    if facts.is_approximate:
        return False
    if facts.is_lob or facts.is_text:
        return before.length != after.length or not _same_text(before, after, indexed)
    return old.wire.metadata != new.wire.metadata or old.wire.dimensions != new.wire.dimensions


def _varying_needs_copy(old: ColumnDefinition, new: ColumnDefinition, indexed: bool) -> bool:
    """VARCHAR grows in place as long as its length still takes as many bytes in a row."""
    longest, grown = (int.from_bytes(column.wire.metadata, "little") for column in (old, new))
    if grown < longest or (longest < 256) != (grown < 256):
        return True
    return not _same_text(old.type, new.type, indexed)


def _same_text(old: SqlType, new: SqlType, indexed: bool) -> bool:
    """Whether text stays as it is: the same collation, or without a key another one of the same character set."""
    if old.collation == new.collation:
        return True
    if indexed or old.collation is None:
        return False
    if new.collation is None:
        return True
    sets = collation(old.collation).charset, collation(new.collation).charset
    return sets[0] == sets[1] or sets == ("utf8mb3", "utf8mb4")
