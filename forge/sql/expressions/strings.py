"""Functions of text that look at characters and bytes: lengths, places, pieces, bases."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from forge.charsets import charset, collation
from forge.errors import UnsupportedError
from forge.sql.ast.expressions import Literal, Node, Unread
from forge.sql.expressions.comparisons import folded, sides
from forge.sql.expressions.evaluation import (
    FUNCTIONS,
    Function,
    Row,
    evaluate,
    number_of,
    surroundings,
    text_of,
)
from forge.sql.expressions.operands import (
    Operand,
)
from forge.values.literals import rounded

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_64_BITS = 1 << 64


def bytes_of(row: Row, node: Node, value: Operand) -> bytes:
    """The bytes of a text in its character set."""
    if isinstance(value, bytes):
        return value
    text = text_of(value)
    around = surroundings(row)
    if around is None or text.isascii() or not isinstance(value, str):
        return text.encode()
    return charset(collation(around.collation(node)).charset).encode(text)


def of_bytes(compute: Callable[..., Operand], least: int = 1, most: int = 1) -> Function:
    """A function of the bytes of its first argument; NULL makes it NULL."""

    def computed(row: Row, *nodes: Node) -> Operand:
        values = [evaluate(node, row) for node in nodes]
        return None if None in values else compute(bytes_of(row, nodes[0], values[0]), *values[1:])

    return Function(computed, least, most, "nodes")


def _place(row: Row, part: Node, whole: Node, start: Node | None = None) -> Operand:
    """LOCATE: where a text stands in another, counted from 1."""
    values = [evaluate(part, row), evaluate(whole, row), 1 if start is None else evaluate(start, row)]
    if None in values:
        return None
    if isinstance(values[0], bytes) or isinstance(values[1], bytes):
        raise UnsupportedError("LOCATE of bytes is not supported yet")
    small, large = (folded(row, text_of(value), part, whole) for value in values[:2])
    first = int(number_of(values[2]))
    if first < 1:
        return 0
    for place in range(first - 1, len(large) - len(small) + 1):
        if large[place : place + len(small)] == small:
            return place + 1
    return 0


def _find_in_set(row: Row, part: Node, whole: Node) -> Operand:
    values = evaluate(part, row), evaluate(whole, row)
    if None in values:
        return None
    if not text_of(values[1]):
        return 0
    wanted = folded(row, text_of(values[0]), part, whole)
    members = [folded(row, member, part, whole) for member in text_of(values[1]).split(",")]
    return members.index(wanted) + 1 if wanted in members and "," not in text_of(values[0]) else 0


def _field(row: Row, node: Node, *others: Node) -> int:
    """FIELD: which of the others is equal, counted from 1."""
    value = evaluate(node, row)
    choices = [evaluate(other, row) for other in others]
    if value is None:
        return 0
    if len({isinstance(one, str) for one in (value, *choices) if one is not None}) > 1:
        raise UnsupportedError("FIELD of texts and numbers together is not supported yet")
    for place, (other, choice) in enumerate(zip(others, choices, strict=True), 1):
        if choice is not None:
            left, right = sides(row, (node, other), value, choice, ordered=False)
            if left == right:
                return place
    return 0


def _elt(number: Operand, *texts: Operand) -> Operand:
    place = None if number is None else int(rounded(Decimal(number_of(number)), 0))
    if place is None or not 1 <= place <= len(texts):
        return None
    chosen = texts[place - 1]
    return None if chosen is None else text_of(chosen)


def _strcmp(row: Row, left: Node, right: Node) -> Operand:
    first, second = evaluate(left, row), evaluate(right, row)
    if first is None or second is None:
        return None
    one, other = sides(row, (left, right), text_of(first), text_of(second), ordered=True)
    return (one > other) - (one < other)


def _inserted(value: Operand, start: Operand, length: Operand, new: Operand) -> str:
    text, begin, size = text_of(value), int(number_of(start)), int(number_of(length))
    if not 1 <= begin <= len(text):
        return text
    end = len(text) if size < 0 or begin - 1 + size > len(text) else begin - 1 + size
    return text[: begin - 1] + text_of(new) + text[end:]


def _substring_index(value: Operand, delimiter: Operand, count: Operand) -> str:
    text, mark, number = text_of(value), text_of(delimiter), int(number_of(count))
    if not mark or not number:
        return ""
    pieces = text.split(mark)
    return mark.join(pieces[:number] if number > 0 else pieces[number:])


def _trimmed(value: Operand, what: Operand = " ", side: Operand = "BOTH") -> str:
    text, piece = text_of(value), text_of(what)
    while piece and side != "TRAILING" and text.startswith(piece):
        text = text[len(piece) :]
    while piece and side != "LEADING" and text.endswith(piece):
        text = text[: -len(piece)]
    return text


def _unhex(value: Operand) -> bytes | None:
    text = text_of(value)
    try:
        return bytes.fromhex(f"0{text}" if len(text) % 2 else text) if re.fullmatch("[0-9A-Fa-f]*", text) else None
    except ValueError:
        return None


def _to_base64(data: bytes) -> str:
    lines = base64.b64encode(data).decode()
    return "\n".join(lines[start : start + 76] for start in range(0, len(lines), 76))


def _from_base64(value: Operand) -> bytes | None:
    try:
        return base64.b64decode(re.sub(r"\s", "", text_of(value)), validate=True)
    except (binascii.Error, ValueError):
        return None


def _based(number: int, base: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, base)
        digits = _DIGITS[digit] + digits
    return digits or "0"


def _conv(value: Operand, source: Operand, target: Operand) -> Operand:
    """CONV: digits of one base in another; a negative base has signed numbers."""
    old, new = int(number_of(source)), int(number_of(target))
    if not (2 <= abs(old) <= 36 and 2 <= abs(new) <= 36):
        return None
    text = text_of(value).strip().upper()
    sign = text.startswith("-")
    number = 0
    for character in text.lstrip("-+"):
        if character not in _DIGITS[: abs(old)]:
            break
        number = number * abs(old) + _DIGITS.index(character)
    if number >= _64_BITS:
        raise UnsupportedError("CONV of a number beyond 64 bits is not supported yet")
    number = -number % _64_BITS if sign else number
    if new < 0 and number >= _64_BITS // 2:
        return f"-{_based(_64_BITS - number, -new)}"
    return _based(number, abs(new))


def _in_base(base: int) -> Callable[[Operand], Operand]:
    return lambda value: _conv(value if isinstance(value, str) else int(number_of(value)), 10, base)


def _format(number: Operand, digits: Operand) -> str:
    """FORMAT: groups of three digits."""
    exact = number_of(number)
    if isinstance(exact, float):
        exact = Decimal(repr(exact))
    places = min(max(int(number_of(digits)), 0), 30)
    return f"{Decimal(exact).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):,f}"


def _char(row: Row, *nodes: Node) -> Operand:
    """CHAR: bytes of numbers, or a text of these with USING."""
    using = next((node.sql.split()[1] for node in nodes if isinstance(node, Unread)), None)
    numbers = [evaluate(node, row) for node in nodes if not isinstance(node, Unread)]
    data = b""
    for value in numbers:
        if value is not None:
            number = int(number_of(value)) % (1 << 32)
            data += number.to_bytes(max((number.bit_length() + 7) // 8, 1), "big")
    return data if using is None else charset(using).decode(data)


def _ascii(data: bytes) -> int:
    return data[0] if data else 0


def _ord(row: Row, node: Node) -> Operand:
    value = evaluate(node, row)
    if value is None:
        return None
    first = value[:1] if isinstance(value, bytes) else bytes_of(row, node, text_of(value)[:1])
    return int.from_bytes(first, "big")


def _quote(value: Operand) -> str:
    if value is None:
        return "NULL"
    text = text_of(value)
    for mark, escaped in (("\\", "\\\\"), ("'", "\\'"), ("\0", "\\0"), ("\x1a", "\\Z")):
        text = text.replace(mark, escaped)
    return f"'{text}'"


def _convert(row: Row, node: Node, name: Node) -> Operand:
    """CONVERT(text USING set); characters that the set has not become ``?``."""
    value = evaluate(node, row)
    assert isinstance(name, Literal)
    if value is None:
        return None
    if str(name.value).lower() == "binary":
        return bytes_of(row, node, value)
    chosen = charset(str(name.value))
    if isinstance(value, bytes):
        return chosen.decode(value)
    text = text_of(value)
    return chosen.decode(b"".join(chosen.encode_or_mark(character) for character in text))


def _make_set(bits: Operand, *texts: Operand) -> Operand:
    if bits is None:
        return None
    number = int(number_of(bits))
    return ",".join(text_of(text) for place, text in enumerate(texts) if text is not None and number >> place & 1)


def _hex(row: Row, node: Node) -> Operand:
    value: Any = evaluate(node, row)
    if value is None:
        return None
    if not isinstance(value, str | bytes):
        number = number_of(value)
        return f"{int(rounded(Decimal(number), 0)) % _64_BITS:X}"
    return bytes_of(row, node, value).hex().upper()


FUNCTIONS |= {
    **dict.fromkeys(("LENGTH", "OCTET_LENGTH"), of_bytes(len)),
    "BIT_LENGTH": of_bytes(lambda data: len(data) * 8),
    "ASCII": of_bytes(_ascii),
    "ORD": Function(_ord, 1, 1, "nodes"),
    "CHAR": Function(_char, 1, 1000, "nodes"),
    "HEX": Function(_hex, 1, 1, "nodes"),
    "UNHEX": Function(_unhex),
    "TO_BASE64": of_bytes(_to_base64),
    "FROM_BASE64": Function(_from_base64),
    "LOCATE": Function(_place, 2, 3, "nodes"),
    "POSITION": Function(_place, 2, 2, "nodes"),
    "INSTR": Function(lambda row, whole, part: _place(row, part, whole), 2, 2, "nodes"),
    "FIND_IN_SET": Function(_find_in_set, 2, 2, "nodes"),
    "FIELD": Function(_field, 2, 1000, "nodes"),
    "ELT": Function(_elt, 2, 1000, "nulls"),
    "STRCMP": Function(_strcmp, 2, 2, "nodes"),
    "INSERT": Function(_inserted, 4, 4),
    "SUBSTRING_INDEX": Function(_substring_index, 3, 3),
    "TRIM": Function(_trimmed, 1, 3),
    "LTRIM": Function(lambda value: _trimmed(value, " ", "LEADING")),
    "RTRIM": Function(lambda value: _trimmed(value, " ", "TRAILING")),
    "CONV": Function(_conv, 3, 3),
    "BIN": Function(_in_base(2)),
    "OCT": Function(_in_base(8)),
    "FORMAT": Function(_format, 2, 2),
    "QUOTE": Function(_quote, takes="nulls"),
    "CONVERT": Function(_convert, 2, 2, "nodes"),
    "MAKE_SET": Function(_make_set, 2, 65, "nulls"),
}
