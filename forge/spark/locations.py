"""Where Spark's users say that files are: paths and URIs, which come to the data source as they were written."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from forge.errors import ScenarioError


def local_path(text: str) -> Path:
    """The absolute path of a path or a ``file:`` URI.  Raises ScenarioError for another scheme."""
    scheme, separator, _ = text.partition(":")
    if not separator or "/" in scheme:
        return Path(text).absolute()
    if scheme.lower() != "file":
        raise ScenarioError(
            f"{text!r} is a place that programs cannot open as a file",
            expected="a path or file: URI that the driver and all executors share",
        )
    parts = urlsplit(text)
    if parts.netloc not in ("", "localhost"):
        raise ScenarioError(f"{text!r} names the machine {parts.netloc!r}", expected="file:///folder")
    return Path(unquote(parts.path)).absolute()
