"""Names of tables as scenarios write them."""

from __future__ import annotations

from forge.errors import ScenarioError
from forge.sql.ast.definitions import TableRef
from forge.sql.parse.names import lone_name


def declared_name(text: str) -> TableRef:
    """What ``shop.orders`` or ``orders`` names, with or without backticks.  Raises ScenarioError."""
    parts = lone_name(text)
    if parts is None:
        raise ScenarioError(f"{text!r} is not the name of a table", expected="database.table")
    return TableRef(*parts, 0)
