"""The names of lc_time_names."""

from __future__ import annotations

from functools import cache

from forge.servers.shipped import shipped


@cache
def locale_names() -> tuple[str, ...]:
    """The names of lc_time_names; their places are their numbers."""
    return tuple(shipped("locales.toml")["names"])
