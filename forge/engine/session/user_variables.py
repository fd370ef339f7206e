"""User variables of a session: what a scenario sets them to, and the SQL that does."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

from forge.charsets import charset, collation
from forge.errors import ScenarioError
from forge.plan.statement_text import UserVariable
from forge.servers import server_line
from forge.sql.lexer import is_nameable
from forge.sql.write import identifier
from forge.values.literals import hexadecimal, quoted

_KINDS = ("unsigned", "real", "decimal", "hex", "text")
#: Digits that a DECIMAL has at most, and those behind its point.
_MOST_DIGITS, _MOST_SCALE = 65, 30
_EXPECTED = "a number, text, null, or {unsigned|real|decimal|hex: ...}, {text: ..., collation: ...}"


def user_variable(name: str, declared: Any, server: str) -> tuple[UserVariable, str]:
    """A variable, and the SQL of its value.  Raises ScenarioError for what no variable holds."""
    if not name or len(name) > 64 or not is_nameable(name):
        expected = "1 to 64 characters from U+0001 to U+FFFF"
        raise ScenarioError(f"{name!r} cannot be the name of a user variable", expected=expected)
    name = name.lower()
    if isinstance(declared, dict):
        return _of_kind(name, declared, server)
    if declared is None:
        return UserVariable(name, None), "NULL"
    if isinstance(declared, bool):
        return UserVariable(name, int(declared)), str(int(declared))
    if isinstance(declared, int):
        if not -(1 << 63) <= declared < 1 << 64:
            raise ScenarioError(f"@{name}: {declared} is not a BIGINT", expected="-2^63 to 2^64-1, or {decimal: ...}")
        return UserVariable(name, declared, unsigned=declared >= 1 << 63), str(declared)
    if isinstance(declared, (Decimal, float)):
        return _decimal(name, str(declared))
    if isinstance(declared, bytes):
        return UserVariable(name, declared), hexadecimal(declared)
    if isinstance(declared, str):
        return UserVariable(name, declared), quoted(declared)
    raise ScenarioError(f"@{name} is {declared!r}", expected=_EXPECTED)


def setting_sql(name: str, value: str) -> str:
    """The SET statement of a variable."""
    return f"SET @{identifier(name)} = {value}"


def _of_kind(name: str, declared: dict[str, Any], server: str) -> tuple[UserVariable, str]:
    kinds = [kind for kind in _KINDS if kind in declared]
    if len(kinds) != 1 or set(declared) - {kinds[0], "collation"} or ("collation" in declared and kinds[0] != "text"):
        raise ScenarioError(f"@{name} is {declared!r}", expected=_EXPECTED)
    kind, value = kinds[0], declared[kinds[0]]
    match kind:
        case "unsigned":
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 64:
                raise ScenarioError(f"@{name}: {value!r} is not a BIGINT UNSIGNED", expected="0 to 2^64-1")
            return UserVariable(name, value, unsigned=True), f"CAST({value} AS UNSIGNED)"
        case "real":
            return _real(name, value)
        case "decimal":
            return _decimal(name, str(value))
        case "hex":
            try:
                raw = bytes.fromhex(str(value))
            except ValueError:
                raise ScenarioError(f"@{name}: {value!r} is not hexadecimal", expected="pairs of digits") from None
            return UserVariable(name, raw), hexadecimal(raw)
    return _text(name, value, declared.get("collation"), server)


def _real(name: str, value: Any) -> tuple[UserVariable, str]:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ScenarioError(f"@{name}: {value!r} is not a number", expected="a DOUBLE") from None
    if number in (float("inf"), float("-inf")) or number != number:
        raise ScenarioError(f"@{name}: {value!r} is not a DOUBLE", expected="a finite number")
    text = repr(number)
    return UserVariable(name, number), text if "e" in text else f"{text}e0"


def _decimal(name: str, text: str) -> tuple[UserVariable, str]:
    try:
        number = Decimal(text)
        exponent = number.as_tuple().exponent
    except InvalidOperation:
        raise ScenarioError(f"@{name}: {text!r} is not a number", expected="a DECIMAL") from None
    if not isinstance(exponent, int):
        raise ScenarioError(f"@{name}: {text!r} is not a DECIMAL", expected="a finite number")
    written = f"{number:f}"
    digits = len(written.replace("-", "").replace(".", ""))
    if digits > _MOST_DIGITS or -exponent > _MOST_SCALE:
        expected = f"at most {_MOST_DIGITS} digits, {_MOST_SCALE} of them after the point"
        raise ScenarioError(f"@{name}: {text} is not a DECIMAL", expected=expected)
    # Without a point it would be an integer.
    return UserVariable(name, Decimal(written)), written if "." in written else f"{written}."


def _text(name: str, value: Any, declared: Any, server: str) -> tuple[UserVariable, str]:
    if not isinstance(value, str):
        raise ScenarioError(f"@{name}: {value!r} is not text", expected="text")
    if declared is None:
        return UserVariable(name, value), quoted(value)
    text_collation = collation(str(declared), server_line(server).family)
    raw = charset(text_collation.charset).encode(value)
    sql = f"_{text_collation.charset} {hexadecimal(raw)} COLLATE {text_collation.name}"
    return UserVariable(name, raw, collation=text_collation.id), sql
