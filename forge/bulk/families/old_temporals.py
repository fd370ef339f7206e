"""TIME, DATETIME and TIMESTAMP of before 5.6, and MariaDB's fractional forms of them where a declaration tells fsp.

The Arrow types, and what is odd, are those of the current forms (forge.bulk.families.temporals).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from forge.bulk.calendar import DAY, DAYS, EPOCH, SECOND, TIME_END, day_fields, day_number, months
from forge.bulk.families.temporals import moment_text, timestamp_range
from forge.bulk.machine import kernel, load32, load64, signed, store32, store64, swap64, unsigned
from forge.bulk.plan import Cells, ColumnPlan, Read, Wire, slacked, values_of
from forge.values.base import Column
from forge.values.registry import codec_for
from forge.values.temporal.old import OldTemporalCodec
from forge.values.temporal.text import MAX_FSP, MAX_HOUR
from forge.values.wire_types import WireType


class OldTemporalPlan(ColumnPlan):
    """What the three share: ``fsp`` comes of the declaration."""

    def __init__(self, column: Column, arrow_type: pa.DataType) -> None:
        codec = codec_for(column)
        assert isinstance(codec, OldTemporalCodec)
        super().__init__(column, arrow_type, codec.size(column))
        self.fsp = codec.fsp(column)
        #: Microseconds of the last digit, and such digits in a second.
        self.step = 10 ** (MAX_FSP - self.fsp)
        self.units = 10**self.fsp


class OldTimePlan(OldTemporalPlan):
    """The number hhmmss; with fsp 839 hours and the signed time."""

    def __init__(self, column: Column) -> None:
        super().__init__(column, pa.duration("us"))

    def read(self, cells: Cells) -> Read:
        out, odd = np.empty(len(cells), np.int64), np.empty(len(cells), np.int32)
        read = _read_fractional_time if self.fsp else _read_time
        found = read(cells.buffer, cells.offsets, self.wire, self.step, out, odd)
        return Read((out,), odd[:found])

    def write(self, array: pa.Array) -> Wire:
        out, odd = slacked(self.wire * len(array)), np.empty(len(array), np.int32)
        found = _write_time(values_of(array, 8), self.wire, self.step, out, odd)
        return Wire(out[: self.wire * len(array)], odd=odd[:found])


class OldDatetimePlan(OldTemporalPlan):
    """The number YYYYMMDDhhmmss; with fsp the fields, each times how many values the next one has."""

    can_be_odd = True

    def __init__(self, column: Column) -> None:
        super().__init__(column, pa.timestamp("us"))

    def read(self, cells: Cells) -> Read:
        out, odd = np.empty(len(cells), np.int64), np.empty(len(cells), np.int32)
        found = _read_datetime(cells.buffer, cells.offsets, months(), self.fsp, self.wire, self.step, out, odd)
        return Read((out,), odd[:found])

    def write(self, array: pa.Array) -> Wire:
        out, odd = slacked(self.wire * len(array)), np.empty(len(array), np.int32)
        found = _write_datetime(values_of(array, 8), self.fsp, self.wire, self.step, out, odd)
        return Wire(out[: self.wire * len(array)], odd=odd[:found])

    def as_text(self, array: pa.Array) -> pa.Array:
        return moment_text(array, self.fsp)


class OldTimestampPlan(OldTemporalPlan):
    """Seconds, little-endian; with fsp big-endian, and the fraction in units of the last digit."""

    can_be_odd = True

    def __init__(self, column: Column) -> None:
        super().__init__(column, pa.timestamp("us", tz="UTC"))
        self._range = timestamp_range(column)

    def read(self, cells: Cells) -> Read:
        out, odd = np.empty(len(cells), np.int64), np.empty(len(cells), np.int32)
        found = _read_timestamp(cells.buffer, cells.offsets, self.wire, self.step, out, odd)
        return Read((out,), odd[:found])

    def write(self, array: pa.Array) -> Wire:
        out, odd = slacked(self.wire * len(array)), np.empty(len(array), np.int32)
        found = _write_timestamp(values_of(array, 8), *self._range, self.wire, self.step, out, odd)
        return Wire(out[: self.wire * len(array)], odd=odd[:found])

    def as_text(self, array: pa.Array) -> pa.Array:
        return moment_text(array, self.fsp)


@kernel
def _read_time(buffer: Any, offsets: Any, width: Any, step: Any, out: Any, odd: Any) -> Any:
    found = 0
    for row in range(len(offsets)):
        offset = offsets[row]
        out[row] = 0
        if offset < 0:
            continue
        number = signed(load32(buffer, offset) << np.uint64(40)) >> 40
        magnitude = abs(number)
        hour, minute, second = magnitude // 10000, magnitude // 100 % 100, magnitude % 100
        if hour > MAX_HOUR or minute > 59 or second > 59:
            odd[found] = row
            found += 1
        else:
            value = (hour * 3600 + minute * 60 + second) * SECOND
            out[row] = -value if number < 0 else value
    return found


@kernel
def _read_fractional_time(buffer: Any, offsets: Any, width: Any, step: Any, out: Any, odd: Any) -> Any:
    found = 0
    unused = np.uint64(64 - 8 * width)
    for row in range(len(offsets)):
        offset = offsets[row]
        out[row] = 0
        if offset < 0:
            continue
        value = signed(swap64(load64(buffer, offset)) >> unused) * step - TIME_END
        if value <= -TIME_END or value >= TIME_END:
            odd[found] = row
            found += 1
        else:
            out[row] = value
    return found


@kernel
def _write_time(values: Any, width: Any, step: Any, out: Any, odd: Any) -> Any:
    found = 0
    for row in range(len(odd)):
        value = signed(load64(values, 8 * row))
        if value <= -TIME_END or value >= TIME_END or value % step != 0:
            odd[found] = row
            found += 1
            value = 0
        # What is stored behind the value is the next one's place, or slack.
        if step == SECOND:
            total = abs(value) // SECOND
            number = total // 3600 * 10000 + total // 60 % 60 * 100 + total % 60
            store32(out, width * row, unsigned(-number if value < 0 else number))
        else:
            number = (value + TIME_END) // step
            store64(out, width * row, swap64(unsigned(number) << np.uint64(64 - 8 * width)))
    return found


@kernel
def _read_datetime(buffer: Any, offsets: Any, months: Any, fsp: Any, width: Any, step: Any, out: Any, odd: Any) -> Any:
    found = 0
    units = np.uint64(SECOND // step)
    for row in range(len(offsets)):
        offset = offsets[row]
        out[row] = 0
        if offset < 0:
            continue
        word = load64(buffer, offset)
        micro = np.int64(0)
        # All in unsigned words, which divide twice as fast.
        if fsp == 0:
            date = word // np.uint64(1_000_000)
            clock = word - date * np.uint64(1_000_000)
            minutes = clock // np.uint64(100)
            hour = minutes // np.uint64(100)
            minute, second = minutes - hour * np.uint64(100), clock - minutes * np.uint64(100)
            months_and_year = date // np.uint64(100)
            year = months_and_year // np.uint64(100)
            month, day = months_and_year - year * np.uint64(100), date - months_and_year * np.uint64(100)
        else:
            word = swap64(word) >> np.uint64(64 - 8 * width)
            whole = word // units
            micro = signed(word - whole * units) * step
            second, whole = whole % np.uint64(60), whole // np.uint64(60)
            minute, whole = whole % np.uint64(60), whole // np.uint64(60)
            hour, whole = whole % np.uint64(24), whole // np.uint64(24)
            day, whole = whole & np.uint64(31), whole >> np.uint64(5)
            year = whole // np.uint64(13)
            month = whole - year * np.uint64(13)
        place = year * np.uint64(13) + month if year <= np.uint64(9999) and month <= np.uint64(12) else np.uint64(0)
        number = day_number(months, place, signed(day))
        clock = hour * np.uint64(3600) + minute * np.uint64(60) + second
        if number < 0 or hour > np.uint64(23) or minute > np.uint64(59) or second > np.uint64(59):
            odd[found] = row
            found += 1
        else:
            out[row] = ((number - EPOCH) * 86400 + signed(clock)) * SECOND + micro
    return found


@kernel
def _write_datetime(values: Any, fsp: Any, width: Any, step: Any, out: Any, odd: Any) -> Any:
    found = 0
    for row in range(len(odd)):
        # From 0001 on, as unsigned: what is before is beyond.
        since = load64(values, 8 * row) + np.uint64(EPOCH * DAY)
        if since >= np.uint64(DAYS * DAY) or since % np.uint64(step) != 0:
            odd[found] = row
            found += 1
            since = np.uint64(0)
        total = signed(since // np.uint64(SECOND))
        days = total // 86400
        clock = total - days * 86400
        fields = signed(day_fields(unsigned(days)))
        month, day = fields >> 5, fields & 31
        if fsp == 0:
            date = (month // 13 * 100 + month % 13) * 100 + day
            number = unsigned(date * 1_000_000 + clock // 3600 * 10000 + clock // 60 % 60 * 100 + clock % 60)
            store64(out, 8 * row, number)
        else:
            micro = signed(since) - total * SECOND
            # An hour, minute and second, each times how many there are of the next, are the seconds of the day.
            number = unsigned((fields * 86400 + clock) * (SECOND // step) + micro // step)
            # What is stored behind the value is the next one's place, or slack.
            store64(out, width * row, swap64(number << np.uint64(64 - 8 * width)))
    return found


@kernel
def _read_timestamp(buffer: Any, offsets: Any, width: Any, step: Any, out: Any, odd: Any) -> Any:
    found = 0
    for row in range(len(offsets)):
        offset = offsets[row]
        out[row] = 0
        if offset < 0:
            continue
        word = load64(buffer, offset)
        micro = np.int64(0)
        if width == 4:
            seconds = signed(word & np.uint64(0xFFFFFFFF))
        else:
            word = swap64(word)
            seconds = signed(word >> np.uint64(32))
            micro = (signed(word & np.uint64(0xFFFFFFFF)) >> (64 - 8 * width)) * step
        value = seconds * SECOND + micro
        if micro >= SECOND or value == 0:
            odd[found] = row
            found += 1
        else:
            out[row] = value
    return found


@kernel
def _write_timestamp(values: Any, first: Any, end: Any, width: Any, step: Any, out: Any, odd: Any) -> Any:
    found = 0
    for row in range(len(odd)):
        value = signed(load64(values, 8 * row))
        if value < first or value >= end or value % step != 0:
            odd[found] = row
            found += 1
            value = 0
        seconds = value // SECOND
        # What is stored behind the value is the next one's place, or slack.
        if width == 4:
            store32(out, 4 * row, unsigned(seconds))
        else:
            fraction = (value - seconds * SECOND) // step << (64 - 8 * width)
            store64(out, width * row, swap64(unsigned(seconds << 32 | fraction)))
    return found


_PLANS: dict[int, type[OldTimePlan | OldDatetimePlan | OldTimestampPlan]] = {
    WireType.TIME: OldTimePlan,
    WireType.DATETIME: OldDatetimePlan,
    WireType.TIMESTAMP: OldTimestampPlan,
}


def plan(column: Column) -> ColumnPlan:
    return _PLANS[column.type_code](column)
