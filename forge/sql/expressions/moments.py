"""Functions of dates in expressions.  Moments are text as the server prints it: ``YYYY-MM-DD[ hh:mm:ss[.ffffff]]``."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

from forge.errors import ScenarioError, UnsupportedError
from forge.sql.expressions.evaluation import (
    FUNCTIONS,
    Function,
    text_of,
)
from forge.sql.expressions.operands import (
    Moment,
    Operand,
)

_MOMENT = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(\.\d{1,6})?)?")
#: '0000-01-01' is day 1 for TO_DAYS; Python's calendar begins a year later.
DAYS_OF_YEAR_0 = 365


def parts_of(value: Operand) -> tuple[int, int, int]:
    """Year, month and day of a moment, zeroes included.  Raises UnsupportedError for other operands."""
    match = _MOMENT.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise UnsupportedError(f"the expression makes a date of {value!r}, which is not supported yet")
    return int(match[1]), int(match[2]), int(match[3])


def days_of(value: Operand) -> int | None:
    """TO_DAYS of a moment; None for a zero or partial date."""
    year, month, day = parts_of(value)
    if not (month and day):
        return None
    if not year:
        # The server's year 0 has no leap day (recorded).
        return dt.date(1, month, day).timetuple().tm_yday
    return dt.date(year, month, day).toordinal() + DAYS_OF_YEAR_0


_CLOCK = re.compile(r"(?:\d{4}-\d\d-\d\d ?)?(-?)(?:(\d{1,3}):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?")


def _clock(value: Operand) -> tuple[int, int, int, int]:
    """Hours, minutes, seconds and microseconds of a moment or a TIME.  Raises UnsupportedError for other operands."""
    match = _CLOCK.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[1]:
        raise UnsupportedError(f"the expression makes a time of {value!r}, which is not supported yet")
    return int(match[2] or 0), int(match[3] or 0), int(match[4] or 0), int((match[5] or "").ljust(6, "0"))


def _seconds_of_day(value: Operand) -> int:
    hours, minutes, seconds, _ = _clock(value)
    return hours * 3600 + minutes * 60 + seconds


def _to_seconds(value: Operand) -> int | None:
    days = days_of(value)
    return None if days is None else days * 86400 + _seconds_of_day(value)


def _year_week(value: Operand) -> int | None:
    """Weeks begin with Sunday; the first of a year is that of its first Sunday (mode 0)."""
    if days_of(value) is None:
        return None
    year, month, number = parts_of(value)
    if year < 2:
        raise UnsupportedError(f"YEARWEEK of {value!r} is not supported yet")
    day = dt.date(year, month, number)
    sunday = day - dt.timedelta(days=day.isoweekday() % 7)
    return sunday.year * 100 + (sunday.timetuple().tm_yday - 1) // 7 + 1


#: Parts of EXTRACT's units: each is one of these, or a first and a last one.
_UNITS: dict[str, Callable[[Operand], int]] = {
    "YEAR": lambda value: parts_of(value)[0],
    "MONTH": lambda value: parts_of(value)[1],
    "DAY": lambda value: parts_of(value)[2],
    "HOUR": lambda value: _clock(value)[0],
    "MINUTE": lambda value: _clock(value)[1],
    "SECOND": lambda value: _clock(value)[2],
}


def _extract(unit: str, value: Operand) -> int:
    """EXTRACT(unit FROM moment): of several parts all digits."""
    if unit == "QUARTER":
        return (parts_of(value)[1] + 2) // 3
    if unit == "MICROSECOND":
        return _clock(value)[3]
    first, _, last = unit.partition("_")
    if first not in _UNITS or (last and last not in _UNITS):
        raise UnsupportedError(f"EXTRACT({unit} FROM ...) is not supported yet")
    names = list(_UNITS)
    number = 0
    for name in names[names.index(first) : names.index(last or first) + 1]:
        number = number * 100 + _UNITS[name](value)
    return number


def _weekday(value: str) -> int | None:
    days = days_of(value)
    return None if days is None else (days + 5) % 7


def _day_of_year(value: str) -> int | None:
    days = days_of(value)
    return None if days is None else days - (days_of(f"{value[:4]}-01-01") or 0) + 1


def _to_date(value: Operand) -> Moment:
    """DATE(moment)."""
    parts_of(value)
    return Moment(value[:10])


def _datediff(left: Operand, right: Operand) -> int | None:
    """Days between two dates."""
    first, second = days_of(left), days_of(right)
    return None if first is None or second is None else first - second


#: Parts of STR_TO_DATE's formats: pattern of the digits, place in the moment.
_FORMATS = {
    "Y": (r"\d{4}", 0), "m": (r"\d{1,2}", 1), "c": (r"\d{1,2}", 1), "d": (r"\d{1,2}", 2), "e": (r"\d{1,2}", 2),
    "H": (r"\d{1,2}", 3), "i": (r"\d{1,2}", 4), "s": (r"\d{1,2}", 5), "S": (r"\d{1,2}", 5),
}  # fmt: skip


def _str_to_date(value: Operand, form: Operand) -> Moment:
    """STR_TO_DATE(text, 'format'): a date, or a moment where the format has a time."""
    pattern, places = "", []
    for piece in re.split(r"(%.)", text_of(form)):
        if piece.startswith("%"):
            if piece[1] not in _FORMATS:
                raise UnsupportedError(f"STR_TO_DATE with {piece} is not supported yet")
            pattern += f"({_FORMATS[piece[1]][0]})"
            places.append(_FORMATS[piece[1]][1])
        else:
            pattern += re.escape(piece)
    match = re.fullmatch(pattern, text_of(value))
    if match is None or not {0, 1, 2} <= set(places):
        raise UnsupportedError(f"STR_TO_DATE of {value!r} by {form!r} is not supported yet")
    parts = [0] * 6
    for place, digits in zip(places, match.groups(), strict=True):
        parts[place] = int(digits)
    try:
        moment = dt.datetime(*parts)  # type: ignore[arg-type]
    except ValueError:
        raise ScenarioError(f"STR_TO_DATE of {value!r}: no moment of the calendar (error 1411)") from None
    return Moment(moment.isoformat(" ") if max(places) > 2 else moment.date().isoformat())


#: Functions of one moment.
_OF_MOMENTS: dict[str, Callable[[str], Operand]] = {
    "YEAR": _UNITS["YEAR"],
    "MONTH": _UNITS["MONTH"],
    "DAY": _UNITS["DAY"],
    "DAYOFMONTH": _UNITS["DAY"],
    "HOUR": _UNITS["HOUR"],
    "MINUTE": _UNITS["MINUTE"],
    "SECOND": _UNITS["SECOND"],
    "QUARTER": lambda value: _extract("QUARTER", value),
    "MICROSECOND": lambda value: _extract("MICROSECOND", value),
    "DATE": _to_date,
    "DAYOFWEEK": lambda value: None if (day := _weekday(value)) is None else (day + 1) % 7 + 1,
    "DAYOFYEAR": _day_of_year,
    "WEEKDAY": _weekday,
    "YEARWEEK": _year_week,
    "TIME_TO_SEC": _seconds_of_day,
    "TO_DAYS": days_of,
    "TO_SECONDS": _to_seconds,
}
FUNCTIONS |= {
    **{name: Function(compute) for name, compute in _OF_MOMENTS.items()},
    "DATEDIFF": Function(_datediff, 2, 2),
    "EXTRACT": Function(_extract, 2, 2),
    "STR_TO_DATE": Function(_str_to_date, 2, 2),
}
