"""CRC32 of events inside kernels: the polynomial of zlib.crc32, which is the one that a server writes.

Where the CPU multiplies without carries (x86 with PCLMULQDQ) sixteen bytes are folded at a time: Gopal et al., "Fast
CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009.  Where it multiplies two pairs at
once (VPCLMULQDQ) these are 32 bytes, as long as there are many.  What is no multiple of sixteen bytes comes first,
behind zeros, which change nothing: most events are short, and would spend most of their time on their end.  Elsewhere
eight tables take eight bytes at a time ("slicing-by-8", Kounavis and Berry, 2005).
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
POLYNOMIAL: Final = 0xEDB88320
_ONES: Final = np.uint32(0xFFFFFFFF)


def _sliced_tables() -> npt.NDArray[np.uint32]:
    """``[0]`` is the ordinary table; ``[k]`` is that of a byte that ``k`` zero bytes follow."""
    tables = np.zeros((8, 256), np.uint32)
    remainder = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        remainder = (remainder >> np.uint32(1)) ^ np.where(remainder & 1, np.uint32(POLYNOMIAL), np.uint32(0))
    tables[0] = remainder
    for number in range(1, 8):
        tables[number] = tables[0][tables[number - 1] & 0xFF] ^ (tables[number - 1] >> np.uint32(8))
    return tables


_TABLES: Final = _sliced_tables()


@inline
def _sliced(buffer: Any, begin: Any, count: Any) -> Any:
    """The remainder of ones after ``count`` bytes, by tables."""
    mask = np.uint64(0xFF)
    state = np.uint64(_ONES)
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


def _heads() -> bytes:
    """For each number of bytes from 0 to 15 a vector: xored with so many bytes at the end of a vector of zeros, it
    stands for the remainder of ones that was before them.
    """
    back = {int(entry) >> 24: byte for byte, entry in enumerate(_TABLES[0])}
    heads = b""
    for count in range(16):
        remainder = int(_ONES)
        for _ in range(count):
            remainder = remainder >> 8 ^ int(_TABLES[0, remainder & 0xFF])
        # The four bytes that make this remainder out of zero, from the last to the first (Stigge et al., "Reversing
        # CRC", 2006).
        for _ in range(4):
            byte = back[remainder >> 24]
            remainder = (remainder ^ int(_TABLES[0, byte])) << 8 & 0xFFFFFFFF | byte
        heads += bytes(12) + remainder.to_bytes(4, "little")
    return heads


_HEADS: Final = _heads()
_VECTOR = ir.VectorType(ir.IntType(64), 2)
_TWO_VECTORS = ir.VectorType(ir.IntType(64), 4)
#: From so many bytes on it is worth its end to fold 16 at a time in four lanes, and 32.
_SOME, _MANY = 128, 256
#: Shuffled by the 16 bytes at ``count``, the first ``count`` bytes of a vector are its last, behind zeros.
_TO_THE_END = bytes([0x80] * 16) + bytes(range(16))
_BYTE = ir.IntType(8)
_BYTES = ir.VectorType(_BYTE, 16)
_WORD = ir.IntType(64)
_WIDE = ir.IntType(128)


def _pair(low: int, high: int) -> Any:
    return ir.Constant(_VECTOR, [low, high])


#: x to the power of so many bits modulo the polynomial, bits reflected: over 1024 bits, 512, 256 and 128.
_BY_128_BYTES = ir.Constant(_TWO_VECTORS, [0x01E88EF372, 0x014A7FE880] * 2)
_BY_32_BYTES = ir.Constant(_TWO_VECTORS, [0x00F1DA05AA, 0x015A546366] * 2)
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

    def load(self, at: Any, kind: Any = _VECTOR) -> Any:
        value = self.builder.load(self.builder.bitcast(self.builder.gep(self.data, [at]), kind.as_pointer()))
        value.align = 1
        return value

    def multiply(self, left: Any, right: Any, halves: int) -> Any:
        """Bit 0 of ``halves`` chooses the half of ``left``, bit 4 that of ``right``; of two vectors those of each."""
        name = "llvm.x86.pclmulqdq" + (".256" if left.type == _TWO_VECTORS else "")
        function_type = ir.FunctionType(left.type, [left.type, left.type, _BYTE])
        function = cgutils.get_or_insert_function(self.builder.module, function_type, name)
        return self.builder.call(function, [left, right, ir.Constant(_BYTE, halves)])

    def fold(self, state: Any, by: Any, more: Any) -> Any:
        both = self.builder.xor(self.multiply(state, by, 0x00), self.multiply(state, by, 0x11))
        return self.builder.xor(both, more)

    def shift(self, value: Any, count: int) -> Any:
        """``value`` without its lowest ``count`` bytes."""
        wide = self.builder.bitcast(value, _WIDE)
        return self.builder.bitcast(self.builder.lshr(wide, ir.Constant(_WIDE, 8 * count)), _VECTOR)

    def head(self, count: Any) -> Any:
        """The first ``count`` mod 16 bytes of the data at the end of a vector, with the remainder of before."""
        b = self.builder
        first = b.bitcast(self.load(_offset(0)), _BYTES)
        function = cgutils.get_or_insert_function(
            b.module, ir.FunctionType(_BYTES, [_BYTES, _BYTES]), "llvm.x86.ssse3.pshuf.b.128"
        )
        order = b.bitcast(self._constant("to_the_end", _TO_THE_END, count), _BYTES)
        moved = b.bitcast(b.call(function, [first, order]), _VECTOR)
        return b.xor(moved, self._constant("heads", _HEADS, b.shl(count, _offset(4))))

    def _constant(self, name: str, data: bytes, at: Any) -> Any:
        """The 16 bytes at ``at`` of a constant."""
        held = cgutils.global_constant(self.builder, name, cgutils.make_bytearray(data))
        return _Folding(self.builder, self.builder.bitcast(held, _BYTE.as_pointer())).load(at)

    def reduce(self, state: Any) -> Any:
        """The 32-bit remainder of 128 bits."""
        b = self.builder
        state = b.xor(self.shift(state, 8), self.multiply(state, _BY_16_BYTES, 0x10))
        state = b.xor(self.shift(state, 4), self.multiply(b.and_(state, _LOW_WORDS), _BY_4_BYTES, 0x00))
        quotient = b.and_(self.multiply(b.and_(state, _LOW_WORDS), _REDUCTION, 0x10), _LOW_WORDS)
        state = b.xor(state, self.multiply(quotient, _REDUCTION, 0x00))
        low = b.extract_element(state, ir.Constant(ir.IntType(32), 0))
        return b.trunc(b.lshr(low, ir.Constant(_WORD, 32)), ir.IntType(32))


class _Loops:
    """The loops over the data: one object for one compiled function.

    ``state`` is where the folded bytes are, which are all those before ``position``.
    """

    def __init__(self, folding: _Folding, count: Any) -> None:
        self.folding = folding
        self.builder = folding.builder
        self.count = count
        self.first = self.builder.and_(count, _offset(15))
        self.head = folding.head(self.first)
        self.state = cgutils.alloca_once_value(self.builder, self.head)
        self.position = cgutils.alloca_once_value(self.builder, self.first)

    def many(self) -> None:
        """Blocks of 128 bytes, 32 at a time."""
        folded = self._lanes(_TWO_VECTORS, 32, _BY_128_BYTES, _BY_32_BYTES)
        low, high = (self._shuffled(folded, folded, [half, half + 1]) for half in (0, 2))
        self.builder.store(self.folding.fold(low, _BY_16_BYTES, high), self.state)

    def some(self) -> None:
        """Blocks of 64 bytes, 16 at a time; nothing of a few."""
        with self.builder.if_then(self.builder.icmp_signed(">=", self.count, _offset(_SOME))):
            self.builder.store(self._lanes(_VECTOR, 16, _BY_64_BYTES, _BY_16_BYTES), self.state)

    def rest(self) -> None:
        """What is left, 16 bytes at a time."""
        b, folding = self.builder, self.folding

        def one(at: Any) -> None:
            b.store(folding.fold(b.load(self.state), _BY_16_BYTES, folding.load(at)), self.state)

        self._repeat(16, one)

    def _shuffled(self, first: Any, second: Any, words: list[int]) -> Any:
        indexes = ir.Constant(ir.VectorType(ir.IntType(32), len(words)), words)
        return self.builder.shuffle_vector(first, second, indexes)

    def _lanes(self, kind: Any, size: int, by_block: Any, by_one: Any) -> Any:
        """Whole blocks of four vectors of ``size`` bytes, side by side and then folded onto the last."""
        b, folding = self.builder, self.folding
        lanes = [cgutils.alloca_once(b, kind) for _ in range(4)]
        start = folding.fold(self.head, _BY_16_BYTES, folding.load(self.first))
        if kind == _TWO_VECTORS:
            start = self._shuffled(start, folding.load(b.add(self.first, _offset(16))), [0, 1, 2, 3])
        b.store(start, lanes[0])
        for lane in (1, 2, 3):
            b.store(folding.load(b.add(self.first, _offset(size * lane)), kind), lanes[lane])
        b.store(b.add(self.first, _offset(4 * size)), self.position)

        def four(at: Any) -> None:
            for lane, state in enumerate(lanes):
                more = folding.load(b.add(at, _offset(size * lane)), kind)
                b.store(folding.fold(b.load(state), by_block, more), state)

        self._repeat(4 * size, four)
        state = b.load(lanes[0])
        for lane in (1, 2, 3):
            state = folding.fold(state, by_one, b.load(lanes[lane]))
        return state

    def _repeat(self, step: int, body: Any) -> None:
        """Run ``body`` for every whole ``step`` bytes from the position on."""
        b = self.builder
        condition, inside, behind = (b.append_basic_block(name) for name in ("condition", "inside", "behind"))
        b.branch(condition)
        b.position_at_end(condition)
        at = b.load(self.position)
        b.cbranch(b.icmp_signed("<=", b.add(at, _offset(step)), self.count), inside, behind)
        b.position_at_end(inside)
        body(at)
        b.store(b.add(at, _offset(step)), self.position)
        b.branch(condition)
        b.position_at_end(behind)


def _offset(value: int) -> Any:
    return ir.Constant(_WORD, value)


def _folding(*, two_at_once: bool) -> Any:
    @intrinsic
    def fold(_typing: Any, buffer: Any, begin: Any, count: Any) -> Any:
        """The remainder of ones after ``count`` bytes, 16 or more, by carry-less multiplication."""

        def generate(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
            buffer, begin, count = arguments
            folding = _Folding(b, pointer(context, b, signature.args[0], buffer, begin, 8))
            loops = _Loops(folding, count)
            if two_at_once:
                with b.if_else(b.icmp_signed(">=", count, _offset(_MANY))) as (many, some):
                    with many:
                        loops.many()
                    with some:
                        loops.some()
            else:
                loops.some()
            loops.rest()
            return folding.reduce(b.load(loops.state))

        return types.uint32(buffer, types.intp, types.intp), generate

    return fold


_fold, _fold_two = _folding(two_at_once=False), _folding(two_at_once=True)


@inline
def _checked(buffer: Any, begin: Any, count: Any) -> None:
    if CHECKED and count > 0:
        load8(buffer, begin)
        load8(buffer, begin + count - 1)


@inline
def crc32_by_tables(buffer: Any, begin: Any, count: Any) -> Any:
    """The CRC32 of ``count`` bytes of a uint8 array or its memory, as uint32: for any CPU."""
    _checked(buffer, begin, count)
    return _sliced(buffer, np.int64(begin), np.int64(count)) ^ _ONES


@inline
def crc32_by_folding(buffer: Any, begin: Any, count: Any) -> Any:
    """The same where :func:`multiplies_without_carries`."""
    _checked(buffer, begin, count)
    if count >= 16:
        return _fold(buffer, np.int64(begin), np.int64(count)) ^ _ONES
    return _sliced(buffer, np.int64(begin), np.int64(count)) ^ _ONES


@inline
def crc32_by_folding_two(buffer: Any, begin: Any, count: Any) -> Any:
    """The same where :func:`multiplies_without_carries` two at once."""
    _checked(buffer, begin, count)
    if count >= 16:
        return _fold_two(buffer, np.int64(begin), np.int64(count)) ^ _ONES
    return _sliced(buffer, np.int64(begin), np.int64(count)) ^ _ONES


def multiplies_without_carries(*, two_at_once: bool = False) -> bool:
    """Whether kernels are compiled for a CPU that has PCLMULQDQ; with ``two_at_once`` VPCLMULQDQ too."""
    needed = ("pclmul", "ssse3") + (("avx2", "vpclmulqdq") if two_at_once else ())
    if not is_x86():
        return False
    if numba.config.CPU_FEATURES is not None:
        return {f"+{name}" for name in needed} <= set(str(numba.config.CPU_FEATURES).split(","))
    if numba.config.CPU_NAME is not None:
        return False  # Compiled for a named CPU, which need not be this one.
    features = binding.get_host_cpu_features()
    return all(features.get(name) for name in needed)


def _quickest() -> Any:
    if multiplies_without_carries(two_at_once=True):
        return crc32_by_folding_two
    return crc32_by_folding if multiplies_without_carries() else crc32_by_tables


crc32: Final = _quickest()


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
    "crc32_by_folding_two",
    "crc32_by_tables",
    "multiplies_without_carries",
]
