"""What the search against live servers draws: tables, and statements with what a server is sent where we refuse them.

A case is a pure function of (field, seed, number).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

from forge.engine.requests.statements import Statement
from forge.scenario import insert
from forge.sql.write import identifier
from forge.values.literals import literal_sql

#: Floats below it are written with all their digits.
_LARGEST_PLAIN = 1e20


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement of a scenario; ``sql`` is what a server is asked if the scenario refuses it."""

    statement: Statement
    sql: str


@dataclass(frozen=True, slots=True)
class Case:
    """A table and the statements that follow its CREATE TABLE."""

    table: str
    statements: tuple[Asked, ...]


#: Draws the case of a number; the name of its table is given.
Draw = Callable[[Random, str], Case]


def inserted(table: str, cells: dict[str, Any]) -> Asked:
    """INSERT of one row, in our words and in SQL."""
    names = ", ".join(identifier(name) for name in cells)
    values = ", ".join("NULL" if cell is None else literal_sql(_exact(cell)) for cell in cells.values())
    return Asked(insert(table, cells), f"INSERT INTO {table} ({names}) VALUES ({values})")


def _exact(cell: Any) -> Any:
    """A float as the digits that a scenario has; refused is what they are."""
    return Decimal(repr(cell)) if isinstance(cell, float) and abs(cell) < _LARGEST_PLAIN else cell
