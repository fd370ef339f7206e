"""Where the templates and the corpora are: beside the package in a checkout; of an installed package, inside it.

The corpus is a package of its own there, ``binlog-forge-corpus``, or a folder that ``FORGE_CORPORA`` names.
"""

from __future__ import annotations

import os
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from forge.errors import EnvironmentMissing

_PACKAGE = Path(__file__).resolve().parent
#: The packages of the extra `rows`.
_OF_ROWS = ("pyarrow", "numpy", "numba")
#: The name that the corpus has as a package.
_CORPUS = "binlog_forge_corpus"


def missing_for_rows() -> list[str]:
    """The packages of the extra `rows` that are not installed."""
    return [name for name in _OF_ROWS if find_spec(name) is None]


def templates_dir() -> Path:
    """The folder of the Jinja2 templates."""
    return _folder("templates")


def volumes_dir() -> Path:
    """The folder of the scenarios of volumes."""
    return _folder("corpora/volumes")


def corpora_dir() -> Path:
    """The folder of the scenarios, the recordings and the byte-frozen cases.  It need not exist."""
    named = os.environ.get("FORGE_CORPORA")
    if named:
        return Path(named)
    if _is_checkout():
        return _PACKAGE.parent / "corpora"
    package = find_spec(_CORPUS)
    places = (package.submodule_search_locations if package is not None else None) or [str(_PACKAGE.parent / _CORPUS)]
    return Path(next(iter(places)))


def shipped_corpora() -> Path:
    """As :func:`corpora_dir`.  Raises EnvironmentMissing if it does not exist."""
    folder = corpora_dir()
    if not (folder / "recordings").is_dir():
        raise EnvironmentMissing(
            "the corpus is not installed: `pip install ./corpora` in a checkout, or let FORGE_CORPORA name that folder"
        )
    return folder


def license_text() -> str:
    """The licence, under which the corpus is too."""
    checkout = _PACKAGE.parent / "LICENSE"
    if checkout.is_file():
        return checkout.read_text("utf-8")
    return metadata.distribution("binlog-forge").read_text("licenses/LICENSE") or ""


def _folder(name: str) -> Path:
    return (_PACKAGE.parent if _is_checkout() else _PACKAGE / "_data") / name


def _is_checkout() -> bool:
    checkout = _PACKAGE.parent
    return (checkout / "pyproject.toml").is_file() and (checkout / "templates").is_dir()
