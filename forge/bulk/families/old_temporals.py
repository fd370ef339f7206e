"""TIME, DATETIME and TIMESTAMP of before 5.6, and MariaDB's fractional forms of them where a declaration tells fsp.

The Arrow types, and what is odd, are those of the current forms (forge.bulk.families.temporals).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import pyarrow as pa

from forge.bulk.calendar import DAY, DAYS, EPOCH, SECOND, TIME_END, months
from forge.bulk.families.temporals import moment_text, timestamp_range
from forge.bulk.plan import Cells, ColumnPlan, Read, Wire, rows_where, values_of
from forge.bulk.words import stored, words_of
from forge.values.base import Column
from forge.values.registry import codec_for
from forge.values.temporal.old import OldTemporalCodec
from forge.values.temporal.text import MAX_FSP, MAX_HOUR
from forge.values.wire_types import WireType

#: Arrays of int64 and bool: NumPy takes most of their arithmetic for Any.
_Numbers = Any
_Flags = Any


class OldTemporalPlan(ColumnPlan):
    """A number in little-endian order; with fsp, which comes of the declaration, in big-endian order."""

    def __init__(self, column: Column, arrow_type: pa.DataType) -> None:
        codec = codec_for(column)
        assert isinstance(codec, OldTemporalCodec)
        super().__init__(column, arrow_type, codec.size(column))
        self.fsp = codec.fsp(column)
        #: Microseconds of the last digit, and such digits in a second.
        self.step = 10 ** (MAX_FSP - self.fsp)
        self.units = 10**self.fsp

    @abstractmethod
    def _microseconds(self, numbers: _Numbers) -> tuple[_Numbers, _Flags]:
        """The Arrow values, and which of them are not odd."""

    @abstractmethod
    def _holds(self, values: _Numbers) -> _Flags:
        """Which values, of whole steps, are in the range."""

    @abstractmethod
    def _numbers(self, values: _Numbers) -> _Numbers:
        """What is stored."""

    def read(self, cells: Cells) -> Read:
        words = words_of(cells, self.wire, big_endian=self.fsp > 0)
        values, good = self._microseconds(words.view(np.int64))
        return Read((np.where(good, values, 0),), rows_where(~good & (cells.offsets >= 0)))

    def write(self, array: pa.Array) -> Wire:
        values = values_of(array, 8).view(np.int64)
        good = self._holds(values) & (values % self.step == 0)
        numbers = self._numbers(np.where(good, values, 0))
        return Wire(stored(numbers.view(np.uint64), self.wire, big_endian=self.fsp > 0), odd=rows_where(~good))


class OldTimePlan(OldTemporalPlan):
    """The number hhmmss; with fsp 839 hours and the signed time."""

    def __init__(self, column: Column) -> None:
        super().__init__(column, pa.duration("us"))

    def _microseconds(self, numbers: _Numbers) -> tuple[_Numbers, _Flags]:
        if self.fsp:
            values = numbers * self.step - TIME_END
            return values, self._holds(values)
        numbers = (numbers ^ 1 << 23) - (1 << 23)
        hour, minute, second = _clock(np.abs(numbers))
        values = np.sign(numbers) * _seconds(hour, minute, second) * SECOND
        return values, (hour <= MAX_HOUR) & (minute <= 59) & (second <= 59)

    def _holds(self, values: _Numbers) -> _Flags:
        return (values > -TIME_END) & (values < TIME_END)

    def _numbers(self, values: _Numbers) -> _Numbers:
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

    def _microseconds(self, numbers: _Numbers) -> tuple[_Numbers, _Flags]:
        if self.fsp:
            whole, fraction = np.divmod(numbers, self.units)
            days, seconds = np.divmod(whole, 86400)
            year, month, day = (days >> 5) // 13, (days >> 5) % 13, days & 31
            in_day = np.ones(len(numbers), np.bool_)
        else:
            days, clock = np.divmod(numbers, 1_000_000)
            year, month, day = days // 10000, days // 100 % 100, days % 100
            hour, minute, second = _clock(clock)
            seconds, fraction = _seconds(hour, minute, second), np.zeros_like(numbers)
            in_day = (hour <= 23) & (minute <= 59) & (second <= 59)
        known = (year >= 0) & (year <= 9999) & (month <= 12)
        entries = months()[np.where(known, year * 13 + month, 0)].astype(np.int64)
        number = (entries >> 5) + day - 1
        values = ((number - EPOCH) * 86400 + seconds) * SECOND + fraction * self.step
        return values, in_day & (day >= 1) & (day <= entries & 31)

    def _holds(self, values: _Numbers) -> _Flags:
        return (values >= -EPOCH * DAY) & (values < (DAYS - EPOCH) * DAY)

    def _numbers(self, values: _Numbers) -> _Numbers:
        dates = values.view("datetime64[us]").astype("datetime64[D]")
        first = dates.astype("datetime64[M]")
        months_since = first.astype(np.int64)
        year, month = 1970 + months_since // 12, 1 + months_since % 12
        day = (dates - first).astype(np.int64) + 1
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

    def _microseconds(self, numbers: _Numbers) -> tuple[_Numbers, _Flags]:
        fraction = (numbers & (1 << self._fraction_bits) - 1) * self.step
        values = (numbers >> self._fraction_bits) * SECOND + fraction
        return values, (fraction < SECOND) & (values != 0)

    def _holds(self, values: _Numbers) -> _Flags:
        first, end = self._range
        return (values >= first) & (values < end)

    def _numbers(self, values: _Numbers) -> _Numbers:
        return values // SECOND << self._fraction_bits | values % SECOND // self.step


def _clock(number: _Numbers) -> tuple[_Numbers, _Numbers, _Numbers]:
    """Hour, minute and second of the number hhmmss."""
    return number // 10000, number // 100 % 100, number % 100


def _seconds(hour: _Numbers, minute: _Numbers, second: _Numbers) -> _Numbers:
    return hour * 3600 + minute * 60 + second


def _digits(seconds: _Numbers) -> _Numbers:
    """The number hhmmss of seconds."""
    return seconds // 3600 * 10000 + seconds // 60 % 60 * 100 + seconds % 60


_PLANS: dict[int, type[OldTimePlan | OldDatetimePlan | OldTimestampPlan]] = {
    WireType.TIME: OldTimePlan,
    WireType.DATETIME: OldDatetimePlan,
    WireType.TIMESTAMP: OldTimestampPlan,
}


def plan(column: Column) -> ColumnPlan:
    return _PLANS[column.type_code](column)
