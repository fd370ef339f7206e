"""Expressions as their text says them.

``start`` is the place in the text that was parsed, for errors; nodes that differ in nothing else are equal.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal as Choice

from msgspec import Struct
from msgspec.structs import replace


class Literal(Struct, frozen=True):
    """A literal: bytes for ``x'41'``, ``0x41`` and ``b'1'``; None is NULL.

    ``charset`` is its introducer (``_latin1'a'``); the ``form`` says what the value alone does not: a number with an
    exponent is a "double", ``DATE '2024-02-29'`` a "moment", ``x'41'`` a "hex_text".
    """

    value: str | int | Decimal | bytes | bool | None
    charset: str | None = None
    form: Choice["", "double", "moment", "hex_text"] = ""


@dataclass(frozen=True, slots=True)
class ColumnName:
    """A column, perhaps behind its table and database."""

    name: str
    table: str | None = None
    database: str | None = None
    start: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in lower case, with its marks: ``@a``, ``@@sql_mode``, ``@@global.sql_mode``."""

    name: str
    start: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function or an operator, by its name in upper case: ``CONCAT``, ``+``, ``NOT``, ``IS NULL``, ``->>``.

    ``NEG`` is the sign, ``ROW`` several expressions in parentheses, ``CASE`` has conditions and values in turn and the
    value of ELSE last.  A unit and a collation are literals.
    """

    name: str
    arguments: tuple[Node, ...] = ()
    start: int = field(default=0, compare=False)


class CastType(Struct, frozen=True):
    """The type behind AS, by its name in upper case; ``sizes`` are its length, or its precision and scale."""

    name: str
    sizes: tuple[int, ...] = ()
    is_array: bool = False


class Cast(Struct, frozen=True):
    """CAST(... AS type), CONVERT(..., type), and JSON_VALUE(... RETURNING type)."""

    operand: Node
    type: CastType


class Unread(Struct, frozen=True):
    """What is known to be there, and no more: a subquery, DISTINCT and ORDER BY of an aggregate, a parameter."""

    sql: str


Node = Literal | ColumnName | Variable | Call | Cast | Unread


def inner(node: Node) -> tuple[Node, ...]:
    """The nodes directly inside a node."""
    if isinstance(node, Call):
        return node.arguments
    return (node.operand,) if isinstance(node, Cast) else ()


def walk(node: Node) -> Iterator[Node]:
    """The node and all nodes inside."""
    yield node
    for part in inner(node):
        yield from walk(part)


def renamed(node: Node, old: str, new: str) -> Node:
    """The expression after a column got a new name."""
    match node:
        case ColumnName() if node.name.lower() == old.lower():
            return dataclasses.replace(node, name=new)
        case Call():
            return dataclasses.replace(node, arguments=tuple(renamed(part, old, new) for part in node.arguments))
        case Cast():
            return replace(node, operand=renamed(node.operand, old, new))
        case _:
            return node
