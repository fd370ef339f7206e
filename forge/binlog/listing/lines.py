"""The documents of a listing read line by line, where they are written as :mod:`forge.binlog.listing.text` writes them.

A listing is for editing, and may be any YAML.  What is read here is a part of YAML: mappings and lists, a line each of
their entries, of words, whole numbers and text in single quotes.  It has the meaning that ``forge.located`` gives it;
of anything else nothing is said but that it is unusual, and ``forge.located`` reads it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from forge.located import CORE_WORDS
from forge.values.quick import UnusualError

#: What an entry of a line can be.
_QUOTED = "'[^'\n]*(?:''[^'\n]*)*'"
_NUMBER = "-?(?:0|[1-9][0-9]{0,39})"
_WORD = "[A-Za-z_](?:[A-Za-z0-9_ .`()@*/-]*[A-Za-z0-9_.`()@*/-])?"
_SCALAR = f"(?:{_NUMBER}|{_QUOTED}|{_WORD})"
_KEY = f"(?:{_WORD}|{_QUOTED})"
_VALUE = (
    rf"(?:{_SCALAR}"
    rf"|\[(?:{_SCALAR}(?:, {_SCALAR})*)?\]"
    rf"|\{{(?:{_KEY}: {_SCALAR}(?:, {_KEY}: {_SCALAR})*)?\}})"
)
#: Indentation, dashes, and a key with or without a value, or a value alone; at last a line of any other kind.
_LINES = re.compile(rf"^( *)((?:- )*)(?:({_KEY}):(?: ({_VALUE}))?|({_VALUE}))$|^(.*)$", re.MULTILINE)
_SCALARS = re.compile(_SCALAR)
_PAIRS = re.compile(f"({_KEY}): ({_SCALAR})")
#: Characters that not every YAML reader takes as they are.  Each mention in a pattern would cost its compilation.
_ODD = re.compile("[\0-\t\v-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
#: YAML takes no longer key that stands before its value.
_LONGEST_KEY = 1000
#: Nesting beyond what a listing needs.
_DEPTH = 20

_Line = tuple[str, str, str, str, str, str]


def read_lines(text: str) -> Any:
    """The mapping, or the one-line value, that ``text`` is.  Raises UnusualError."""
    if _ODD.search(text):
        raise UnusualError
    lines: list[_Line] = _LINES.findall(text.removesuffix("\n"))
    indent, dashes, key, _, value, _ = lines[0]
    if value and len(lines) == 1 and not indent and not dashes:
        return _value(value)
    if not key or indent or dashes:
        raise UnusualError
    mapping, at = _mapping(lines, 0, 0, 0)
    if at != len(lines):
        raise UnusualError
    return mapping


def _mapping(lines: list[_Line], at: int, column: int, depth: int) -> tuple[dict[str, Any], int]:
    """The mapping whose first key stands in line ``at``, in ``column``; and the line behind it."""
    found: dict[str, Any] = {}
    key, text = lines[at][2:4]
    count = len(lines)
    while True:
        name = _name(key)
        if name in found:
            raise UnusualError
        at += 1
        if text:
            found[name] = _value(text)
        elif at == count:
            raise UnusualError
        else:
            indent, dashes = lines[at][:2]
            # A list in a mapping need not be indented.
            if len(indent) < column or (len(indent) == column and not dashes):
                raise UnusualError
            found[name], at = _block(lines, at, len(indent), 0, depth + 1)
        if at == count:
            return found, at
        indent, dashes, key, text, _, _ = lines[at]
        if not key or dashes or len(indent) != column:
            return found, at


def _sequence(lines: list[_Line], at: int, column: int, read: int, depth: int) -> tuple[list[Any], int]:
    """As :func:`_mapping`, a list.  Of the dashes in the first line ``read`` characters belong to lists around it."""
    found: list[Any] = []
    count = len(lines)
    while True:
        _, dashes, _, _, value, _ = lines[at]
        if value and len(dashes) == read + 2:
            found.append(_value(value))
            at += 1
        else:
            inside, at = _block(lines, at, column + 2, read + 2, depth + 1)
            found.append(inside)
        if at == count or not lines[at][1] or len(lines[at][0]) != column:
            return found, at
        read = 0


def _block(lines: list[_Line], at: int, column: int, read: int, depth: int) -> tuple[Any, int]:
    _, dashes, key, _, _, _ = lines[at]
    if depth > _DEPTH:
        raise UnusualError
    if len(dashes) > read:
        return _sequence(lines, at, column, read, depth)
    if not key:
        raise UnusualError
    return _mapping(lines, at, column, depth)


def _value(text: str) -> Any:
    first = text[0]
    if first == "[":
        return [_scalar(item) for item in _SCALARS.findall(text)]
    if first == "{":
        pairs = _PAIRS.findall(text)
        found = {_name(key): _scalar(item) for key, item in pairs}
        if len(found) != len(pairs):
            raise UnusualError
        return found
    return _scalar(text)


def _scalar(text: str) -> Any:
    first = text[0]
    if first == "'":
        return text[1:-1].replace("''", "'")
    if first < ":":  # a digit or the sign
        return int(text)
    word = CORE_WORDS.get(text)
    if word is None:
        return text
    return None if word == "null" else text.lower() == "true"


@lru_cache(maxsize=4096)
def _name(text: str) -> str:
    if len(text) > _LONGEST_KEY:
        raise UnusualError
    return text[1:-1].replace("''", "'") if text[0] == "'" else text
