"""Where the templates and the corpora are: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def templates_dir() -> Path:
    """The folder of the Jinja2 templates."""
    return _folder("templates")


def corpora_dir() -> Path:
    """The folder of the scenarios, the recordings and the byte-frozen cases."""
    return _folder("corpora")


def license_text() -> str:
    """The licence, under which the corpus is too."""
    checkout = _PACKAGE.parent / "LICENSE"
    if checkout.is_file():
        return checkout.read_text("utf-8")
    return metadata.distribution("binlog-forge").read_text("licenses/LICENSE") or ""


def _folder(name: str) -> Path:
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / name).is_dir():
        return checkout / name
    return _PACKAGE / "_data" / name
