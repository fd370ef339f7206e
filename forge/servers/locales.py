"""The names of lc_time_names."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files


@cache
def locale_names() -> tuple[str, ...]:
    """The names of lc_time_names; their places are their numbers."""
    table = tomllib.loads(files("forge.servers").joinpath("locales.toml").read_text("utf-8"))
    return tuple(table["names"])
