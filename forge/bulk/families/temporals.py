"""DATE, and TIME, DATETIME and TIMESTAMP with fsp: date32, duration[us], timestamp[us] and timestamp[us, UTC].

Odd are dates with a zero year, month or day or that are not in the calendar (February 30), the zero TIMESTAMP, and
cells that no server writes.  On writing, what the column does not hold exactly: a finer fraction, a date of before
0001 or after 9999, a TIME beyond 838:59:59.999999, a TIMESTAMP out of the server's range.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import pyarrow as pa

from forge.bulk.calendar import (
    DAY,
    DAYS,
    EPOCH,
    SECOND,
    TIME_END,
    clock_fields,
    day_fields,
    day_number,
    moment_fields,
    months,
)
from forge.bulk.machine import inline, kernel, load64, signed, store64, swap64
from forge.bulk.plan import Cells, ColumnPlan, Read, Wire, rows_where, slacked, values_of
from forge.bulk.words import stored, words_of
from forge.values.base import Column
from forge.values.registry import codec_for
from forge.values.temporal.current import FractionalCodec
from forge.values.temporal.text import MAX_FSP, fraction_size, fraction_unit
from forge.values.wire_types import WireType

_DAY_SECONDS = np.uint64(DAY // SECOND)
#: Rows whose cells are made together, and what is odd of them.
_BLOCK = 512
_LAST_HOUR = (1 << 11) - 1
#: Arrays of int64 and bool: NumPy takes most of their arithmetic for Any.
Ints = Any
Flags = Any
#: Bits of the reciprocals below: exact for what is less than a million.
_RECIPROCAL_BITS = 40


class NumberPlan(ColumnPlan):
    """A type whose cells are numbers that NumPy splits into parts."""

    big_endian = True

    @abstractmethod
    def _values(self, numbers: Ints) -> tuple[Ints, Flags]:
        """The Arrow values of numbers, and which of them are not odd."""

    @abstractmethod
    def _holds(self, values: Ints) -> Flags:
        """Which values the column holds."""

    @abstractmethod
    def _numbers(self, values: Ints) -> Ints:
        """What is stored of values."""

    @property
    def _kind(self) -> type[np.signedinteger[Any]]:
        return np.int32 if self.arrow_type.bit_width == 32 else np.int64

    def read(self, cells: Cells) -> Read:
        words = words_of(cells, self.wire, big_endian=self.big_endian)
        values, good = self._values(words.view(np.int64))
        return Read((np.where(good, values, 0).astype(self._kind),), rows_where(~good & (cells.offsets >= 0)))

    def write(self, array: pa.Array) -> Wire:
        values = values_of(array, self.arrow_type.bit_width // 8).view(self._kind).astype(np.int64)
        good = self._holds(values)
        numbers = self._numbers(np.where(good, values, 0))
        return Wire(stored(numbers.view(np.uint64), self.wire, big_endian=self.big_endian), odd=rows_where(~good))


def days_of(year: Ints, month: Ints, day: Ints) -> tuple[Ints, Flags]:
    """Days since 1970, and which dates are in the calendar."""
    known = (year >= 0) & (year <= 9999) & (month <= 12)
    entries = months()[np.where(known, year * 13 + month, 0)].astype(np.int64)
    return (entries >> 5) + day - 1 - EPOCH, (day >= 1) & (day <= entries & 31)


def dates_of(days: Ints) -> tuple[Ints, Ints, Ints]:
    """Year, month and day of days since 1970."""
    dates = days.view("datetime64[D]")
    first = dates.astype("datetime64[M]")
    since = first.astype(np.int64)
    return 1970 + since // 12, 1 + since % 12, (dates - first).astype(np.int64) + 1


class DatePlan(NumberPlan):
    """Three bytes."""

    can_be_odd = True
    big_endian = False

    def __init__(self, column: Column) -> None:
        super().__init__(column, pa.date32(), 3)

    def _values(self, numbers: Ints) -> tuple[Ints, Flags]:
        return days_of(numbers >> 9, numbers >> 5 & 15, numbers & 31)

    def _holds(self, values: Ints) -> Flags:
        return (values >= -EPOCH) & (values < DAYS - EPOCH)

    def _numbers(self, values: Ints) -> Ints:
        year, month, day = dates_of(values)
        return year << 9 | month << 5 | day


class FractionalPlan(ColumnPlan):
    """A type with fsp."""

    def __init__(self, column: Column, arrow_type: pa.DataType) -> None:
        codec = codec_for(column)
        assert isinstance(codec, FractionalCodec)
        super().__init__(column, arrow_type, codec.size(column))
        self.fsp = codec.fsp(column)
        #: Bits of the stored fraction, and the microseconds of its unit; of one in ``coarse`` only each tenth is used.
        self.fraction_bits = 8 * fraction_size(self.fsp)
        self.unit = fraction_unit(self.fsp)
        self.coarse = self.fsp % 2 == 1
        #: Microseconds of the last digit.
        self.step = 10 ** (MAX_FSP - self.fsp)


class MomentPlan(FractionalPlan):
    """DATETIME and TIMESTAMP, of five and of four bytes and the fraction."""

    can_be_odd = True

    def __init__(self, column: Column) -> None:
        self._is_datetime = column.type_code == WireType.DATETIME2
        super().__init__(column, pa.timestamp("us", None if self._is_datetime else "UTC"))
        #: Where 1970 is to the kernels; the first moment and the one behind the last.  All in microseconds.
        self._bounds = (EPOCH * DAY, 0, DAYS * DAY) if self._is_datetime else (0, *timestamp_range(column))

    def as_text(self, array: pa.Array) -> pa.Array:
        return moment_text(array, self.fsp)

    def read(self, cells: Cells) -> Read:
        out, odd = np.empty(len(cells), np.int64), np.empty(len(cells), np.int32)
        read = _read_datetime if self._is_datetime else _read_timestamp
        found = read(cells.buffer, cells.offsets, months(), self.fraction_bits, self.unit, self.coarse, out, odd)
        return Read((out,), odd[:found])

    def write(self, array: pa.Array) -> Wire:
        out, odd = slacked(self.wire * len(array)), np.empty(len(array), np.int32)
        form = self._is_datetime, self.step, self.unit, self.fraction_bits, self.wire
        found = _write_moments(values_of(array, 8), self._bounds, form, np.empty((2, _BLOCK), np.uint64), out, odd)
        return Wire(out[: self.wire * len(array)], odd=odd[:found])


class TimePlan(NumberPlan, FractionalPlan):
    """Three bytes and the fraction, of the signed time and a bit that is set from 0 on."""

    def __init__(self, column: Column) -> None:
        super().__init__(column, pa.duration("us"))
        self._zero = 1 << (23 + self.fraction_bits)

    def _values(self, numbers: Ints) -> tuple[Ints, Flags]:
        magnitude = np.abs(numbers - self._zero)
        whole, fraction = magnitude >> self.fraction_bits, magnitude & (1 << self.fraction_bits) - 1
        hour, minute, second, micro = whole >> 12, whole >> 6 & 63, whole & 63, fraction * self.unit
        good = (hour <= _LAST_HOUR) & (minute <= 59) & (second <= 59) & (micro < SECOND)
        if self.coarse:
            good &= fraction % 10 == 0
        return np.sign(numbers - self._zero) * (seconds_of(hour, minute, second) * SECOND + micro), good

    def _holds(self, values: Ints) -> Flags:
        return (values > -TIME_END) & (values < TIME_END) & (values % self.step == 0)

    def _numbers(self, values: Ints) -> Ints:
        seconds, micro = np.divmod(np.abs(values), SECOND)
        clock = seconds // 3600 << 12 | seconds // 60 % 60 << 6 | seconds % 60
        return self._zero + np.sign(values) * (clock << self.fraction_bits | micro // self.unit)


def seconds_of(hour: Ints, minute: Ints, second: Ints) -> Ints:
    return hour * 3600 + minute * 60 + second


def moment_text(array: pa.Array, fsp: int) -> pa.Array:
    """Timestamps as ``YYYY-MM-DD hh:mm:ss`` with ``fsp`` fraction digits; further digits are cut."""
    import pyarrow.compute as pc  # A fifth of a second, and few need it.

    # As they are, in UTC: to Arrow a zone makes it fifty times the work.
    local = array.view(pa.timestamp("us"))
    return pc.utf8_slice_codeunits(local.cast(pa.string()), 0, 19 + fsp + (fsp > 0))


def timestamp_range(column: Column) -> tuple[int, int]:
    """The first microsecond that a TIMESTAMP of the column's server takes, and the one behind the last."""
    first = 1 if column.dialect.timestamp_of_second_zero else SECOND
    return first, (column.dialect.last_timestamp + 1) * SECOND


@inline
def _put_block(words: Any, flags: Any, first: Any, count: Any, width: Any, out: Any, odd: Any, found: Any) -> Any:
    """Store the cells of rows from ``first`` on, and note those that have a flag; how many are odd now.

    They are made beforehand, in loops without a branch, which the compiler makes instructions of that take several
    values at once.
    """
    some = np.uint64(0)
    for place in range(count):
        # What is stored behind the value is the next one's place, or slack.
        store64(out, width * (first + place), words[place])
        some |= flags[place]
    if some != 0:
        for place in range(count):
            if flags[place] != 0:
                odd[found] = first + place
                found += 1
    return found


@kernel
def _read_datetime(
    buffer: Any, offsets: Any, months: Any, fraction_bits: Any, unit: Any, coarse: Any, out: Any, odd: Any
) -> Any:
    found = 0
    unused = 24 - fraction_bits
    for row in range(len(offsets)):
        offset = offsets[row]
        out[row] = 0
        if offset < 0:
            continue
        word = signed(swap64(load64(buffer, offset)))
        number = day_number(months, (word >> 46) & 0x1FFFF, (word >> 41) & 31)
        hour, minute, second = (word >> 36) & 31, (word >> 30) & 63, (word >> 24) & 63
        fraction = (word & 0xFFFFFF) >> unused
        micro = fraction * unit
        # The first bit, which is the sign of int64, is set.
        bad = (word >= 0) | (number < 0) | (hour > 23) | (minute > 59) | (second > 59) | (micro >= SECOND)
        if bad or (coarse and fraction % 10 != 0):
            odd[found] = row
            found += 1
        else:
            out[row] = ((number - EPOCH) * 86400 + hour * 3600 + minute * 60 + second) * SECOND + micro
    return found


@kernel
def _read_timestamp(
    buffer: Any, offsets: Any, _months: Any, fraction_bits: Any, unit: Any, coarse: Any, out: Any, odd: Any
) -> Any:
    found = 0
    unused = 32 - fraction_bits
    for row in range(len(offsets)):
        offset = offsets[row]
        out[row] = 0
        if offset < 0:
            continue
        word = swap64(load64(buffer, offset))
        fraction = signed(word & np.uint64(0xFFFFFFFF)) >> unused
        micro = fraction * unit
        value = signed(word >> np.uint64(32)) * SECOND + micro
        if micro >= SECOND or value == 0 or (coarse and fraction % 10 != 0):
            odd[found] = row
            found += 1
        else:
            out[row] = value
    return found


@kernel
def _write_moments(values: Any, bounds: Any, form: Any, scratch: Any, out: Any, odd: Any) -> Any:
    """``bounds`` and ``form``: as :class:`MomentPlan` has them."""
    found = 0
    words, flags = scratch[0], scratch[1]
    origin, lowest, length = np.uint64(bounds[0]), np.uint64(bounds[1]), np.uint64(bounds[2] - bounds[1])
    is_datetime, step, unit, fraction_bits, width = form
    reciprocal = np.uint64((1 << _RECIPROCAL_BITS) // step + 1)
    digit, per_digit = np.uint64(step), np.uint64(step // unit)
    room = np.uint64(24 if is_datetime else 32)
    unused = room - np.uint64(fraction_bits)
    for first in range(0, len(odd), _BLOCK):
        count = min(_BLOCK, len(odd) - first)
        for place in range(count):
            # As unsigned: what is before the first is beyond the last.
            since = load64(values, 8 * (first + place)) + origin
            beyond = since - lowest >= length
            number, second, micro = moment_fields(np.uint64(0) if beyond else since)
            digits = (micro * reciprocal) >> np.uint64(_RECIPROCAL_BITS)
            if is_datetime:
                whole = day_fields(number) << np.uint64(17) | clock_fields(second) | np.uint64(1 << 39)
            else:
                whole = number * _DAY_SECONDS + second
            words[place] = swap64(whole << room | digits * per_digit << unused)
            flags[place] = np.uint64(beyond) | (digits * digit ^ micro)
        found = _put_block(words, flags, first, count, width, out, odd, found)
    return found


_PLANS: dict[int, type[DatePlan | MomentPlan | TimePlan]] = {
    WireType.DATE: DatePlan,
    WireType.NEWDATE: DatePlan,
    WireType.DATETIME2: MomentPlan,
    WireType.TIMESTAMP2: MomentPlan,
    WireType.TIME2: TimePlan,
}


def plan(column: Column) -> ColumnPlan:
    return _PLANS[column.type_code](column)
