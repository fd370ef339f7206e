"""Functions of dates in expressions.  Moments are text as the server prints it: ``YYYY-MM-DD[ hh:mm:ss[.ffffff]]``."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

from forge.errors import ScenarioError, UnsupportedError
from forge.sql.expressions.evaluation import Operand, Row, Rule, evaluate, kind_of, text_of

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


def _of_date(compute: Callable[[str], Operand]) -> Rule:
    def rule(node: Any, row: Row) -> Operand:
        inner = node.this.this if type(node.this).__name__ in WRAPPERS else node.this
        value = evaluate(inner, row)
        return None if value is None else compute(value)

    return rule


#: What sqlglot puts around the argument of a function of dates.
WRAPPERS = ("TsOrDsToDate", "TsOrDsToTimestamp")


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


def _unix_timestamp(value: Operand) -> int | None:
    """Of a moment in UTC."""
    days = days_of(value)
    return 0 if days is None else days * 86400 + _seconds_of_day(value) - (days_of("1970-01-01") or 0) * 86400


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


def _extract(node: Any, row: Row) -> Operand:
    """EXTRACT(unit FROM moment): of several parts all digits."""
    value, unit = evaluate(node.expression, row), node.this.name.upper()
    if value is None:
        return None
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


def _argument(compute: Callable[[Any], Operand]) -> Rule:
    """A function of one moment that sqlglot does not know."""

    def rule(node: Any, row: Row) -> Operand:
        if len(node.expressions) != 1:
            raise UnsupportedError(f"{kind_of(node)} with {len(node.expressions)} arguments is not supported yet")
        value = evaluate(node.expressions[0], row)
        return None if value is None else compute(value)

    return rule


def _weekday(value: str) -> int | None:
    days = days_of(value)
    return None if days is None else (days + 5) % 7


def _day_of_year(value: str) -> int | None:
    days = days_of(value)
    return None if days is None else days - (days_of(f"{value[:4]}-01-01") or 0) + 1


def _to_date(node: Any, row: Row) -> Operand:
    """DATE(moment)."""
    value = evaluate(node.this, row)
    if value is None:
        return None
    parts_of(value)
    return value[:10]


def _datediff(node: Any, row: Row) -> Operand:
    """Days between two dates; sqlglot makes TO_DAYS of it."""
    sides = evaluate(node.this, row), evaluate(node.expression, row)
    days = [None if side is None else days_of(side) for side in sides]
    return None if days[0] is None or days[1] is None else days[0] - days[1]


#: Parts of STR_TO_DATE's formats: pattern of the digits, place in the moment.
_FORMATS = {
    "Y": (r"\d{4}", 0), "m": (r"\d{1,2}", 1), "c": (r"\d{1,2}", 1), "d": (r"\d{1,2}", 2), "e": (r"\d{1,2}", 2),
    "H": (r"\d{1,2}", 3), "i": (r"\d{1,2}", 4), "s": (r"\d{1,2}", 5), "S": (r"\d{1,2}", 5),
}  # fmt: skip


def _str_to_date(node: Any, row: Row) -> Operand:
    """STR_TO_DATE(text, 'format'): a date, or a moment where the format has a time."""
    value, form = evaluate(node.this, row), node.args["format"]
    if value is None:
        return None
    if kind_of(form) != "Literal":
        raise UnsupportedError("STR_TO_DATE with a computed format is not supported yet")
    pattern, places = "", []
    for piece in re.split(r"(%.)", form.this):
        if piece.startswith("%"):
            if piece[1] not in _FORMATS:
                raise UnsupportedError(f"STR_TO_DATE with {piece} is not supported yet")
            pattern += f"({_FORMATS[piece[1]][0]})"
            places.append(_FORMATS[piece[1]][1])
        else:
            pattern += re.escape(piece)
    match = re.fullmatch(pattern, text_of(value))
    if match is None or not {0, 1, 2} <= set(places):
        raise UnsupportedError(f"STR_TO_DATE of {value!r} by {form.this!r} is not supported yet")
    parts = [0] * 6
    for place, digits in zip(places, match.groups(), strict=True):
        parts[place] = int(digits)
    try:
        moment = dt.datetime(*parts)  # type: ignore[arg-type]
    except ValueError:
        raise ScenarioError(f"STR_TO_DATE of {value!r}: no moment of the calendar (error 1411)") from None
    return moment.isoformat(" ") if max(places) > 2 else moment.date().isoformat()


MOMENT_RULES: dict[str, Rule] = {
    "Year": _of_date(lambda value: parts_of(value)[0]),
    "Month": _of_date(lambda value: parts_of(value)[1]),
    "DayOfMonth": _of_date(lambda value: parts_of(value)[2]),
    "Day": _of_date(lambda value: parts_of(value)[2]),
    "Quarter": _of_date(lambda value: (parts_of(value)[1] + 2) // 3),
    "DayOfWeek": _of_date(lambda value: None if (day := _weekday(value)) is None else (day + 1) % 7 + 1),
    "DayOfYear": _of_date(_day_of_year),
    "Hour": _of_date(lambda value: _clock(value)[0]),
    "Minute": _of_date(lambda value: _clock(value)[1]),
    "Second": _of_date(lambda value: _clock(value)[2]),
    "MICROSECOND": _argument(lambda value: _clock(value)[3]),
    "TIME_TO_SEC": _argument(_seconds_of_day),
    "TO_SECONDS": _argument(_to_seconds),
    "UNIX_TIMESTAMP": _argument(_unix_timestamp),
    "YEARWEEK": _argument(_year_week),
    "Extract": _extract,
    "WEEKDAY": lambda node, row: None if (value := evaluate(node.expressions[0], row)) is None else _weekday(value),
    "DateDiff": _datediff,
    "TsOrDsToDate": _to_date,
    "StrToDate": _str_to_date,
}
