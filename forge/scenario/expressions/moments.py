"""Functions of dates in expressions.  Moments are text as the server prints it: ``YYYY-MM-DD[ hh:mm:ss[.ffffff]]``."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

from forge.errors import UnsupportedError
from forge.scenario.expressions.evaluation import Operand, Row, Rule, evaluate

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


MOMENT_RULES: dict[str, Rule] = {
    "Year": _of_date(lambda value: parts_of(value)[0]),
    "Month": _of_date(lambda value: parts_of(value)[1]),
    "DayOfMonth": _of_date(lambda value: parts_of(value)[2]),
    "Day": _of_date(lambda value: parts_of(value)[2]),
    "Quarter": _of_date(lambda value: (parts_of(value)[1] + 2) // 3),
    "DayOfWeek": _of_date(lambda value: None if (day := _weekday(value)) is None else (day + 1) % 7 + 1),
    "DayOfYear": _of_date(_day_of_year),
    "WEEKDAY": lambda node, row: None if (value := evaluate(node.expressions[0], row)) is None else _weekday(value),
    "DateDiff": _datediff,
    "TsOrDsToDate": _to_date,
}
