"""What stands around the rows: header lines, times, base64."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from forge.bulk.digits import write_digits, write_unsigned
from forge.bulk.machine import (
    copy_text,
    inline,
    load8,
    load32,
    load64,
    signed,
    store8,
    store16,
    store32,
    swap64,
)
from forge.bulk.printing import texts as fixed
from forge.bulk.printing import words
from forge.bulk.printing.access import get, memory_at, put
from forge.bulk.printing.cells import put_clock, two
from forge.bulk.printing.words import ZONE_COUNT, ZONE_WORDS

_FLAG_AT: Final = np.array([begin for begin, _ in fixed.FLAG_NAMES], np.int64)
_FLAG_SIZE: Final = np.array([size for _, size in fixed.FLAG_NAMES], np.int64)

_DIGITS: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
_FIFTEEN: Final = np.uint64(15)
_MINUS, _SPACE, _COLON, _POINT, _OPEN, _CLOSE, _HASH, _FEED = (np.uint64(ord(sign)) for sign in "- :.()#\n")
#: Bytes of an event in a line of base64, and the two letters of every 12 bits.
BASE64_LINE: Final = 57
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_OF_12_BITS: Final = np.array([ord(one) | ord(two) << 8 for one in _LETTERS for two in _LETTERS], np.uint16)
_EQUALS: Final = np.uint64(ord("="))


@inline
def put_text(span: Any, texts: Any, out: Any, o: Any) -> Any:
    """A constant text; the place behind."""
    copy_text(out, o, texts, np.int64(span[0]), np.int64(span[1]))
    return o + span[1]


@inline
def put_span(at: Any, size: Any, texts: Any, out: Any, o: Any) -> Any:
    copy_text(out, o, texts, at, size)
    return o + size


@inline
def put_number(span: Any, number: Any, texts: Any, out: Any, o: Any) -> Any:
    """A constant text and a number that is not negative."""
    return write_unsigned(np.uint64(number), out, put_text(span, texts, out, o))


@inline
def _put_hex(word: Any, digits: Any, out: Any, o: Any) -> Any:
    for place in range(o + digits - 1, o - 1, -1):
        store8(out, place, np.uint64(_DIGITS[signed(word & _FIFTEEN)]))
        word >>= np.uint64(4)
    return o + digits


@inline
def put_uuid(data: Any, at: Any, out: Any, o: Any) -> Any:
    high, low = swap64(load64(data, at)), swap64(load64(data, at + 8))
    o = _put_hex(high >> np.uint64(32), 8, out, o)
    store8(out, o, _MINUS)
    o = _put_hex(high >> np.uint64(16), 4, out, o + 1)
    store8(out, o, _MINUS)
    o = _put_hex(high, 4, out, o + 1)
    store8(out, o, _MINUS)
    o = _put_hex(low >> np.uint64(48), 4, out, o + 1)
    store8(out, o, _MINUS)
    return _put_hex(low, 12, out, o + 1)


@inline
def zone_of(table: Any, second: Any) -> Any:
    """The record of the zone that holds for a second; -1 if it is not known."""
    zones = memory_at(table, words.ZONES)
    for number in range(ZONE_COUNT):
        record = number * ZONE_WORDS
        if get(zones, record) <= second < get(zones, record + words.UNTIL):
            return np.int64(record)
    return np.int64(-1)


@inline
def _day_of(days: Any) -> Any:
    """Year, month and day of a number of days since 1970-01-01, which is not far before."""
    days += 719468
    era = days // 146097
    day = days - era * 146097
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5 - 1
    month = month + 3 if month < 10 else month - 9
    return year + era * 400 + (1 if month <= 2 else 0), month, day


@inline
def know_moment(table: Any, second: Any) -> Any:
    """Have the time as headers show it; whether the zone is known."""
    if get(table, words.MOMENT) == second:
        return True
    zone = zone_of(table, second)
    if zone < 0:
        put(table, words.ASKED, second)
        return False
    put(table, words.MOMENT, second)
    clock = memory_at(table, words.CLOCK)
    local = second + get(memory_at(table, words.ZONES), zone + words.OFFSET)
    year, month, day = _day_of(local // 86400)
    rest = local % 86400
    o = two(day, clock, two(month, clock, two(year % 100, clock, np.int64(0))))
    store8(clock, o, _SPACE)
    put_clock(rest // 3600, rest // 60 % 60, rest % 60, clock, o + 1)
    if rest < 36000:
        store8(clock, o + 1, _SPACE)
    return True


@inline
def put_moment_in_full(table: Any, micros: Any, texts: Any, out: Any, o: Any) -> Any:
    """A time of microseconds, whose zone is known, in brackets, with its number in front."""
    zones = memory_at(table, words.ZONES)
    second, micro = micros // 1000000, micros % 1000000
    zone = zone_of(table, second)
    local = second + get(zones, zone + words.OFFSET)
    year, month, day = _day_of(local // 86400)
    rest = local % 86400
    o = write_unsigned(np.uint64(micros), out, o)
    store8(out, o, _SPACE)
    store8(out, o + 1, _OPEN)
    o = two(year % 100, out, two(year // 100, out, o + 2))
    store8(out, o, _MINUS)
    o = two(month, out, o + 1)
    store8(out, o, _MINUS)
    o = two(day, out, o + 1)
    store8(out, o, _SPACE)
    o = put_clock(rest // 3600, rest // 60 % 60, rest % 60, out, o + 1)
    store8(out, o, _POINT)
    o = write_digits(np.uint64(micro), 6, out, o + 1)
    store8(out, o, _SPACE)
    o = put_span(get(zones, zone + words.NAME_AT), get(zones, zone + words.NAME_SIZE), texts, out, o + 1)
    store8(out, o, _CLOSE)
    store8(out, o + 1, _FEED)
    return o + 2


@inline
def put_place(table: Any, at: Any, texts: Any, out: Any, o: Any) -> Any:
    """The line that says where an event is."""
    o = put_number(fixed.AT_PLACE, get(table, words.PLACE) + at, texts, out, o)
    store8(out, o, _FEED)
    return o + 1


@inline
def put_header(table: Any, data: Any, at: Any, size: Any, texts: Any, out: Any, o: Any) -> Any:
    """The lines of an event up to the tab; its time is known."""
    return put_header_line(table, data, at, size, texts, out, put_place(table, at, texts, out, o))


@inline
def put_header_line(table: Any, data: Any, at: Any, size: Any, texts: Any, out: Any, o: Any) -> Any:
    """The second of them."""
    store8(out, o, _HASH)
    copy_text(out, o + 1, memory_at(table, words.CLOCK), np.int64(0), np.int64(15))  # yymmdd hh:mm:ss
    o = put_number(fixed.SERVER_ID, load32(data, at + 5), texts, out, o + 16)
    o = put_number(fixed.END_POS, load32(data, at + 13), texts, out, o)
    if get(table, words.TAIL):
        o = put_text(fixed.CRC, texts, out, o)
        o = _put_hex(load32(data, at + size - 4), 8, out, o)
    store8(out, o, _SPACE)
    return o + 1


@inline
def put_flags(flags: Any, texts: Any, out: Any, o: Any) -> Any:
    """The names of a row event's flags, and the end of the line."""
    if flags:
        o = put_text(fixed.WITH_FLAGS, texts, out, o)
    for bit in range(5):
        if flags >> bit & 1:
            o = put_span(_FLAG_AT[bit], _FLAG_SIZE[bit], texts, out, o)
    store8(out, o, _FEED)
    return o + 1


@inline
def put_base64(data: Any, at: Any, size: Any, out: Any, o: Any) -> Any:
    """The bytes as lines of base64."""
    end = at + size
    while at < end:
        stop = min(at + BASE64_LINE, end)
        while at + 3 <= stop:
            word = swap64(load64(data, at)) >> np.uint64(40)
            upper = np.uint64(_OF_12_BITS[signed(word >> np.uint64(12))])
            lower = np.uint64(_OF_12_BITS[signed(word & np.uint64(0xFFF))])
            store32(out, o, upper | lower << np.uint64(16))
            at += 3
            o += 4
        if at < stop:
            left = stop - at
            word = np.uint64(load8(data, at)) << np.uint64(16)
            if left == 2:
                word |= np.uint64(load8(data, at + 1)) << np.uint64(8)
            store16(out, o, np.uint64(_OF_12_BITS[signed(word >> np.uint64(12))]))
            store16(out, o + 2, np.uint64(_OF_12_BITS[signed(word & np.uint64(0xFFF))]))
            store8(out, o + 3, _EQUALS)
            if left == 1:
                store8(out, o + 2, _EQUALS)
            at = stop
            o += 4
        store8(out, o, _FEED)
        o += 1
    return o
