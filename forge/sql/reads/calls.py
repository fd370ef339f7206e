"""A function that the text of a statement calls."""

from __future__ import annotations

from msgspec import Struct


class Call(Struct, frozen=True):
    """``name`` in upper case, ``digits`` the first whole number among its arguments."""

    name: str
    is_empty: bool = True
    digits: int = 0
