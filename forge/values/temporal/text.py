"""Dates and times as exact text: parsed, rounded to a column's fsp as servers round, and written.

Fields may be zero where servers allow it (0000-00-00, 2024-00-00), which is why these are not ``datetime`` types.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, timezone
from typing import Any, NamedTuple

from forge.errors import ScenarioError, UnsupportedError
from forge.servers.facts.values import Dialect
from forge.values.literals import refuse, shown
from forge.values.temporal.forms import clock_form, moment_form, text_of, whole_number

MAX_FSP = 6
MAX_YEAR = 9999
#: The largest hour of a TIME that servers accept.
MAX_HOUR = 838

_DATE = r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
_SECOND = r":(?P<second>\d{1,2})(?:\.(?P<fraction>\d*))?"
_MINUTE = r":(?P<minute>\d{1,2})"
_ZONE = r"(?P<zone>[+-]\d\d:\d\d)?"
_MOMENT = re.compile(rf"{_DATE}(?:[ T]+(?P<hour>\d{{1,2}})(?:{_MINUTE}(?:{_SECOND}{_ZONE})?)?)?", re.ASCII)
_CLOCK = re.compile(rf"(?P<sign>-?)(?:(?P<days>\d{{1,4}}) )?(?P<hour>\d{{1,10}}){_MINUTE}(?:{_SECOND})?", re.ASCII)
#: UTC offsets that MySQL 9.7 takes, in minutes; it refuses -00:00 (recorded).
_ZONES = range(-14 * 60, 14 * 60 + 1)
_EPOCH = datetime(1970, 1, 1)
#: MySQL's seconds since 1970 in 32 bits begin here: earlier moments with an offset become others.
_FIRST_SECOND = _EPOCH - timedelta(seconds=1 << 31)
_LAST_DAY, _LAST_SECOND = (MAX_YEAR, 12, 31), (23, 59, 59)
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Moment(NamedTuple):
    """A date with a time; any of year, month and day may be 0."""

    year: int = 0
    month: int = 0
    day: int = 0
    hour: int = 0
    minute: int = 0
    second: int = 0
    micro: int = 0

    def is_representable(self) -> bool:
        """Whether servers could hold it with every sql_mode that allows invalid dates."""
        date_ok = self.year <= MAX_YEAR and self.month <= 12 and self.day <= 31
        return date_ok and self.hour < 24 and self.minute < 60 and self.second < 60 and self.micro < 1_000_000

    def is_accepted(self) -> bool:
        """Whether it is a date of the calendar, or one with a zero month or day."""
        return self.is_representable() and (not self.month or self.day <= days_of(self.year, self.month))

    def date_text(self) -> str:
        return f"{self.year:04d}-{self.month:02d}-{self.day:02d}"

    def text(self, fsp: int) -> str:
        """``YYYY-MM-DD hh:mm:ss`` with ``fsp`` fraction digits; further digits are cut."""
        clock = f"{self.hour:02d}:{self.minute:02d}:{self.second:02d}"
        return f"{self.date_text()} {clock}{fraction_text(self.micro, fsp)}"


class Clock(NamedTuple):
    """A signed time of more than a day, perhaps."""

    negative: bool
    hour: int
    minute: int
    second: int
    micro: int

    def text(self, fsp: int) -> str:
        """``[-]hh:mm:ss`` with ``fsp`` fraction digits; further digits are cut."""
        sign = "-" if self.negative and any(self[1:]) else ""
        return f"{sign}{self.hour:02d}:{self.minute:02d}:{self.second:02d}{fraction_text(self.micro, fsp)}"


ZERO = Moment()


def moment_of(text: str) -> Moment:
    """The moment of exact text, as :meth:`Moment.text` and :meth:`Moment.date_text` make it."""
    day, _, clock = text.partition(" ")
    return Moment(*map(int, day.split("-")), *_clock_fields(clock) if clock else ())


def clock_of(text: str) -> Clock:
    """The time of exact text, as :meth:`Clock.text` makes it."""
    return Clock(text.startswith("-"), *_clock_fields(text.removeprefix("-")))


def _clock_fields(text: str) -> tuple[int, int, int, int]:
    """Hour, minute, second and microsecond."""
    whole, _, fraction = text.partition(".")
    hour, minute, second = map(int, whole.split(":"))
    return hour, minute, second, int(fraction.ljust(MAX_FSP, "0"))


def days_of(year: int, month: int) -> int:
    """Days of a month as servers count them: the year 0 is not a leap year."""
    leap = year % 4 == 0 and (year % 100 != 0 or (year % 400 == 0 and year != 0))
    return 29 if month == 2 and leap else _MONTH_DAYS[month - 1]


def fraction_size(fsp: int) -> int:
    return (fsp + 1) // 2


def fraction_unit(fsp: int) -> int:
    """Microseconds that one unit of the stored fraction stands for."""
    return int(10 ** (MAX_FSP - 2 * fraction_size(fsp)))


def fraction_text(micro: int, fsp: int) -> str:
    return f".{micro:06d}"[: fsp + 1] if fsp else ""


def _rounds(type_name: str, dialect: Dialect | None) -> bool:
    """Whether a time is rounded to the column's digits, or cut."""
    if dialect is None:
        return True
    return dialect.rounds_fractions and (dialect.rounds_dates or type_name != "DATE")


def _to_fsp(digits: str, fsp: int, *, rounds: bool) -> tuple[int, int]:
    """(microseconds, seconds to carry) of fraction digits rounded half up to ``fsp``, or cut by MariaDB.

    In two steps, as MySQL rounds: the seventh digit to microseconds, these to fsp, so .4999995 becomes a second
    (recorded on 9.7).
    """
    padded = digits.ljust(MAX_FSP + 1, "0")
    if not rounds:
        return int(padded[:fsp].ljust(MAX_FSP, "0")), 0
    micro = int(padded[:MAX_FSP]) + (padded[MAX_FSP] >= "5")
    unit = 10 ** (MAX_FSP - fsp)
    carry, kept = divmod((micro + unit // 2) // unit * unit, 1_000_000)
    return kept, carry


def _rounds_up(digits: str) -> bool:
    """Whether fraction digits are a second when they are rounded to microseconds."""
    return digits[:MAX_FSP] == "9" * MAX_FSP and digits[MAX_FSP : MAX_FSP + 1] >= "5"


def _carried(moment: Moment) -> Moment:
    """One second later.  A zero month or day does not roll over: the result is then not representable."""
    year, month, day, hour, minute, second, micro = moment
    second += 1
    minute, second = minute + second // 60, second % 60
    hour, minute = hour + minute // 60, minute % 60
    if hour == 24 and month and day:
        hour, day = 0, day + 1
        if day > days_of(year, month):
            day, month = 1, month + 1
        if month > 12:
            month, year = 1, year + 1
    return Moment(year, month, day, hour, minute, second, micro)


def parse_moment(type_name: str, text: str, fsp: int, dialect: Dialect | None = None) -> Moment:
    """The moment of a text, rounded or cut to ``fsp``; one with a UTC offset is moved to the session's time zone.

    Raises ScenarioError.
    """
    match = _MOMENT.fullmatch(text.strip())
    if match is None:
        raise refuse(type_name, text, "cannot hold this text", "YYYY-MM-DD or YYYY-MM-DD hh:mm:ss[.ffffff]")
    year, month, day, hour, minute, second = (int(match[name] or 0) for name in Moment._fields[:6])
    micro, carry = _to_fsp(match["fraction"] or "", fsp, rounds=_rounds(type_name, dialect))
    moment = Moment(year, month, day, hour, minute, second, micro)
    if match["zone"] and dialect is not None and not dialect.takes_offsets:
        raise refuse(type_name, text, "takes no UTC offset on MariaDB")
    if (carry or match["zone"]) and dialect is not None and _is_rounded_oddly(moment, dialect):
        raise UnsupportedError(
            f"what a {type_name} column makes of {shown(text)}, rounded or moved to UTC, is not known",
            expected="a day of the calendar, without an offset and without more digits than the column has",
        )
    if match["zone"] and moment.is_accepted():
        own = 0 if dialect is None else dialect.utc_offset
        there = _without_offset(type_name, moment, match["zone"], own, is_rounded=_rounds_up(match["fraction"] or ""))
        # A fraction that is rounded to a second takes the offset with it (recorded on 9.7).
        moment = moment if carry else there
    return _carried(moment) if carry and moment.is_accepted() else moment


def _offset(zone: str) -> int | None:
    """The minutes of an offset; None for one that no server takes."""
    minutes = (int(zone[1:3]) * 60 + int(zone[4:6])) * (-1 if zone[0] == "-" else 1)
    return None if minutes not in _ZONES or int(zone[4:6]) > 59 or zone == "-00:00" else minutes


def _is_rounded_oddly(moment: Moment, dialect: Dialect) -> bool:
    """Whether a server makes something else of a moment that is rounded, or moved to UTC, than it does of others.

    MySQL's days beyond the end of a month become those of the next; MariaDB, if it rounds, does not go beyond its last
    moment, and does not count the days of dates with a zero (docs/servers/values.md).
    """
    if dialect.takes_invalid_dates and moment.is_representable() and not moment.is_accepted():
        return True
    is_last = moment[3:6] == _LAST_SECOND
    has_no_day = not (moment.year and moment.month and moment.day)
    return not dialect.rounds_dates and is_last and (has_no_day or moment[:3] == _LAST_DAY)


def _without_offset(type_name: str, moment: Moment, zone: str, own: int, *, is_rounded: bool) -> Moment:
    """The moment in a time zone that is ``own`` minutes ahead of UTC."""
    text = moment.text(0) + zone
    problem = refuse(type_name, text, "cannot hold this moment", "one since 1970, -14:00 to +14:00")
    minutes = _offset(zone)
    if minutes is None:
        raise problem
    if not (moment.month and moment.day) or moment[:3] == _LAST_DAY:
        raise problem
    # The server converts by way of a TIMESTAMP.
    there = datetime(*moment) - timedelta(minutes=minutes) if moment.year > 1 else None
    is_before = there is None or there < _EPOCH + timedelta(seconds=1)
    if there is None or there < _FIRST_SECOND or (is_before and is_rounded):
        expected = "one since 1970, or one without an offset"
        raise UnsupportedError(f"what a {type_name} column makes of {shown(text)} is not known", expected=expected)
    if is_before:
        raise problem
    try:
        return _of_datetime(there + timedelta(minutes=own))
    except OverflowError:
        raise problem from None


def _of_datetime(value: datetime, own: int = 0) -> Moment:
    """Its parts; of one with a time zone those in a zone that is ``own`` minutes ahead of UTC."""
    if value.tzinfo is not None:
        try:
            value = value.astimezone(timezone(timedelta(minutes=own)))
        except OverflowError:
            raise refuse("DATETIME", value, "cannot hold this moment in the session's time zone") from None
    return Moment(value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond)


def has_usual_form(declared: Any) -> bool:
    """Whether a declared date or time is written as the canonical decode writes it, if with fewer digits."""
    if not isinstance(declared, str):
        return isinstance(declared, (date, time, timedelta))
    return bool(_MOMENT.fullmatch(declared.strip()) or _CLOCK.fullmatch(declared.strip()))


def accept_moment(type_name: str, declared: Any, fsp: int, dialect: Dialect) -> Moment:
    """A declared date or datetime, rounded or cut to ``fsp``; zero months and days only as text.

    Raises ScenarioError.
    """
    if isinstance(declared, datetime):
        text = _of_datetime(declared, dialect.utc_offset).text(MAX_FSP)
    elif isinstance(declared, date):
        text = declared.isoformat()
    else:
        given = whole_number(declared) if dialect.cuts_number_dates else declared
        form = moment_form(given, short=dialect.short_dates)
        written = text_of(declared)
        if written is not None and _MOMENT.fullmatch(written.strip()):
            form = written
        if form is None:
            raise refuse(type_name, declared, "cannot hold this value", "a date such as '2024-02-29 10:00:00'")
        text = form
    moment = parse_moment(type_name, text, fsp, dialect)
    takes_any = dialect.takes_invalid_dates and not type_name.startswith("TIMESTAMP")
    if not (moment.is_representable() if takes_any else moment.is_accepted()):
        raise refuse(type_name, declared, "cannot hold this date")
    return moment


def parse_clock(type_name: str, text: str, fsp: int, dialect: Dialect | None = None) -> Clock:
    """The time of ``[-][days ]h:mm[:ss[.ffffff]]``, rounded or cut to ``fsp``.  Raises ScenarioError."""
    match = _CLOCK.fullmatch(text.strip())
    if match is None:
        raise refuse(type_name, text, "cannot hold this text", "[-]hh:mm:ss[.ffffff]")
    hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    if minute > 59 or second > 59:
        raise refuse(type_name, text, "cannot hold this time")
    digits = match["fraction"] or ""
    if dialect is not None and dialect.rounds_fractions and len(digits) > MAX_FSP:
        # MySQL looks at the last digit, however many there are (recorded on 9.7).
        digits = digits[:MAX_FSP] + digits[-1]
    micro, carry = _to_fsp(digits, fsp, rounds=_rounds(type_name, dialect))
    total = (hour + 24 * int(match["days"] or 0)) * 3600 + minute * 60 + second + carry
    # What is zero before it is rounded has no sign on MySQL, as far as microseconds tell (recorded on 9.7).
    counted = digits if dialect is not None and not dialect.rounds_dates else digits[:MAX_FSP]
    negative = match["sign"] == "-" and bool(hour or minute or second or match["days"] or counted.strip("0"))
    return Clock(negative, total // 3600, total // 60 % 60, total % 60, micro)


def accept_clock(type_name: str, declared: Any, fsp: int, dialect: Dialect) -> Clock:
    """A declared time, rounded or cut to ``fsp``: timedelta, time, or text.  Raises ScenarioError.

    Up to 838:59:59.999999, which MariaDB stores; MySQL's largest TIME is 838:59:59 without a fraction.
    """
    if isinstance(declared, timedelta):
        micros = declared // timedelta(microseconds=1)
        seconds, micro = divmod(abs(micros), 1_000_000)
        sign = "-" if micros < 0 else ""
        text = f"{sign}{min(seconds // 3600, MAX_YEAR)}:{seconds // 60 % 60}:{seconds % 60}.{micro:06d}"
    elif isinstance(declared, time) and declared.tzinfo is None:
        text = declared.isoformat()
    else:
        written = text_of(declared)
        usual = written is not None and _CLOCK.fullmatch(written.strip())
        text = written if usual and written is not None else _clock_text(type_name, declared, dialect)
    clock = parse_clock(type_name, text, fsp, dialect)
    if clock.hour > MAX_HOUR:
        raise refuse(type_name, declared, "cannot hold this time", "-838:59:59 to 838:59:59")
    return clock


def _clock_text(type_name: str, declared: Any, dialect: Dialect) -> str:
    """A declared time of another form, which may be in a date, as the usual text.  Raises ScenarioError."""
    form = clock_form(declared, marked=dialect.marked_clocks, no_last_microsecond=dialect.last_microsecond_is_none)
    if form is None:
        raise refuse(type_name, declared, "cannot hold this value", "a time such as '-12:34:56.5'")
    if _CLOCK.fullmatch(form):
        return form
    match = _MOMENT.fullmatch(form.strip())
    if (
        match is not None
        and match["zone"]
        and (match["fraction"] or not Moment(*map(int, match.group("year", "month", "day"))).is_accepted())
    ):
        expected = "one without an offset"
        raise UnsupportedError(f"what a {type_name} column makes of {shown(declared)} is not known", expected=expected)
    # MySQL rounds the time, without its date, at the seventh digit.
    is_apart = dialect.rounds_dates and match is not None and match["fraction"] and not match["zone"]
    read, _, digits = form.strip().partition(".") if is_apart else (form, "", "")
    moment = parse_moment(type_name, read, MAX_FSP, dialect)
    if not has_clock(moment, dialect, is_number=text_of(declared) is None):
        raise refuse(type_name, declared, "cannot hold the time of this date")
    clock = clock_days(moment, dialect) + moment.text(MAX_FSP).partition(" ")[2]
    return f"{clock.partition('.')[0]}.{digits[: MAX_FSP + 1]}" if is_apart else clock


def has_clock(moment: Moment, dialect: Dialect, *, is_number: bool = False) -> bool:
    """Whether the date is one whose time a TIME takes: MariaDB looks for the day in the calendar only in a text."""
    if not (dialect.times_of_invalid_dates or is_number):
        if moment == ZERO:
            return dialect.takes_zero_dates
        if not (moment.month and moment.day) and not dialect.takes_zero_parts:
            return False
    takes_any = dialect.times_of_invalid_dates or dialect.takes_invalid_dates or is_number
    return moment.is_representable() if takes_any else moment.is_accepted()


def clock_days(moment: Moment, dialect: Dialect) -> str:
    """The days that MariaDB counts for a TIME, and a space: where a date has only a day."""
    return "" if dialect.times_of_invalid_dates or moment.year or moment.month or not moment.day else f"{moment.day} "


def exact(type_name: str, text: Any, fsp: int, parsed: Moment | Clock) -> None:
    """Raise ScenarioError if ``text`` has a fraction finer than ``fsp``, or is not text."""
    fraction = str(text).partition(".")[2]
    if not isinstance(text, str) or fraction[fsp:].strip("0"):
        raise ScenarioError(f"{type_name} has {fsp} fraction digits, not those of {text!r} ({parsed.text(MAX_FSP)})")
