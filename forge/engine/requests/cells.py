"""Cells of rows that a client gives: literals, and generators that make them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct

#: A cell: a literal, or a generator such as {faker: name}.
Cell = Any


class ColumnPlace(Struct, frozen=True):
    """The column that a cell is in, and the statement: ``update`` counts the UPDATEs of the table (0: INSERT)."""

    table: str
    column: str
    update: int = 0


#: What all literals of a generator have in common.  ``listed``: they are among the examples.  ``series``: row n has
#: start + n * step, of which the examples are start and step.  ``integers`` and ``moments`` lie between the examples;
#: ``letters`` and ``bytes`` have a length between theirs.  ``any``: nothing is known of them.
LiteralKind = Literal["listed", "series", "integers", "moments", "letters", "bytes", "any"]


class GeneratedColumn(Struct, frozen=True):
    """The cells of a generator in a column: a literal by row, where ``row`` counts the rows ever inserted.

    ``literal`` raises ScenarioError for a cell that the generator cannot make.
    """

    literal: Callable[[int], Any]
    kind: LiteralKind = "any"
    examples: tuple[Any, ...] = ()
    #: Which of the ``listed`` ones a row has.
    place: Callable[[int], int] | None = None
    #: The literals were made for no column and may be cut to fit.
    fits: bool = False


class CellGenerator(Protocol):
    """What makes the literals of generators: a pure function of the place, so that any worker can make any part."""

    def __call__(self, cell: Mapping[str, Any], place: ColumnPlace) -> GeneratedColumn:
        """The literals in a column.  Raises ScenarioError for a generator that does not exist or work."""


def is_generator(cell: Cell, *, json: bool) -> bool:
    """Whether a cell is a generator; ``json`` says that the column holds JSON, where a mapping is a document."""
    if not isinstance(cell, Mapping) or set(cell) == {"value"}:
        return False
    if json:
        return set(cell) == {"generate"}
    return set(cell) != {"hex"} and not {"wkt", "wkb"} & set(cell)


def is_expression(cell: Cell) -> bool:
    """Whether a cell is an expression of SQL: ``{sql: "CONCAT('a', 1)"}``."""
    return isinstance(cell, Mapping) and set(cell) == {"sql"} and isinstance(cell["sql"], str)


class Computed(Struct, frozen=True):
    """A cell that a query gives: the value of an expression."""

    value: Any


def literal_of(cell: Cell) -> Any:
    """The literal of a cell that is no generator."""
    return cell["value"] if isinstance(cell, Mapping) and set(cell) == {"value"} else cell
