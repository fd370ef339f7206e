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

from functools import lru_cache

from construct import BytesInteger, Construct, Int32ub, Int32ul, Int64ul

from forge.values.base import Column
from forge.values.cells import bad_value
from forge.values.temporal.codec import ClockCodec, MomentCodec, TemporalCodec
from forge.values.temporal.current import (
    UtcCodec,
    moment_at,
    timestamp_seconds,
    with_fraction,
)
from forge.values.temporal.text import (
    MAX_FSP,
    MAX_HOUR,
    Clock,
    Moment,
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


class OldTimeCodec(OldTemporalCodec, ClockCodec):
    type_codes = (WireType.TIME,)
    sizes = _TIME_SIZES

    def fields(self, column: Column, raw: bytes) -> Clock:
        fsp = self.fsp(column)
        if not fsp:
            number = TIME_LAYOUT.parse(raw)
            return Clock(number < 0, abs(number) // 10000, abs(number) // 100 % 100, abs(number) % 100, 0)
        number = big_endian(len(raw)).parse(raw) - _ZERO_TIME * 10**fsp
        total, units = divmod(abs(number), 10**fsp)
        return Clock(number < 0, total // 3600, total // 60 % 60, total % 60, self.micro(column, units))

    def build(self, column: Column, fields: Clock) -> bytes:
        fsp, sign = self.fsp(column), -1 if fields.negative else 1
        if not fsp:
            return bytes(TIME_LAYOUT.build(sign * (fields.hour * 10000 + fields.minute * 100 + fields.second)))
        total = (fields.hour * 3600 + fields.minute * 60 + fields.second) * 10**fsp + self.units(column, fields.micro)
        return bytes(big_endian(self.size(column)).build(_ZERO_TIME * 10**fsp + sign * total))


class OldDatetimeCodec(OldTemporalCodec, MomentCodec):
    type_codes = (WireType.DATETIME,)
    name = "DATETIME"
    sizes = _DATETIME_SIZES

    def fields(self, column: Column, raw: bytes) -> Moment:
        fsp = self.fsp(column)
        if not fsp:
            day, clock = divmod(Int64ul.parse(raw), 10**6)
            year, month_day = divmod(day, 10**4)
            return Moment(year, month_day // 100, month_day % 100, clock // 10**4, clock // 100 % 100, clock % 100)
        number, units = divmod(big_endian(len(raw)).parse(raw), 10**fsp)
        parts = []
        for base in reversed(_MOMENT_BASES):
            number, part = divmod(number, base)
            parts.append(part)
        second, minute, hour, day, month = parts
        return Moment(number, month, day, hour, minute, second, self.micro(column, units))

    def build(self, column: Column, fields: Moment) -> bytes:
        fsp = self.fsp(column)
        if not fsp:
            return bytes(Int64ul.build(int(fields.text(0).translate({32: None, 45: None, 58: None}))))
        number = fields.year
        for field, base in zip(fields[1:6], _MOMENT_BASES, strict=True):
            number = number * base + field
        return bytes(big_endian(self.size(column)).build(number * 10**fsp + self.units(column, fields.micro)))


class OldTimestampCodec(OldTemporalCodec, UtcCodec):
    type_codes = (WireType.TIMESTAMP,)
    name = "TIMESTAMP"
    sizes = (4, 5, 5, 6, 6, 7, 7)

    def fields(self, column: Column, raw: bytes) -> Moment:
        fsp = self.fsp(column)
        if not fsp:
            return moment_at(Int32ul.parse(raw), 0)
        parsed = with_fraction(Int32ub, fsp).parse(raw)
        micro = self.micro(column, parsed.fraction)
        if micro >= 1_000_000:
            raise bad_value(f"the fraction of {self.type_name(column)} cannot be {parsed.fraction}", 4)
        return moment_at(parsed.whole, micro)

    def build(self, column: Column, fields: Moment) -> bytes:
        fsp = self.fsp(column)
        seconds = timestamp_seconds(self.type_name(column), fields)
        if not fsp:
            return bytes(Int32ul.build(seconds))
        return bytes(
            with_fraction(Int32ub, fsp).build({"whole": seconds, "fraction": self.units(column, fields.micro)})
        )


CODECS = (OldTimeCodec(), OldDatetimeCodec(), OldTimestampCodec())
