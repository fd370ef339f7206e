"""DATE, and TIME, DATETIME and TIMESTAMP with fractional seconds, as MySQL 5.6 and MariaDB 10.1 and later store them.

============  ======================================================================================================
DATE 10, 14   3 bytes little-endian: year << 9 | month << 5 | day
TIME2 19      3 bytes big-endian: hour << 12 | minute << 6 | second, then the fraction; a negative time is the negated
              whole number, fraction included; then the top bit is flipped
DATETIME2 18  5 bytes big-endian: a set bit, year * 13 + month in 17 bits, day 5, hour 5, minute 6, second 6;
              then the fraction
TIMESTAMP2 17 4 bytes big-endian: seconds since 1970-01-01 00:00:00 UTC; then the fraction
============  ======================================================================================================

The fraction takes (fsp + 1) / 2 bytes, big-endian, in units of 1/100, 1/10000 or 1/1000000 second; fsp is the
metadata byte.  The zero TIMESTAMP is all zero bytes.  Source: my_time_packed_to_binary, my_datetime_packed_to_binary
and my_timestamp_to_binary of mysys/my_time.cc; corpora/recordings/values.

Values are exact text with fsp fraction digits; a TIMESTAMP is in UTC.  Accepted are dates of the calendar, and, as
text, those with a zero month or day, which a server stores only without NO_ZERO_DATE and NO_ZERO_IN_DATE.
DATE 10 has the same 3 bytes on every server that logs rows; 14 (NEWDATE) is not written as a column type.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any

from construct import BitsInteger, BitStruct, BytesInteger, ByteSwapped, Computed, Construct, Flag, Int32ub, Struct

from forge.layouts import FixedLayout, fixed_layout
from forge.values.base import Column, Piece, TypedValue
from forge.values.cells import bad_metadata, bad_value
from forge.values.clipping import Clipped
from forge.values.literals import refuse
from forge.values.quick import CellReader, CellWriter, UnusualError
from forge.values.temporal.clipping import clip_moment
from forge.values.temporal.codec import ClockCodec, MomentCodec, TemporalCodec, fraction_digits
from forge.values.temporal.text import (
    MAX_FSP,
    ZERO,
    Clock,
    Moment,
    accept_moment,
    fraction_size,
    fraction_unit,
    moment_of,
)
from forge.values.temporal.usual import (
    MONTHS,
    Build,
    clock_writer,
    date_reader,
    datetime_reader,
    day_number,
    moment_writer,
    time_reader,
    timestamp_reader,
)
from forge.values.wire_types import WireType

#: The hour has 11 bits, although no server stores more than 838.
_MAX_STORED_HOUR = (1 << 11) - 1
_EPOCH = datetime(1970, 1, 1)

DATE_LAYOUT = ByteSwapped(BitStruct("year" / BitsInteger(15), "month" / BitsInteger(4), "day" / BitsInteger(5)))

DATETIME_LAYOUT = BitStruct(
    "positive" / Flag,
    "year_month" / BitsInteger(17),
    "day" / BitsInteger(5),
    "hour" / BitsInteger(5),
    "minute" / BitsInteger(6),
    "second" / BitsInteger(6),
)

#: The magnitude of a time: its top bit is the sign's.
TIME_LAYOUT = BitStruct("hour" / BitsInteger(12), "minute" / BitsInteger(6), "second" / BitsInteger(6))


@lru_cache(maxsize=32)
def with_fraction(seconds: Construct[Any, Any], fsp: int) -> Construct[Any, Any]:
    """``whole`` in the given layout, then ``fraction`` in its own unit."""
    size = fraction_size(fsp)
    return Struct("whole" / seconds, "fraction" / (BytesInteger(size) if size else Computed(0)))


class DateCodec(MomentCodec):
    type_codes = (WireType.DATE, WireType.NEWDATE)

    name = "DATE"

    def size(self, column: Column) -> int:
        return 3

    def fsp(self, column: Column) -> int:
        return 0

    def shown(self, column: Column, fields: Moment) -> str:
        # A server drops a time with a note, but 23:59:59.5 makes it the next day (recorded on MySQL 9.7).
        return fields.date_text()

    def can_store(self, fields: Moment) -> bool:
        return fields.is_representable() and not any(fields[3:])

    def fields(self, column: Column, raw: bytes) -> Moment:
        parsed = DATE_LAYOUT.parse(raw)
        return Moment(parsed.year, parsed.month, parsed.day)

    def builder(self, column: Column) -> Build:
        write = fixed_layout(DATE_LAYOUT).write
        return lambda fields: write(fields[:3])

    def reader(self, column: Column) -> CellReader:
        return date_reader(fixed_layout(DATE_LAYOUT))

    def writer(self, column: Column) -> CellWriter:
        return moment_writer(self.builder(column), 0, has_clock=False)

    def type_name(self, column: Column) -> str:
        return "DATE"

    def python_date(self, moment: Moment) -> date:
        return date(*moment[:3])

    def examples(self, column: Column) -> tuple[str, ...]:
        return tuple({moment[:10]: None for moment in super().examples(column)})


class FractionalCodec(TemporalCodec):
    """A type with fsp: ``base`` bytes and the fraction's."""

    metadata_size = 1
    reader_feature = "new_temporals"
    base: int

    def fsp(self, column: Column) -> int:
        if len(column.metadata) != 1 or column.metadata[0] > MAX_FSP:
            raise bad_metadata(f"{self.name} has one metadata byte from 0 to 6, not {column.metadata.hex(' ')!r}")
        return column.metadata[0]

    def size(self, column: Column) -> int:
        return self.base + fraction_size(self.fsp(column))

    def type_name(self, column: Column) -> str:
        return f"{self.name}({column.metadata[0]})" if column.metadata.strip(b"\0") else self.name

    def translated(self, column: Column, seconds: Construct[Any, Any]) -> FixedLayout:
        """The layout of the column's cells, for the quick readers and writers."""
        return fixed_layout(with_fraction(seconds, self.fsp(column)))

    def micro(self, column: Column, fraction: int) -> int:
        """The microseconds of a stored fraction.  Raises FormatError for one of a second, or finer than fsp."""
        fsp = self.fsp(column)
        micro = fraction * fraction_unit(fsp)
        if micro >= 1_000_000 or micro % 10 ** (MAX_FSP - fsp):
            raise bad_value(f"the fraction of {self.type_name(column)} cannot be {fraction}", self.base)
        return micro

    def explain(self, column: Column, raw: bytes) -> list[Piece]:
        value = self.decode(column, raw)
        whole, _, fraction = value.partition(".")
        pieces = [Piece(0, raw[: self.base], f"{self.type_name(column)} {whole}: {self._meaning(raw)}")]
        if fraction:
            unit = fraction_unit(self.fsp(column))
            pieces.append(Piece(self.base, raw[self.base :], f"fraction .{fraction} in units of {unit} microseconds"))
        return pieces

    @abstractmethod
    def _meaning(self, raw: bytes) -> str:
        """How the bytes before the fraction are made."""


class TimeCodec(FractionalCodec, ClockCodec):
    type_codes = (WireType.TIME2,)
    base = 3
    largest_hour = _MAX_STORED_HOUR

    def fields(self, column: Column, raw: bytes) -> Clock:
        size = len(raw)
        number = BytesInteger(size).parse(raw) - (1 << 8 * size - 1)
        parsed = with_fraction(TIME_LAYOUT, self.fsp(column)).parse(abs(number).to_bytes(size, "big"))
        micro = self.micro(column, parsed.fraction)
        return Clock(number < 0, parsed.whole.hour, parsed.whole.minute, parsed.whole.second, micro)

    def builder(self, column: Column) -> Build:
        layout, unit = self.translated(column, TIME_LAYOUT), fraction_unit(self.fsp(column))
        zero = 1 << 8 * layout.size - 1

        def build(fields: Sequence[int]) -> bytes:
            negative, hour, minute, second, micro = fields
            number = int.from_bytes(layout.write((hour, minute, second, micro // unit)), "big")
            return (zero - number if negative else zero + number).to_bytes(layout.size, "big")

        return build

    def reader(self, column: Column) -> CellReader:
        return time_reader(self.translated(column, TIME_LAYOUT), self.fsp(column))

    def writer(self, column: Column) -> CellWriter:
        return clock_writer(self.builder(column), self.fsp(column))

    def _meaning(self, raw: bytes) -> str:
        if raw[0] & 0x80:
            return "80 00 00 + (hour << 12 | minute << 6 | second)"
        return "80 00 00 - (hour << 12 | minute << 6 | second), borrowing for the fraction"


class DatetimeCodec(FractionalCodec, MomentCodec):
    type_codes = (WireType.DATETIME2,)
    name = "DATETIME"
    base = 5

    def fields(self, column: Column, raw: bytes) -> Moment:
        parsed = with_fraction(DATETIME_LAYOUT, self.fsp(column)).parse(raw)
        whole = parsed.whole
        micro = self.micro(column, parsed.fraction)
        year, month = divmod(whole.year_month, MONTHS)
        moment = Moment(year, month, whole.day, whole.hour, whole.minute, whole.second, micro)
        if not whole.positive:
            raise bad_value(f"DATETIME cannot be -{self.shown(column, moment)}")
        return moment

    def builder(self, column: Column) -> Build:
        write, unit = self.translated(column, DATETIME_LAYOUT).write, fraction_unit(self.fsp(column))

        def build(fields: Sequence[int]) -> bytes:
            year, month, day, hour, minute, second, micro = fields
            return write((1, year * MONTHS + month, day, hour, minute, second, micro // unit))

        return build

    def reader(self, column: Column) -> CellReader:
        return datetime_reader(self.translated(column, DATETIME_LAYOUT), self.fsp(column))

    def writer(self, column: Column) -> CellWriter:
        return moment_writer(self.builder(column), self.fsp(column))

    def _meaning(self, raw: bytes) -> str:
        fields = DATETIME_LAYOUT.parse(raw[: self.base])
        return f"bits 1, year * 13 + month {fields.year_month}, day, hour, minute, second"


class UtcCodec(MomentCodec):
    """What the codecs of TIMESTAMP share: moments in UTC from the epoch on, and literals in the session's time zone."""

    def written(self, column: Column, value: str) -> str:
        if not column.dialect.utc_offset:
            return value
        moment = moment_of(value)
        if moment == ZERO:
            return value
        local = datetime(*moment) + timedelta(minutes=column.dialect.utc_offset)
        return Moment(*local.timetuple()[:6], moment.micro).text(len(value.partition(".")[2]))

    def clip_accepted(self, column: Column, value: str) -> Clipped:
        written = self.written(column, value)
        nearest = clip_moment(self, column, written)
        if column.declared is not None and nearest not in (None, value):
            return Clipped(nearest, self.sql(column, value))
        return super().clip_accepted(column, value)

    def can_store(self, fields: Moment) -> bool:
        return True  # :func:`timestamp_seconds` has to tell what is wrong

    def accept(self, column: Column, declared: Any) -> str:
        """The UTC text of a declared TIMESTAMP: zero, or from 1970-01-01 00:00:01 to the dialect's last second."""
        name, fsp, dialect = self.type_name(column), self.fsp(column), column.dialect
        moment = accept_moment(name, declared, fsp, dialect)
        if moment == ZERO:
            return moment.text(fsp)
        is_date = moment.is_accepted() and moment.year and moment.month and moment.day
        seconds = _seconds_of(moment) - 60 * dialect.utc_offset if is_date else -1
        # MariaDB takes the fractions of the second 0, whose seconds alone would mean the zero timestamp.
        first = 0 if dialect.timestamp_of_second_zero and moment.micro else 1
        if not first <= seconds <= dialect.last_timestamp:
            last = timestamp_text(dialect.last_timestamp, 0, 0)
            raise refuse(name, declared, "cannot hold this date", f"1970-01-01 00:00:01 to {last} (UTC)")
        return timestamp_text(seconds, moment.micro, fsp)

    def python_date(self, moment: Moment) -> date:
        return datetime(*moment, tzinfo=UTC)

    def typed(self, column: Column, value: str) -> TypedValue:
        """Seconds since the epoch; the zero timestamp has 0 of both."""
        moment = moment_of(value)
        seconds = 0 if moment == ZERO else _seconds_of(moment)
        return {"timestamp": {"seconds": seconds, "microseconds": moment.micro}}

    def examples(self, column: Column) -> tuple[str, ...]:
        fsp = fraction_digits(column)
        return tuple(timestamp_text(second, 0, fsp) for second in (0, 1, 86399, 86400, 2**31 - 1))


class TimestampCodec(FractionalCodec, UtcCodec):
    type_codes = (WireType.TIMESTAMP2,)
    name = "TIMESTAMP"
    base = 4

    def fields(self, column: Column, raw: bytes) -> Moment:
        parsed = with_fraction(Int32ub, self.fsp(column)).parse(raw)
        return moment_at(parsed.whole, self.micro(column, parsed.fraction))

    def builder(self, column: Column) -> Build:
        write, unit = self.translated(column, Int32ub).write, fraction_unit(self.fsp(column))
        return lambda fields: write((_seconds_of(fields), fields[6] // unit))

    def build(self, column: Column, fields: Moment) -> bytes:
        timestamp_seconds(self.type_name(column), fields)
        return self.builder(column)(fields)

    def reader(self, column: Column) -> CellReader:
        return timestamp_reader(self.translated(column, Int32ub), self.fsp(column))

    def writer(self, column: Column) -> CellWriter:
        build, last = self.builder(column), column.dialect.last_timestamp

        def usual(fields: Sequence[int]) -> bytes:
            if not 0 < _seconds_of(fields) <= last:
                raise UnusualError
            return build(fields)

        return moment_writer(usual, self.fsp(column))

    def _meaning(self, raw: bytes) -> str:
        return "seconds since 1970-01-01 00:00:00 UTC"


def moment_at(seconds: int, micro: int) -> Moment:
    """The moment of a TIMESTAMP, in UTC; that of the zero timestamp is all zeros."""
    if not seconds and not micro:
        return ZERO
    moment = _EPOCH + timedelta(seconds=seconds)
    return Moment(moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, micro)


def timestamp_text(seconds: int, micro: int, fsp: int) -> str:
    """The UTC text of a TIMESTAMP."""
    return moment_at(seconds, micro).text(fsp)


def timestamp_seconds(name: str, moment: Moment) -> int:
    """Seconds since the epoch, as far as four bytes hold them.  Raises ScenarioError."""
    if moment == ZERO:
        return 0
    if not moment.is_accepted() or not (moment.year and moment.month and moment.day):
        raise refuse(name, moment.text(MAX_FSP), "cannot hold this date")
    seconds = _seconds_of(moment)
    if not (0 < seconds < 2**32 or (seconds == 0 and moment.micro)):
        raise refuse(name, moment.text(MAX_FSP), "cannot hold this date")
    return seconds


def _seconds_of(fields: Sequence[int]) -> int:
    """Seconds since the epoch; none for the zero timestamp."""
    year, month, day, hour, minute, second, _ = fields
    return day_number(year, month, day) * 86400 + hour * 3600 + minute * 60 + second if year else 0


CODECS = (DateCodec(), TimeCodec(), DatetimeCodec(), TimestampCodec())
