"""Identifiers in SQL text."""

from __future__ import annotations


def quoted(name: str) -> str:
    """The name in backticks, its own ones doubled."""
    return "`" + name.replace("`", "``") + "`"
