"""Moments that are computed: intervals, DATE_FORMAT, the clock, differences."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal

from forge.errors import UnsupportedError
from forge.sql.ast.expressions import Node
from forge.sql.expressions.evaluation import (
    FUNCTIONS,
    Function,
    Row,
    evaluate,
    number_of,
    surroundings,
    text_of,
)
from forge.sql.expressions.moments import days_of
from forge.sql.expressions.operands import (
    Interval,
    Moment,
    Operand,
)
from forge.values.literals import rounded

_MOMENT = re.compile(r"\s*(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6}))?)?)?\s*")
_TIME = re.compile(r"\s*(-?)(?:(\d{1,2}) )?(\d{1,3}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6}))?)?\s*")
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_MICROSECONDS = {
    "MICROSECOND": 1, "SECOND": 10**6, "MINUTE": 60 * 10**6, "HOUR": 3600 * 10**6, "DAY": 86400 * 10**6,
    "WEEK": 7 * 86400 * 10**6,
}  # fmt: skip
#: Units of several parts: that of the last, and how many.
_PARTS = {
    "DAY_HOUR": ("DAY", "HOUR"), "DAY_MINUTE": ("DAY", "HOUR", "MINUTE"),
    "DAY_SECOND": ("DAY", "HOUR", "MINUTE", "SECOND"), "HOUR_MINUTE": ("HOUR", "MINUTE"),
    "HOUR_SECOND": ("HOUR", "MINUTE", "SECOND"), "MINUTE_SECOND": ("MINUTE", "SECOND"),
}  # fmt: skip
_LONGEST_TIME = 838 * 3600 + 59 * 60 + 59


def moment_of(value: Operand) -> tuple[dt.datetime, bool]:
    """A moment of the calendar, and whether it has a time.  Raises UnsupportedError for other operands."""
    match = _MOMENT.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise UnsupportedError(f"the expression makes a date of {value!r}, which is not supported yet")
    year, month, day, hour, minute, second, fraction = match.groups(default="0")
    micro = int(fraction.ljust(6, "0")) if match[7] else 0
    try:
        return dt.datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), micro), bool(match[4])
    except ValueError:
        raise UnsupportedError(f"{value!r} is no moment of the calendar: not supported yet in expressions") from None


def _digits(value: Operand) -> int:
    return len(value.partition(".")[2]) if isinstance(value, str) else 0


def _shown(moment: dt.datetime, *, has_time: bool, digits: int) -> str:
    if not has_time:
        return f"{moment:%Y}".rjust(4, "0") + f"{moment:-%m-%d}"
    text = moment.replace(microsecond=0).isoformat(" ")
    return f"{text}.{moment.microsecond:06d}"[: 20 + digits] if digits else text


def seconds_text(micro: int, digits: int) -> str:
    """A TIME of so many microseconds."""
    sign, size = ("-" if micro < 0 else ""), abs(micro)
    whole, rest = divmod(size, 10**6)
    if whole > _LONGEST_TIME:
        raise UnsupportedError("a TIME beyond 838:59:59 in expressions is not supported yet")
    text = f"{sign}{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    return f"{text}.{rest:06d}"[: len(text) + 1 + digits] if digits else text


def time_of(value: Operand) -> int:
    """The microseconds of a TIME, or of a moment's time of day.  Raises UnsupportedError for other operands."""
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        moment, _ = moment_of(value)
        return (moment.hour * 3600 + moment.minute * 60 + moment.second) * 10**6 + moment.microsecond
    match = _TIME.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise UnsupportedError(f"the expression makes a time of {value!r}, which is not supported yet")
    sign, days, hours, minutes, seconds, fraction = match.groups(default="0")
    whole = int(days) * 86400 + int(hours) * 3600 + int(minutes) * 60 + int(seconds)
    micro = whole * 10**6 + (int(fraction.ljust(6, "0")) if match[6] else 0)
    return -micro if sign == "-" else micro


def _amount(interval: Interval) -> tuple[int, int, bool]:
    """Months and microseconds of an interval, and whether it has parts of a day."""
    unit, value = interval.unit, interval.amount
    if unit in _PARTS:
        numbers = [int(number) for number in re.findall(r"\d+", text_of(value))]
        names = _PARTS[unit]
        if len(numbers) > len(names):
            raise UnsupportedError(f"INTERVAL {text_of(value)!r} {unit} is not supported yet")
        micro = sum(
            number * _MICROSECONDS[name] for number, name in zip(reversed(numbers), reversed(names), strict=False)
        )
        return 0, -micro if text_of(value).lstrip().startswith("-") else micro, True
    if unit == "YEAR_MONTH":
        years, months = [*map(int, re.findall(r"\d+", text_of(value))), 0][:2]
        months += years * 12
        return (-months if text_of(value).lstrip().startswith("-") else months), 0, False
    number = number_of(value)
    if unit in _MONTHS:
        return int(rounded(Decimal(number), 0)) * _MONTHS[unit], 0, False
    if unit not in _MICROSECONDS:
        raise UnsupportedError(f"INTERVAL {unit} is not supported yet")
    if unit == "SECOND":
        return 0, int(rounded(Decimal(number) * 10**6, 0)), True
    return 0, int(rounded(Decimal(number), 0)) * _MICROSECONDS[unit], unit not in ("DAY", "WEEK")


def moved(value: Operand, interval: Operand, sign: int = 1) -> Operand:
    """A moment so much later: of a Moment another, of a text a text."""
    if value is None or interval is None:
        return None
    if not isinstance(interval, Interval):
        interval = Interval(interval, "DAY")
    months, micro, of_day = _amount(interval)
    is_fine = interval.unit == "MICROSECOND" or micro % 10**6 != 0
    if isinstance(value, Moment) and _TIME.fullmatch(value):
        if months or not of_day:
            raise UnsupportedError("a TIME and an interval of days are not supported yet")
        return Moment(seconds_text(time_of(value) + sign * micro, 6 if is_fine else _digits(value)))
    moment, has_time = moment_of(value)
    if interval.unit == "SECOND" and micro % 10**6 and type(value) is str:
        raise UnsupportedError("a text and an interval of parts of a second are not supported yet")
    try:
        if months:
            place = moment.year * 12 + moment.month - 1 + sign * months
            year, month = divmod(place, 12)
            last = (dt.date(year + month // 11, (month + 1) % 12 + 1, 1) - dt.timedelta(days=1)).day
            moment = moment.replace(year=year, month=month + 1, day=min(moment.day, last))
        moment += dt.timedelta(microseconds=sign * micro)
    except (ValueError, OverflowError):
        raise UnsupportedError("a moment beyond the calendar in expressions is not supported yet") from None
    digits = 6 if is_fine or (type(value) is str and moment.microsecond) else _digits(value)
    text = _shown(moment, has_time=has_time or of_day, digits=digits)
    return Moment(text) if isinstance(value, Moment) else text


def _later(value: Operand, interval: Operand) -> Operand:
    return moved(value, interval)


def _earlier(value: Operand, interval: Operand) -> Operand:
    return moved(value, interval, -1)


def _difference(unit: Operand, first: Operand, second: Operand) -> int:
    """TIMESTAMPDIFF: whole units between two moments."""
    (start, _), (end, _) = moment_of(first), moment_of(second)
    sign = 1
    if end < start:
        start, end, sign = end, start, -1
    if unit in _MONTHS:
        months = (end.year - start.year) * 12 + end.month - start.month
        behind = (end.day, end.time()) < (start.day, start.time())
        return sign * ((months - behind) // _MONTHS[str(unit)])
    if unit not in _MICROSECONDS:
        raise UnsupportedError(f"TIMESTAMPDIFF({unit}, ...) is not supported yet")
    return sign * ((end - start) // dt.timedelta(microseconds=_MICROSECONDS[str(unit)]))


def _timestamp_add(unit: Operand, amount: Operand, value: Operand) -> Operand:
    return moved(value, Interval(amount, str(unit)))


def _now_parts(row: Row) -> str:
    moment: str = row["@@now"](6)
    return moment


def _current_date(row: Row) -> Moment:
    return Moment(_now_parts(row)[:10])


def _current_time(row: Row, digits: Node | None = None) -> Moment:
    return Moment(str(row["@@now"](0 if digits is None else evaluate(digits, row)))[11:])


def _from_unixtime(row: Row, value: Node, form: Node | None = None) -> Operand:
    seconds = evaluate(value, row)
    if seconds is None:
        return None
    number = number_of(seconds)
    if isinstance(number, float) or not 0 <= number < 1 << 31:
        raise UnsupportedError(f"FROM_UNIXTIME({number}) is not supported yet")
    digits = max(-int(Decimal(number).as_tuple().exponent), 0)
    moment = dt.datetime(1970, 1, 1) + dt.timedelta(minutes=row["@@utc_offset"], microseconds=int(number * 10**6))
    shown = Moment(_shown(moment, has_time=True, digits=min(digits, 6)))
    if form is None:
        return shown
    wanted = evaluate(form, row)
    return None if wanted is None else FUNCTIONS["DATE_FORMAT"].compute(shown, wanted)


def _unix_timestamp(row: Row, *nodes: Node) -> Operand:
    value = row["@@now"](0) if not nodes else evaluate(nodes[0], row)
    if value is None:
        return None
    if days_of(value) is None:
        return 0
    moment, _ = moment_of(value)
    offset = row["@@utc_offset"] if surroundings(row) is not None else 0
    since = moment - dt.datetime(1970, 1, 1) - dt.timedelta(minutes=offset)
    micro = since // dt.timedelta(microseconds=1)
    if not 0 <= micro < 10**6 << 31:
        return 0
    digits = _digits(value)
    return micro // 10**6 if not digits else rounded(Decimal(micro).scaleb(-6), digits)


def _clock_sum(value: Operand, other: Operand, sign: int) -> Operand:
    """ADDTIME, SUBTIME."""
    more = sign * time_of(other)
    digits = max(_digits(value), _digits(other))
    digits = 6 if digits and not isinstance(value, Moment) else digits
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        moment, _ = moment_of(value)
        text = _shown(moment + dt.timedelta(microseconds=more), has_time=True, digits=digits)
    else:
        text = seconds_text(time_of(value) + more, digits)
    return Moment(text) if isinstance(value, Moment) else text


def _time_difference(first: Operand, second: Operand) -> Operand:
    digits = max(_digits(first), _digits(second))
    are_moments = [isinstance(side, str) and bool(_MOMENT.fullmatch(side)) for side in (first, second)]
    if are_moments[0] != are_moments[1]:
        return None
    if all(are_moments):
        micro = (moment_of(first)[0] - moment_of(second)[0]) // dt.timedelta(microseconds=1)
    else:
        micro = time_of(first) - time_of(second)
    return Moment(seconds_text(micro, 6 if digits and type(first) is str else digits))


def _last_day(value: Operand) -> Moment:
    moment, _ = moment_of(value)
    following = (moment.replace(day=28) + dt.timedelta(days=4)).replace(day=1)
    return Moment(_shown(following - dt.timedelta(days=1), has_time=False, digits=0))


def _make_date(year: Operand, day: Operand) -> Moment | None:
    number = int(number_of(day))
    if number < 1 or not 100 <= number_of(year) <= 9998:
        if number < 1:
            return None
        raise UnsupportedError("MAKEDATE of this year is not supported yet")
    moment = dt.datetime(int(number_of(year)), 1, 1) + dt.timedelta(days=number - 1)
    return Moment(_shown(moment, has_time=False, digits=0))


def _make_time(hour: Operand, minute: Operand, second: Operand) -> Moment | None:
    hours, minutes, seconds = int(number_of(hour)), int(number_of(minute)), number_of(second)
    if not (0 <= minutes < 60 and 0 <= seconds < 60) or isinstance(seconds, float):
        return None
    micro = (abs(hours) * 3600 + minutes * 60) * 10**6 + int(seconds * 10**6)
    digits = max(-int(Decimal(seconds).as_tuple().exponent), 0)
    return Moment(seconds_text(-micro if hours < 0 else micro, digits))


def _seconds_to_time(value: Operand) -> Moment:
    number = number_of(value)
    if isinstance(number, float):
        raise UnsupportedError("SEC_TO_TIME of a floating-point number is not supported yet")
    return Moment(seconds_text(int(number * 10**6), max(-int(Decimal(number).as_tuple().exponent), 0)))


def _time(value: Operand) -> Moment:
    return Moment(seconds_text(time_of(value), 6 if _digits(value) and type(value) is str else _digits(value)))


def _timestamp(value: Operand, more: Operand = "00:00:00") -> Operand:
    moment, _ = moment_of(value)
    digits = max(_digits(value), _digits(more))
    moment += dt.timedelta(microseconds=time_of(more))
    return Moment(_shown(moment, has_time=True, digits=6 if digits and type(value) is str else digits))


def _from_days(value: Operand) -> Moment:
    number = int(rounded(Decimal(number_of(value)), 0))
    if number < 366:
        raise UnsupportedError("FROM_DAYS before the year 1 is not supported yet")
    return Moment(_shown(dt.datetime.fromordinal(number - 365), has_time=False, digits=0))


def _utc(digits: int, part: slice) -> Callable[..., Moment]:
    def computed(row: Row, *nodes: Node) -> Moment:
        wanted = evaluate(nodes[0], row) if nodes else digits
        moment, _ = moment_of(row["@@now"](6))
        moment -= dt.timedelta(minutes=row["@@utc_offset"])
        return Moment(_shown(moment, has_time=True, digits=wanted)[part])

    return computed


def _interval(value: Operand, *bounds: Operand) -> Operand:
    """``INTERVAL n UNIT``; the function of that name counts the bounds that are not above a number."""
    if len(bounds) == 1 and isinstance(bounds[0], str):
        return None if value is None else Interval(value, bounds[0])
    if value is None:
        return -1
    number = number_of(value)
    return sum(1 for bound in bounds if bound is not None and number_of(bound) <= number)


def _clock(compute: Callable[..., Moment], most: int = 1) -> Function:
    return Function(compute, 0, most, "nodes")


FUNCTIONS |= {
    "INTERVAL": Function(_interval, 2, 1000, "nulls"),
    **dict.fromkeys(("DATE_ADD", "ADDDATE"), Function(_later, 2, 2)),
    **dict.fromkeys(("DATE_SUB", "SUBDATE"), Function(_earlier, 2, 2)),
    "TIMESTAMPADD": Function(_timestamp_add, 3, 3),
    "TIMESTAMPDIFF": Function(_difference, 3, 3),
    **dict.fromkeys(("CURDATE", "CURRENT_DATE"), _clock(_current_date, 0)),
    **dict.fromkeys(("CURTIME", "CURRENT_TIME"), _clock(_current_time)),
    "UTC_TIMESTAMP": _clock(_utc(0, slice(None))),
    "UTC_DATE": _clock(_utc(0, slice(10)), 0),
    "UTC_TIME": _clock(_utc(0, slice(11, None))),
    "FROM_UNIXTIME": Function(_from_unixtime, 1, 2, "nodes"),
    "UNIX_TIMESTAMP": Function(_unix_timestamp, 0, 1, "nodes"),
    "ADDTIME": Function(lambda value, other: _clock_sum(value, other, 1), 2, 2),
    "SUBTIME": Function(lambda value, other: _clock_sum(value, other, -1), 2, 2),
    "TIMEDIFF": Function(_time_difference, 2, 2),
    "LAST_DAY": Function(_last_day),
    "MAKEDATE": Function(_make_date, 2, 2),
    "MAKETIME": Function(_make_time, 3, 3),
    "SEC_TO_TIME": Function(_seconds_to_time),
    "TIME": Function(_time),
    "TIMESTAMP": Function(_timestamp, 1, 2),
    "FROM_DAYS": Function(_from_days),
}
