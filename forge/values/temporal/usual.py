"""Usual dates and times, from the fields of their layouts to text and back: the quick readers and writers.

What no server stores, and what is not written in the form of the canonical decode, is left to the codecs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from functools import lru_cache

from forge.layouts import FixedLayout
from forge.values.quick import CellReader, CellWriter, UnusualError
from forge.values.temporal.text import MAX_FSP, MAX_HOUR, MAX_YEAR, days_of, fraction_unit

#: Makes a cell of fields, the last of which are microseconds.
Build = Callable[[Sequence[int]], bytes]

#: year * 13 + month of DATETIME.
MONTHS = 13
_DAY = 86400
_EPOCH = date(1970, 1, 1).toordinal()
#: Days whose text is kept, for each reader.
_KEPT = 4096
_SECONDS = {second: f":{second:02d}" for second in range(60)}
_DATE = r"(\d{4})-(\d\d)-(\d\d)"
_CLOCK = r"(\d\d):(\d\d):(\d\d)"


def date_reader(layout: FixedLayout) -> CellReader:
    read = layout.read

    def text(raw: bytes) -> str:
        year, month, day = read(raw)
        if year > MAX_YEAR or month > 12:
            raise UnusualError
        return f"{year:04d}-{month:02d}-{day:02d}"

    return CellReader(text, f"{layout.size}s")


def datetime_reader(layout: FixedLayout, fsp: int) -> CellReader:
    split, high, low = _fraction_texts(fsp)
    positive, months, days, hours, minutes, seconds, fractions = layout.cuts
    day_shift, minute_shift, (second_shift, second_mask), fraction_mask = days[0], minutes[0], seconds, fractions[1]
    hour_unit = 1 << hours[0] - minute_shift
    minute_mask, minute_texts = hours[1] * hour_unit | minutes[1], _minute_texts(hour_unit)

    # Few days occur in a table: their text is kept.
    @lru_cache(maxsize=_KEPT)
    def day_text(bits: int) -> str:
        year, month = divmod(bits << day_shift >> months[0] & months[1], MONTHS)
        if not bits << day_shift >> positive[0] or year > MAX_YEAR:
            raise UnusualError
        return f"{year:04d}-{month:02d}-{bits & days[1]:02d}"

    def text(raw: bytes) -> str:
        bits = int.from_bytes(raw, "big")
        minute, second = minute_texts[bits >> minute_shift & minute_mask], _SECONDS[bits >> second_shift & second_mask]
        fraction = bits & fraction_mask
        return f"{day_text(bits >> day_shift)}{minute}{second}{high[fraction // split]}{low[fraction % split]}"

    return CellReader(text, f"{layout.size}s")


def timestamp_reader(layout: FixedLayout, fsp: int) -> CellReader:
    split, high, low = _fraction_texts(fsp)
    (second_shift, _), (_, fraction_mask) = layout.cuts
    minute_texts = _minute_texts(60)

    def text(raw: bytes) -> str:
        bits = int.from_bytes(raw, "big")
        seconds, fraction = bits >> second_shift, bits & fraction_mask
        if not seconds:
            raise UnusualError  # the zero timestamp
        clock = seconds % _DAY
        minute, second = minute_texts[clock // 60], _SECONDS[clock % 60]
        return f"{_day_text(seconds // _DAY)}{minute}{second}{high[fraction // split]}{low[fraction % split]}"

    return CellReader(text, f"{layout.size}s")


def time_reader(layout: FixedLayout, fsp: int) -> CellReader:
    read, (split, high, low), size = layout.read, _fraction_texts(fsp), layout.size
    zero = 1 << 8 * size - 1

    def text(raw: bytes) -> str:
        number = int.from_bytes(raw, "big") - zero
        hour, minute, second, fraction = read(abs(number).to_bytes(size, "big"))
        if hour > MAX_HOUR or minute > 59:
            raise UnusualError
        sign = "-" if number < 0 else ""
        return f"{sign}{hour:02d}:{minute:02d}{_SECONDS[second]}{high[fraction // split]}{low[fraction % split]}"

    return CellReader(text, f"{size}s")


def moment_writer(build: Build, fsp: int, *, has_clock: bool = True) -> CellWriter:
    """Of dates of the calendar, from the year 1 on, by what makes a cell of their fields."""
    fields_of = _parser(f"{_DATE} {_CLOCK}" if has_clock else rf"{_DATE}()()()", fsp)

    def cell(value: str) -> bytes:
        fields = fields_of(value)
        year, month, day, hour, minute, second, _ = fields
        if not (year and 1 <= month <= 12 and 1 <= day <= (28 if day <= 28 else days_of(year, month))):
            raise UnusualError
        if hour > 23 or minute > 59 or second > 59:
            raise UnusualError
        return build(fields)

    return cell


def clock_writer(build: Build, fsp: int) -> CellWriter:
    """Of times below the largest hour, by what makes a cell of their sign and fields."""
    fields_of = _parser(r"(-?)(\d{2,3}):(\d\d):(\d\d)", fsp)

    def cell(value: str) -> bytes:
        fields = fields_of(value)
        _, hour, minute, second, _ = fields
        if hour >= MAX_HOUR or minute > 59 or second > 59:
            raise UnusualError
        return build(fields)

    return cell


@lru_cache(maxsize=_KEPT)
def _day_text(day: int) -> str:
    return date.fromordinal(_EPOCH + day).isoformat()


@lru_cache
def _minute_texts(hour_unit: int) -> dict[int, str]:
    """The hour and the minute behind a day, by a number that has the hour in this unit and the minute in ones."""
    return {hour * hour_unit + minute: f" {hour:02d}:{minute:02d}" for hour in range(24) for minute in range(60)}


@lru_cache(maxsize=_KEPT)
def day_number(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01."""
    return date(year, month, day).toordinal() - _EPOCH


def _parser(form: str, fsp: int) -> Callable[[str], list[int]]:
    """The numbers of a text of this form, with microseconds of exactly ``fsp`` digits at the end; a sign is 1."""
    match = re.compile(form + (rf"\.(\d{{{fsp}}})" if fsp else "()"), re.ASCII).fullmatch
    unit = 10 ** (MAX_FSP - fsp)

    def fields_of(value: str) -> list[int]:
        found = match(value) if value.__class__ is str else None
        if found is None:
            raise UnusualError
        *parts, fraction = found.groups()
        return [*(1 if part == "-" else int(part or 0) for part in parts), int(fraction or 0) * unit]

    return fields_of


@lru_cache
def _fraction_texts(fsp: int) -> tuple[int, dict[int, str], dict[int, str]]:
    """A stored fraction is split by the first; its two halves are keys of the texts, the first with the point."""
    if not fsp:
        return 1, {0: ""}, {0: ""}
    per_digit = _units_per_digit(fsp)
    digits = (fsp + 1) // 2
    split = 10**digits
    texts = {half: f"{half:0{digits}d}" for half in range(split)}
    low = {half: text[: fsp - digits] for half, text in texts.items() if half % per_digit == 0}
    return split, {half: f".{text}" for half, text in texts.items()}, low


def _units_per_digit(fsp: int) -> int:
    """Units of the stored fraction in the last of its ``fsp`` digits: 10 where that is odd, else 1."""
    return int(10 ** (MAX_FSP - fsp) // fraction_unit(fsp))
