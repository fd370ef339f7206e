"""Texts that are dates and times to some server, of which it is not known what each reads: they are refused by name."""

from __future__ import annotations

import re
from typing import Any

from forge.errors import UnsupportedError
from forge.values.literals import shown
from forge.values.temporal.forms import text_of

_DAY = r"\d{4}-\d{1,2}-\d{1,2}"
_CLOCK = r"\d{1,2}(?::\d{1,2}(?::\d{1,2}(?:\.\d*)?)?)?"
#: Words behind a date or time, which servers drop.  T and Z are none, nor are marks: those may be read.
_WORDS = r"(?:\s*|\s*[^\W\d_TtZz].*)"
_FULL = r"\d{4}-\d\d-\d\d \d\d:\d\d"
#: Digits with a T between date and time.
_PACKED = r"\d{6}(?:\d\d)?T\d{6}(?:\.\d*)?"
_OFFSET = r"(?:Z| ?[+-]\d+:\d\d)"
_PLAIN_MOMENT = re.compile(
    rf"\s*{_DAY}(?:[ T]{_CLOCK})?{_WORDS}|{_FULL}(?::\d\d(?:\.\d*)?)?{_OFFSET}|\d{{5,}}-\d\d-\d\d"
    rf"|{_PACKED}|\s*(?:\d{{6}}|\d{{8}}|\d{{12}}|\d{{14}}(?:\.\d+)?|\d{{1,3}})",
    re.ASCII | re.DOTALL,
)
_PLAIN_TIME = re.compile(
    r"\s*-?(?:(?:\d{1,4} +)?\d+:\d{1,2}:\d{1,2}(?:\.\d*)?|\d+:\d{1,2}|\d{1,7}(?:\.\d{1,6})?"
    r"|\d{1,4} \d{1,2}(?:\.\d*| \d+)?)"
    rf"{_WORDS}|{_FULL}:\d\d(?:\.\d*)?|{_PACKED}",
    re.ASCII | re.DOTALL,
)
#: More hours than 32 bits hold: strict mode of MySQL takes them for none at all (recorded on 9.7).
_MANY_HOURS = re.compile(r"\s*-?\d{10,}:\d{1,2}.*", re.ASCII | re.DOTALL)


def is_odd_in_strict_mode(type_name: str, declared: Any) -> bool:
    """As :func:`is_odd`; a time of ten digits of hours is odd, too."""
    is_time = type_name.partition("(")[0] == "TIME"
    text = text_of(declared) if is_time else None
    return is_odd(type_name, declared) or (text is not None and _MANY_HOURS.match(text) is not None)


def is_odd(type_name: str, declared: Any) -> bool:
    """Whether a declared text begins with digits, and is none of the forms whose reading is known."""
    text = text_of(declared)
    if text is None or not re.match(r"\W*\d", text, re.ASCII):
        return False
    plain = _PLAIN_TIME if type_name.startswith("TIME") and not type_name.startswith("TIMESTAMP") else _PLAIN_MOMENT
    return plain.fullmatch(text) is None


def odd_form(type_name: str, declared: Any) -> UnsupportedError:
    """What is raised for one."""
    return UnsupportedError(
        f"what a {type_name} column reads of {shown(declared)} is not known",
        expected="'hh:mm:ss'" if type_name.partition("(")[0] == "TIME" else "'YYYY-MM-DD hh:mm:ss'",
    )
