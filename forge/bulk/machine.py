"""What kernels are made of: the decorator that compiles one, and loads and stores wider than a byte.

A kernel takes arrays and indexes, and hands its functions the :func:`memory` of large ones.  One that takes any number
of arrays gets the memory of each in a table of words; bare addresses are handed to none.  Built with
``FORGE_CHECKED_KERNELS=1`` it checks every access against the array's size and raises IndexError, which is how the long
fuzz runs look for reads outside a buffer.  The ordinary build checks nothing below the lengths that the kernels
themselves check.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba import extending
from numba.core import cgutils, types
from numba.core.types import containers

from forge.bulk.kept_kernels import CHECKED, kept_kernel
from forge.bulk.kept_memory import keep_memory

#: Zero bytes behind every buffer that a kernel reads from: a load of 8 bytes, or a copy of 32, may begin at its last.
SLACK: Final = 64

keep_memory()

_F = TypeVar("_F", bound=Callable[..., Any])
_I64 = ir.IntType(64)
intrinsic: Callable[[Callable[..., Any]], Any] = extending.intrinsic


def kernel(function: _F) -> _F:
    """A compiled function over arrays and numbers.  It holds no lock of the interpreter."""
    return _kept(function, nogil=True)


def brief_kernel(function: _F) -> _F:
    """The same for a few microseconds of work, less than it takes threads to hand over the interpreter: it keeps it."""
    return _kept(function, nogil=False)


def _kept(function: _F, *, nogil: bool) -> _F:
    compiled: Any = numba.njit(nogil=nogil, boundscheck=CHECKED)(function)
    if (place := kept_kernel(function)) is not None:
        compiled._cache = place
    kept: _F = compiled
    return kept


def inline(function: _F) -> _F:
    """A small function that is compiled into the kernels which call it."""
    compiled: _F = numba.njit(nogil=True, boundscheck=CHECKED, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    return compiled


def forced_inline(function: _F) -> _F:
    """The same where the compiler would not: a large one that one kernel calls for each row."""
    compiled: _F = numba.njit(
        nogil=True, boundscheck=CHECKED, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True
    )(function)
    return compiled


def in_place(function: _F) -> _F:
    """The same for one that takes arrays: as if its text stood in the kernel, which counts no references of them."""
    compiled: _F = numba.njit(nogil=True, boundscheck=CHECKED, inline="always")(function)
    return compiled


def pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any, bits: int) -> Any:
    """For intrinsics: where the byte at ``index`` of an array or its memory is, as a pointer to ``bits``."""
    if isinstance(array_type, containers.UniTuple):
        data = builder.inttoptr(builder.extract_value(array, 0), ir.IntType(8).as_pointer())
    else:
        data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), ir.IntType(bits).as_pointer())


def _raw_load(bits: int) -> Any:
    @intrinsic
    def load(_typing: Any, array: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            value = builder.load(pointer(context, builder, signature.args[0], arguments[0], arguments[1], bits))
            value.align = 1
            return value if bits == 64 else builder.zext(value, _I64)

        return types.uint64(array, types.intp), generate

    return load


def _raw_store(bits: int) -> Any:
    @intrinsic
    def store(_typing: Any, array: Any, index: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array, index, value = arguments
            narrow = value if bits == 64 else builder.trunc(value, ir.IntType(bits))
            stored = builder.store(narrow, pointer(context, builder, signature.args[0], array, index, bits))
            stored.align = 1
            return context.get_dummy_value()

        return types.void(array, types.intp, types.uint64), generate

    return store


_LOADS = [_raw_load(bits) for bits in (8, 16, 32, 64)]
_STORES = [_raw_store(bits) for bits in (8, 16, 32, 64)]


@intrinsic
def _copy(_typing: Any, to: Any, at: Any, source: Any, begin: Any, count: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, at, source, begin, count = arguments
        target = pointer(context, builder, signature.args[0], to, at, 8)
        cgutils.raw_memcpy(builder, target, pointer(context, builder, signature.args[2], source, begin, 8), count, 1)
        return context.get_dummy_value()

    return types.void(to, types.intp, source, types.intp, types.intp), generate


def _operation(argument: Any, result: Any, make: Callable[[Any, Any], Any]) -> Any:
    """One instruction of a word."""

    @intrinsic
    def operation(_typing: Any, word: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return make(builder, arguments[0])

        return result(argument), generate

    return operation


_NOT_POISON: Final = ir.Constant(ir.IntType(1), 0)
#: The eight bytes of a uint64 in the other order.
swap64 = _operation(types.uint64, types.uint64, lambda builder, word: builder.bswap(word))
#: The same 64 bits as int64: mixing int64 and uint64 in an expression would make a float.
signed = _operation(types.uint64, types.int64, lambda _builder, word: word)
#: The same 64 bits as uint64.
unsigned = _operation(types.int64, types.uint64, lambda _builder, word: word)
#: Zero bits of a uint64 above the first one and below the last, as int64; 64 for zero.
leading_zeros = _operation(types.uint64, types.int64, lambda builder, word: builder.ctlz(word, _NOT_POISON))
trailing_zeros = _operation(types.uint64, types.int64, lambda builder, word: builder.cttz(word, _NOT_POISON))
#: The double of 64 bits, and that of the 32 bits of a float.
double_of = _operation(types.uint64, types.float64, lambda builder, word: builder.bitcast(word, ir.DoubleType()))
double_of_float = _operation(
    types.uint64, types.float64,
    lambda builder, word: builder.fpext(
        builder.bitcast(builder.trunc(word, ir.IntType(32)), ir.FloatType()), ir.DoubleType()
    ),
)  # fmt: skip
#: The 64 bits of a double.
double_bits = _operation(types.float64, types.uint64, lambda builder, number: builder.bitcast(number, _I64))


@intrinsic
def high_product(_typing: Any, left: Any, right: Any) -> Any:
    """The upper 64 bits of the product of two uint64."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(arguments[0], wide), builder.zext(arguments[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), _I64)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def memory(_typing: Any, array: Any) -> Any:
    """(address, bytes) of a uint8 array, which loads, stores and copies take in its place.

    An array costs a count of its references in every function that it is handed to, which is more than most such
    functions do.  A kernel makes the memory of its own argument, which outlives it, and hands that on.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        held = context.make_array(signature.args[0])(context, builder, arguments[0])
        words = [builder.ptrtoint(held.data, _I64), held.nitems]
        return context.make_tuple(builder, signature.return_type, words)

    return containers.UniTuple(types.int64, 2)(array), generate


@intrinsic
def size_of(_typing: Any, array: Any) -> Any:
    """The bytes of a uint8 array or its memory."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if isinstance(signature.args[0], containers.UniTuple):
            return builder.extract_value(arguments[0], 1)
        return context.make_array(signature.args[0])(context, builder, arguments[0]).nitems

    return types.int64(array), generate


@inline
def _inside(array: Any, index: Any, count: Any) -> None:
    if index < 0 or count < 0 or index + count > size_of(array):
        raise IndexError("access outside an array")


def _load(raw: Any, count: int) -> Any:
    """A load of ``count`` bytes; in the ordinary build nothing stands around it that would have to be compiled."""
    if not CHECKED:
        return raw

    @inline
    def checked(array: Any, index: Any) -> Any:
        _inside(array, index, count)
        return raw(array, index)

    return checked


def _store(raw: Any, count: int) -> Any:
    if not CHECKED:
        return raw

    @inline
    def checked(array: Any, index: Any, value: Any) -> None:
        _inside(array, index, count)
        raw(array, index, value)

    return checked


@inline
def _checked_copy(to: Any, at: Any, source: Any, begin: Any, count: Any) -> None:
    _inside(to, at, count)
    _inside(source, begin, count)
    _copy(to, at, source, begin, count)


#: (array, index): the little-endian number of 1, 2, 4 or 8 bytes at that index of a uint8 array, as uint64.
load8, load16, load32, load64 = (_load(raw, 1 << place) for place, raw in enumerate(_LOADS))
#: (array, index, value): the low bytes of a uint64, little-endian, at that index of a uint8 array.
store8, store16, store32, store64 = (_store(raw, 1 << place) for place, raw in enumerate(_STORES))
#: (to, at, source, begin, count): that many bytes from ``source[begin]`` to ``to[at]``; the arrays do not overlap.
copy: Any = _checked_copy if CHECKED else _copy

#: Bytes that a copy of fixed size takes, without a call.
_SHORT: Final = 32


@inline
def copy_text(to: Any, at: Any, source: Any, begin: Any, length: Any) -> None:
    """A text, most of which are short, from ``source[begin]`` to ``to[at]``: both have room for 32 bytes behind it."""
    if length <= _SHORT:
        copy(to, at, source, begin, _SHORT)
    elif length <= 2 * _SHORT:
        copy(to, at, source, begin, _SHORT)
        copy(to, at + _SHORT, source, begin + _SHORT, _SHORT)
    else:
        copy(to, at, source, begin, length)


@inline
def are_same(first: Any, begin: Any, second: Any, at: Any, size: Any) -> Any:
    """Whether ``size`` bytes are equal in two arrays or memories; both have room behind them."""
    done = np.int64(0)
    while done + 8 <= size:
        if load64(first, begin + done) != load64(second, at + done):
            return False
        done += 8
    # Of the last word the bytes that are left.
    different = load64(first, begin + done) ^ load64(second, at + done)
    return different & ((np.uint64(1) << np.uint64(8 * (size - done))) - np.uint64(1)) == np.uint64(0)
