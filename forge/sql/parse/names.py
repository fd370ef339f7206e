"""Names of tables."""

from __future__ import annotations

from itertools import pairwise

from forge.sql.ast.definitions import TableRef
from forge.sql.cursor import Cursor
from forge.sql.lexer import Token, scan


def table_ref(cursor: Cursor) -> TableRef:
    """``database.table`` or ``table``.  Raises SqlError."""
    offset = cursor.token.start
    first = cursor.name("table")
    if cursor.accept_mark("."):
        return TableRef(first, cursor.name("table"), offset)
    return TableRef(None, first, offset)


def table_refs(cursor: Cursor) -> list[TableRef]:
    """One table or more, with commas between them.  Raises SqlError."""
    tables = [table_ref(cursor)]
    while cursor.accept_mark(","):
        tables.append(table_ref(cursor))
    return tables


def lone_name(text: str) -> tuple[str | None, str] | None:
    """(database, table) of a name that stands by itself, such as ``shop.orders``; None if it is none.

    Outside of backticks everything but a point and white space is part of the name.
    """
    parts: list[list[Token]] = [[]]
    for token in scan(text):
        if token.is_mark("."):
            parts.append([])
        else:
            parts[-1].append(token)
    names = [_part(text, part) for part in parts]
    if len(names) > 2 or not all(names):
        return None
    return (names[0] if len(names) == 2 else None), names[-1] or ""


def _part(text: str, tokens: list[Token]) -> str | None:
    """A name in backticks, or what stands without white space inside."""
    if len(tokens) == 1 and tokens[0].kind == "name":
        return tokens[0].text
    apart = any(before.end != behind.start for before, behind in pairwise(tokens))
    if not tokens or apart or any(token.kind == "name" for token in tokens):
        return None
    return text[tokens[0].start : tokens[-1].end]
