"""Statements that say the same but for their literals: what their words tell is looked up once."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from forge.values.literals import EXACT

#: Texts whose end no sql_mode decides: without a backslash, in single quotes.
_LITERAL = r"(?:'[^'\\]*'(?!')|-?[0-9]+(?:\.[0-9]+)?(?![\w.])|NULL\b)"
_NAME = r"(?:`[^`]+`|[A-Za-z_][\w$]*)"
_NAMES = rf"\(\s*{_NAME}(?:\s*,\s*{_NAME})*\s*\)"
_HEAD = re.compile(
    rf"(?:INSERT|REPLACE)\s+(?:IGNORE\s+)?(?:INTO\s+){_NAME}(?:\.{_NAME})?\s*(?:{_NAMES}\s*)?VALUES\s*",
    re.IGNORECASE | re.ASCII,
)
_ROW = re.compile(rf"\(\s*{_LITERAL}(?:\s*,\s*{_LITERAL})*\s*\)\s*(,?)\s*", re.IGNORECASE | re.ASCII)
_CELL = re.compile(r"'([^']*)'|(-?[0-9]+\.[0-9]+)|(-?[0-9]+)|(NULL)|(\))", re.IGNORECASE | re.ASCII)


class PlainInsert(NamedTuple):
    """An INSERT or REPLACE of nothing but literals: what stands before its rows, and where these begin."""

    head: str
    start: int


@lru_cache(maxsize=4)
def plain_insert(sql: str) -> PlainInsert | None:
    """The head and the place of the rows of such a statement; None for any other."""
    head = _HEAD.match(sql)
    if head is None:
        return None
    end, more = head.end(), ","
    # Row by row: one pattern for all would keep a way back for each of them.
    while more:
        row = _ROW.match(sql, end)
        if row is None:
            return None
        end, more = row.end(), row[1]
    return PlainInsert(head[0], head.end()) if end == len(sql) else None


def outline(sql: str) -> str:
    """The text with one row of one literal in place of its rows, or the text itself."""
    plain = plain_insert(sql)
    return sql if plain is None else f"{plain.head}(0)"


def literal_rows(sql: str, start: int) -> list[list[str | int | Decimal | None]]:
    """The cells of a plain INSERT."""
    rows: list[list[str | int | Decimal | None]] = []
    row: list[str | int | Decimal | None] = []
    for text, number, digits, null, end in _CELL.findall(sql, start):
        if end:
            rows.append(row)
            row = []
        elif number:
            row.append(EXACT.minus(Decimal(number[1:])) if number[0] == "-" else Decimal(number))
        else:
            row.append(int(digits) if digits else None if null else text)
    return rows
