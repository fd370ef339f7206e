"""CRC32 of events inside kernels: the polynomial of zlib.crc32, which is the one that a server writes.

Where the CPU multiplies without carries (x86 with PCLMULQDQ) sixteen bytes are folded at a time: Gopal et al., "Fast
CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009.  Elsewhere eight tables take eight
bytes at a time ("slicing-by-8", Kounavis and Berry, 2005).
"""

from __future__ import annotations

from typing import Any, Final

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import binding, ir
from numba.core import cgutils, types

from forge.columnar.kept_kernels import CHECKED
from forge.columnar.machine import (
    inline,
    intrinsic,
    is_x86,
    kernel,
    load8,
    load32,
    load64,
    memory,
    pointer,
)

CHECKSUM_SIZE: Final = 4
_POLYNOMIAL: Final = 0xEDB88320
_ONES: Final = np.uint32(0xFFFFFFFF)


def _sliced_tables() -> npt.NDArray[np.uint32]:
    """``[0]`` is the ordinary table; ``[k]`` is that of a byte that ``k`` zero bytes follow."""
    tables = np.zeros((8, 256), np.uint32)
    remainder = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        remainder = (remainder >> np.uint32(1)) ^ np.where(remainder & 1, np.uint32(_POLYNOMIAL), np.uint32(0))
    tables[0] = remainder
    for number in range(1, 8):
        tables[number] = tables[0][tables[number - 1] & 0xFF] ^ (tables[number - 1] >> np.uint32(8))
    return tables


_TABLES: Final = _sliced_tables()


@inline
def _sliced(buffer: Any, begin: Any, count: Any, remainder: Any) -> Any:
    """The remainder after ``count`` more bytes, by tables."""
    mask = np.uint64(0xFF)
    state = np.uint64(remainder)
    at = begin
    end = begin + count
    while at + 8 <= end:
        word = load64(buffer, at) ^ state
        state = np.uint64(
            _TABLES[7, word & mask]
            ^ _TABLES[6, (word >> np.uint64(8)) & mask]
            ^ _TABLES[5, (word >> np.uint64(16)) & mask]
            ^ _TABLES[4, (word >> np.uint64(24)) & mask]
            ^ _TABLES[3, (word >> np.uint64(32)) & mask]
            ^ _TABLES[2, (word >> np.uint64(40)) & mask]
            ^ _TABLES[1, (word >> np.uint64(48)) & mask]
            ^ _TABLES[0, word >> np.uint64(56)]
        )
        at += 8
    while at < end:
        state = np.uint64(_TABLES[0, (state ^ load8(buffer, at)) & mask]) ^ (state >> np.uint64(8))
        at += 1
    return np.uint32(state)


_VECTOR = ir.VectorType(ir.IntType(64), 2)
_BYTE = ir.IntType(8)
_WORD = ir.IntType(64)
_WIDE = ir.IntType(128)


def _pair(low: int, high: int) -> Any:
    return ir.Constant(_VECTOR, [low, high])


#: x to the power of so many bits modulo the polynomial, bits reflected: over 512 bits, and over 128.
_BY_64_BYTES = _pair(0x0154442BD4, 0x01C6E41596)
_BY_16_BYTES = _pair(0x01751997D0, 0x00CCAA009E)
_BY_4_BYTES = _pair(0x0163CD6124, 0)
#: The polynomial, and the quotient of x to the 64th by it (Barrett reduction).
_REDUCTION = _pair(0x01DB710641, 0x01F7011641)
_LOW_WORDS = _pair(0xFFFFFFFF, 0xFFFFFFFF)


class _Folding:
    """Emits the instructions: one object for one compiled function."""

    def __init__(self, builder: Any, data: Any) -> None:
        self.builder = builder
        self.data = data
        multiply_type = ir.FunctionType(_VECTOR, [_VECTOR, _VECTOR, _BYTE])
        self._multiply = cgutils.get_or_insert_function(builder.module, multiply_type, "llvm.x86.pclmulqdq")

    def load(self, at: Any) -> Any:
        value = self.builder.load(self.builder.bitcast(self.builder.gep(self.data, [at]), _VECTOR.as_pointer()))
        value.align = 1
        return value

    def multiply(self, left: Any, right: Any, halves: int) -> Any:
        """Bit 0 of ``halves`` chooses the half of ``left``, bit 4 that of ``right``."""
        return self.builder.call(self._multiply, [left, right, ir.Constant(_BYTE, halves)])

    def fold(self, state: Any, by: Any, more: Any) -> Any:
        both = self.builder.xor(self.multiply(state, by, 0x00), self.multiply(state, by, 0x11))
        return self.builder.xor(both, more)

    def shift(self, value: Any, count: int) -> Any:
        """``value`` without its lowest ``count`` bytes."""
        wide = self.builder.bitcast(value, _WIDE)
        return self.builder.bitcast(self.builder.lshr(wide, ir.Constant(_WIDE, 8 * count)), _VECTOR)

    def fold_rest(self, state: Any, count: Any) -> Any:
        """``state`` and the last ``count`` mod 16 bytes of the data, folded; ``count`` is 16 or more.

        The first bytes of the state, behind as many zeros as make 16 bytes, are folded onto its others and the rest.
        """
        b = self.builder
        bits = b.zext(b.shl(b.and_(count, ir.Constant(_WORD, 15)), ir.Constant(_WORD, 3)), _WIDE)
        others = b.sub(ir.Constant(_WIDE, 128), bits)
        last = b.bitcast(self.load(b.sub(count, ir.Constant(_WORD, 16))), _WIDE)
        wide = b.bitcast(state, _WIDE)
        rest = b.shl(b.lshr(last, others), others)
        first = b.bitcast(b.shl(wide, others), _VECTOR)
        return self.fold(first, _BY_16_BYTES, b.bitcast(b.or_(b.lshr(wide, bits), rest), _VECTOR))

    def reduce(self, state: Any) -> Any:
        """The 32-bit remainder of 128 bits."""
        b = self.builder
        state = b.xor(self.shift(state, 8), self.multiply(state, _BY_16_BYTES, 0x10))
        state = b.xor(self.shift(state, 4), self.multiply(b.and_(state, _LOW_WORDS), _BY_4_BYTES, 0x00))
        quotient = b.and_(self.multiply(b.and_(state, _LOW_WORDS), _REDUCTION, 0x10), _LOW_WORDS)
        state = b.xor(state, self.multiply(quotient, _REDUCTION, 0x00))
        low = b.extract_element(state, ir.Constant(ir.IntType(32), 0))
        return b.trunc(b.lshr(low, ir.Constant(_WORD, 32)), ir.IntType(32))


@intrinsic
def _fold(_typing: Any, buffer: Any, begin: Any, count: Any, remainder: Any) -> Any:
    """The remainder after ``count`` more bytes, 16 or more, by carry-less multiplication."""

    def generate(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
        buffer, begin, count, remainder = arguments
        data = pointer(context, b, signature.args[0], buffer, begin, 8)
        folding = _Folding(b, data)

        def offset(value: int) -> Any:
            return ir.Constant(_WORD, value)

        def repeat(position: Any, step: int, body: Any) -> None:
            """Run ``body`` for every whole ``step`` bytes from ``position`` on."""
            condition, inside, behind = (b.append_basic_block(name) for name in ("condition", "inside", "behind"))
            b.branch(condition)
            b.position_at_end(condition)
            at = b.load(position)
            b.cbranch(b.icmp_signed("<=", b.add(at, offset(step)), count), inside, behind)
            b.position_at_end(inside)
            body(at)
            b.store(b.add(at, offset(step)), position)
            b.branch(condition)
            b.position_at_end(behind)

        start = b.insert_element(_pair(0, 0), b.zext(remainder, _WORD), ir.Constant(ir.IntType(32), 0))
        first = cgutils.alloca_once_value(b, b.xor(folding.load(offset(0)), start))
        position = cgutils.alloca_once_value(b, offset(16))
        with b.if_then(b.icmp_signed(">=", count, offset(64))):
            lanes = [first, *(cgutils.alloca_once(b, _VECTOR) for _ in range(3))]
            for lane in (1, 2, 3):
                b.store(folding.load(offset(16 * lane)), lanes[lane])
            b.store(offset(64), position)

            def four(at: Any) -> None:
                for lane, state in enumerate(lanes):
                    more = folding.load(b.add(at, offset(16 * lane)))
                    b.store(folding.fold(b.load(state), _BY_64_BYTES, more), state)

            repeat(position, 64, four)
            state = b.load(first)
            for lane in (1, 2, 3):
                state = folding.fold(state, _BY_16_BYTES, b.load(lanes[lane]))
            b.store(state, first)

        def one(at: Any) -> None:
            b.store(folding.fold(b.load(first), _BY_16_BYTES, folding.load(at)), first)

        repeat(position, 16, one)
        with b.if_then(b.icmp_signed("!=", b.and_(count, offset(15)), offset(0))):
            b.store(folding.fold_rest(b.load(first), count), first)
        return folding.reduce(b.load(first))

    return types.uint32(buffer, types.intp, types.intp, types.uint32), generate


@inline
def _checked(buffer: Any, begin: Any, count: Any) -> None:
    if CHECKED and count > 0:
        load8(buffer, begin)
        load8(buffer, begin + count - 1)


@inline
def crc32_by_tables(buffer: Any, begin: Any, count: Any) -> Any:
    """The CRC32 of ``count`` bytes of a uint8 array or its memory, as uint32: for any CPU."""
    _checked(buffer, begin, count)
    return _sliced(buffer, np.int64(begin), np.int64(count), _ONES) ^ _ONES


@inline
def crc32_by_folding(buffer: Any, begin: Any, count: Any) -> Any:
    """The same where :func:`multiplies_without_carries`."""
    _checked(buffer, begin, count)
    if count >= 16:
        return _fold(buffer, np.int64(begin), np.int64(count), _ONES) ^ _ONES
    return _sliced(buffer, np.int64(begin), np.int64(count), _ONES) ^ _ONES


def multiplies_without_carries() -> bool:
    """Whether kernels are compiled for a CPU that has PCLMULQDQ."""
    if not is_x86():
        return False
    if numba.config.CPU_FEATURES is not None:
        return "+pclmul" in str(numba.config.CPU_FEATURES).split(",")
    if numba.config.CPU_NAME is not None:
        return False  # Compiled for a named CPU, which need not be this one.
    return bool(binding.get_host_cpu_features().get("pclmul"))


crc32: Final = crc32_by_folding if multiplies_without_carries() else crc32_by_tables


@kernel
def checksum(buffer: Any) -> Any:
    """The CRC32 of a uint8 array."""
    return crc32(buffer, 0, len(buffer))


@kernel
def checksums_hold(buffer: Any, begins: Any, sizes: Any, tails: Any, events: Any) -> Any:
    """The first of so many events whose last 4 bytes are not the CRC32 of those before them; -1 if there is none.

    Event ``i`` is the ``sizes[i]`` bytes (at least 4) from ``buffer[begins[i]]``; it has no checksum if ``tails[i]``
    is 0.
    """
    data = memory(buffer)
    for event in range(events):
        if tails[event] == 0:
            continue
        begin = np.int64(begins[event])
        count = np.int64(sizes[event]) - CHECKSUM_SIZE
        if np.uint64(crc32(data, begin, count)) != load32(data, begin + count):
            return event
    return -1


__all__ = [
    "CHECKSUM_SIZE",
    "checksums_hold",
    "crc32",
    "crc32_by_folding",
    "crc32_by_tables",
    "multiplies_without_carries",
]
