"""Other forms in which servers read dates and times: numbers, digits without separators, years of two digits.

They become the usual text.  Recorded on MySQL 9.7, MariaDB 10.11 and 11.8, as far as strict mode takes them.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

from forge.errors import ScenarioError
from forge.values.literals import hex_mapping, number

_MARK = r"[!-/:-@\[-`{-~]"
#: Any mark separates fields, any white space (or T) the date from the time.
_SEPARATED = re.compile(
    rf"\s*(?P<year>\d{{1,4}}){_MARK}(?P<month>\d{{1,2}}){_MARK}(?P<day>\d{{1,2}})"
    rf"(?:(?:\s+|T)(?P<clock>\d{{1,2}}(?:{_MARK}\d{{1,2}}(?:{_MARK}\d{{1,2}})?)?)(?P<fraction>\.\d*)?)?\s*",
    re.ASCII,
)
_DIGITS = re.compile(
    r"\s*(?P<date>\d{8}|\d{6})(?P<mark>T(?=\d{6}(?:\.\d*)?\Z))?(?P<time>\d{6}(?P<fraction>\.\d*)?)?\s*", re.ASCII
)
_PACKED_CLOCK = re.compile(r"\s*(?P<sign>-?)(?P<digits>\d{1,7})(?P<fraction>\.\d*)?\s*", re.ASCII)
#: A time behind days is read if it has two characters.
_DAYS = re.compile(
    r"\s*(?P<days>-?\d{1,4})\s+(?P<clock>\d{1,10}(?::\d{1,2}){0,2})(?P<fraction>\.\d*)?(?P<space>\s*)", re.ASCII
)
_READ_BEHIND_DAYS = 2
_MOMENT_IN_CLOCK = re.compile(r"\s*\d{4}-\d{1,2}-\d{1,2} +\d.*", re.ASCII | re.DOTALL)
#: The smallest number that is a date with a time, and the ends of the ranges with years of two digits.
_SMALLEST_MOMENT = 10_000_000_000
_CENTURIES = ((101, 691231, 20), (700101, 991231, 19))
_FIRST_SHORT, _FIRST_LONG, _LARGEST_DATE = 991232, 10_000_000, 99991231
_CLOCK_UNIT = 1_000_000
_DATE_DIGITS = 8


def moment_form(declared: Any, *, short: bool = False) -> str | None:
    """``YYYY-MM-DD[ hh:mm:ss[.ffffff]]`` of a declared date of another form; None for what is none.

    ``short``: a number of seven digits is a date of a year before 1000.
    """
    text = text_of(declared)
    if text is None:
        return _of_number(declared, short=short)
    match = _DIGITS.fullmatch(text)
    if match is not None:
        date, clock = match["date"], match["time"] or ""
        if len(match["date"]) == 6 and set(date + clock) - set("0."):
            date = _century(date[:2]) + date
        return _joined(date.zfill(8), clock[:6], match["fraction"] or "")
    match = _SEPARATED.fullmatch(text)
    if match is None:
        return None
    year = match["year"]
    fields = re.split(_MARK, match["clock"] or "")
    if len(year) == 2 and (set(match["month"] + match["day"] + year) | set("".join(fields))) - {"0"}:
        year = _century(year) + year
    moment = f"{year.zfill(4)}-{match['month'].zfill(2)}-{match['day'].zfill(2)}"
    if not match["clock"]:
        return moment
    if match["fraction"] and len(fields) < 3:
        return None
    return f"{moment} {':'.join(fields)}{match['fraction'] or ''}"


def clock_form(declared: Any, *, marked: bool, no_last_microsecond: bool) -> str | None:
    """``[-]hh:mm:ss[.ffffff]`` of a declared time of another form, or the date with a time that it is in.

    None for what is neither.  ``marked``: a plus sign may stand before it, and a T between the date and it.
    ``no_last_microsecond``: a number of the last microsecond of a second is none.
    """
    text = text_of(declared)
    if text is None:
        try:
            exact = number("TIME", declared)
        except ScenarioError:
            return None
        if abs(exact) >= _SMALLEST_MOMENT:
            return _of_number(declared, short=False)
        if no_last_microsecond and int(abs(exact) % 1 * _CLOCK_UNIT) == _CLOCK_UNIT - 1:
            return None
        text = f"{exact:f}"
    if text == "" and not marked:
        return "00:00:00"
    if marked and text[:1] == "+" and text[1:2].isdigit():
        text = text[1:]
        if ":" in text and not text.isspace():
            return text
    if text[:1] == "." and not marked:
        text = f"0{text}"
    match = _PACKED_CLOCK.fullmatch(text)
    if match is not None:
        digits = match["digits"].zfill(6)
        return f"{match['sign']}{digits[:-4]}:{digits[-4:-2]}:{digits[-2:]}{match['fraction'] or ''}"
    match = _DAYS.fullmatch(text)
    if match is not None:
        fraction = match["fraction"] or ""
        read = match["clock"] + fraction + ("" if marked else match["space"])
        fields = [*match["clock"].split(":"), "00", "00"]
        return f"{match['days']} {':'.join(fields[:3])}{fraction}" if len(read) >= _READ_BEHIND_DAYS else None
    if len(text.strip().partition(".")[0].replace("T", "")) in (12, 14) and _DIGITS.fullmatch(text):
        return moment_form(text)
    return text if _MOMENT_IN_CLOCK.fullmatch(text) or (marked and "T" in text) else None


def text_of(declared: Any) -> str | None:
    """Text, also that of bytes; None for other things.  Raises ScenarioError for another mapping than of hex."""
    data = declared if isinstance(declared, (bytes, bytearray)) else hex_mapping(declared)
    return declared if isinstance(declared, str) else None if data is None else bytes(data).decode("latin-1")


def _of_number(declared: Any, *, short: bool) -> str | None:
    """YYYYMMDD[hhmmss[.ffffff]] with two or four digits of the year, or three where a time or ``short`` allows it."""
    try:
        exact = number("DATETIME", declared)
    except ScenarioError:
        return None
    if not 0 <= exact < _CLOCK_UNIT * 10**8:
        return None
    whole, fraction = int(exact), exact % 1
    clock: int
    if not whole:
        return None if fraction else "0000-00-00"
    date, clock = divmod(whole, _CLOCK_UNIT) if whole > _LARGEST_DATE else (whole, -1)
    for first, last, century in _CENTURIES:
        if first <= date <= last:
            date += century * _CLOCK_UNIT
            break
    else:
        if not (_FIRST_SHORT if short or clock >= 0 else _FIRST_LONG) <= date <= _LARGEST_DATE:
            return None
    if clock < 0:
        return None if fraction else _joined(str(date).zfill(8), "", "")
    return _joined(str(date).zfill(8), f"{clock:06d}", f"{fraction:f}"[1:] if fraction else "")


def whole_number(declared: Any) -> Any:
    """A declared number without its fraction, which counts for nothing behind a date; other things as they are."""
    if isinstance(declared, Decimal):
        return int(declared) if declared.is_finite() and declared.adjusted() < _DATE_DIGITS else declared
    if isinstance(declared, float):
        return int(declared) if math.isfinite(declared) and abs(declared) < _LARGEST_DATE else declared
    return declared


def _century(year: str) -> str:
    return "20" if year < "70" else "19"


def _joined(date: str, clock: str, fraction: str) -> str:
    moment = f"{date[:4]}-{date[4:6]}-{date[6:]}"
    return f"{moment} {clock[:2]}:{clock[2:4]}:{clock[4:]}{fraction}" if clock else moment
