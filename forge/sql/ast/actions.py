"""Actions of ALTER TABLE as their text says them.

``offset`` is the place in the statement's text, for errors.
"""

from __future__ import annotations

from typing import Literal as Choice

from msgspec import Struct

from forge.sql.ast.definitions import (
    CharsetClause,
    ColumnDraft,
    Default,
    PartitionClause,
    PartitionDraft,
    Place,
    TableOptions,
    TablePart,
    TableRef,
)

PartitionsKind = Choice[
    "by", "remove", "add", "coalesce", "drop", "reorganize",
    "exchange", "truncate", "rebuild", "optimize", "analyze", "check", "repair",
]  # fmt: skip


class AlterPartitions(Struct, frozen=True):
    """What ALTER TABLE does to partitions; no ``names`` are all of them.

    ``table`` changes places with a partition, ``local`` is NO_WRITE_TO_BINLOG.
    """

    kind: PartitionsKind
    offset: int
    clause: PartitionClause | None = None
    count: int | None = None
    names: tuple[str, ...] = ()
    parts: tuple[PartitionDraft, ...] = ()
    table: TableRef | None = None
    local: bool = False

    @property
    def is_of_parts(self) -> bool:
        """Whether it is done to single partitions, which stands alone; not PARTITION BY and REMOVE PARTITIONING."""
        return self.kind not in ("by", "remove")


class AddColumn(Struct, frozen=True):
    column: ColumnDraft
    place: Place | None


class ChangeColumn(Struct, frozen=True):
    """MODIFY and CHANGE: ``old`` is the column's present name."""

    old: str
    column: ColumnDraft
    place: Place | None
    offset: int


class AlterColumn(Struct, frozen=True):
    """ALTER COLUMN: SET DEFAULT, DROP DEFAULT (``default`` is None), SET VISIBLE / INVISIBLE."""

    name: str
    offset: int
    default: Default | None = None
    visible: bool | None = None


class Add(Struct, frozen=True):
    """ADD of a part of the table that is no column."""

    part: TablePart


class Drop(Struct, frozen=True):
    """The primary key has the name PRIMARY; a constraint is a CHECK, a foreign key or a key."""

    kind: Choice["column", "key", "foreign key", "constraint", "period"]
    name: str
    offset: int


class Rename(Struct, frozen=True):
    kind: Choice["column", "key"]
    old: str
    new: str
    offset: int


class EnforceCheck(Struct, frozen=True):
    """ALTER CHECK ... [NOT] ENFORCED."""

    name: str
    enforced: bool
    offset: int


class SwitchKeys(Struct, frozen=True):
    """ENABLE KEYS, DISABLE KEYS."""


class OrderRows(Struct, frozen=True):
    """ORDER BY: the rows are stored anew in that order, unless a key has a say in it."""

    columns: tuple[str, ...]
    offset: int


class RenameTo(Struct, frozen=True):
    table: TableRef


class ConvertCharset(Struct, frozen=True):
    """CONVERT TO CHARACTER SET; without a name in ``charset``: DEFAULT, the database's."""

    charset: CharsetClause


class SetOptions(Struct, frozen=True):
    options: TableOptions


class SetVersioning(Struct, frozen=True):
    """ADD and DROP SYSTEM VERSIONING."""

    versioned: bool


PlainAction = (
    AddColumn
    | ChangeColumn
    | AlterColumn
    | Add
    | Drop
    | Rename
    | EnforceCheck
    | RenameTo
    | SetOptions
    | ConvertCharset
    | AlterPartitions
    | SwitchKeys
    | OrderRows
    | SetVersioning
)


class Conditional(Struct, frozen=True):
    """An action of MariaDB with IF EXISTS or (``exists`` is false) IF NOT EXISTS."""

    action: PlainAction
    exists: bool


Action = PlainAction | Conditional
