"""DATE_FORMAT, TIME_FORMAT, and the names and weeks of days."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

from forge.errors import UnsupportedError
from forge.sql.expressions.evaluation import FUNCTIONS, Function, number_of, text_of
from forge.sql.expressions.intervals import moment_of, seconds_text, time_of
from forge.sql.expressions.operands import Operand

_SUFFIXES = {1: "st", 2: "nd", 3: "rd"}


def week_of(moment: dt.datetime, mode: int) -> tuple[int, int]:
    """Year and week of WEEK's modes: bit 0 Monday first, bit 1 weeks from 1, bit 2 the first with the first weekday."""
    monday, of_year, full = bool(mode & 1), bool(mode & 2), bool(mode & 4) ^ bool(mode & 1 == 0)
    day = moment.date()

    def first(year: int) -> dt.date:
        begin = dt.date(year, 1, 1)
        weekday = begin.weekday() if monday else (begin.weekday() + 1) % 7
        if full:
            return begin + dt.timedelta(days=-weekday % 7)
        return begin - dt.timedelta(days=weekday) if weekday < 4 else begin + dt.timedelta(days=7 - weekday)

    year = day.year
    if day < first(year):
        if not of_year:
            return year, 0
        year -= 1
    elif of_year and year < 9999 and day >= first(year + 1):
        year += 1
    return year, (day - first(year)).days // 7 + 1


def _formatted(piece: str, moment: dt.datetime) -> str:
    hour12 = moment.hour % 12 or 12
    clock = f"{moment.minute:02d}:{moment.second:02d}"
    day_of_week = moment.isoweekday() % 7
    suffix = "th" if 11 <= moment.day <= 13 else _SUFFIXES.get(moment.day % 10, "th")
    known: dict[str, str] = {
        "Y": f"{moment.year:04d}", "y": f"{moment.year % 100:02d}", "m": f"{moment.month:02d}", "c": str(moment.month),
        "d": f"{moment.day:02d}", "e": str(moment.day), "D": f"{moment.day}{suffix}", "H": f"{moment.hour:02d}",
        "k": str(moment.hour), "h": f"{hour12:02d}", "I": f"{hour12:02d}", "l": str(hour12),
        "i": f"{moment.minute:02d}", "s": f"{moment.second:02d}", "S": f"{moment.second:02d}",
        "f": f"{moment.microsecond:06d}", "p": "AM" if moment.hour < 12 else "PM", "T": f"{moment.hour:02d}:{clock}",
        "r": f"{hour12:02d}:{clock} {'AM' if moment.hour < 12 else 'PM'}", "j": f"{moment.timetuple().tm_yday:03d}",
        "M": _MONTH_NAMES[moment.month - 1], "b": _MONTH_NAMES[moment.month - 1][:3], "W": _DAY_NAMES[day_of_week],
        "a": _DAY_NAMES[day_of_week][:3], "w": str(day_of_week), "U": f"{week_of(moment, 0)[1]:02d}",
        "u": f"{week_of(moment, 1)[1]:02d}", "V": f"{week_of(moment, 2)[1]:02d}", "v": f"{week_of(moment, 3)[1]:02d}",
        "X": f"{week_of(moment, 2)[0]:04d}", "x": f"{week_of(moment, 3)[0]:04d}",
    }  # fmt: skip
    return known.get(piece, piece)


_MONTH_NAMES = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAY_NAMES = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def date_format(value: Operand, form: Operand) -> str:
    """DATE_FORMAT."""
    moment, _ = moment_of(value)
    return re.sub("%(.)", lambda match: _formatted(match[1], moment), text_of(form), flags=re.DOTALL)


def _time_format(value: Operand, form: Operand) -> str:
    micro = time_of(value)
    if not 0 <= micro < 86400 * 10**6 or not re.fullmatch("(?:%[HkhIlisSfprT]|[^%])*", text_of(form)):
        raise UnsupportedError("TIME_FORMAT of this is not supported yet")
    return date_format(f"2000-01-01 {seconds_text(micro, 6)}", form)


def _week(value: Operand, mode: Operand = 0) -> int:
    return week_of(moment_of(value)[0], int(number_of(mode)) & 7)[1]


def _of_moment(compute: Callable[[dt.datetime], Operand]) -> Function:
    return Function(lambda value: compute(moment_of(value)[0]))


FUNCTIONS |= {
    "DATE_FORMAT": Function(date_format, 2, 2),
    "TIME_FORMAT": Function(_time_format, 2, 2),
    "WEEK": Function(_week, 1, 2),
    "WEEKOFYEAR": Function(lambda value: _week(value, 3)),
    "DAYNAME": _of_moment(lambda moment: _DAY_NAMES[moment.isoweekday() % 7]),
    "MONTHNAME": _of_moment(lambda moment: _MONTH_NAMES[moment.month - 1]),
}
