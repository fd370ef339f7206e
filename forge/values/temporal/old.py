"""TIME, DATETIME and TIMESTAMP of MySQL before 5.6, of tables never rebuilt since, and of MariaDB with
mysql56_temporal_format=OFF.

============  =====================================================================================================
TIME 11       3 bytes little-endian, signed: the decimal number hhmmss
DATETIME 12   8 bytes little-endian: the decimal number YYYYMMDDhhmmss
TIMESTAMP 7   4 bytes little-endian: seconds since 1970-01-01 00:00:00 UTC
============  =====================================================================================================

None has metadata (Field_time, Field_datetime and Field_timestamp of sql/field.cc; corpora/recordings/values/
old-temporals).  MariaDB's own fractional forms of them have the same type codes, no metadata either, and other bytes:
big-endian, the fraction in units of the last digit (corpora/recordings/values/old-fractions).

============  ============================  =========================================================================
TIME(f)       4, 4, 5, 5, 5, 6 bytes        839 hours + the signed time, in units
DATETIME(f)   6, 6, 7, 7, 7, 8 bytes        (((((year * 13 + month) * 32 + day) * 24 + hour) * 60 + minute) * 60
                                            + second) in units
TIMESTAMP(f)  4 + 1, 1, 2, 2, 3, 3 bytes    seconds since the epoch, then the fraction
============  ============================  =========================================================================

Nothing in the event tells f, so these are made and read only for a column that was declared: a reader of the file
alone takes f = 0, as MariaDB's own tools do, and cannot be right.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import lru_cache
from typing import Any

from construct import BytesInteger, Construct, Int32ub, Int32ul, Int64ul

from forge.values.base import Column
from forge.values.cells import bad_value
from forge.values.literals import refuse
from forge.values.temporal.codec import ClockCodec, MomentCodec, TemporalCodec
from forge.values.temporal.current import (
    UtcCodec,
    accept_timestamp,
    timestamp_seconds,
    timestamp_text,
    with_fraction,
)
from forge.values.temporal.text import (
    MAX_FSP,
    MAX_HOUR,
    Clock,
    Moment,
    accept_clock,
    accept_moment,
    exact,
    parse_clock,
    parse_moment,
)
from forge.values.wire_types import WireType

TIME_LAYOUT: Construct[int, int] = BytesInteger(3, signed=True, swapped=True)
#: Bytes of MariaDB's fractional forms, by fsp.
_TIME_SIZES = (3, 4, 4, 5, 5, 5, 6)
_DATETIME_SIZES = (8, 6, 6, 7, 7, 7, 8)
#: Seconds which are added to a fractional TIME so that it is never negative.
_ZERO_TIME = (MAX_HOUR + 1) * 3600
_MOMENT_BASES = (13, 32, 24, 60, 60)


@lru_cache(maxsize=8)
def big_endian(size: int) -> Construct[int, int]:
    return BytesInteger(size)


class OldTemporalCodec(TemporalCodec):
    name: str
    sizes: tuple[int, ...]

    def fsp(self, column: Column) -> int:
        """Fraction digits as declared; 0 for a column that was read from a file."""
        return column.declared.fsp if column.declared is not None else 0

    def size(self, column: Column) -> int:
        return self.sizes[self.fsp(column)]

    def type_name(self, column: Column) -> str:
        fsp = self.fsp(column)
        return f"{self.name}({fsp})" if fsp else self.name

    def units(self, column: Column, micro: int) -> int:
        """The fraction in units of the last digit."""
        return int(micro // 10 ** (MAX_FSP - self.fsp(column)))

    def micro(self, column: Column, units: int) -> int:
        return int(units * 10 ** (MAX_FSP - self.fsp(column)))

    def encode(self, column: Column, value: str) -> bytes:
        name = self.type_name(column)
        parsed = self.parse(name, value)
        exact(name, value, self.fsp(column), parsed)
        return self.build(column, parsed)

    @abstractmethod
    def parse(self, name: str, value: str) -> Any:
        """The fields of exact text.  Raises ScenarioError."""

    @abstractmethod
    def build(self, column: Column, parsed: Any) -> bytes:
        """The cell of the fields.  Raises ScenarioError."""


class OldTimeCodec(OldTemporalCodec, ClockCodec):
    type_codes = (WireType.TIME,)
    name = "TIME"
    sizes = _TIME_SIZES

    def decode(self, column: Column, raw: bytes) -> str:
        fsp = self.fsp(column)
        self.whole(column, raw)
        if fsp:
            number = big_endian(len(raw)).parse(raw) - _ZERO_TIME * 10**fsp
            total, units = divmod(abs(number), 10**fsp)
            hour, minute, second, micro = total // 3600, total // 60 % 60, total % 60, self.micro(column, units)
        else:
            number, micro = TIME_LAYOUT.parse(raw), 0
            hour, minute, second = abs(number) // 10000, abs(number) // 100 % 100, abs(number) % 100
        if minute > 59 or second > 59 or hour > MAX_HOUR:
            raise bad_value(f"TIME cannot be {hour:02d}:{minute:02d}:{second:02d}")
        return Clock(number < 0, hour, minute, second, micro).text(fsp)

    def parse(self, name: str, value: str) -> Clock:
        return parse_clock(name, value, MAX_FSP)

    def build(self, column: Column, parsed: Clock) -> bytes:
        fsp, sign = self.fsp(column), -1 if parsed.negative else 1
        if parsed.hour > MAX_HOUR:
            raise refuse(self.type_name(column), parsed.text(fsp), "cannot hold this time")
        if not fsp:
            return bytes(TIME_LAYOUT.build(sign * (parsed.hour * 10000 + parsed.minute * 100 + parsed.second)))
        total = (parsed.hour * 3600 + parsed.minute * 60 + parsed.second) * 10**fsp + self.units(column, parsed.micro)
        return bytes(big_endian(self.size(column)).build(_ZERO_TIME * 10**fsp + sign * total))

    def accept(self, column: Column, declared: Any) -> str:
        fsp = self.fsp(column)
        return accept_clock(self.type_name(column), declared, fsp, column.dialect).text(fsp)


class OldDatetimeCodec(OldTemporalCodec, MomentCodec):
    type_codes = (WireType.DATETIME,)
    name = "DATETIME"
    sizes = _DATETIME_SIZES

    def decode(self, column: Column, raw: bytes) -> str:
        fsp = self.fsp(column)
        self.whole(column, raw)
        if fsp:
            number, units = divmod(big_endian(len(raw)).parse(raw), 10**fsp)
            fields = []
            for base in reversed(_MOMENT_BASES):
                number, field = divmod(number, base)
                fields.append(field)
            second, minute, hour, day, month = fields
            moment = Moment(number, month, day, hour, minute, second, self.micro(column, units))
        else:
            number = Int64ul.parse(raw)
            day_number, clock = divmod(number, 10**6)
            year, month_day = divmod(day_number, 10**4)
            moment = Moment(year, month_day // 100, month_day % 100, clock // 10**4, clock // 100 % 100, clock % 100)
        if not moment.is_representable():
            raise bad_value(f"DATETIME cannot be {moment.text(fsp)}")
        return moment.text(fsp)

    def parse(self, name: str, value: str) -> Moment:
        moment = parse_moment(name, value, MAX_FSP)
        if not moment.is_representable():
            raise refuse(name, value, "cannot hold this date")
        return moment

    def build(self, column: Column, parsed: Moment) -> bytes:
        fsp = self.fsp(column)
        if not fsp:
            return bytes(Int64ul.build(int(parsed.text(0).translate({32: None, 45: None, 58: None}))))
        number = parsed.year
        for field, base in zip(parsed[1:6], _MOMENT_BASES, strict=True):
            number = number * base + field
        return bytes(big_endian(self.size(column)).build(number * 10**fsp + self.units(column, parsed.micro)))

    def accept(self, column: Column, declared: Any) -> str:
        fsp = self.fsp(column)
        return accept_moment(self.type_name(column), declared, fsp, column.dialect).text(fsp)


class OldTimestampCodec(OldTemporalCodec, UtcCodec):
    type_codes = (WireType.TIMESTAMP,)
    name = "TIMESTAMP"
    sizes = (4, 5, 5, 6, 6, 7, 7)

    def decode(self, column: Column, raw: bytes) -> str:
        fsp = self.fsp(column)
        self.whole(column, raw)
        if not fsp:
            return timestamp_text(Int32ul.parse(raw), 0, 0)
        fields = with_fraction(Int32ub, fsp).parse(raw)
        micro = self.micro(column, fields.fraction)
        if micro >= 1_000_000:
            raise bad_value(f"the fraction of {self.type_name(column)} cannot be {fields.fraction}", 4)
        return timestamp_text(fields.whole, micro, fsp)

    def parse(self, name: str, value: str) -> Moment:
        return parse_moment(name, value, MAX_FSP)

    def build(self, column: Column, parsed: Moment) -> bytes:
        fsp = self.fsp(column)
        seconds = timestamp_seconds(self.type_name(column), parsed)
        if not fsp:
            return bytes(Int32ul.build(seconds))
        fields = {"whole": seconds, "fraction": self.units(column, parsed.micro)}
        return bytes(with_fraction(Int32ub, fsp).build(fields))

    def accept(self, column: Column, declared: Any) -> str:
        return accept_timestamp(self.type_name(column), declared, self.fsp(column), column.dialect)


CODECS = (OldTimeCodec(), OldDatetimeCodec(), OldTimestampCodec())
