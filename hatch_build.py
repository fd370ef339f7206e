"""Puts the templates and corpora into the wheel; an editable install finds them in the checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DataFolders(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        for name in ("templates", "corpora"):
            folder = Path(self.root, name)
            if folder.is_dir():
                build_data["force_include"][str(folder)] = f"forge/_data/{name}"
