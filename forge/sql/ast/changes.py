"""Statements that change rows, and those around them in a session, as their text says them."""

from __future__ import annotations

from typing import Literal as Choice

from msgspec import Struct

from forge.sql.ast.definitions import TableRef
from forge.sql.ast.expressions import ColumnName, Node


class Term(Struct, frozen=True):
    """An expression of a statement: what it says, and its text and place."""

    tree: Node
    sql: str
    start: int


class Assignment(Struct, frozen=True):
    """``column = expression``; without one, DEFAULT."""

    column: ColumnName
    value: Term | None


class InsertRows(Struct, frozen=True):
    """INSERT and REPLACE.  A row's cells are in the order of ``columns`` (None: all of the table); None is DEFAULT.

    ``query`` is the text of what gives the rows instead; ``alias`` names the new row (``new(a, b)``), ``updates`` are
    those of ON DUPLICATE KEY UPDATE.
    """

    verb: Choice["insert", "replace"]
    table: TableRef
    columns: tuple[ColumnName, ...] | None
    rows: tuple[tuple[Term | None, ...], ...]
    query: str | None = None
    alias: str | None = None
    updates: tuple[Assignment, ...] = ()
    ignore: bool = False


class RowChoice(Struct, frozen=True):
    """Which rows of a table UPDATE and DELETE change: WHERE, the text of ORDER BY, LIMIT."""

    where: Term | None = None
    order: str | None = None
    limit: int | None = None


class ChangedTable(Struct, frozen=True):
    """The table of UPDATE or DELETE, with its alias, its chosen partitions, and FOR PORTION OF: period, begin, end."""

    name: TableRef
    alias: str | None = None
    partitions: tuple[str, ...] = ()
    portion: tuple[str, Term, Term] | None = None


class UpdateRows(Struct, frozen=True):
    """UPDATE of one table, or of a join: its text."""

    table: ChangedTable | str
    assignments: tuple[Assignment, ...]
    choice: RowChoice
    ignore: bool = False


class DeleteRows(Struct, frozen=True):
    """DELETE from one table, or from those of a join whose names are the ``targets``."""

    table: ChangedTable | str
    choice: RowChoice
    ignore: bool = False
    targets: tuple[str, ...] = ()


RowsChange = InsertRows | UpdateRows | DeleteRows


class Setting(Struct, frozen=True):
    """``SET name = value``; the ``scope`` is that of a system variable, ``@`` that of a user variable."""

    name: str
    scope: Choice["session", "global", "@"]
    value: Term | None
    start: int
