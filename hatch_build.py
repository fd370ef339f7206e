"""Puts the templates and the volumes into the wheel; an editable install finds them in the checkout.

The rest of ``corpora`` is a package of its own (``corpora/pyproject.toml``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DataFolders(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        for folder in ("templates", "corpora/volumes"):
            path = Path(self.root, folder)
            if path.is_dir():
                build_data["force_include"][str(path)] = f"forge/_data/{folder}"
