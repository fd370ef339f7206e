"""Queries as their text says them."""

from __future__ import annotations

from typing import Literal as Choice

from msgspec import Struct

from forge.sql.ast.definitions import TableRef
from forge.sql.ast.expressions import Node

OrderTerm = tuple[Node, bool]


class Item(Struct, frozen=True):
    """A column of a result: an expression and its name; without one ``*``, perhaps of one table."""

    tree: Node | None
    name: str = ""
    table: str | None = None


class FromTable(Struct, frozen=True):
    """A table of FROM, or a query in parentheses, and how it is joined to what is before it.

    ``using``: the columns of USING; () stands for NATURAL, None for neither.
    """

    table: TableRef | Query
    alias: str
    join: Choice["inner", "left", "right"] = "inner"
    on: Node | None = None
    using: tuple[str, ...] | None = None
    partitions: tuple[str, ...] = ()


class Select(Struct, frozen=True):
    """SELECT; ``order``: terms and whether each is DESC; ``limit``: how many rows, behind how many others."""

    items: tuple[Item, ...]
    sources: tuple[FromTable, ...] = ()
    where: Node | None = None
    group: tuple[Node, ...] = ()
    having: Node | None = None
    distinct: bool = False
    order: tuple[OrderTerm, ...] = ()
    limit: tuple[int, int] | None = None


class Query(Struct, frozen=True):
    """Selects that UNION joins, ``all`` or not, with an order and a limit of their own."""

    selects: tuple[Select, ...]
    all: bool = True
    order: tuple[OrderTerm, ...] = ()
    limit: tuple[int, int] | None = None
