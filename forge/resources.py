"""Where the templates and the corpora are: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def templates_dir() -> Path:
    """The folder of the Jinja2 templates."""
    return _folder("templates")


def corpora_dir() -> Path:
    """The folder of the scenarios, the recordings and the byte-frozen cases."""
    return _folder("corpora")


def _folder(name: str) -> Path:
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / name).is_dir():
        return checkout / name
    return _PACKAGE / "_data" / name
