"""The calendar in kernels: from year, month and day to the number of a day by a table of the months, and back.

The way back has no table and no branch, and multiplies by reciprocals in place of dividing: factors are numbers of 32
bits, so that the compiler makes instructions of it that take several values at once.

Days are counted from 0001-01-01, which is the first that Arrow's readers take (Python's datetime, for one); only days
of the calendar up to 9999-12-31 have a number.  A month is known by ``year * 13 + month``, as in a DATETIME cell.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from forge.bulk.machine import inline
from forge.values.temporal.text import MAX_HOUR

#: Days from 0001-01-01 to 1970-01-01, and to 10000-01-01.
EPOCH: Final = 719162
DAYS: Final = 3652059
#: Microseconds of a second and of a day, and where TIME ends: behind 838:59:59.999999.
SECOND: Final = 1_000_000
DAY: Final = 86400 * SECOND
TIME_END: Final = (MAX_HOUR + 1) * 3600 * SECOND
#: The number of no day.
NO_DAY: Final = -1
#: Years begin in March here, so that a leap day is the last of its year (C. Neri, L. Schneider, "Euclidean affine
#: functions and their application to calendar algorithms", 2022): days from March to December; those of 400 years and
#: of four.
_FROM_MARCH, _ERA_DAYS, _FOUR_YEARS = 306, 146097, 1461
#: 2141 times the day of such a year, plus 197913, has its month (3 to 14) from bit 16 on; below that are 2141 for each
#: day of the month.
_MONTH_BITS, _PER_DAY, _FIRST_OF_MARCH = np.uint64(16), np.uint64(2141), np.uint64(197913)
_LOW: Final = np.uint64(0xFFFFFFFF)


def _reciprocal(divisor: int, bits: int) -> np.uint64:
    """What takes the place of a division, with a shift by ``bits``: exact below 2^bits / divisor."""
    return np.uint64((1 << bits) // divisor + 1)


#: The bits of each reciprocal below.
_SECOND_BITS, _ERA_BITS, _YEAR_BITS, _CLOCK_BITS = (np.uint64(bits) for bits in (45, 41, 32, 37))
_PER_SECOND: Final = _reciprocal(SECOND >> 6, 45)
_PER_ERA: Final = _reciprocal(_ERA_DAYS, 41)
_PER_FOUR_YEARS: Final = _reciprocal(_FOUR_YEARS, 32)
_MONTH_DAY_BITS, _PER_MONTH_DAY = np.uint64(28), _reciprocal(2141, 28)
_PER_MINUTE, _PER_HOUR = _reciprocal(60, 37), _reciprocal(3600, 37)
#: A day in units of 2^13 microseconds; a reciprocal of it that may give one too few, for units of 2^27.
_COARSE_BITS, _COARSE_DAY = np.uint64(13), np.uint64(DAY >> 13)
_COARSER_BITS, _PER_DAY_BITS = np.uint64(14), np.uint64(41)
_PER_COARSE_DAY: Final = np.uint64((1 << 41 + 14) // (DAY >> 13))


@cache
def months() -> npt.NDArray[np.int32]:
    """By year * 13 + month, of 17 bits: the number of the month's first day << 5 | how many days it has.

    What is no month has no days.
    """
    firsts = np.arange("0001-01", "10000-02", dtype="datetime64[M]").astype("datetime64[D]").astype(np.int64) + EPOCH
    months = np.arange(12, 12 + len(firsts) - 1)
    table = np.zeros(1 << 17, np.int32)
    table[months + months // 12 + 1] = firsts[:-1] << 5 | np.diff(firsts)
    return table


@inline
def day_number(months: Any, month: Any, day: Any) -> Any:
    """The number of a day (int64), or NO_DAY.  ``month``: any 17 bits; ``day``: from 0 on."""
    entry = np.int64(months[month])
    return (entry >> 5) + day - 1 if 1 <= day <= entry & 31 else np.int64(NO_DAY)


@inline
def moment_fields(since: Any) -> Any:
    """(number of the day, second of the day, microsecond) of microseconds since 0001-01-01, all uint64.

    ``since`` must be below ``DAYS * DAY``.
    """
    coarse = since >> _COARSE_BITS
    number = (((coarse >> _COARSER_BITS) & _LOW) * _PER_COARSE_DAY) >> _PER_DAY_BITS
    number += np.uint64(coarse - number * _COARSE_DAY >= _COARSE_DAY)
    rest = since - number * np.uint64(DAY)
    second = (((rest >> np.uint64(6)) & _LOW) * _PER_SECOND) >> _SECOND_BITS
    return number, second, rest - second * np.uint64(SECOND)


@inline
def day_fields(number: Any) -> Any:
    """The (year * 13 + month) << 5 | day of a day's number, both uint64; it must be the number of one."""
    # Quarters of a day: a century and a year are not whole days.
    quarters = (number + np.uint64(_FROM_MARCH)) << np.uint64(2) | np.uint64(3)
    centuries = ((quarters & _LOW) * _PER_ERA) >> _ERA_BITS
    of_century = (quarters - centuries * np.uint64(_ERA_DAYS)) | np.uint64(3)
    year = ((of_century & _LOW) * _PER_FOUR_YEARS) >> _YEAR_BITS
    day_of_year = (of_century >> np.uint64(2)) - (year * np.uint64(_FOUR_YEARS) >> np.uint64(2))
    month_and_day = (day_of_year & _LOW) * _PER_DAY + _FIRST_OF_MARCH
    month = month_and_day >> _MONTH_BITS
    day = (month_and_day & np.uint64(0xFFFF)) * _PER_MONTH_DAY >> _MONTH_DAY_BITS
    # January and February, which are 13 and 14, belong to the next year: a year more and 12 months less.
    next_year = np.uint64(day_of_year >= np.uint64(_FROM_MARCH))
    return (centuries * np.uint64(1300) + year * np.uint64(13) + month + next_year) << np.uint64(5) | day + np.uint64(1)


@inline
def clock_fields(seconds: Any) -> Any:
    """The hour << 12 | minute << 6 | second of a number of seconds below TIME_END, both uint64."""
    minutes = (seconds * _PER_MINUTE) >> _CLOCK_BITS
    hours = (seconds * _PER_HOUR) >> _CLOCK_BITS
    # Each hour makes 60 << 6 of the minutes' bits 1 << 12, each minute 60 of the seconds' 1 << 6.
    return seconds + hours * np.uint64((1 << 12) - (60 << 6)) + minutes * np.uint64((1 << 6) - 60)
