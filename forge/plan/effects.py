"""What a statement on rows did beside changing them: how it found rows, what it computed, what else it opened."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from forge.plan.tables import Table
from forge.sql.reads.calls import Call


class Search(Struct, frozen=True):
    """How a statement found its rows.  Columns are indexes."""

    #: Rows that it found, changed or not; those of an INSERT.
    matched: int = 0
    #: The columns that WHERE compares with literals.
    compared: frozenset[int] = frozenset()


class Numbers(Struct, frozen=True):
    """AUTO_INCREMENT values: the first that was generated, and the first of them that was stored, which
    LAST_INSERT_ID() gives afterwards.
    """

    generated: int | None = None
    stored: int | None = None


class Evaluation(Struct, frozen=True):
    """What a statement computed."""

    #: What of the text's calls was evaluated.
    calls: frozenset[Call] = frozenset()
    numbers: Numbers = Numbers()
    #: ON DUPLICATE KEY UPDATE ``found`` a row, or even ``updated`` one.
    duplicate: Literal["found", "updated"] | None = None


class OpenedTables(Struct, frozen=True):
    """The tables that a statement opens."""

    #: Those opened for writing, in the server's order and as often as it does, where that is not just the tables that
    #: changed.
    locked: tuple[Table, ...] = ()
    #: Those that LOCK TABLES holds for it.
    held: tuple[Table, ...] = ()
    #: UPDATE: bits of the tables that it changes, in the order of its table references.
    update_bits: int = 1
    #: The databases of all of them, each once.
    databases: tuple[str, ...] = ()
    #: A table is read that the statement does not write.
    reads_others: bool = False
    #: The text reads a temporary table.
    reads_temporary: bool = False


class TriggerEffects(Struct, frozen=True):
    """The triggers of a statement, and of the tables that it opens."""

    #: Full names of the tables that have triggers.
    tables: frozenset[str] = frozenset()
    #: The columns of its table that the triggers of the statement's kind name.
    reads: frozenset[int] = frozenset()
    #: What the texts of triggers call.
    calls: frozenset[Call] = frozenset()


class ForeignKeyEffects(Struct, frozen=True):
    """What foreign keys have to do with a statement."""

    #: A foreign key made the changes: the server checked none, and marked all columns as used.
    cascaded: bool = False
    #: foreign_key_checks=1: the parents of new rows count for the logical timestamp.
    checks_parents: bool = True
    #: The table is the parent of a foreign key.
    is_parent: bool = False
    #: The server opened a parent of a foreign key for writing, or a child whose keys it checks.
    is_related: bool = False
