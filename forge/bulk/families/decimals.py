"""DECIMAL(p,s): decimal128(p,s), and decimal256 where p is beyond 38.

Odd are groups with more digits than they have; on writing, numbers of more than p digits, and negative ones in an
UNSIGNED column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from forge.bulk.machine import high_product, inline, kernel, load8, load64, store64, swap64
from forge.bulk.plan import Cells, ColumnPlan, Read, Wire, slacked, values_of
from forge.values.base import Column
from forge.values.numeric.decimals import DECIMAL, group_digits, packed_size

#: Digits of decimal128.
_MAX_128 = 38


class DecimalPlan(ColumnPlan):
    """Groups of up to nine digits, in file order."""

    def __init__(self, column: Column) -> None:
        size = DECIMAL.size(column)
        precision, scale = column.metadata
        wide = precision > _MAX_128
        super().__init__(column, (pa.decimal256 if wide else pa.decimal128)(precision, scale), size)
        self._words = 4 if wide else 2
        digits = group_digits(precision, scale)
        self._sizes = np.array([packed_size(group, 0) for group in digits], np.int64)
        self._limits = np.array([10**group for group in digits], np.uint64)
        self._reciprocals = np.array([(1 << 64) // 10**group for group in digits], np.uint64)

    def read(self, cells: Cells) -> Read:
        rows = len(cells)
        out, odd = np.empty(self._words * rows, np.uint64), np.empty(rows, np.int32)
        found = _read(cells.buffer, cells.offsets, self._sizes, self._limits, self._words, out, odd)
        return Read((out,), odd[:found])

    def write(self, array: pa.Array) -> Wire:
        rows = len(array)
        out, odd = slacked(self.wire * rows), np.empty(rows, np.int32)
        form = self._sizes, self._limits, self._reciprocals, self._words, self.wire
        found = _write(values_of(array, 8 * self._words), form, bool(self.column.unsigned), out, odd)
        return Wire(out[: self.wire * rows], odd=odd[:found])


@kernel
def _read(buffer: Any, offsets: Any, sizes: Any, limits: Any, words: Any, out: Any, odd: Any) -> Any:
    found = 0
    out[:] = 0
    for row in range(len(offsets)):
        offset = np.int64(offsets[row])
        if offset < 0:
            continue
        first, end = words * row, words * row + words
        mask = np.uint64(0) if load8(buffer, offset) & np.uint64(0x80) else ~np.uint64(0)
        flip = mask ^ np.uint64(1 << 63)
        bad = False
        for group in range(len(sizes)):
            # The number so far times the limit, plus the digits.
            carry = (swap64(load64(buffer, offset)) ^ flip) >> np.uint64(64 - 8 * sizes[group])
            bad |= carry >= limits[group]
            for word in range(first, end):
                high = high_product(out[word], limits[group])
                out[word] = out[word] * limits[group] + carry
                carry = high + np.uint64(out[word] < carry)
            flip = mask
            offset += sizes[group]
        if bad:
            odd[found] = row
            found += 1
            out[first:end] = 0
        # Two's complement: the carry goes on as long as a word becomes 0.
        carry = mask & np.uint64(1)
        for word in range(first, end):
            out[word] = (out[word] ^ mask) + carry
            carry &= np.uint64(out[word] == 0)
    return found


@inline
def _divided(value: Any, divisor: Any, reciprocal: Any) -> Any:
    """Quotient and rest of uint64.  ``reciprocal`` is 2^64 / divisor, rounded down."""
    quotient = high_product(value, reciprocal)
    rest = value - quotient * divisor
    if rest >= divisor:
        return quotient + np.uint64(1), rest - divisor
    return quotient, rest


@kernel
def _write(values: Any, form: Any, unsigned: Any, out: Any, odd: Any) -> Any:
    """``form``: of the groups their sizes, limits and reciprocals; words of a number, and bytes of a cell."""
    sizes, limits, reciprocals, words, width = form
    found = 0
    groups = len(limits)
    halves = np.empty(8, np.uint64)
    digits = np.empty(groups, np.uint64)
    for row in range(len(odd)):
        begin = 8 * words * row
        negative = load64(values, begin + 8 * words - 8) >> np.uint64(63) != 0
        mask = ~np.uint64(0) if negative else np.uint64(0)
        carry = np.uint64(negative)
        for word in range(words):
            part = (load64(values, begin + 8 * word) ^ mask) + carry
            carry &= np.uint64(part == 0)
            halves[2 * word] = part & np.uint64(0xFFFFFFFF)
            halves[2 * word + 1] = part >> np.uint64(32)
        group = groups - 1
        left = 2 * words
        while left > 2 and halves[left - 1] == 0:
            left -= 1
        while left > 2 and group >= 0:
            over = np.uint64(0)
            for half in range(left - 1, -1, -1):
                part = over << np.uint64(32) | halves[half]
                halves[half], over = _divided(part, limits[group], reciprocals[group])
            digits[group] = over
            group -= 1
            while left > 2 and halves[left - 1] == 0:
                left -= 1
        value = halves[1] << np.uint64(32) | halves[0]
        while group >= 0:
            value, digits[group] = _divided(value, limits[group], reciprocals[group])
            group -= 1
        beyond = left > 2 or value != 0
        if beyond or (unsigned and negative):
            odd[found] = row
            found += 1
        flip = mask ^ np.uint64(1 << 63)
        at = width * row
        for group in range(groups):
            # What is stored behind a group is the next one's place, or slack.
            store64(out, at, swap64(digits[group] << np.uint64(64 - 8 * sizes[group]) ^ flip))
            flip = mask
            at += sizes[group]
    return found


def plan(column: Column) -> ColumnPlan:
    return DecimalPlan(column)
