"""The TOML files beside this module."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any


def shipped(name: str) -> dict[str, Any]:
    """What the file of that name says."""
    return tomllib.loads(files("forge.servers").joinpath(name).read_text("utf-8"))
