"""The facts of a server line by which a column is declared and its values are taken."""

from __future__ import annotations

from functools import cache

from forge.errors import ScenarioError
from forge.servers import server_line, server_names
from forge.servers.facts.values import Dialect
from forge.servers.loading import COMPLETE_LINES


@cache
def dialect_of(server: str) -> Dialect:
    """The facts about values of a line ("mariadb-11.8"), or of the complete line of a family ("mysql").

    Raises ScenarioError for another product.
    """
    name = server.strip().lower()
    if name in COMPLETE_LINES:
        name = COMPLETE_LINES[name]
    if name not in server_names():
        raise ScenarioError(f"unknown server {server!r}", expected="a line such as mysql-9.7 or mariadb-10.11")
    return server_line(name).values


def default_dialect() -> Dialect:
    """The dialect of a column that nobody declared: one read from a file, whose values are not taken but stored."""
    return dialect_of("mysql")
