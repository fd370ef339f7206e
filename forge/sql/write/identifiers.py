"""Identifiers in SQL text."""

from __future__ import annotations


def identifier(name: str, quote: str = "`") -> str:
    """The name in backticks, or in double quotes as with ANSI_QUOTES; its own ones doubled."""
    return quote + name.replace(quote, quote * 2) + quote


def qualified(database: str, name: str, current: str | None = None, quote: str = "`") -> str:
    """``database.name``, both in quotes; of the ``current`` database the name alone."""
    own = identifier(name, quote)
    return own if database == current else f"{identifier(database, quote)}.{own}"
