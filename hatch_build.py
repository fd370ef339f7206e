"""Puts the templates and the volumes into the wheel; an editable install finds them in the checkout.

The rest of ``corpora`` is a package of its own (``corpora/pyproject.toml``).  The addresses of a release are those of
the repository that makes it, which FORGE_PROJECT_URL names.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


class DataFolders(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        for folder in ("templates", "corpora/volumes"):
            path = Path(self.root, folder)
            if path.is_dir():
                build_data["force_include"][str(path)] = f"forge/_data/{folder}"


class Addresses(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        home = os.environ.get("FORGE_PROJECT_URL", "").rstrip("/")
        pages = {"Repository": "", "Changelog": "/blob/main/CHANGELOG.md", "Issues": "/issues", "Releases": "/releases"}
        metadata["urls"] = {name: home + page for name, page in pages.items()} if home else {}
