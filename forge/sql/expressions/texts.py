"""Functions of text in expressions."""

from __future__ import annotations

from collections.abc import Callable

from forge.errors import UnsupportedError
from forge.sql.expressions.evaluation import (
    FUNCTIONS,
    Function,
    number_of,
    text_of,
)
from forge.sql.expressions.operands import (
    Operand,
)

#: Characters of a text that is made here; servers have a limit of 64 MB (max_allowed_packet).
_LONGEST_TEXT = 1 << 24


def _simple(change: Callable[[str], str]) -> Callable[[str], str]:
    """A change of case as servers make it: one character gives one character, or stays (recorded: ``ß``)."""
    return lambda text: "".join(new if len(new := change(character)) == 1 else character for character in text)


def _lower(text: str) -> str:
    # Python's lower case of this letter has a dot above as a second character.
    return _simple(str.lower)(text.replace("\u0130", "i"))


def _of_text(compute: Callable[[str], Operand]) -> Function:
    return Function(lambda value: compute(text_of(value)))


def _concat(*parts: Operand) -> Operand:
    if not any(isinstance(part, bytes) for part in parts):
        return "".join(map(text_of, parts))
    pieces = [part if isinstance(part, bytes) else text_of(part) for part in parts]
    if not all(isinstance(piece, bytes) or piece.isascii() for piece in pieces):
        raise UnsupportedError("CONCAT of bytes and characters beyond ASCII is not supported yet")
    return b"".join(piece if isinstance(piece, bytes) else piece.encode() for piece in pieces)


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


def _padded(left: bool) -> Callable[[Operand, Operand, Operand], Operand]:
    def padded(value: Operand, length: Operand, padding: Operand) -> Operand:
        text, size, filler = text_of(value), int(number_of(length)), text_of(padding)
        if size < 0 or (size > len(text) and not filler):
            return None if size < 0 else ""
        more = (filler * (size // max(len(filler), 1) + 1))[: max(size - len(text), 0)]
        return (more + text if left else text + more)[:size] if size > len(text) else text[:size]

    return padded


def _repeated(value: Operand, count: Operand) -> Operand:
    text, times = text_of(value), max(int(number_of(count)), 0)
    if len(text) * times > _LONGEST_TEXT:
        raise UnsupportedError(f"a text of {len(text) * times} characters is not supported")
    return text * times


def _replaced(text: Operand, old: Operand, new: Operand) -> Operand:
    return text_of(text).replace(text_of(old), text_of(new)) if text_of(old) else text_of(text)


FUNCTIONS |= {
    "REPEAT": Function(_repeated, 2, 2),
    "SPACE": Function(lambda count: _repeated(" ", count)),
    "REPLACE": Function(_replaced, 3, 3),
    "LPAD": Function(_padded(True), 3, 3),
    "RPAD": Function(_padded(False), 3, 3),
    "CONCAT": Function(_concat, 1, 1000),
    "CONCAT_WS": Function(_concat_ws, 2, 1000, "nulls"),
    **dict.fromkeys(("LOWER", "LCASE"), _of_text(_lower)),
    **dict.fromkeys(("UPPER", "UCASE"), _of_text(_simple(str.upper))),
    "SUBSTRING": Function(_substring, 2, 3),
    "LEFT": Function(_left, 2, 2),
    "RIGHT": Function(_right, 2, 2),
    "REVERSE": _of_text(lambda text: text[::-1]),
    **dict.fromkeys(("CHAR_LENGTH", "CHARACTER_LENGTH"), _of_text(len)),
}
