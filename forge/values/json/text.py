"""JSON text <-> the values of :mod:`forge.values.json.binary`, digit for digit as MySQL reads and prints them.

Recorded on MySQL 9.7: the server prints ", " and ": " between parts, keys in stored order, and escapes only
``"``, the backslash and control characters.  Its parser rounds correctly, as Python does.
"""

from __future__ import annotations

import json
import math
import re
from json.encoder import encode_basestring
from typing import Final

from forge.errors import ScenarioError
from forge.values.json.binary import Json, Opaque, SqlInteger
from forge.values.json.opaque import opaque_text
from forge.values.numeric.floats import float_text

_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]+))?")


def parse_json(text: str) -> Json:
    """The value of a JSON text, as MySQL's parser takes it: of equal keys the last one counts.

    Raises ScenarioError with the position of what is not JSON (no NaN, no comments, no lone surrogates).
    """
    try:
        value = json.loads(text, parse_float=parse_number, parse_int=parse_number, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ScenarioError(
            f"invalid JSON text at position {error.pos} (line {error.lineno}, column {error.colno}): {error.msg}",
            expected="a JSON document" if not text.strip() else None,
            suggestion=json.dumps(text, ensure_ascii=False) if _is_bare_word(text) else None,
        ) from None
    except RecursionError:
        raise ScenarioError("the JSON document is nested deeper than 100 levels") from None
    return value


def _is_bare_word(text: str) -> bool:
    return re.fullmatch(r"[^\W\d][\w .-]{0,60}", text) is not None


def _refuse_constant(name: str) -> None:
    raise ScenarioError(f"invalid JSON text: {name} is not a number of JSON")


def parse_number(text: str) -> int | float:
    """The number of a JSON literal: integers of up to 64 bits stay integers, all others are rounded to a double.

    Raises ScenarioError if the literal is not a number or too big for a double.  The server's parser also calls
    zeros with an exponent above 308 and integer parts beyond the doubles too big, whatever follows.
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ScenarioError(f"{text!r} is not a JSON number")
    whole, fraction, exponent = match.groups()
    if fraction is None and exponent is None and len(whole) <= 20:
        number = int(text)
        if -(2**63) <= number < 2**64:
            return number
    if math.isinf(float(text)) or math.isinf(float(whole)) or _exponent(exponent) > 308 + len(fraction or ""):
        raise _too_big(text)
    return float(text)


def _exponent(text: str | None) -> int:
    """A positive exponent, with a limit; 0 for others, which cannot be too big."""
    digits = (text or "").lstrip("+0")
    return int(digits[:9] or 0) if digits[:1] != "-" else 0


def _too_big(text: str) -> ScenarioError:
    shown = text if len(text) <= 40 else text[:40] + "..."
    return ScenarioError(f"the JSON number {shown} is too big for a double")


def format_json(value: Json) -> str:
    """The text that ``SELECT`` shows for a JSON value; objects in the order of the dict, which is the stored one."""
    parts: list[str] = []
    _format(value, parts)
    return "".join(parts)


def _format(value: Json, parts: list[str]) -> None:
    if isinstance(value, str):
        parts.append(quote(value))
    elif value is None:
        parts.append("null")
    elif value is True or value is False:
        parts.append("true" if value else "false")
    elif isinstance(value, int):
        parts.append(str(value))
    elif isinstance(value, float):
        parts.append(format_double(value))
    elif isinstance(value, dict):
        separator = "{"
        for key, member in value.items():
            parts.append(f"{separator}{quote(key)}: ")
            _format(member, parts)
            separator = ", "
        parts.append("}" if value else "{}")
    elif isinstance(value, list | tuple):
        separator = "["
        for element in value:
            parts.append(separator)
            _format(element, parts)
            separator = ", "
        parts.append("]" if value else "[]")
    elif isinstance(value, SqlInteger):
        parts.append(str(value.value))
    elif isinstance(value, Opaque):
        text, quoted = opaque_text(value)
        parts.append(quote(text) if quoted else text)
    else:
        raise ScenarioError(f"JSON cannot hold a Python {type(value).__name__}")


def quote(text: str) -> str:
    """A JSON string: only the quote, the backslash and characters below U+0020 are escaped."""
    return encode_basestring(text)


def format_double(value: float) -> str:
    """A double as the server prints it in JSON: as a DOUBLE, with ``.0`` if that looks like an integer."""
    text = repr(value)
    if -1e15 < value < 1e15 and "e" not in text:
        return text
    text = str(float_text(value))
    return text if "." in text or "e" in text else text + ".0"
