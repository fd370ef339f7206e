"""What the text of a statement leaves behind: user variables that it assigns to, and LAST_INSERT_ID(expression).

What is assigned is known where it is a literal, or the variable itself and a number; for other expressions nobody but
the server knows it afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from forge.sql.ast.expressions import Call, Literal, Variable
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError
from forge.sql.lexer import Token
from forge.sql.parse.expressions import expression
from forge.values.literals import negated


class Assigned(Struct, frozen=True):
    """``@name := ...``: ``literal`` is the value, ``step`` what is added to the variable; both None: not known."""

    name: str
    literal: Any = None
    step: int | None = None
    known: bool = False


def assigned_at(sql: str, start: int, name: str) -> Assigned:
    """The assignment to a variable whose expression begins at a place."""
    try:
        node = expression(Cursor(sql[start:]))
    except SqlError:
        return Assigned(name)
    match node:
        case Literal(form=""):
            return Assigned(name, literal=node.value, known=not isinstance(node.value, bool | bytes))
        case Call(name="NEG", arguments=(Literal(value=int() | Decimal() as number),)):
            return Assigned(name, literal=negated(number), known=True)
        case Call(name="+" | "-" as sign, arguments=(Variable(name=own), Literal(value=int() as number))) if (
            own == f"@{name}"
        ):
            return Assigned(name, step=number if sign == "+" else -number, known=True)
        case _:
            return Assigned(name)


def last_insert_source(sql: str, tokens: Sequence[Token]) -> str | int | None:
    """What LAST_INSERT_ID(expression) is given: a number, or what the column of this name is set to; None: neither."""
    for index, token in enumerate(tokens):
        if not token.is_word("LAST_INSERT_ID") or not tokens[index + 1].is_mark("(") or tokens[index + 2].is_mark(")"):
            continue
        try:
            node = expression(Cursor(sql[token.start :]))
        except SqlError:
            return None
        match node:
            case Call(name="LAST_INSERT_ID", arguments=(Literal(value=int() as number),)):
                return number
            case Call(name="LAST_INSERT_ID") if index > 1 and tokens[index - 1].is_mark("="):
                return tokens[index - 2].text
        return None
    return None
