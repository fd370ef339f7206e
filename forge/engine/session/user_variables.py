"""User variables of a session: what a scenario sets them to, and the SQL that does."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from typing import Any

from forge.charsets import charset, collation
from forge.errors import ScenarioError
from forge.plan.statement_text import UserVariable
from forge.servers import server_line
from forge.sql.lexer import is_nameable
from forge.sql.write import identifier
from forge.values.literals import hexadecimal, quoted

#: Digits that a DECIMAL has at most, and those behind its point.
_MOST_DIGITS, _MOST_SCALE = 65, 30
_EXPECTED = "a number, text, null, or {unsigned|real|decimal|hex: ...}, {text: ..., collation: ...}"


def user_variable(name: str, declared: Any, server: str) -> UserVariable:
    """The variable that an entry sets.  Raises ScenarioError for what no variable holds."""
    if not name or len(name) > 64 or not is_nameable(name):
        expected = "1 to 64 characters from U+0001 to U+FFFF"
        raise ScenarioError(f"{name!r} cannot be the name of a user variable", expected=expected)
    name = name.lower()
    match declared:
        case {"unsigned": int(number), **rest} if not rest and not isinstance(number, bool):
            if not 0 <= number < 1 << 64:
                raise ScenarioError(f"@{name}: {number!r} is not a BIGINT UNSIGNED", expected="0 to 2^64-1")
            return UserVariable(name, number, unsigned=True)
        case {"real": value, **rest} if not rest:
            return UserVariable(name, _real(name, value))
        case {"decimal": value, **rest} if not rest:
            return UserVariable(name, _decimal(name, str(value)))
        case {"hex": value, **rest} if not rest:
            try:
                return UserVariable(name, bytes.fromhex(str(value)))
            except ValueError:
                raise ScenarioError(f"@{name}: {value!r} is not hexadecimal", expected="pairs of digits") from None
        case {"text": str(text), **rest} if not rest:
            return UserVariable(name, text)
        case {"text": str(text), "collation": known, **rest} if not rest:
            text_collation = collation(str(known), server_line(server).family)
            raw = charset(text_collation.charset).encode(text)
            return UserVariable(name, raw, collation=text_collation.id)
        case bool():
            return UserVariable(name, int(declared))
        case int():
            if not -(1 << 63) <= declared < 1 << 64:
                expected = "-2^63 to 2^64-1, or {decimal: ...}"
                raise ScenarioError(f"@{name}: {declared} is not a BIGINT", expected=expected)
            return UserVariable(name, declared, unsigned=declared >= 1 << 63)
        case Decimal() | float():
            return UserVariable(name, _decimal(name, str(declared)))
        case None | bytes() | str():
            return UserVariable(name, declared)
    raise ScenarioError(f"@{name} is {declared!r}", expected=_EXPECTED)


def setting_sql(variable: UserVariable, server: str) -> str:
    """The SET statement of a variable."""
    return f"SET @{identifier(variable.name)} = {_literal(variable, server)}"


def _literal(variable: UserVariable, server: str) -> str:
    value = variable.value
    match value:
        case None:
            return "NULL"
        case int():
            return f"CAST({value} AS UNSIGNED)" if variable.unsigned else str(value)
        case float():
            return repr(value) if "e" in repr(value) else f"{value!r}e0"
        case Decimal():
            # Without a point it would be an integer.
            return f"{value:f}" if "." in f"{value:f}" else f"{value:f}."
        case str():
            return quoted(value)
    if variable.collation is None:
        return hexadecimal(value)
    text_collation = collation(variable.collation, server_line(server).family)
    return f"_{text_collation.charset} {hexadecimal(value)} COLLATE {text_collation.name}"


def _real(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ScenarioError(f"@{name}: {value!r} is not a number", expected="a DOUBLE") from None
    if not math.isfinite(number):
        raise ScenarioError(f"@{name}: {value!r} is not a DOUBLE", expected="a finite number")
    return number


def _decimal(name: str, text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise ScenarioError(f"@{name}: {text!r} is not a number", expected="a DECIMAL") from None
    if not number.is_finite():
        raise ScenarioError(f"@{name}: {text!r} is not a DECIMAL", expected="a finite number")
    written = f"{number:f}"
    scale = len(written.partition(".")[2])
    if len(written.replace("-", "").replace(".", "")) > _MOST_DIGITS or scale > _MOST_SCALE:
        expected = f"at most {_MOST_DIGITS} digits, {_MOST_SCALE} of them after the point"
        raise ScenarioError(f"@{name}: {text} is not a DECIMAL", expected=expected)
    return Decimal(written)
