"""TIME, DATETIME and TIMESTAMP as before 5.6, and MariaDB's fractional forms of them where a declaration says fsp.

The Arrow types, and what is odd, are those of the current forms (forge.bulk.families.temporals).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from forge.bulk.calendar import DAY, DAYS, EPOCH, SECOND, TIME_END
from forge.bulk.families.temporals import (
    Flags,
    Ints,
    NumberPlan,
    dates_of,
    days_of,
    moment_text,
    seconds_of,
    timestamp_range,
)
from forge.bulk.plan import ColumnPlan
from forge.values.base import Column
from forge.values.registry import codec_for
from forge.values.temporal.old import OldTemporalCodec
from forge.values.temporal.text import MAX_FSP, MAX_HOUR
from forge.values.wire_types import WireType


class OldTemporalPlan(NumberPlan):
    """A number in little-endian order; with fsp, which comes of the declaration, in big-endian order."""

    def __init__(self, column: Column, arrow_type: pa.DataType) -> None:
        codec = codec_for(column)
        assert isinstance(codec, OldTemporalCodec)
        super().__init__(column, arrow_type, codec.size(column))
        self.fsp = codec.fsp(column)
        self.big_endian = self.fsp > 0
        #: Microseconds of the last digit, and such digits in a second.
        self.step = 10 ** (MAX_FSP - self.fsp)
        self.units = 10**self.fsp


class OldTimePlan(OldTemporalPlan):
    """The number hhmmss; with fsp 839 hours and the signed time."""

    def __init__(self, column: Column) -> None:
        super().__init__(column, pa.duration("us"))

    def _values(self, numbers: Ints) -> tuple[Ints, Flags]:
        if self.fsp:
            values = numbers * self.step - TIME_END
            return values, (values > -TIME_END) & (values < TIME_END)
        numbers = (numbers ^ 1 << 23) - (1 << 23)
        hour, minute, second = _clock(np.abs(numbers))
        values = np.sign(numbers) * seconds_of(hour, minute, second) * SECOND
        return values, (hour <= MAX_HOUR) & (minute <= 59) & (second <= 59)

    def _holds(self, values: Ints) -> Flags:
        return (values > -TIME_END) & (values < TIME_END) & (values % self.step == 0)

    def _numbers(self, values: Ints) -> Ints:
        if self.fsp:
            return (values + TIME_END) // self.step
        return np.sign(values) * _digits(np.abs(values) // SECOND)


class _OldMomentPlan(OldTemporalPlan):
    """DATETIME and TIMESTAMP."""

    can_be_odd = True

    def as_text(self, array: pa.Array) -> pa.Array:
        return moment_text(array, self.fsp)


class OldDatetimePlan(_OldMomentPlan):
    """The number YYYYMMDDhhmmss; with fsp the fields, each times how many values the next one has."""

    def __init__(self, column: Column) -> None:
        super().__init__(column, pa.timestamp("us"))

    def _values(self, numbers: Ints) -> tuple[Ints, Flags]:
        if self.fsp:
            whole, fraction = np.divmod(numbers, self.units)
            days, seconds = np.divmod(whole, 86400)
            year, month, day = (days >> 5) // 13, (days >> 5) % 13, days & 31
            in_day = np.ones(len(numbers), np.bool_)
        else:
            days, clock = np.divmod(numbers, 1_000_000)
            year, month, day = days // 10000, days // 100 % 100, days % 100
            hour, minute, second = _clock(clock)
            seconds, fraction = seconds_of(hour, minute, second), np.zeros_like(numbers)
            in_day = (hour <= 23) & (minute <= 59) & (second <= 59)
        number, is_known = days_of(year, month, day)
        return (number * 86400 + seconds) * SECOND + fraction * self.step, is_known & in_day

    def _holds(self, values: Ints) -> Flags:
        return (values >= -EPOCH * DAY) & (values < (DAYS - EPOCH) * DAY) & (values % self.step == 0)

    def _numbers(self, values: Ints) -> Ints:
        year, month, day = dates_of(values // DAY)
        seconds = values % DAY // SECOND
        if not self.fsp:
            return ((year * 100 + month) * 100 + day) * 1_000_000 + _digits(seconds)
        days = (year * 13 + month) << 5 | day
        return (days * 86400 + seconds) * self.units + values % SECOND // self.step


class OldTimestampPlan(_OldMomentPlan):
    """Seconds; with fsp the fraction behind them in units of the last digit."""

    def __init__(self, column: Column) -> None:
        super().__init__(column, pa.timestamp("us", tz="UTC"))
        self._range = timestamp_range(column)
        self._fraction_bits = 8 * (self.wire - 4)

    def _values(self, numbers: Ints) -> tuple[Ints, Flags]:
        fraction = (numbers & (1 << self._fraction_bits) - 1) * self.step
        values = (numbers >> self._fraction_bits) * SECOND + fraction
        return values, (fraction < SECOND) & (values != 0)

    def _holds(self, values: Ints) -> Flags:
        first, end = self._range
        return (values >= first) & (values < end) & (values % self.step == 0)

    def _numbers(self, values: Ints) -> Ints:
        return values // SECOND << self._fraction_bits | values % SECOND // self.step


def _clock(number: Ints) -> tuple[Ints, Ints, Ints]:
    """Hour, minute and second of the number hhmmss."""
    return number // 10000, number // 100 % 100, number % 100


def _digits(seconds: Ints) -> Ints:
    """The number hhmmss of seconds."""
    return seconds // 3600 * 10000 + seconds // 60 % 60 * 100 + seconds % 60


_PLANS: dict[int, type[OldTimePlan | OldDatetimePlan | OldTimestampPlan]] = {
    WireType.TIME: OldTimePlan,
    WireType.DATETIME: OldDatetimePlan,
    WireType.TIMESTAMP: OldTimestampPlan,
}


def plan(column: Column) -> ColumnPlan:
    return _PLANS[column.type_code](column)
