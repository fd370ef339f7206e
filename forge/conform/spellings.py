"""What a value looks like in the forms of testees, and which answers are the same."""

from __future__ import annotations

import calendar
import json
import math
import struct
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from forge.decode.expected import stored
from forge.values.wire_types import WireType

#: A cell as rows.jsonl has it.
ExpectedCell = Mapping[str, Any]


class NotCompared(Exception):
    """The testee has no form for this cell.  It never leaves the forms."""


def identical(expected: Any, answer: Any) -> bool:
    """Equality in which true is not 1; numbers are equal by value."""
    if isinstance(expected, bool) or isinstance(answer, bool):
        return expected is answer
    if isinstance(expected, dict) and isinstance(answer, dict):
        return expected.keys() == answer.keys() and all(identical(expected[key], answer[key]) for key in expected)
    if isinstance(expected, list) and isinstance(answer, list):
        return len(expected) == len(answer) and all(map(identical, expected, answer))
    return bool(expected == answer)


def one_of(expected: Any, answer: Any) -> bool:
    """Any of several spellings."""
    return any(identical(item, answer) for item in expected)


def padded(cell: ExpectedCell, answer: Any, *, freely: bool) -> ExpectedCell:
    """The cell of a BINARY as the answer has it, which may have the zero bytes that the log leaves out at its end.

    The value has as many as the column is long, if the log says that it is binary; ``freely``: however many there are.
    """
    value = (cell.get("value") or {}).get("bytes")
    if value is None or cell.get("type_code") != WireType.STRING:
        return cell
    logged, given = stored(cell), _size(answer, value)
    zeros = given - len(logged)
    if zeros <= 0 or not (freely or given == len(value) // 2):
        return cell
    return {**cell, "raw": cell["raw"] + "00" * zeros, "value": {"bytes": logged.hex() + "00" * zeros}}


def _size(answer: Any, right: str) -> int:
    """How many bytes an answer is of, whether it is text, hex, or an object with hex in it."""
    text = next(iter(answer.values()), None) if isinstance(answer, dict) else answer
    if not isinstance(text, str):
        return 0
    in_hex = text.rstrip("0") == right.rstrip("0") and len(text) % 2 == 0
    return len(text) // 2 if in_hex or isinstance(answer, dict) else len(text.encode(errors="replace"))


def text_or_hex(data: bytes) -> Any:
    """Bytes as UTF-8, ``{hex}`` where they are not."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"hex": data.hex()}


def single_or_double(cell: ExpectedCell, value: str) -> float:
    """The number that the bytes are: a decoder may print a FLOAT with the digits of a double."""
    raw = bytes.fromhex(cell["raw"])
    number: float = struct.unpack("<f" if len(raw) == 4 else "<d", raw)[0]
    return number


def singles(cell: ExpectedCell, value: Any) -> list[float]:
    """The numbers of a VECTOR."""
    return [number for (number,) in struct.iter_unpack("<f", stored(cell))]


def same_number(expected: Any, answer: Any) -> bool:
    """A number, or text, of the same value."""
    try:
        given = float(answer)
    except (TypeError, ValueError, OverflowError):
        return False
    return math.isnan(given) if math.isnan(expected) else bool(expected == given)


def same_float(expected: Any, answer: Any) -> bool:
    """A FLOAT may be given with the shortest digits of a float, or of the double of the same value."""
    if same_number(expected, answer):
        return True
    try:
        return bool(struct.pack("<f", float(answer)) == struct.pack("<f", expected) and _is_single(expected))
    except (TypeError, ValueError, OverflowError, struct.error):
        return False


def same_in_six_digits(expected: Any, answer: Any) -> bool:
    """A DOUBLE that is no FLOAT has all its digits."""
    if isinstance(expected, list):
        return (
            isinstance(answer, list) and len(answer) == len(expected) and all(map(same_in_six_digits, expected, answer))
        )
    try:
        return same_number(expected, answer) or (_is_single(expected) and f"{expected:.6g}" == f"{float(answer):.6g}")
    except (TypeError, ValueError, OverflowError):
        return False


def _is_single(number: float) -> bool:
    try:
        return bool(struct.unpack("<f", struct.pack("<f", number))[0] == number)
    except OverflowError:
        return False


def same_decimal(expected: Any, answer: Any) -> bool:
    """Text or a number of the same value."""
    try:
        return Decimal(expected) == Decimal(str(answer))
    except InvalidOperation:
        return False


def same_document(expected: Any, answer: Any) -> bool:
    """The same JSON value, whatever its numbers look like: 1.0 is a double, which 1 may stand for."""
    if not isinstance(answer, str):
        return _same_inside(expected, answer)
    try:
        return answer == expected or _same_inside(expected, json.loads(answer))
    except (ValueError, RecursionError):
        return False


def _same_inside(expected: Any, given: Any) -> bool:
    if isinstance(expected, dict) and isinstance(given, dict):
        return expected.keys() == given.keys() and all(_same_inside(expected[key], given[key]) for key in expected)
    if isinstance(expected, list) and isinstance(given, list):
        return len(expected) == len(given) and all(map(_same_inside, expected, given))
    if isinstance(expected, float) and isinstance(given, int) and not isinstance(given, bool):
        return same_number(expected, given)  # All digits of a double's shortest text, with zeros behind them.
    return identical(expected, given)


def same_diffs(expected: Any, answer: Any) -> bool:
    """The same steps; their values are compared as documents."""
    if not isinstance(answer, list) or len(answer) != len(expected):
        return False
    for step, given in zip(expected, answer, strict=True):
        if not isinstance(given, dict) or given.keys() != step.keys():
            return False
        if any(given[name] != step[name] for name in step.keys() - {"value"}):
            return False
        if "value" in step and not same_document(json.loads(step["value"]), given["value"]):
            return False
    return True


def seconds(parts: Mapping[str, int]) -> int:
    """Seconds since 1970 of a DATE or DATETIME."""
    if not (parts["month"] and parts["day"] and parts["year"]):
        raise NotCompared
    clock = (parts.get("hour", 0), parts.get("minute", 0), parts.get("second", 0))
    return calendar.timegm((parts["year"], parts["month"], parts["day"], *clock))


def microseconds(parts: Mapping[str, int]) -> int:
    """Microseconds since 1970 of a DATE or DATETIME."""
    return seconds(parts) * 1_000_000 + parts.get("microsecond", 0)


def span(parts: Mapping[str, Any]) -> int:
    """Microseconds of a TIME."""
    whole = int(parts["hour"]) * 3600 + int(parts["minute"]) * 60 + int(parts["second"])
    length = whole * 1_000_000 + int(parts["microsecond"])
    return -length if parts["negative"] else length


def instant(parts: Mapping[str, int]) -> int:
    """Microseconds since 1970 of a TIMESTAMP."""
    return parts["seconds"] * 1_000_000 + parts["microseconds"]


def same_moment(expected: Any, answer: Any) -> bool:
    """The same digits; a decoder may not know how many digits the fraction of a column has."""

    def shortest(text: str) -> str:
        return text.rstrip("0").rstrip(".") if "." in text else text

    return isinstance(answer, str) and shortest(expected) == shortest(answer)


def members(value: Mapping[str, Any]) -> list[Any]:
    """The members of an ENUM or SET as UTF-8, ``{hex}`` where they are not."""
    if value["members"] is None:
        raise NotCompared
    return [text_or_hex(bytes.fromhex(member)) for member in value["members"]]


def member_text(cell: ExpectedCell, value: Mapping[str, Any]) -> Any:
    """The text of an ENUM or SET, whatever its character set is."""
    if value["members"] is None or "text" not in cell:
        raise NotCompared
    return cell["text"]


def member_texts(cell: ExpectedCell, value: Mapping[str, Any]) -> list[str]:
    """The texts of the members of a SET."""
    text: str = member_text(cell, value)
    return text.split(",") if value["members"] else []


def text_or_number(cell: ExpectedCell, value: Mapping[str, Any]) -> list[Any]:
    """The text of an ENUM or SET, its number, or the digits of that: a decoder may know the members or not."""
    text = [] if value["members"] is None or "text" not in cell else [cell["text"]]
    return [*text, int(value["number"]), value["number"]]


def same_members(expected: Any, answer: Any) -> bool:
    """The same members in any order."""

    def ordered(items: Any) -> list[str]:
        return sorted(json.dumps(item) for item in items)

    return isinstance(answer, list) and ordered(expected) == ordered(answer)
