"""When moments are on the calendar: microseconds since 1970, by a rate that is even or has a weight for each hour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from forge.bulk.generating.lives import SPAN, Moments
from forge.errors import ScenarioError
from forge.plan.clock import parse_timestamp
from forge.scenario.volume_model import HOURS, Volume

SECOND: Final = 1_000_000
HOUR: Final = 3600 * SECOND
#: A working day of people in one country: a hundredth of the rate of noon at night.
_DAILY: Final = (4, 2, 1, 1, 1, 2, 8, 20, 45, 75, 95, 100, 100, 95, 98, 96, 90, 82, 78, 80, 72, 50, 25, 10)
#: Last second of a header's four bytes.
_LAST: Final = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Calendar:
    """``hours``: where the hours begin on the line of moments, with an entry for the end."""

    start: int
    hours: npt.NDArray[np.float64]
    length: float

    def times(self, moments: Moments) -> npt.NDArray[np.int64]:
        """Microseconds since 1970, which never go back."""
        # Each operation rounds as IEEE 754 says, so that every machine has the same.
        if not len(self.hours):
            return np.asarray(self.start + (moments * (self.length / SPAN)).astype(np.int64))
        last = len(self.hours) - 2
        hour = np.minimum(np.searchsorted(self.hours, moments, "right") - 1, last)
        begin = self.hours[hour]
        within = (moments - begin) / np.maximum(self.hours[hour + 1] - begin, 1.0)
        micro = np.minimum((within * HOUR).astype(np.int64), HOUR - 1)
        return np.asarray(np.minimum(self.start + hour * HOUR + micro, self.start + int(self.length)))


def calendar_of(volume: Volume) -> Calendar:
    """Raises ScenarioError for a start that is no time, and an end that no header can say."""
    second, micro = parse_timestamp(volume.start)
    start, length = second * SECOND + micro, volume.days * 24 * HOUR
    if second < 1 or start + length > _LAST * SECOND:
        raise ScenarioError(
            f"volume: {volume.days:g} days from {volume.start} are beyond what binary logs can say",
            expected="times from 1970 to 2106",
        )
    if volume.rate == "even":
        return Calendar(start, np.zeros(0), length)
    weights: Sequence[float] | Literal["daily"] = volume.rate
    if weights == "daily":
        weights = _DAILY
    first = second // 3600
    sums, reached = [0.0], 0.0
    for hour in range(int(-(-length // HOUR))):
        part = min(length - hour * HOUR, HOUR) / HOUR
        reached += float(weights[(first + hour) % HOURS]) * part
        sums.append(reached)
    if not reached:
        raise ScenarioError("volume.rate is 0 in all hours of volume.days")
    return Calendar(start, np.array([value / reached * SPAN for value in sums]), length)
