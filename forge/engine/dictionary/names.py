"""Names of tables as scenarios write them."""

from __future__ import annotations

import re

from forge.errors import ScenarioError
from forge.sql.ast.definitions import TableRef

_NAME = re.compile(r"\s*(`(?:[^`]|``)+`|[^`.\s]+)(?:\s*\.\s*(`(?:[^`]|``)+`|[^`.\s]+))?\s*")


def declared_name(text: str) -> TableRef:
    """What ``shop.orders`` or ``orders`` names, with or without backticks.  Raises ScenarioError."""
    match = _NAME.fullmatch(text)
    if match is None:
        raise ScenarioError(f"{text!r} is not the name of a table", expected="database.table")
    parts = [part[1:-1].replace("``", "`") if part.startswith("`") else part for part in match.groups() if part]
    return TableRef(parts[0] if len(parts) == 2 else None, parts[-1], 0)
