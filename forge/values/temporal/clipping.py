"""Dates and times as a server without strict mode stores them (recorded on MySQL 9.7, MariaDB 10.11 and 11.8).

The functions take the codec of the column, whose ``accept`` reads what strict mode takes.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from forge.errors import ScenarioError, UnsupportedError
from forge.values.base import Codec, Column
from forge.values.clipping import leading_number
from forge.values.temporal.forms import moment_form, text_of, whole_number
from forge.values.temporal.text import (
    MAX_FSP,
    MAX_HOUR,
    ZERO,
    Moment,
    accept_moment,
    clock_days,
    has_clock,
)

_DATE = r"\d{4}-\d{1,2}-\d{1,2}"
_MOMENT = re.compile(
    rf"\s*(?P<moment>{_DATE}(?:[ T]+\d{{1,2}}(?::\d{{1,2}}(?::\d{{1,2}}(?:\.\d*)?)?)?)?)(?P<rest>.*)",
    re.ASCII | re.DOTALL,
)
_PERHAPS = re.compile(r"\s*(\d{6}|(?!\d{5})\d+[^\w\s]+\d{1,2}[^\w\s]+\d)", re.ASCII)
_CLOCK = re.compile(
    r"\s*(?P<clock>(?P<sign>-?)(?:(?P<days>\d{1,4})\s+)?(?P<hour>\d+):(?P<minute>\d{1,2})"
    r"(?::(?P<second>\d{1,2})(?P<fraction>\.\d*)?)?)",
    re.ASCII,
)
_DAYS = re.compile(r"\s*(?P<clock>-?\d{1,4}\s+(?P<hour>\d+)(?P<fraction>\.\d*)?)(?P<rest>.*)", re.ASCII | re.DOTALL)
_PACKED = re.compile(r"\s*(?P<number>-?\d{1,10})(?!\d)(?P<fraction>\.\d+)?", re.ASCII)
#: A number beyond is the largest time on MySQL, whatever its minutes.
_LARGEST_PACKED = 8385959
#: Of seven digits; MariaDB reads longer ones as moments.
_LONGEST_PACKED = 9_999_999
#: The first date of eight digits.
_LONG_DATE = 10000101
#: A longer number of hours is not read at all.
_HOUR_DIGITS = 10


def clip_moment(codec: Codec, column: Column, declared: Any) -> str | None:
    """The DATE, DATETIME or TIMESTAMP of a declared literal; None for a form whose clipping is not known."""
    name, fsp = _name(codec, column), _fsp(column)
    text = _moment_text(column, declared)
    if text is None:
        return None
    try:
        return str(codec.accept(column, text))
    except UnsupportedError:
        raise
    except ScenarioError:
        return _beyond(column, text, fsp, name) or (ZERO.date_text() if name == "DATE" else ZERO.text(fsp))


def _moment_text(column: Column, declared: Any) -> str | None:
    """The part of a literal that a server reads, "" if none of it is a date; None for forms that are not known here."""
    if isinstance(declared, (date, datetime)):
        return str(declared)
    written = text_of(declared)
    if written is None:
        return _number_text(column, declared)
    declared = written
    match = _MOMENT.match(declared)
    if match is None:
        form = moment_form(declared)
        if form is not None:
            return form
        # Three fields, or six digits, may be a date to a server that it is not here.
        return None if _PERHAPS.match(declared) else ""
    text = match["moment"]
    if ":" not in text and match["rest"].lstrip()[:1] in ("+", "-"):
        return None  # Any mark begins a time behind a date.
    if match["rest"][:1] in ("+", "-") and not column.dialect.drops_offsets:
        # A time zone that the codec has not taken.  A date with a zero, or at the end of the calendar, may be an error
        # then, and hh:mm+hh is a time.
        _, month, day = text.split(maxsplit=1)[0].split("T")[0].split("-")
        is_error = not int(month) or not int(day) or text.startswith("9999-12-31")
        return None if is_error or text.count(":") != 2 else ""
    return text


def _number_text(column: Column, declared: Any) -> str | None:
    if not isinstance(declared, (int, float, Decimal)):
        return None
    return moment_form(whole_number(declared), short=column.dialect.short_dates) or ""


def _beyond(column: Column, text: str, fsp: int, name: str) -> str | None:
    """MariaDB keeps the fraction of a TIMESTAMP that is out of range: what is left is a moment of the second 0."""
    if name != "TIMESTAMP" or not column.dialect.timestamp_of_second_zero:
        return None
    try:
        moment = accept_moment(name, text, fsp, column.dialect)
    except ScenarioError:
        return None
    if not (moment.month and moment.day and moment.micro):
        return None
    return f"1970-01-01 00:00:00.{moment.micro:06d}"[: 20 + fsp]


def clip_clock(codec: Codec, column: Column, declared: Any) -> str | None:
    """The TIME of a declared literal: 00:00:00 if it is none, the largest if it is beyond."""
    fsp = _fsp(column)
    if isinstance(declared, timedelta):
        return _largest(column, fsp, declared < timedelta(0))
    if isinstance(declared, int):
        if abs(declared) > _LARGEST_PACKED and column.dialect.large_numbers_are_times:
            return _largest(column, fsp, declared < 0)
        if abs(declared) > _LONGEST_PACKED and not _has_odd_minutes(abs(declared)):
            # A moment to MariaDB, whose impossible ones are zero, or the largest time.
            return None
        return _packed_clock(codec, column, declared, fsp)
    written = text_of(declared)
    if written is None:
        return _clock_of_number(codec, column, declared, fsp)
    declared = written
    moment = _MOMENT.match(declared)
    if moment is not None:
        declared = _clock_of(column, declared, moment)
    zero = _accepted(codec, column, "00:00:00")
    match = _CLOCK.match(declared) or _CLOCK.match(_days_and_hours(column, declared))
    if re.match(r"\s*-\s", declared):
        return None
    if match is None:
        packed = _PACKED.match(declared)
        if packed is None:
            return zero
        clipped = _packed_clock(codec, column, int(packed["number"]), fsp)
        if not packed["fraction"]:
            return clipped
        # "12.34 apples" are 12 seconds and a fraction; where that is beyond, nobody has looked.
        return _accepted(codec, column, packed[0]) if clipped == _accepted(codec, column, packed["number"]) else None
    if len(match["hour"]) > _HOUR_DIGITS or int(match["minute"]) > 59 or int(match["second"] or 0) > 59:
        return zero
    seconds = (int(match["hour"]) + 24 * int(match["days"] or 0)) * 3600
    seconds += int(match["minute"]) * 60 + int(match["second"] or 0)
    limit = (MAX_HOUR + 1) * 3600 - 1
    beyond = seconds > limit or (
        seconds == limit
        and not column.dialect.largest_time_has_fraction
        and bool((match["fraction"] or "").strip(".0"))
    )
    if beyond:
        return _largest(column, fsp, match["sign"] == "-")
    return _accepted(codec, column, " ".join(match["clock"].split()))


def _days_and_hours(column: Column, text: str) -> str:
    """Days and hours at the beginning of a text, with minutes; "" without them."""
    match = _DAYS.match(text)
    if match is None:
        return ""
    rest = match["rest"]
    if column.dialect.marked_clocks:
        # Behind a single digit MariaDB wants another number.
        rest = rest if re.match(r"\s+\d", rest) else ""
    if len(match["hour"]) == 1 and not match["fraction"] and not rest:
        return ""
    days, hour = match["clock"].partition(match["fraction"] or "\0")[0].split()
    return f"{days} {hour}:00:00{match['fraction'] or ''}"


def _clock_of(column: Column, text: str, moment: re.Match[str]) -> str:
    """The part of a text that begins with a date which a TIME is made of: the time of day, or the leading number."""
    read = moment["moment"]
    if column.dialect.marked_clocks and "T" in read:
        read = read.replace("T", " ")
    clock = read.partition(" ")[2].strip()
    if not clock or (moment["rest"][:1] in ("+", "-") and not column.dialect.drops_offsets):
        return re.split(r"\D", text.strip(), maxsplit=1)[0]
    hour, _, rest = clock.partition(":")
    year, month, day = map(int, read.partition(" ")[0].split("-"))
    # A second stands for the time: of the zero date it would be zero anyhow.
    date = Moment(year, month, day, second=1)
    if int(hour) > 23 or not has_clock(date, column.dialect):
        return "0"
    return f"{clock_days(date, column.dialect)}{hour}:{rest or '00'}"


def _has_odd_minutes(number: int) -> bool:
    """Whether a number of eight digits has minutes or seconds beyond 59."""
    return number < _LONG_DATE * 10 and (number // 100 % 100 > 59 or number % 100 > 59)


def _clock_of_number(codec: Codec, column: Column, declared: Any, fsp: int) -> str | None:
    """The TIME of a number with a fraction that ``accept`` refuses; None where it is not known."""
    exact = leading_number(declared) if isinstance(declared, (float, Decimal)) else None
    if exact is None or abs(exact) > _LARGEST_PACKED + 1:
        return None
    if abs(int(exact)) == _LARGEST_PACKED and not column.dialect.largest_time_has_fraction:
        return _packed_clock(codec, column, int(exact), fsp)
    # Minutes or seconds beyond 59, or the last microsecond of a second on MariaDB, make it none at all.
    return _accepted(codec, column, "00:00:00")


def _packed_clock(codec: Codec, column: Column, number: int, fsp: int) -> str:
    """A number is hhmmss."""
    rest, second = divmod(abs(number), 100)
    hour, minute = divmod(rest, 100)
    if minute > 59 or second > 59 or (column.dialect.long_hours_are_no_time and hour > 9999):
        return _accepted(codec, column, "00:00:00")
    if hour > MAX_HOUR:
        return _largest(column, fsp, number < 0)
    return _accepted(codec, column, f"{'-' if number < 0 else ''}{hour}:{minute}:{second}")


def _largest(column: Column, fsp: int, negative: bool) -> str:
    # MariaDB's largest TIME has a fraction.
    fraction = ("9" if column.dialect.largest_time_has_fraction else "0") * min(fsp, MAX_FSP)
    return f"{'-' if negative else ''}{MAX_HOUR}:59:59{'.' if fsp else ''}{fraction}"


def _accepted(codec: Codec, column: Column, text: str) -> str:
    return str(codec.accept(column, text))


def _name(codec: Codec, column: Column) -> str:
    return column.declared.name if column.declared is not None else codec.type_name(column)


def _fsp(column: Column) -> int:
    if column.declared is not None:
        return column.declared.fsp
    return column.metadata[0] if column.metadata else 0
