"""DECIMAL(p,s): decimal128(p,s), and decimal256 where p is beyond 38.

Numbers of up to 18 digits are a word to the kernels, and their cells the first group and a word; longer numbers are
taken group by group.  Odd are groups with more digits than they have; on writing, numbers of more than p digits, and
negative ones in an UNSIGNED column.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from forge.bulk.machine import high_product, inline, kernel, load8, load64, signed, store64, swap64
from forge.bulk.plan import Cells, ColumnPlan, Read, Wire, slacked, values_of
from forge.values.base import Column
from forge.values.numeric.decimals import DECIMAL, group_digits, packed_size

#: Digits of decimal128, and of a number that a word holds.
_MAX_128, _MAX_WORD = 38, 18


class DecimalPlan(ColumnPlan):
    """Groups of up to nine digits, in file order."""

    def __init__(self, column: Column) -> None:
        size = DECIMAL.size(column)
        precision, scale = column.metadata
        wide = precision > _MAX_128
        super().__init__(column, (pa.decimal256 if wide else pa.decimal128)(precision, scale), size)
        self._words = 4 if wide else 2
        digits = group_digits(precision, scale)
        sizes = [packed_size(group, 0) for group in digits]
        self._is_word = precision <= _MAX_WORD
        self._sizes = np.array(sizes, np.int64)
        #: Bits behind a group's in its word: the first group's is its own.
        ends = (sizes[0], *accumulate(sizes[1:])) if self._is_word else ()
        self._behind = np.array([64 - 8 * end for end in ends], np.uint64)
        self._limits = np.array([10**group for group in digits], np.uint64)
        self._reciprocals = np.array([(1 << 64) // 10**group for group in digits], np.uint64)

    def read(self, cells: Cells) -> Read:
        rows = len(cells)
        out, odd = np.empty(self._words * rows, np.uint64), np.empty(rows, np.int32)
        if self._is_word:
            found = _read_word(cells.buffer, cells.offsets, self._sizes, self._behind, self._limits, out, odd)
        else:
            found = _read_wide(cells.buffer, cells.offsets, self._sizes, self._limits, self._words, out, odd)
        return Read((out,), odd[:found])

    def write(self, array: pa.Array) -> Wire:
        rows = len(array)
        out, odd = slacked(self.wire * rows), np.empty(rows, np.int32)
        values, unsigned = values_of(array, 8 * self._words), bool(self.column.unsigned)
        if self._is_word:
            found = _write_word(
                values, self._sizes, self._behind, self._limits, self._reciprocals, self.wire, unsigned, out, odd
            )
        else:
            found = _write_wide(
                values, self._sizes, self._limits, self._reciprocals, self._words, self.wire, unsigned, out, odd
            )
        return Wire(out[: self.wire * rows], odd=odd[:found])


@kernel
def _read_word(buffer: Any, offsets: Any, sizes: Any, behind: Any, limits: Any, out: Any, odd: Any) -> Any:
    found = 0
    first_size, first_behind, first_limit = sizes[0], behind[0], limits[0]
    for row in range(len(offsets)):
        offset = np.int64(offsets[row])
        number = np.int64(0)
        if offset >= 0:
            cell = swap64(load64(buffer, offset)) ^ np.uint64(1 << 63)
            sign = signed(cell) >> 63
            value = (cell ^ np.uint64(sign)) >> first_behind
            bad = value >= first_limit
            cell = swap64(load64(buffer, offset + first_size)) ^ np.uint64(sign)
            for group in range(1, len(sizes)):
                digits = (cell >> behind[group]) & ((np.uint64(1) << np.uint64(8 * sizes[group])) - np.uint64(1))
                bad |= digits >= limits[group]
                value = value * limits[group] + digits
            if bad:
                odd[found] = row
                found += 1
            else:
                number = (signed(value) ^ sign) - sign
        out[2 * row] = np.uint64(number)
        out[2 * row + 1] = np.uint64(number >> 63)
    return found


@kernel
def _read_wide(buffer: Any, offsets: Any, sizes: Any, limits: Any, words: Any, out: Any, odd: Any) -> Any:
    found = 0
    for row in range(len(offsets)):
        offset = np.int64(offsets[row])
        for word in range(words):
            out[words * row + word] = 0
        if offset < 0:
            continue
        mask = np.uint64(0) if load8(buffer, offset) & np.uint64(0x80) else ~np.uint64(0)
        flip = mask ^ np.uint64(1 << 63)
        w0, w1, w2, w3 = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
        bad = False
        for group in range(len(sizes)):
            digits = (swap64(load64(buffer, offset)) ^ flip) >> np.uint64(64 - 8 * sizes[group])
            flip = mask
            offset += sizes[group]
            limit = limits[group]
            bad |= digits >= limit
            # The number so far times the limit, plus the digits.
            carry = high_product(w0, limit)
            w0 = w0 * limit + digits
            carry += np.uint64(w0 < digits)
            higher = high_product(w1, limit)
            w1 = w1 * limit + carry
            if words == 4:
                carry = higher + np.uint64(w1 < carry)
                higher = high_product(w2, limit)
                w2 = w2 * limit + carry
                w3 = w3 * limit + higher + np.uint64(w2 < carry)
        if bad:
            odd[found] = row
            found += 1
            continue
        if mask != 0:
            # Two's complement: the carry goes on as long as a word becomes 0.
            w0 = ~w0 + np.uint64(1)
            carry = np.uint64(w0 == 0)
            w1 = ~w1 + carry
            carry &= np.uint64(w1 == 0)
            w2 = ~w2 + carry
            carry &= np.uint64(w2 == 0)
            w3 = ~w3 + carry
        out[words * row] = w0
        out[words * row + 1] = w1
        if words == 4:
            out[words * row + 2] = w2
            out[words * row + 3] = w3
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
def _write_word(
    values: Any, sizes: Any, behind: Any, limits: Any, reciprocals: Any, width: Any, unsigned: Any, out: Any, odd: Any
) -> Any:
    found = 0
    for row in range(len(odd)):
        low = signed(load64(values, 16 * row))
        high = signed(load64(values, 16 * row + 8))
        sign = high >> 63
        value = np.uint64((low ^ sign) - sign)
        cell = np.uint64(0)
        for group in range(len(limits) - 1, 0, -1):
            value, digits = _divided(value, limits[group], reciprocals[group])
            cell |= digits << behind[group]
        if value >= limits[0] or high != low >> 63 or (unsigned and sign != 0):
            odd[found] = row
            found += 1
        # What is stored behind the value is the next one's place, or slack.
        store64(out, width * row, swap64(value << behind[0] ^ np.uint64(sign) ^ np.uint64(1 << 63)))
        store64(out, width * row + sizes[0], swap64(cell ^ np.uint64(sign)))
    return found


@kernel
def _write_wide(
    values: Any, sizes: Any, limits: Any, reciprocals: Any, words: Any, width: Any, unsigned: Any, out: Any, odd: Any
) -> Any:
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
