"""How testees spell values, so that a difference is never a matter of style.

A *kind* is that of a typed value (``integer``, ``float``, ``datetime``, ...).  For each kind a testee names a *form*
from the table below, a word and perhaps options behind it: ``"datetime": "microseconds zero=null"``.  What it does not
name is ``typed``: the object of the kit.  ``raw`` is the cell's bytes as hex, ``opaque`` those behind their length,
handed out undecoded; ``none`` is never compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from forge.conform.spellings import (
    ExpectedCell,
    NotCompared,
    identical,
    instant,
    member_text,
    member_texts,
    members,
    microseconds,
    one_of,
    padded,
    same_decimal,
    same_diffs,
    same_document,
    same_float,
    same_in_six_digits,
    same_members,
    same_moment,
    same_number,
    seconds,
    single_or_double,
    singles,
    span,
    text_or_hex,
    text_or_number,
)
from forge.decode.expected import stored
from forge.errors import ScenarioError, nearest
from forge.values.wire_types import WireType


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
    #: Kinds that it hands out undecoded.
    opaque: frozenset[str] = frozenset()
    _forms: dict[str, tuple[Form, frozenset[str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind, text in self.declared.items():
            word, *options = text.split() or [""]
            if kind == "absent":
                self.absent_is_null = word == "null"
                continue
            known = FORMS.get(kind)
            if known is None:
                expected = ", ".join([*FORMS, "absent"])
                raise ScenarioError(
                    f"the testee has a form for {kind!r}", expected=expected, suggestion=nearest(kind, FORMS)
                )
            form = {**ANY, **known}.get(word)
            if form is None:
                raise ScenarioError(
                    f"the testee's form for {kind} is {word!r}", expected=", ".join([*ANY, *known]),
                    suggestion=nearest(word, known),
                )  # fmt: skip
            for option in options:
                if option not in form.options:
                    raise ScenarioError(
                        f"the form {word!r} of {kind} has no option {option!r}",
                        expected=", ".join(form.options) or "none",
                    )
            self._forms[kind] = form, frozenset(options)
        self.opaque = frozenset(kind for kind, (form, _) in self._forms.items() if form is _OPAQUE)

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
        except NotCompared:
            return NOT_COMPARED

    def agree(self, cell: ExpectedCell, answer: Any) -> bool:
        """Whether the answer is the cell's value in the declared form."""
        value = cell.get("value")
        if value is None:
            return answer is None
        form, options = self._forms.get(next(iter(value)), _TYPED)
        if form not in ANY.values():
            cell = padded(cell, answer, freely="padded" in options)
        expected = self.expected(cell)
        if expected is NOT_COMPARED:
            return True
        same = form.same or identical
        # A date without a month may be NULL to a testee, the document null is a value.
        return same(expected, answer) if expected is not None or form.same is same_document else answer is None

    def fitting(self, cell: ExpectedCell, answer: Any) -> list[tuple[str, str]]:
        """The kind of a cell with each form in which the answer would be its value, and with an empty one."""
        value = cell.get("value")
        if value is None or (kind := next(iter(value))) not in FORMS:
            return []
        return [(kind, ""), *((kind, word) for word, forms in _each_form(kind) if forms.agree(cell, answer))]

    def leaves_open(self, cell: ExpectedCell) -> bool:
        """Whether it is not asked if the bytes of the cell are a value, as it hands out such values undecoded."""
        return any(cell.get("type_code") in TYPE_CODES.get(kind, ()) for kind in self.opaque)


NOT_COMPARED: Final = object()


@cache
def _each_form(kind: str) -> list[tuple[str, Forms]]:
    words = [(word, form.options) for word, form in FORMS[kind].items()]
    spelled = [spelling for word, options in words for spelling in (word, *(f"{word} {option}" for option in options))]
    return [(spelling, Forms({kind: spelling})) for spelling in spelled]


def _with_options(form: Form, options: frozenset[str], kind: str, cell: ExpectedCell, value: Any) -> Any:
    if options and kind in ("date", "datetime", "timestamp"):
        zero = not value["seconds"] if kind == "timestamp" else not (value["year"] and value["month"] and value["day"])
        if zero and "zero=null" in options:
            return None
        if zero and "zero=none" in options:
            raise NotCompared
    shown = form.of(cell, value)
    if "signed" in options:
        # The size of a BIT or SET is that of the 64 bits that decoders hold it in.
        size = 8 * (len(cell["raw"]) // 2) if kind == "integer" else 64
        number = int(shown) - (1 << size if int(shown) >= 1 << size - 1 else 0)
        shown = str(number) if isinstance(shown, str) else number
    return str(shown) if "digits" in options else shown


def _not_compared(cell: ExpectedCell, value: Any) -> Any:
    raise NotCompared


def _text(cell: ExpectedCell, value: Any) -> Any:
    return cell["text"]


_OPAQUE: Final = Form("the bytes as hex, without their length, undecoded", lambda cell, value: stored(cell).hex())
_TYPED: Final = (Form("the object of the kit", lambda cell, value: cell["value"]), frozenset[str]())
#: Forms of every kind.
ANY: Final = {
    "typed": _TYPED[0],
    "raw": Form("the cell's bytes as hex, with their length", lambda cell, value: cell["raw"]),
    "opaque": _OPAQUE,
    "none": Form("not compared", _not_compared),
}

_STORED: Final = Form("the bytes as hex, without their length", lambda cell, value: stored(cell).hex())
_UTF8: Final = Form(
    "the stored bytes as UTF-8, {hex} where they are not", lambda cell, value: text_or_hex(stored(cell))
)
_TEXT_OR_HEX: Final = "text, or {hex} of the stored bytes"
_NUMBER: Final = Form("a JSON number", lambda cell, value: int(value), options=("signed",))


def _moments(of: Callable[[Any], int], text: str) -> dict[str, Form]:
    zeros = ("zero=null", "zero=none")
    numbers = (*zeros, "digits")
    return {
        "text": Form(text, _text, options=zeros),
        "value": Form("the same text, whatever zeros end its fraction", _text, same_moment, zeros),
        "microseconds": Form("microseconds since 1970-01-01", lambda cell, value: of(value), options=numbers),
        "milliseconds": Form("the same in milliseconds, cut", lambda cell, value: of(value) // 1000, options=numbers),
        "seconds": Form("the same in seconds, cut", lambda cell, value: of(value) // 1_000_000, options=numbers),
    }


_PADDED: Final = ("padded",)

#: The forms of each kind; ``typed``, ``raw``, ``opaque`` and ``none`` are forms of every kind.
FORMS: Final[Mapping[str, Mapping[str, Form]]] = {
    "integer": {
        "number": _NUMBER,
        "text": Form("the number as text", lambda cell, value: value, options=("signed",)),
    },
    "decimal": {
        "text": Form("all digits of its scale", lambda cell, value: value),
        "value": Form("text or a number of the same value", lambda cell, value: value, same_decimal),
        "double": Form("the nearest double", lambda cell, value: float(value), same_number),
    },
    "float": {
        "value": Form("a number, or text, of the same value", single_or_double, same_float),
        "six-digits": Form("six digits of a FLOAT, a DOUBLE of the same value", single_or_double, same_in_six_digits),
    },
    "bits": {
        "text": Form("a 0 or 1 for every bit", lambda cell, value: value),
        "number": Form("a JSON number", lambda cell, value: int(value, 2), options=("signed",)),
        "digits": Form("the number as text", lambda cell, value: str(int(value, 2)), options=("signed",)),
        "hex": Form("the bytes as hex, highest first", lambda cell, value: cell["raw"]),
    },
    "year": {
        "number": Form("a JSON number", lambda cell, value: int(value)),
        "text": Form("four digits", lambda cell, value: value.rjust(4, "0")),
        "digits": Form("the number as text", lambda cell, value: str(int(value))),
    },
    "date": _moments(microseconds, "YYYY-MM-DD")
    | {
        "days": Form(
            "days since 1970-01-01", lambda cell, value: seconds(value) // 86400,
            options=("zero=null", "zero=none", "digits"),
        )
    },
    "datetime": _moments(microseconds, "YYYY-MM-DD hh:mm:ss with the column's fraction"),
    "timestamp": _moments(instant, "YYYY-MM-DD hh:mm:ss with the column's fraction, in UTC"),
    "time": {
        "text": Form("[-]hh:mm:ss with the column's fraction", _text),
        "value": Form("the same text, whatever zeros end its fraction", _text, same_moment),
        "microseconds": Form("a signed JSON number", lambda cell, value: span(value), options=("digits",)),
        "milliseconds": Form(
            "the same in milliseconds, cut", lambda cell, value: int(span(value) / 1000), options=("digits",)
        ),
        "seconds": Form(
            "the same in seconds, cut", lambda cell, value: int(span(value) / 1_000_000), options=("digits",)
        ),
    },
    "enum": {
        "number": Form("the member's number, from 1", lambda cell, value: int(value["number"])),
        "digits": Form("the number as text", lambda cell, value: value["number"]),
        "member": Form(
            "the member: text, or {hex} where it is not UTF-8", lambda cell, value: next(iter(members(value)), "")
        ),
        "text": Form("the member's text, whatever its character set is", member_text),
        "text-or-number": Form("the member's text, or its number", text_or_number, one_of),
    },
    "set": {
        "number": Form("the bits as a number", lambda cell, value: int(value["number"]), options=("signed",)),
        "digits": Form("the number as text", lambda cell, value: value["number"], options=("signed",)),
        "members": Form("a list of members", lambda cell, value: members(value)),
        "texts": Form("a list of the members' texts in any order", member_texts, same_members),
        "hex": Form("the bytes as hex, lowest first", lambda cell, value: cell["raw"]),
        "text": Form("texts of members with commas between them", member_text),
        "text-or-number": Form("texts of members with commas between them, or the number", text_or_number, one_of),
    },
    "text": {
        "text": Form("the text", lambda cell, value: value),
        "hex": _STORED,
        "utf8": _UTF8,
        "text-or-hex": Form(_TEXT_OR_HEX, lambda cell, value: [value, {"hex": stored(cell).hex()}], one_of),
    },
    "bytes": {
        "hex": Form(_STORED.meaning, _STORED.of, options=_PADDED),
        "utf8": Form(_UTF8.meaning, _UTF8.of, options=_PADDED),
        "text-or-hex": Form(
            _TEXT_OR_HEX, lambda cell, value: [text_or_hex(stored(cell)), {"hex": stored(cell).hex()}], one_of,
            options=_PADDED,
        ),
    },
    "json": {
        "value": Form("the document, as JSON or as text of JSON", lambda cell, value: value, same_document),
        "text": Form("exactly the server's text", _text),
        "hex": _STORED,
    },
    "geometry": {
        "hex": _STORED,
        "wkb": Form("WKB as hex, without the SRID", lambda cell, value: value["wkb"]),
    },
    "vector": {
        "numbers": Form("a list of numbers", lambda cell, value: [float(item) for item in value]),
        "six-digits": Form("a list of numbers with six digits", singles, same_in_six_digits),
        "hex": _STORED,
    },
    "diffs": {"value": Form("a list of {operation, path, value}", lambda cell, value: value, same_diffs)},
}  # fmt: skip

#: Types of columns whose values are of a kind and may be broken.
TYPE_CODES: Final[Mapping[str, tuple[int, ...]]] = {
    "decimal": (WireType.DECIMAL, WireType.NEWDECIMAL),
    "year": (WireType.YEAR,),
    "date": (WireType.DATE, WireType.NEWDATE),
    "datetime": (WireType.DATETIME, WireType.DATETIME2),
    "timestamp": (WireType.TIMESTAMP, WireType.TIMESTAMP2),
    "time": (WireType.TIME, WireType.TIME2),
    "bits": (WireType.BIT,),
    "json": (WireType.JSON,),
    "diffs": (WireType.JSON,),
    "geometry": (WireType.GEOMETRY,),
    "vector": (WireType.VECTOR,),
}
