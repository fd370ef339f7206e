"""Tables as the compiler knows them, one definition after the other, and their rows.

Rows are tuples with one entry a column, in table order; an entry is a value of ``forge.values`` or None for NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from msgspec import Struct

from forge.sql.ast.definitions import ReferentialAction, SystemRole
from forge.values.base import Value
from forge.values.declaration.sqltype import SqlType

Row = tuple[Value | None, ...]


@dataclass(frozen=True, slots=True)
class KeyExpression:
    """An expression that a key is on, which servers keep as a hidden column of the table.

    ``compute`` gives its value for a row (None for NULL; of a multi-valued key the tuple of its elements);
    ``collation`` is that of a value which is text.
    """

    sql: str
    compute: Callable[[Row], Any] = field(compare=False)
    collation: int | None = None
    #: Multi-valued: CAST(... AS type ARRAY).
    arrays: bool = False
    #: Names (lower-case) of the columns that it is computed from.
    uses: frozenset[str] = frozenset()


class KeyPart(Struct, frozen=True):
    """A column of a key; ``prefix`` is in characters (bytes for binary types), None for the whole column.

    Hidden columns, which have an ``expression``, are numbered after the table's own.
    """

    column: int
    prefix: int | None = None
    expression: KeyExpression | None = None


class Key(Struct, frozen=True):
    name: str
    kind: Literal["primary", "unique", "index"]
    parts: tuple[KeyPart, ...]
    #: WITHOUT OVERLAPS: the columns with the begin and the end of its period.
    period: tuple[int, int] | None = None
    #: A long UNIQUE key, which the server keeps as a hash in a hidden column.
    hashed: bool = False


class TableColumn(Struct, frozen=True):
    """A column of a declared table.

    ``default`` is the literal default (a value of forge.values); ``default_now`` / ``on_update_now`` mark
    DEFAULT CURRENT_TIMESTAMP and ON UPDATE CURRENT_TIMESTAMP.
    """

    name: str
    type: SqlType
    nullable: bool = True
    has_default: bool = False
    default: Value | None = None
    default_now: bool = False
    on_update_now: bool = False
    auto_increment: bool = False
    visible: bool = True
    generated: Literal["virtual", "stored"] | None = None
    #: DEFAULT (expression): the server computes it when the statement runs.
    computed_default: bool = False
    #: ALTER ... DROP DEFAULT took away the default of a column that takes NULL.
    lacks_default: bool = False
    #: The fraction digits of the time that ``default_now`` reads; None: those of the column.
    clock_digits: int | None = None
    #: ``default_now`` reads the time as the session's zone shows it, and makes a value of the column of that.
    clock_is_local: bool = False
    #: Names (lower-case) of the columns that a generated column is computed from.
    uses: frozenset[str] = frozenset()
    #: What the server keeps in it by itself.
    system: SystemRole = ""
    #: False: WITHOUT SYSTEM VERSIONING.
    versioned: bool = True

    @property
    def now_digits(self) -> int:
        """The fraction digits of the time that its default reads."""
        return self.type.fsp if self.clock_digits is None else self.clock_digits


class ForeignKey(Struct, frozen=True):
    """FOREIGN KEY of a child table: its columns, and the (database, name) of the parent with the columns' names."""

    name: str
    columns: tuple[int, ...]
    parent: tuple[str, str]
    parent_columns: tuple[str, ...]
    on_delete: ReferentialAction = "restrict"
    on_update: ReferentialAction = "restrict"
    #: Name of the key of the parent that the columns are.
    parent_key: str = "PRIMARY"


@dataclass(frozen=True, slots=True)
class Table:
    """One version of a table's definition: DDL makes a new Table with the next ``version``."""

    database: str
    name: str
    columns: tuple[TableColumn, ...]
    keys: tuple[Key, ...] = ()
    collation: int = 255
    engine: str = "InnoDB"
    version: int = 0
    #: The id of the partition that a row belongs to; None for a table without partitions.
    partition: Callable[[Row], int] | None = field(default=None, compare=False)
    #: The columns that this depends on.
    partition_columns: frozenset[int] = frozenset()

    foreign_keys: tuple[ForeignKey, ...] = ()
    #: It is the session's own, and goes with it.
    temporary: bool = False

    @property
    def full_name(self) -> str:
        return f"{self.database}.{self.name}"

    def column_index(self, name: str) -> int:
        """Index of the column of that name (case-insensitive, as servers compare column names); KeyError if none."""
        for index, column in enumerate(self.columns):
            if column.name.lower() == name.lower():
                return index
        raise KeyError(name)

    @property
    def row_end(self) -> int | None:
        """Index of the column with the end of a row's time; None for a table without system versioning."""
        return next((index for index, column in enumerate(self.columns) if column.system == "row_end"), None)

    @property
    def hidden(self) -> int:
        """How many hidden columns keys on expressions have; no event shows them."""
        return sum(part.expression is not None for key in self.keys for part in key.parts)

    @property
    def has_generated_key(self) -> bool:
        """Whether the primary key is as servers generate one (table_has_generated_invisible_primary_key)."""
        key, first = self.primary_key, self.columns[0]
        alone = key is not None and [part.column for part in key.parts] == [0]
        like = first.name == "my_row_id" and first.auto_increment and not first.visible and not first.nullable
        return alone and like and first.type.name == "BIGINT" and first.type.unsigned

    def takes_null(self, part: KeyPart) -> bool:
        """Whether a part of a key can be NULL, as an expression always can."""
        return part.expression is not None or self.columns[part.column].nullable

    @property
    def primary_key(self) -> Key | None:
        """The declared primary key."""
        return next((key for key in self.keys if key.kind == "primary"), None)


def is_transactional(table: Table) -> bool:
    """Whether changes wait for the transaction's end: a rollback reaches them, or nothing is kept (recorded)."""
    return table.engine in ("InnoDB", "BLACKHOLE")


def is_defined_atomically(table: Table) -> bool:
    """Whether the engine makes, changes and drops the table in a transaction."""
    return table.engine == "InnoDB"
