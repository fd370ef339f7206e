"""Statements that change rows, and those around them in a session, as their text says them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from forge.sql.ast.definitions import TableRef
from forge.sql.ast.expressions import ColumnName, Node


@dataclass(frozen=True, slots=True)
class Term:
    """An expression of a statement: what it says, and its text and place."""

    tree: Node
    sql: str
    start: int


@dataclass(frozen=True, slots=True)
class Assignment:
    """``column = expression``; without one, DEFAULT."""

    column: ColumnName
    value: Term | None


@dataclass(frozen=True, slots=True)
class InsertRows:
    """INSERT and REPLACE.  A row's cells are in the order of ``columns`` (None: all of the table); None is DEFAULT.

    ``query`` is the text of what gives the rows instead; ``alias`` names the new row, ``updates`` are those of ON
    DUPLICATE KEY UPDATE.
    """

    verb: Choice["insert", "replace"]
    table: TableRef
    columns: tuple[ColumnName, ...] | None
    rows: tuple[tuple[Term | None, ...], ...]
    query: str | None = None
    alias: str | None = None
    updates: tuple[Assignment, ...] = ()
    ignore: bool = False


@dataclass(frozen=True, slots=True)
class RowChoice:
    """Which rows of a table UPDATE and DELETE change: WHERE, ORDER BY with whether each term is DESC, LIMIT."""

    where: Term | None = None
    order: tuple[tuple[Term, bool], ...] = ()
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class UpdateRows:
    table: TableRef
    alias: str | None
    assignments: tuple[Assignment, ...]
    choice: RowChoice
    ignore: bool = False


@dataclass(frozen=True, slots=True)
class DeleteRows:
    table: TableRef
    alias: str | None
    choice: RowChoice
    ignore: bool = False


RowsChange = InsertRows | UpdateRows | DeleteRows


@dataclass(frozen=True, slots=True)
class Setting:
    """``SET name = value``; the ``scope`` is that of a system variable, ``@`` that of a user variable."""

    name: str
    scope: Choice["session", "global", "@"]
    value: Term | None
    start: int
