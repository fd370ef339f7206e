"""Cells of rows that a client gives: literals, and generators that make them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

#: A cell: a literal, or a generator such as {faker: name}.
Cell = Any


@dataclass(frozen=True, slots=True)
class CellPlace:
    """Where a cell is: ``row`` counts the rows ever inserted into the table, ``update`` the UPDATEs (0: INSERT)."""

    table: str
    column: str
    row: int
    update: int = 0


@dataclass(frozen=True, slots=True)
class Generated:
    """A generated literal; ``fits`` says that it was made for no column and may be cut to fit."""

    value: Any
    fits: bool = False


class CellGenerator(Protocol):
    """What makes the literals of generators: a pure function of the place, so that any worker can make any part."""

    def __call__(self, cell: Mapping[str, Any], place: CellPlace) -> Generated:
        """The literal in a place.  Raises ScenarioError for a generator that does not exist or work."""


def is_generator(cell: Cell, *, json: bool) -> bool:
    """Whether a cell is a generator; ``json`` says that the column holds JSON, where a mapping is a document."""
    if not isinstance(cell, Mapping) or set(cell) == {"value"}:
        return False
    if json:
        return set(cell) == {"generate"}
    return set(cell) != {"hex"} and not {"wkt", "wkb"} & set(cell)


def literal_of(cell: Cell) -> Any:
    """The literal of a cell that is no generator."""
    return cell["value"] if isinstance(cell, Mapping) and set(cell) == {"value"} else cell
