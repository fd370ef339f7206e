"""Functions of text in expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forge.errors import UnsupportedError
from forge.sql.expressions.evaluation import Operand, Row, Rule, evaluate, number_of, text_of


def _simple(change: Callable[[str], str]) -> Callable[[str], str]:
    """A change of case as servers make it: one character gives one character, or stays (recorded: ``ß``)."""
    return lambda text: "".join(new if len(new := change(character)) == 1 else character for character in text)


def _lower(text: str) -> str:
    # Python's lower case of this letter has a dot above as a second character.
    return _simple(str.lower)(text.replace("\u0130", "i"))


def _of_text(compute: Callable[[str], Operand]) -> Rule:
    def rule(node: Any, row: Row) -> Operand:
        value = evaluate(node.this, row)
        return None if value is None else compute(text_of(value))

    return rule


def _concat(node: Any, row: Row) -> Operand:
    parts = [evaluate(part, row) for part in node.expressions]
    return None if any(part is None for part in parts) else "".join(map(text_of, parts))


def _concat_ws(node: Any, row: Row) -> Operand:
    separator, *parts = (evaluate(part, row) for part in node.expressions)
    if separator is None:
        return None
    return text_of(separator).join(text_of(part) for part in parts if part is not None)


def _arguments(node: Any, row: Row, *names: str) -> list[Operand] | None:
    """The text that a function cuts, and its numbers (None for one that is left out); None if one is NULL."""
    text = evaluate(node.this, row)
    numbers: list[Operand] = []
    for name in names:
        argument = node.args.get(name)
        value = None if argument is None else evaluate(argument, row)
        if argument is not None and value is None:
            return None
        numbers.append(None if value is None else int(number_of(value)))
    return None if text is None else [text_of(text), *numbers]


def _substring(node: Any, row: Row) -> Operand:
    arguments = _arguments(node, row, "start", "length")
    if arguments is None:
        return None
    text, start, length = arguments
    if start == 0 or (length is not None and length < 1) or abs(start) > len(text):
        return ""
    begin = start - 1 if start > 0 else len(text) + start
    return text[begin : None if length is None else begin + length]


def _left(node: Any, row: Row) -> Operand:
    arguments = _arguments(node, row, "expression")
    return None if arguments is None else arguments[0][: max(arguments[1], 0)]


def _right(node: Any, row: Row) -> Operand:
    arguments = _arguments(node, row, "expression")
    return None if arguments is None else arguments[0][max(len(arguments[0]) - max(arguments[1], 0), 0) :]


def _trim(node: Any, row: Row) -> Operand:
    if node.args.get("position") or node.args.get("expression"):
        raise UnsupportedError("TRIM(... FROM ...) in expressions is not supported yet; TRIM(text) is")
    return _of_text(lambda text: text.strip(" "))(node, row)


def _length(node: Any, row: Row) -> Operand:
    if node.args.get("binary"):
        raise UnsupportedError("LENGTH in expressions is not supported yet; CHAR_LENGTH is")
    return _of_text(len)(node, row)


TEXT_RULES: dict[str, Rule] = {
    "Concat": _concat,
    "ConcatWs": _concat_ws,
    "Lower": _of_text(_lower),
    "Upper": _of_text(_simple(str.upper)),
    "Trim": _trim,
    "Substring": _substring,
    "Left": _left,
    "Right": _right,
    "Reverse": _of_text(lambda text: text[::-1]),
    "Length": _length,
}
