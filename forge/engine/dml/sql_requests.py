"""Statements on rows that are SQL alone, as what a scenario says of them."""

from __future__ import annotations

import msgspec

from forge.engine.requests.statements import Further
from forge.scenario.script.script_rows import RowsOfScript
from forge.servers.facts.grammar import Grammar
from forge.sql.parse.changes import parse_rows_change


def further_of(sql: str, query: str, grammar: Grammar) -> Further:
    """The change that a text makes as part of another statement, where its own text is ``query``."""
    return msgspec.convert({**RowsOfScript({}).request(parse_rows_change(sql, grammar)), "query": query}, Further)
