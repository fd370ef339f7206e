"""Actions of ALTER TABLE as their text says them.

``offset`` is the place in the statement's text, for errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

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


@dataclass(frozen=True, slots=True)
class AlterPartitions:
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


@dataclass(frozen=True, slots=True)
class AddColumn:
    column: ColumnDraft
    place: Place | None


@dataclass(frozen=True, slots=True)
class ChangeColumn:
    """MODIFY and CHANGE: ``old`` is the column's present name."""

    old: str
    column: ColumnDraft
    place: Place | None
    offset: int


@dataclass(frozen=True, slots=True)
class AlterColumn:
    """ALTER COLUMN: SET DEFAULT, DROP DEFAULT (``default`` is None), SET VISIBLE / INVISIBLE."""

    name: str
    offset: int
    default: Default | None = None
    visible: bool | None = None


@dataclass(frozen=True, slots=True)
class Add:
    """ADD of a part of the table that is no column."""

    part: TablePart


@dataclass(frozen=True, slots=True)
class Drop:
    """The primary key has the name PRIMARY; a constraint is a CHECK, a foreign key or a key."""

    kind: Choice["column", "key", "foreign key", "constraint", "period"]
    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class Rename:
    kind: Choice["column", "key"]
    old: str
    new: str
    offset: int


@dataclass(frozen=True, slots=True)
class EnforceCheck:
    """ALTER CHECK ... [NOT] ENFORCED."""

    name: str
    enforced: bool
    offset: int


@dataclass(frozen=True, slots=True)
class SwitchKeys:
    """ENABLE KEYS, DISABLE KEYS."""


@dataclass(frozen=True, slots=True)
class OrderRows:
    """ORDER BY: the rows are stored anew in that order, unless a key has a say in it."""

    columns: tuple[str, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class RenameTo:
    table: TableRef


@dataclass(frozen=True, slots=True)
class ConvertCharset:
    """CONVERT TO CHARACTER SET; without a name in ``charset``: DEFAULT, the database's."""

    charset: CharsetClause


@dataclass(frozen=True, slots=True)
class SetOptions:
    options: TableOptions


@dataclass(frozen=True, slots=True)
class SetVersioning:
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


@dataclass(frozen=True, slots=True)
class Conditional:
    """An action of MariaDB with IF EXISTS or (``exists`` is false) IF NOT EXISTS."""

    action: PlainAction
    exists: bool


Action = PlainAction | Conditional
