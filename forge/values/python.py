"""The values of codecs as the Python types that users expect of a library."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from forge.values.base import Column, Value
from forge.values.registry import codec_for
from forge.values.temporal.text import MAX_FSP, Moment, parse_clock, parse_moment
from forge.values.wire_types import WireType

_DATES = (WireType.DATE, WireType.NEWDATE)
_TIMES = (WireType.TIME, WireType.TIME2)
_DATETIMES = (WireType.DATETIME, WireType.DATETIME2)
_TIMESTAMPS = (WireType.TIMESTAMP, WireType.TIMESTAMP2)


def python_value(column: Column, value: Value) -> Any:
    """``value`` of a codec as date, timedelta, datetime or Decimal ... where such a type holds it exactly.

    Dates of the calendar only: a value with a zero month, or February 30, stays text.
    """
    code = column.type_code
    if code == WireType.JSON:
        return codec_for(column).text(column, value)
    if code in _TIMES:
        clock = parse_clock("TIME", value, MAX_FSP)
        span = timedelta(hours=clock.hour, minutes=clock.minute, seconds=clock.second, microseconds=clock.micro)
        return -span if clock.negative else span
    if code in _DATES or code in _DATETIMES or code in _TIMESTAMPS:
        moment = parse_moment("DATETIME", value, MAX_FSP)
        if not _is_python_date(moment):
            return value
        if code in _DATES:
            return date(*moment[:3])
        return datetime(*moment, tzinfo=UTC if code in _TIMESTAMPS else None)
    return value


def _is_python_date(moment: Moment) -> bool:
    return moment.is_accepted() and bool(moment.year and moment.month and moment.day)
