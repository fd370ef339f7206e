"""Rows that statements change and compute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, overload

from msgspec import Struct

from forge.plan.tables import Row

ChangeKind = Literal["insert", "update", "delete"]


class RowChange(Struct, frozen=True):
    """One row before and after: insert has no ``before``, delete no ``after``.

    ``after_duplicate`` marks what REPLACE and ON DUPLICATE KEY UPDATE do to a row that was there already, and what
    comes after it if it was updated: some servers treat all columns as used there (write_record in sql_insert.cc, which
    restores the columns only where a row was inserted in the end; recorded on 9.7).  So they do for rows that foreign
    keys change, and in DELETE of several tables.
    """

    before: Row | None
    after: Row | None
    after_duplicate: bool = False
    #: The row of the past that an UPDATE of a system-versioned table leaves, which has all columns on MariaDB 11.8.
    is_past: bool = False
    #: UPDATE of JSON columns by JSON functions: column to the diffs that the server noted, in bytes; None: it gave up.
    diffs: Mapping[int, bytes | None] | None = None

    @property
    def kind(self) -> ChangeKind:
        if self.before is None:
            return "insert"
        return "delete" if self.after is None else "update"


class Insertions(Sequence[RowChange]):
    """The changes of an INSERT that does nothing but insert ``rows``, which may be computed when they are asked for."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, place: int) -> RowChange: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[RowChange, ...]: ...
    def __getitem__(self, place: int | slice) -> RowChange | tuple[RowChange, ...]:
        if isinstance(place, slice):
            return tuple(RowChange(None, row) for row in self.rows[place])
        return RowChange(None, self.rows[place])

    def __iter__(self) -> Iterator[RowChange]:
        return (RowChange(None, row) for row in self.rows)
