"""The index file: the names of a server's binary logs, one a line, in their order."""

from __future__ import annotations

from collections.abc import Iterable


def index_text(names: Iterable[str]) -> bytes:
    """The index file of logs in the server's data directory (recorded on MySQL 9.7 and MariaDB 10.11)."""
    return "".join(f"./{name}\n" for name in names).encode("utf-8", "surrogateescape")
