"""Identifiers in SQL text."""

from __future__ import annotations


def identifier(name: str) -> str:
    """The name in backticks, its own ones doubled."""
    return "`" + name.replace("`", "``") + "`"


def qualified(database: str, name: str, current: str | None = None) -> str:
    """``database.name``, both in backticks; of the ``current`` database the name alone."""
    return identifier(name) if database == current else f"{identifier(database)}.{identifier(name)}"
