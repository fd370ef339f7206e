"""Table definitions, which data definition statements make and change."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.engines import INNODB
from forge.errors import UnsupportedError, nearest
from forge.plan.tables import ForeignKey
from forge.servers import server_line
from forge.sql.ast.definitions import (
    CheckDraft,
    KeyDraft,
    PartitionClause,
    PeriodDraft,
)
from forge.sql.errors import SqlError, at_offset
from forge.sql.expressions import parse_expression


def _not_null(column: ColumnDefinition) -> ColumnDefinition:
    """The column as NOT NULL, which forgets that NULL was its default."""
    facts = column.column
    return column.replace(nullable=False, has_default=facts.has_default and facts.default is not None)


class Definition(Struct, frozen=True):
    """A table's definition with keys by column name, which ALTER TABLE can change."""

    database: str
    name: str
    columns: tuple[ColumnDefinition, ...]
    keys: tuple[KeyDraft, ...]
    collation: int
    server: str
    #: CHECK constraints, all with names.
    checks: tuple[CheckDraft, ...] = ()
    engine: str = INNODB
    foreign_keys: tuple[ForeignKey, ...] = ()
    partitions: PartitionClause | None = None
    temporary: bool = False
    periods: tuple[PeriodDraft, ...] = ()
    #: WITH SYSTEM VERSIONING.
    versioned: bool = False

    def find(self, name: str) -> int | None:
        """Index of the column of that name (case-insensitive); None if there is none."""
        wanted = name.lower()
        return next((i for i, column in enumerate(self.columns) if column.name.lower() == wanted), None)

    def index_of(self, name: str, offset: int) -> int:
        """As :meth:`find`.  Raises SqlError with the nearest name."""
        index = self.find(name)
        if index is None:
            names = [column.name for column in self.columns]
            raise SqlError(
                f"table {self.database}.{self.name} has no column {name!r}", offset, suggestion=nearest(name, names)
            )
        return index

    def with_not_null_keys(self) -> Definition:
        """The definition in which the columns of the primary key are NOT NULL, as servers make them."""
        primary = next((key for key in self.keys if key.kind == "primary"), None)
        names = {part.column.lower() for part in primary.parts} if primary else set()
        columns = tuple(_not_null(column) if column.name.lower() in names else column for column in self.columns)
        return replace(self, columns=columns)

    def with_checks(self, added: Iterable[CheckDraft]) -> Definition:
        """The definition with more CHECK constraints.  Raises SqlError for columns that are not there."""
        named = list(self.checks)
        for check in added:
            taken = {other.name for other in named}
            number = next(n for n in count(1) if f"{self.name}_chk_{n}" not in taken)
            named.append(check if check.name is not None else replace(check, name=f"{self.name}_chk_{number}"))
        return replace(self, checks=tuple(map(self._known_check, named)))

    def _known_check(self, check: CheckDraft) -> CheckDraft:
        """The constraint, and whether it is computed here.  Raises SqlError."""
        with at_offset(check.offset):
            try:
                expression = parse_expression(check.expression, server_line(self.server).grammar)
            except UnsupportedError:
                return replace(check, computed=False)
            for name in expression.columns():
                self.index_of(name, check.offset)
        return check
