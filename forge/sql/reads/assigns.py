"""What the text of a statement leaves behind: user variables that it assigns to, and LAST_INSERT_ID(expression).

Found by tokens.  What is assigned is known where it is a literal, or the variable itself and a number; for other
expressions nobody but the server knows it afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from forge.sql.lexer import Token


@dataclass(frozen=True, slots=True)
class Assigned:
    """``@name := ...``: ``end`` is the token behind its expression.

    ``literal`` is a value that is known; ``step`` is what is added to the variable each time; both None: not known.
    """

    name: str
    end: int
    literal: Any = None
    step: int | None = None
    known: bool = False


def assigned_at(tokens: Sequence[Token], index: int, name: str) -> Assigned:
    """The assignment to a variable whose ``:=`` is at a token."""
    end = _end_of(tokens, index + 1)
    piece = tokens[index + 1 : end]
    if len(piece) == 1 or (len(piece) == 2 and piece[0].is_mark("-")):
        sign = -1 if piece[0].is_mark("-") else 1
        value = piece[-1]
        if value.kind == "string" and sign == 1:
            return Assigned(name, end, literal=value.text, known=True)
        if value.is_word("NULL") and sign == 1:
            return Assigned(name, end, known=True)
        if value.kind == "number" and "e" not in value.text.lower():
            number = int(value.text) if value.text.isdigit() else Decimal(value.text)
            return Assigned(name, end, literal=sign * number, known=True)
    own = len(piece) == 4 and piece[0].is_mark("@") and piece[1].text.lower() == name
    if own and piece[2].text in ("+", "-") and piece[3].kind == "number" and piece[3].text.isdigit():
        return Assigned(name, end, step=int(piece[3].text) * (1 if piece[2].text == "+" else -1), known=True)
    return Assigned(name, end)


def _end_of(tokens: Sequence[Token], index: int) -> int:
    """The token behind the expression that begins at one."""
    depth = 0
    while tokens[index].kind != "end":
        depth += tokens[index].is_mark("(") - tokens[index].is_mark(")")
        clause = depth == 0 and tokens[index].is_word("WHERE", "ORDER", "LIMIT", "FROM", "ON")
        if depth < 0 or clause or (depth == 0 and tokens[index].is_mark(",")):
            break
        index += 1
    return index


def last_insert_source(tokens: Sequence[Token]) -> str | int | None:
    """What LAST_INSERT_ID(expression) is given: a number, or what the column of this name is set to; None: neither."""
    for index, token in enumerate(tokens):
        if not token.is_word("LAST_INSERT_ID") or not tokens[index + 1].is_mark("(") or tokens[index + 2].is_mark(")"):
            continue
        if tokens[index + 2].kind == "number" and tokens[index + 3].is_mark(")") and tokens[index + 2].text.isdigit():
            return int(tokens[index + 2].text)
        column = tokens[index - 2]
        if index > 1 and tokens[index - 1].is_mark("=") and column.kind in ("word", "name"):
            behind = tokens[_end_of(tokens, index)]
            return column.text if behind.kind == "end" or behind.is_mark(",") or behind.kind == "word" else None
    return None
