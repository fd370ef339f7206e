"""Checks of a type's arguments that several families need."""

from __future__ import annotations

from forge.charsets import charset, collation
from forge.errors import ScenarioError
from forge.values.declaration.sqltype import SqlType
from forge.values.text.column_charset import BINARY_COLLATION

#: The collation of character types that name none: utf8mb4_0900_ai_ci, MySQL 8's default.
DEFAULT_COLLATION = 255


def check_argument(
    argument: str, sql_type: SqlType, value: int, low: int, high: int, advice: str | None = None
) -> None:
    """Raises ScenarioError unless low <= value <= high."""
    if not low <= value <= high:
        expected = f"{low} to {high}" + (f" ({advice})" if advice else "")
        raise ScenarioError(f"{sql_type.name} cannot have the {argument} {value}", expected=expected)


def collation_of(sql_type: SqlType, *, binary: bool = False) -> tuple[int, int]:
    """(collation id, bytes of the longest character) of a character type; ``binary`` for those of bytes."""
    if binary:
        return BINARY_COLLATION, 1
    number = DEFAULT_COLLATION if sql_type.collation is None else sql_type.collation
    return number, charset(collation(number).charset).max_length
