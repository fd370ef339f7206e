"""A function that the text of a statement calls."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Call:
    """``name`` in upper case, ``digits`` the first whole number among its arguments."""

    name: str
    is_empty: bool = True
    digits: int = 0
