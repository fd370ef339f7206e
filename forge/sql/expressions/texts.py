"""Functions of text in expressions."""

from __future__ import annotations

from collections.abc import Callable

from forge.sql.expressions.evaluation import FUNCTIONS, Function, Operand, number_of, text_of


def _simple(change: Callable[[str], str]) -> Callable[[str], str]:
    """A change of case as servers make it: one character gives one character, or stays (recorded: ``ß``)."""
    return lambda text: "".join(new if len(new := change(character)) == 1 else character for character in text)


def _lower(text: str) -> str:
    # Python's lower case of this letter has a dot above as a second character.
    return _simple(str.lower)(text.replace("\u0130", "i"))


def _of_text(compute: Callable[[str], Operand]) -> Function:
    return Function(lambda value: compute(text_of(value)))


def _concat_ws(separator: Operand, *parts: Operand) -> Operand:
    return None if separator is None else text_of(separator).join(text_of(part) for part in parts if part is not None)


def _substring(value: Operand, start: Operand, length: Operand = None) -> str:
    text, begin = text_of(value), int(number_of(start))
    size = None if length is None else int(number_of(length))
    if begin == 0 or (size is not None and size < 1) or abs(begin) > len(text):
        return ""
    begin = begin - 1 if begin > 0 else len(text) + begin
    return text[begin : None if size is None else begin + size]


def _left(value: Operand, length: Operand) -> str:
    return text_of(value)[: max(int(number_of(length)), 0)]


def _right(value: Operand, length: Operand) -> str:
    text = text_of(value)
    return text[max(len(text) - max(int(number_of(length)), 0), 0) :]


FUNCTIONS |= {
    "CONCAT": Function(lambda *parts: "".join(map(text_of, parts)), 1, 1000),
    "CONCAT_WS": Function(_concat_ws, 2, 1000, "nulls"),
    **dict.fromkeys(("LOWER", "LCASE"), _of_text(_lower)),
    **dict.fromkeys(("UPPER", "UCASE"), _of_text(_simple(str.upper))),
    "TRIM": _of_text(lambda text: text.strip(" ")),
    "SUBSTRING": Function(_substring, 2, 3),
    "LEFT": Function(_left, 2, 2),
    "RIGHT": Function(_right, 2, 2),
    "REVERSE": _of_text(lambda text: text[::-1]),
    **dict.fromkeys(("CHAR_LENGTH", "CHARACTER_LENGTH"), _of_text(len)),
}
