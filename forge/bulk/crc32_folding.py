"""CRC32 by multiplication without carries: the instructions that kernels are given (PCLMULQDQ of x86).

Sixteen bytes, a *vector*, are folded at a time: Gopal et al., "Fast CRC Computation for Generic Polynomials Using
PCLMULQDQ Instruction", Intel, 2009.  A multiplication takes the CPU as long for one vector as for two or four in a row
(VPCLMULQDQ), and is most of what it does here.  So long data is folded in rows of vectors, and of short events, each of
which would leave a row empty, as many as vectors are folded side by side.

What is no multiple of sixteen bytes comes first, behind zeros, which change nothing: most events are short, and would
spend most of their time on their end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir
from numba.core import cgutils, types

from forge.bulk.crc32_tables import ONES, POLYNOMIAL, TABLES
from forge.bulk.machine import intrinsic, pointer

#: Bytes of a vector.
_SIZE: Final = 16
_BYTE, _WORD, _HALF = ir.IntType(8), ir.IntType(64), ir.IntType(32)
_BYTES = ir.VectorType(_BYTE, _SIZE)
#: The intrinsic that multiplies the vectors of a row.
_MULTIPLY: Final = {1: "llvm.x86.pclmulqdq", 2: "llvm.x86.pclmulqdq.256", 4: "llvm.x86.pclmulqdq.512"}
#: Data of this many blocks of four rows is long enough for its end to be worth them.
_LONG: Final = 2
#: What the remainder of ones is of any bytes with their CRC32 behind them.
_RESIDUE: Final = 0xDEBB20E3
#: For each number of bytes from 0 to 15 a vector: shuffled by it, so many first bytes are the last, behind zeros.
_TO_THE_END: Final = b"".join(bytes([0x80] * (_SIZE - count)) + bytes(range(count)) for count in range(_SIZE))


def _heads() -> bytes:
    """For each number of bytes from 0 to 15 a vector: xored with so many bytes at the end of a vector of zeros, it
    stands for the remainder of ones that was before them.
    """
    back = {int(entry) >> 24: byte for byte, entry in enumerate(TABLES[0])}
    heads = b""
    for count in range(_SIZE):
        remainder = int(ONES)
        for _ in range(count):
            remainder = remainder >> 8 ^ int(TABLES[0, remainder & 0xFF])
        # The four bytes that make this remainder out of zero, from the last to the first (Stigge et al., "Reversing
        # CRC", 2006).
        for _ in range(4):
            byte = back[remainder >> 24]
            remainder = (remainder ^ int(TABLES[0, byte])) << 8 & 0xFFFFFFFF | byte
        heads += bytes(12) + remainder.to_bytes(4, "little")
    return heads


_HEADS: Final = _heads()


def _power(bits: int) -> int:
    """x to the power of so many bits modulo the polynomial, bits reflected, as a product of 64 bits takes it."""
    power = 1 << 31
    for _ in range(bits):
        power = power >> 1 ^ (POLYNOMIAL if power & 1 else 0)
    return power << 1


def _offset(value: int) -> Any:
    return ir.Constant(_WORD, value)


def _row_type(vectors: int) -> Any:
    """A row of vectors, of two words each."""
    return ir.VectorType(_WORD, 2 * vectors)


class _Row:
    """Emits the instructions for rows of so many vectors: one object for one compiled function."""

    def __init__(self, builder: Any, vectors: int) -> None:
        self.builder = builder
        self.vectors = vectors
        self.kind = _row_type(vectors)

    def load(self, data: Any, at: Any) -> Any:
        """A row from memory."""
        value = self.builder.load(self.builder.bitcast(self.builder.gep(data, [at]), self.kind.as_pointer()))
        value.align = 1
        return value

    def constant(self, low: int, high: int) -> Any:
        """The same two words in each vector."""
        return ir.Constant(self.kind, [low, high] * self.vectors)

    def by_bytes(self, count: int) -> Any:
        """What moves a folded vector over so many bytes."""
        return self.constant(_power(8 * count + 32), _power(8 * count - 32))

    def multiply(self, left: Any, right: Any, halves: int) -> Any:
        """Bit 0 of ``halves`` chooses the half of each vector of ``left``, bit 4 that of ``right``."""
        function_type = ir.FunctionType(self.kind, [self.kind, self.kind, _BYTE])
        function = cgutils.get_or_insert_function(self.builder.module, function_type, _MULTIPLY[self.vectors])
        return self.builder.call(function, [left, right, ir.Constant(_BYTE, halves)])

    def fold(self, state: Any, by: Any, more: Any) -> Any:
        both = self.builder.xor(self.multiply(state, by, 0x00), self.multiply(state, by, 0x11))
        return self.builder.xor(both, more)

    def shuffled(self, first: Any, second: Any, places: list[int]) -> Any:
        indexes = ir.Constant(ir.VectorType(_HALF, len(places)), places)
        return self.builder.shuffle_vector(first, second, indexes)

    def joined(self, vectors: list[Any]) -> Any:
        """Vectors as a row."""
        if len(vectors) == 1:
            return vectors[0]
        half = len(vectors) // 2
        first, second = self.joined(vectors[:half]), self.joined(vectors[half:])
        return self.shuffled(first, second, list(range(4 * half)))

    def split(self, row: Any) -> list[Any]:
        """The vectors of a row."""
        return [self.shuffled(row, row, [2 * at, 2 * at + 1]) for at in range(self.vectors)]

    def _shift(self, row: Any, count: int) -> Any:
        """Each vector without its lowest ``count`` bytes."""
        size = _SIZE * self.vectors
        kind = ir.VectorType(_BYTE, size)
        places = [at + count if at % _SIZE + count < _SIZE else size + at for at in range(size)]
        moved = self.shuffled(self.builder.bitcast(row, kind), ir.Constant(kind, [0] * size), places)
        return self.builder.bitcast(moved, self.kind)

    def reduced(self, row: Any) -> Any:
        """Each vector's remainder, in bits 32 to 63."""
        b = self.builder
        low_words = self.constant(0xFFFFFFFF, 0xFFFFFFFF)
        # The polynomial, and the quotient of x to the 64th by it (Barrett reduction).
        reduction = self.constant(POLYNOMIAL << 1 | 1, 0x01F7011641)
        row = b.xor(self._shift(row, 8), self.multiply(row, self.by_bytes(_SIZE), 0x10))
        row = b.xor(self._shift(row, 4), self.multiply(b.and_(row, low_words), self.by_bytes(4), 0x00))
        quotient = b.and_(self.multiply(b.and_(row, low_words), reduction, 0x10), low_words)
        return b.xor(row, self.multiply(quotient, reduction, 0x00))

    def heads(self, pieces: list[Any], counts: list[Any]) -> Any:
        """Of each piece the first ``count`` mod 16 bytes at the end of a vector, with the remainder of before."""
        b, vector = self.builder, _Row(self.builder, 1)
        shuffle = cgutils.get_or_insert_function(
            b.module, ir.FunctionType(_BYTES, [_BYTES, _BYTES]), "llvm.x86.ssse3.pshuf.b.128"
        )

        def held(name: str, constant: bytes) -> Any:
            return b.bitcast(cgutils.global_constant(b, name, cgutils.make_bytearray(constant)), _BYTE.as_pointer())

        orders, before = held("to_the_end", _TO_THE_END), held("heads", _HEADS)
        places = [b.and_(b.shl(count, _offset(4)), _offset(_SIZE * (_SIZE - 1))) for count in counts]
        moved = [
            b.call(shuffle, [b.bitcast(vector.load(*one), _BYTES) for one in ((piece, _offset(0)), (orders, place))])
            for piece, place in zip(pieces, places, strict=True)
        ]
        found = self.joined([b.bitcast(one, vector.kind) for one in moved])
        return b.xor(found, self.joined([vector.load(before, place) for place in places]))


def _repeat(builder: Any, position: Any, step: int, end: Any, body: Callable[[Any], None]) -> None:
    """Run ``body`` for every whole ``step`` from the position, which it is told, to the end."""
    condition, inside, behind = (builder.append_basic_block(name) for name in ("condition", "inside", "behind"))
    builder.branch(condition)
    builder.position_at_end(condition)
    at = builder.load(position)
    builder.cbranch(builder.icmp_signed("<=", builder.add(at, _offset(step)), end), inside, behind)
    builder.position_at_end(inside)
    body(at)
    builder.store(builder.add(at, _offset(step)), position)
    builder.branch(condition)
    builder.position_at_end(behind)


class _Long:
    """The loops over data: one object for one compiled function.

    ``state`` is the vector that the bytes before ``position`` have been folded to.
    """

    def __init__(self, builder: Any, data: Any, count: Any) -> None:
        self.builder, self.data, self.count = builder, data, count
        self.vector = _Row(builder, 1)
        self.first = builder.and_(count, _offset(_SIZE - 1))
        self.head = self.vector.heads([data], [count])
        self.state = cgutils.alloca_once_value(builder, self.head)
        self.position = cgutils.alloca_once_value(builder, self.first)

    def blocks(self, *vectors: int) -> None:
        """Whole blocks of four rows of the first of these sizes that the data is long enough for."""
        if vectors:
            is_long = self.builder.icmp_signed(">=", self.count, _offset(long_from(vectors[0])))
            with self.builder.if_else(is_long) as (long, short):
                with long:
                    self._blocks(_Row(self.builder, vectors[0]))
                with short:
                    self.blocks(*vectors[1:])

    def _blocks(self, row: _Row) -> None:
        b, size = self.builder, _SIZE * row.vectors
        rows = [cgutils.alloca_once(b, row.kind) for _ in range(4)]
        heads = [self.vector.load(self.data, b.add(self.first, _offset(at))) for at in range(0, size, _SIZE)]
        heads[0] = self.vector.fold(self.head, self.vector.by_bytes(_SIZE), heads[0])
        b.store(row.joined(heads), rows[0])
        for number in (1, 2, 3):
            b.store(row.load(self.data, b.add(self.first, _offset(size * number))), rows[number])
        b.store(b.add(self.first, _offset(4 * size)), self.position)

        def four(at: Any) -> None:
            for number, held in enumerate(rows):
                more = row.load(self.data, b.add(at, _offset(size * number)))
                b.store(row.fold(b.load(held), row.by_bytes(4 * size), more), held)

        _repeat(b, self.position, 4 * size, self.count, four)
        state = b.load(rows[0])
        for number in (1, 2, 3):
            state = row.fold(state, row.by_bytes(size), b.load(rows[number]))
        b.store(state, rows[0])

        def one(at: Any) -> None:
            b.store(row.fold(b.load(rows[0]), row.by_bytes(size), row.load(self.data, at)), rows[0])

        _repeat(b, self.position, size, self.count, one)
        first, *others = row.split(b.load(rows[0]))
        for other in others:
            first = self.vector.fold(first, self.vector.by_bytes(_SIZE), other)
        b.store(first, self.state)

    def rest(self) -> Any:
        """What is left, a vector at a time: the remainder of all."""
        b, vector = self.builder, self.vector

        def one(at: Any) -> None:
            b.store(vector.fold(b.load(self.state), vector.by_bytes(_SIZE), vector.load(self.data, at)), self.state)

        _repeat(b, self.position, _SIZE, self.count, one)
        low = b.extract_element(vector.reduced(b.load(self.state)), ir.Constant(_HALF, 0))
        return b.trunc(b.lshr(low, _offset(32)), _HALF)


def long_from(vectors: int) -> int:
    """How many bytes are worth folding in four rows of so many vectors."""
    return _LONG * 4 * vectors * _SIZE


def folding(vectors: int) -> Any:
    """(buffer, begin, count): the remainder of ones after ``count`` bytes, 16 or more, in rows of so many vectors."""

    @intrinsic
    def fold(_typing: Any, buffer: Any, begin: Any, count: Any) -> Any:
        def generate(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
            buffer, begin, count = arguments
            long = _Long(b, pointer(context, b, signature.args[0], buffer, begin, 8), count)
            long.blocks(*sorted({1, vectors}, reverse=True))
            return long.rest()

        return types.uint32(buffer, types.intp, types.intp), generate

    return fold


def side_by_side(vectors: int) -> Any:
    """(buffer, begins, sizes, first, longest): whether so many pieces, from number ``first`` on, end in their CRC32.

    ``begins`` and ``sizes`` are memory of numbers of 32 bits; a piece has at least 20 bytes with its CRC32, and the
    longest ``longest``, which are there behind the beginning of each.  Each has one vector of a row.
    """

    @intrinsic
    def hold(_typing: Any, buffer: Any, begins: Any, sizes: Any, first: Any, longest: Any) -> Any:
        def generate(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
            kind = ir.VectorType(_HALF, vectors)

            def numbers(argument: int) -> Any:
                begin = b.shl(arguments[3], _offset(2))
                return pointer(context, b, signature.args[argument], arguments[argument], begin, 32)

            def each(numbers: Any) -> list[Any]:
                return [b.sext(b.load(b.gep(numbers, [_offset(at)])), _WORD) for at in range(vectors)]

            pieces = [pointer(context, b, signature.args[0], arguments[0], begin, 8) for begin in each(numbers(1))]
            together = b.load(b.bitcast(numbers(2), kind.as_pointer()))
            together.align = 4
            return _hold(b, pieces, each(numbers(2)), together, arguments[4])

        return types.boolean(buffer, begins, sizes, types.intp, types.intp), generate

    return hold


def _hold(builder: Any, pieces: list[Any], sizes: list[Any], together: Any, longest: Any) -> Any:
    """``together``: the sizes as a vector."""
    b, row, vector = builder, _Row(builder, len(pieces)), _Row(builder, 1)
    state = cgutils.alloca_once_value(b, row.heads(pieces, sizes))
    bodies = [b.gep(piece, [b.and_(size, _offset(_SIZE - 1))]) for piece, size in zip(pieces, sizes, strict=True)]
    # Of each piece the bytes that are folded, those of all words of its vector.
    doubled = row.shuffled(together, together, [at // 2 for at in range(2 * row.vectors)])
    folded_bytes = b.sext(doubled, row.kind)

    def one(at: Any) -> None:
        """The next vector of each piece.  What is read behind the end of one is not folded."""
        more = row.joined([vector.load(body, at) for body in bodies])
        before = b.load(state)
        folded = row.fold(before, row.by_bytes(_SIZE), more)
        behind = b.add(at, _offset(_SIZE))
        first = b.insert_element(ir.Constant(row.kind, ir.Undefined), behind, ir.Constant(_HALF, 0))
        ends = row.shuffled(first, first, [0] * 2 * row.vectors)
        b.store(b.select(b.icmp_signed(">=", folded_bytes, ends), folded, before), state)

    _repeat(b, cgutils.alloca_once_value(b, _offset(0)), _SIZE, longest, one)
    different = b.xor(row.reduced(b.load(state)), row.constant(_RESIDUE << 32, 0))
    different = b.and_(different, row.constant(0xFFFFFFFF << 32, 0))
    some = b.icmp_unsigned("!=", different, row.constant(0, 0))
    flags = ir.IntType(2 * row.vectors)
    return b.icmp_unsigned("==", b.bitcast(some, flags), ir.Constant(flags, 0))
