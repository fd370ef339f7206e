"""How testees spell values, so that a difference is never a matter of style.

A *kind* is that of a typed value (``integer``, ``float``, ``datetime``, ...).  For each kind a testee names a *form*
from the table below, a word and perhaps options behind it: ``"datetime": "microseconds zero=null"``.  What it does not
name is ``typed``: the object of the kit.  ``raw`` is the cell's bytes as hex, ``none`` is never compared.
"""

from __future__ import annotations

import calendar
import json
import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from forge.errors import ScenarioError, nearest

#: A cell as rows.jsonl has it.
ExpectedCell = Mapping[str, Any]


class _NotCompared(Exception):
    """The testee has no form for this cell.  It never leaves this module."""


@dataclass(frozen=True, slots=True)
class Form:
    """One spelling: ``of`` gives what a cell should look like, ``meaning`` says it to people.

    ``same`` tells whether an answer is that; otherwise they must be equal, of one JSON type.
    """

    meaning: str
    of: Callable[[ExpectedCell, Any], Any]
    same: Callable[[Any, Any], bool] | None = None
    options: tuple[str, ...] = ()


@dataclass(slots=True)
class Forms:
    """The forms that a testee declared.  Raises ScenarioError for one that there is not."""

    declared: Mapping[str, str]
    absent_is_null: bool = False
    _forms: dict[str, tuple[Form, frozenset[str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind, text in self.declared.items():
            word, *options = text.split()
            if kind == "absent":
                self.absent_is_null = word == "null"
                continue
            known = FORMS.get(kind)
            if known is None:
                expected = ", ".join([*FORMS, "absent"])
                raise ScenarioError(
                    f"the testee has a form for {kind!r}", expected=expected, suggestion=nearest(kind, FORMS)
                )
            form = {**_ANY, **known}.get(word)
            if form is None:
                raise ScenarioError(
                    f"the testee's form for {kind} is {word!r}", expected=", ".join([*_ANY, *known]),
                    suggestion=nearest(word, known),
                )  # fmt: skip
            for option in options:
                if option not in form.options:
                    raise ScenarioError(
                        f"the form {word!r} of {kind} has no option {option!r}",
                        expected=", ".join(form.options) or "none",
                    )
            self._forms[kind] = form, frozenset(options)

    def expected(self, cell: ExpectedCell) -> Any:
        """What the testee should show of a cell; NOT_COMPARED where it cannot."""
        value = cell.get("value")
        if value is None:
            return None
        kind = next(iter(value))
        if kind == "broken":
            return NOT_COMPARED  # Bytes without a value are shown by every reader in its own way.
        form, options = self._forms.get(kind, _TYPED)
        try:
            return _with_options(form, options, kind, cell, value[kind])
        except _NotCompared:
            return NOT_COMPARED

    def agree(self, cell: ExpectedCell, answer: Any) -> bool:
        """Whether the answer is the cell's value in the declared form."""
        expected = self.expected(cell)
        if expected is NOT_COMPARED:
            return True
        value = cell.get("value")
        if value is None:
            return answer is None
        form, options = self._forms.get(next(iter(value)), _TYPED)
        if "padded" in options and cell["type_code"] == _STRING:
            answer = _without_padding(answer, stored(cell).hex())
        same = form.same or _identical
        # A date without a month may be NULL to a testee, the document null is a value.
        return same(expected, answer) if expected is not None or form.same is _document else answer is None


NOT_COMPARED: Final = object()
#: The type code of CHAR and BINARY.
_STRING: Final = 254


def _with_options(form: Form, options: frozenset[str], kind: str, cell: ExpectedCell, value: Any) -> Any:
    if options and kind in ("date", "datetime", "timestamp"):
        zero = not value["seconds"] if kind == "timestamp" else not (value["year"] and value["month"] and value["day"])
        if zero and "zero=null" in options:
            return None
        if zero and "zero=none" in options:
            raise _NotCompared
    shown = form.of(cell, value)
    if "signed" not in options:
        return shown
    # The size of a BIT or SET is that of the 64 bits that decoders hold it in.
    size = 8 * (len(cell["raw"]) // 2) if kind == "integer" else 64
    number = int(shown) - (1 << size if int(shown) >= 1 << size - 1 else 0)
    return str(number) if isinstance(shown, str) else number


def _identical(expected: Any, answer: Any) -> bool:
    """Equality in which true is not 1; numbers are equal by value."""
    if isinstance(expected, bool) or isinstance(answer, bool):
        return expected is answer
    if isinstance(expected, dict) and isinstance(answer, dict):
        return expected.keys() == answer.keys() and all(_identical(expected[key], answer[key]) for key in expected)
    if isinstance(expected, list) and isinstance(answer, list):
        return len(expected) == len(answer) and all(map(_identical, expected, answer))
    return bool(expected == answer)


def stored(cell: ExpectedCell) -> bytes:
    """The bytes of a cell behind their length."""
    return bytes.fromhex(cell["raw"])[cell.get("prefix", 0) :]


def _float(expected: Any, answer: Any) -> bool:
    try:
        given = float(answer)
    except (TypeError, ValueError):
        return False
    return math.isnan(given) if math.isnan(expected) else expected == given


def _single_or_double(cell: ExpectedCell, value: str) -> float:
    """The number that the bytes are: a decoder may print a FLOAT with the digits of a double."""
    raw = bytes.fromhex(cell["raw"])
    number: float = struct.unpack("<f" if len(raw) == 4 else "<d", raw)[0]
    return number


def _same_float(expected: Any, answer: Any) -> bool:
    """A FLOAT may be given with the shortest digits of a float, or of the double of the same value."""
    if _float(expected, answer):
        return True
    try:
        return bool(struct.pack("<f", float(answer)) == struct.pack("<f", expected) and _is_single(expected))
    except (TypeError, ValueError, OverflowError, struct.error):
        return False


def _singles(cell: ExpectedCell, value: Any) -> list[float]:
    return [number for (number,) in struct.iter_unpack("<f", stored(cell))]


def _is_single(number: float) -> bool:
    try:
        return bool(struct.unpack("<f", struct.pack("<f", number))[0] == number)
    except OverflowError:
        return False


def _six_digits(expected: Any, answer: Any) -> bool:
    """A DOUBLE that is no FLOAT has all its digits."""
    if isinstance(expected, list):
        return isinstance(answer, list) and len(answer) == len(expected) and all(map(_six_digits, expected, answer))
    try:
        return _float(expected, answer) or (_is_single(expected) and f"{expected:.6g}" == f"{float(answer):.6g}")
    except (TypeError, ValueError):
        return False


def _decimal(expected: Any, answer: Any) -> bool:
    try:
        return Decimal(expected) == Decimal(str(answer))
    except InvalidOperation:
        return False


def _document(expected: Any, answer: Any) -> bool:
    """The same JSON value, whatever its numbers look like: 1.0 is a double, which 1 may stand for."""
    try:
        given = json.loads(answer) if isinstance(answer, str) else answer
    except ValueError:
        return False
    return _same_document(expected, given)


def _same_document(expected: Any, given: Any) -> bool:
    if isinstance(expected, dict) and isinstance(given, dict):
        return expected.keys() == given.keys() and all(_same_document(expected[key], given[key]) for key in expected)
    if isinstance(expected, list) and isinstance(given, list):
        return len(expected) == len(given) and all(map(_same_document, expected, given))
    if isinstance(expected, float) and isinstance(given, int) and not isinstance(given, bool):
        return _float(expected, given)  # All digits of a double's shortest text, with zeros behind them.
    return _identical(expected, given)


def _same_diffs(expected: Any, answer: Any) -> bool:
    """The same steps; their values are compared as documents."""
    if not isinstance(answer, list) or len(answer) != len(expected):
        return False
    for step, given in zip(expected, answer, strict=True):
        if not isinstance(given, dict) or given.keys() != step.keys():
            return False
        if any(given[name] != step[name] for name in step.keys() - {"value"}):
            return False
        if "value" in step and not _document(json.loads(step["value"]), given["value"]):
            return False
    return True


def _seconds(parts: Mapping[str, int]) -> int:
    if not (parts["month"] and parts["day"] and parts["year"]):
        raise _NotCompared
    clock = (parts.get("hour", 0), parts.get("minute", 0), parts.get("second", 0))
    return calendar.timegm((parts["year"], parts["month"], parts["day"], *clock))


def _microseconds(parts: Mapping[str, int]) -> int:
    return _seconds(parts) * 1_000_000 + parts.get("microsecond", 0)


def _span(parts: Mapping[str, Any]) -> int:
    seconds = int(parts["hour"]) * 3600 + int(parts["minute"]) * 60 + int(parts["second"])
    span = seconds * 1_000_000 + int(parts["microsecond"])
    return -span if parts["negative"] else span


def _instant(parts: Mapping[str, int]) -> int:
    return parts["seconds"] * 1_000_000 + parts["microseconds"]


def _plain(cell: ExpectedCell, value: Any) -> Any:
    return cell["text"]


def _same_moment(expected: Any, answer: Any) -> bool:
    """The same digits; a decoder may not know how many digits the fraction of a column has."""

    def shortest(text: str) -> str:
        return text.rstrip("0").rstrip(".") if "." in text else text

    return isinstance(answer, str) and shortest(expected) == shortest(answer)


def _moments(of: Callable[[Any], int], text: str) -> dict[str, Form]:
    zeros = ("zero=null", "zero=none")
    return {
        "text": Form(text, _plain, options=zeros),
        "value": Form("the same text, whatever zeros end its fraction", _plain, _same_moment, zeros),
        "microseconds": Form("microseconds since 1970-01-01", lambda cell, value: of(value), options=zeros),
        "milliseconds": Form("the same in milliseconds, cut", lambda cell, value: of(value) // 1000, options=zeros),
        "seconds": Form("the same in seconds, cut", lambda cell, value: of(value) // 1_000_000, options=zeros),
    }


def _text_or_hex(data: bytes) -> Any:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"hex": data.hex()}


def _text_and_bytes(cell: ExpectedCell, value: str) -> list[Any]:
    return [value, {"hex": stored(cell).hex()}]


def _one_of(expected: Any, answer: Any) -> bool:
    return any(_identical(item, answer) for item in expected)


def _without_padding(answer: Any, right: str) -> Any:
    """A BINARY without the zero bytes that fill it up to its length, which the log leaves out."""
    given = answer.get("hex") if isinstance(answer, dict) else None
    if isinstance(given, str) and given.startswith(right) and not given[len(right) :].strip("0"):
        return {"hex": right}
    return answer


def _same_members(expected: Any, answer: Any) -> bool:
    def ordered(items: Any) -> list[str]:
        return sorted(json.dumps(item) for item in items)

    return isinstance(answer, list) and ordered(expected) == ordered(answer)


def _members(value: Mapping[str, Any]) -> list[Any]:
    if value["members"] is None:
        raise _NotCompared
    return [_text_or_hex(bytes.fromhex(member)) for member in value["members"]]


def _one_member(cell: ExpectedCell, value: Mapping[str, Any]) -> Any:
    return next(iter(_members(value)), "")


def _member_text(cell: ExpectedCell, value: Mapping[str, Any]) -> Any:
    if value["members"] is None:
        raise _NotCompared
    return cell["text"]


def _member_texts(cell: ExpectedCell, value: Mapping[str, Any]) -> list[str]:
    text = _member_text(cell, value)
    return text.split(",") if value["members"] else []


_TYPED: Final = (Form("the object of the kit", lambda cell, value: cell["value"]), frozenset[str]())
_ANY: Final = {
    "typed": _TYPED[0],
    "raw": Form("the cell's bytes as hex, with their length", lambda cell, value: cell["raw"]),
    "none": Form("not compared", lambda cell, value: _not_compared()),
}


def _not_compared() -> Any:
    raise _NotCompared


_STORED = Form("the bytes as hex, without their length", lambda cell, value: stored(cell).hex())
_UTF8 = Form("the stored bytes as UTF-8, {hex} where they are not", lambda cell, value: _text_or_hex(stored(cell)))
_TEXT_OR_HEX: Final = "text, or {hex} of the stored bytes"
_NUMBER = Form("a JSON number", lambda cell, value: int(value), options=("signed",))

#: The forms of each kind; ``typed``, ``raw`` and ``none`` are forms of every kind.
FORMS: Final[Mapping[str, Mapping[str, Form]]] = {
    "integer": {
        "number": _NUMBER,
        "text": Form("the number as text", lambda cell, value: value, options=("signed",)),
    },
    "decimal": {
        "text": Form("all digits of its scale", lambda cell, value: value),
        "value": Form("text or a number of the same value", lambda cell, value: value, _decimal),
        "double": Form("the nearest double", lambda cell, value: float(value), _float),
    },
    "float": {
        "value": Form("a number, or text, of the same value", _single_or_double, _same_float),
        "six-digits": Form("six digits of a FLOAT, a DOUBLE of the same value", _single_or_double, _six_digits),
    },
    "bits": {
        "text": Form("a 0 or 1 for every bit", lambda cell, value: value),
        "number": Form("a JSON number", lambda cell, value: int(value, 2), options=("signed",)),
        "digits": Form("the number as text", lambda cell, value: str(int(value, 2))),
        "hex": Form("the bytes as hex, highest first", lambda cell, value: cell["raw"]),
    },
    "year": {
        "number": Form("a JSON number", lambda cell, value: int(value)),
        "text": Form("four digits", lambda cell, value: value.rjust(4, "0")),
    },
    "date": _moments(_microseconds, "YYYY-MM-DD")
    | {
        "days": Form(
            "days since 1970-01-01", lambda cell, value: _seconds(value) // 86400, options=("zero=null", "zero=none")
        )
    },
    "datetime": _moments(_microseconds, "YYYY-MM-DD hh:mm:ss with the column's fraction"),
    "timestamp": _moments(_instant, "YYYY-MM-DD hh:mm:ss with the column's fraction, in UTC"),
    "time": {
        "text": Form("[-]hh:mm:ss with the column's fraction", _plain),
        "value": Form("the same text, whatever zeros end its fraction", _plain, _same_moment),
        "microseconds": Form("a signed JSON number", lambda cell, value: _span(value)),
        "milliseconds": Form("the same in milliseconds, cut", lambda cell, value: int(_span(value) / 1000)),
        "seconds": Form("the same in seconds, cut", lambda cell, value: int(_span(value) / 1_000_000)),
    },
    "enum": {
        "number": Form("the member's number, from 1", lambda cell, value: int(value["number"])),
        "member": Form("the member: text, or {hex} where it is not UTF-8", _one_member),
        "text": Form("the member's text, whatever its character set is", _member_text),
    },
    "set": {
        "number": Form("the bits as a number", lambda cell, value: int(value["number"]), options=("signed",)),
        "members": Form("a list of members", lambda cell, value: _members(value)),
        "texts": Form("a list of the members' texts in any order", _member_texts, _same_members),
        "hex": Form("the bytes as hex, lowest first", lambda cell, value: cell["raw"]),
        "text": Form("members with commas between them", lambda cell, value: ",".join(map(str, _members(value)))),
    },
    "text": {
        "text": Form("the text", lambda cell, value: value),
        "hex": _STORED,
        "utf8": _UTF8,
        "text-or-hex": Form(_TEXT_OR_HEX, _text_and_bytes, _one_of),
    },
    "bytes": {
        "hex": _STORED,
        "utf8": _UTF8,
        "text-or-hex": Form(
            _TEXT_OR_HEX, lambda cell, value: [_text_or_hex(stored(cell)), {"hex": stored(cell).hex()}], _one_of,
            options=("padded",),
        ),
    },
    "json": {
        "value": Form("the document, as JSON or as text of JSON", lambda cell, value: value, _document),
        "text": Form("exactly the server's text", lambda cell, value: cell["text"]),
        "hex": _STORED,
    },
    "geometry": {
        "hex": _STORED,
        "wkb": Form("WKB as hex, without the SRID", lambda cell, value: value["wkb"]),
    },
    "vector": {
        "numbers": Form("a list of numbers", lambda cell, value: [float(item) for item in value]),
        "six-digits": Form("a list of numbers with six digits", _singles, _six_digits),
        "hex": _STORED,
    },
    "diffs": {"value": Form("a list of {operation, path, value}", lambda cell, value: value, _same_diffs)},
}  # fmt: skip
