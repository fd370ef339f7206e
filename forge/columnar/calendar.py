"""The calendar in kernels: from year, month and day to the number of a day by a table of the months, and back.

Days are counted from 0001-01-01, which is the first that Arrow's readers take (Python's datetime, for one); only days
of the calendar up to 9999-12-31 have a number.  A month is known by ``year * 13 + month``, as in a DATETIME cell.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from forge.columnar.machine import inline
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
#: The calendar comes back every 400 years.
_ERA_YEARS, _ERA_DAYS = 400, 146097
#: Reciprocals, which are exact below four million seconds.
_CLOCK_BITS: Final = np.uint64(40)
_PER_MINUTE, _PER_HOUR = (np.uint64((1 << 40) // seconds + 1) for seconds in (60, 3600))


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


@cache
def era() -> npt.NDArray[np.int32]:
    """By the number of a day of the years 1 to 400: (year * 13 + month) << 5 | day."""
    days = np.arange(_ERA_DAYS).astype("datetime64[D]") - EPOCH
    firsts = days.astype("datetime64[M]")
    months = firsts.astype(np.int64) + 12 * 1970
    table: npt.NDArray[np.int32] = np.empty(_ERA_DAYS, np.int32)
    table[:] = (months + months // 12 + 1) << 5 | ((days - firsts).astype(np.int64) + 1)
    return table


@inline
def day_number(months: Any, month: Any, day: Any) -> Any:
    """The number of a day (int64), or NO_DAY.  ``month``: any 17 bits; ``day``: from 0 on."""
    entry = np.int64(months[month])
    return (entry >> 5) + day - 1 if 1 <= day <= entry & 31 else np.int64(NO_DAY)


@inline
def day_fields(era: Any, number: Any) -> Any:
    """The (year * 13 + month) << 5 | day of a day's number, both uint64; it must be the number of one."""
    eras = number // np.uint64(_ERA_DAYS)
    return np.uint64(era[number - eras * np.uint64(_ERA_DAYS)]) + eras * np.uint64(_ERA_YEARS * 13 << 5)


@inline
def clock_fields(seconds: Any) -> Any:
    """The hour << 12 | minute << 6 | second of a number of seconds below TIME_END, both uint64."""
    minutes = (seconds * _PER_MINUTE) >> _CLOCK_BITS
    hours = (seconds * _PER_HOUR) >> _CLOCK_BITS
    # Each hour makes 60 << 6 of the minutes' bits 1 << 12, each minute 60 of the seconds' 1 << 6.
    return seconds + hours * np.uint64((1 << 12) - (60 << 6)) + minutes * np.uint64((1 << 6) - 60)
