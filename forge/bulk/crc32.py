"""CRC32 of events inside kernels: the polynomial of zlib.crc32, which is the one that a server writes.

Where the CPU multiplies without carries, that does it (forge.bulk.crc32_folding), elsewhere tables do.
"""

from __future__ import annotations

from typing import Any, Final

import numba
import numpy as np
from llvmlite import binding

from forge.bulk.crc32_folding import folding, long_from, side_by_side
from forge.bulk.crc32_tables import ONES, sliced
from forge.bulk.kept_kernels import CHECKED
from forge.bulk.machine import inline, is_x86, kernel, load8, load16, load32, memory, signed, size_of
from forge.events.format import CHECKSUM_SIZE

#: What a CPU must have to multiply so many vectors at once.
_NEEDED: Final = {
    1: ("pclmul", "ssse3"),
    2: ("pclmul", "ssse3", "avx2", "vpclmulqdq"),
    4: ("pclmul", "ssse3", "avx512f", "avx512bw", "vpclmulqdq"),
}


def multiplies_at_once() -> tuple[int, ...]:
    """The numbers of vectors that the CPU which kernels are compiled for multiplies without carries at once."""
    if not is_x86():
        return ()
    if numba.config.CPU_FEATURES is not None:
        has = {name[1:] for name in str(numba.config.CPU_FEATURES).split(",") if name.startswith("+")}
    elif numba.config.CPU_NAME is not None:
        return ()  # Compiled for a named CPU, which need not be this one.
    else:
        has = {name for name, is_there in binding.get_host_cpu_features().items() if is_there}
    return tuple(vectors for vectors, needed in _NEEDED.items() if has.issuperset(needed))


@inline
def _checked(buffer: Any, begin: Any, count: Any) -> None:
    if CHECKED and count > 0:
        load8(buffer, begin)
        load8(buffer, begin + count - 1)


@inline
def crc32_by_tables(buffer: Any, begin: Any, count: Any) -> Any:
    """The CRC32 of ``count`` bytes of a uint8 array or its memory, as uint32: for any CPU."""
    _checked(buffer, begin, count)
    return sliced(buffer, np.int64(begin), np.int64(count)) ^ ONES


def crc32_by_folding(vectors: int) -> Any:
    """The same where :func:`multiplies_at_once` has that number."""
    fold = folding(vectors)

    @inline
    def crc32(buffer: Any, begin: Any, count: Any) -> Any:
        _checked(buffer, begin, count)
        if count >= 16:
            return fold(buffer, np.int64(begin), np.int64(count)) ^ ONES
        return sliced(buffer, np.int64(begin), np.int64(count)) ^ ONES

    return crc32


_AT_ONCE: Final = max(multiplies_at_once(), default=0)
crc32: Final = crc32_by_folding(_AT_ONCE) if _AT_ONCE else crc32_by_tables


def behind_short(vectors: int) -> Any:
    """(buffer, begins, sizes, tails, event, events), each array as its memory: the first event from ``event`` on whose
    CRC32 is not known to hold.  So many short ones are looked at together, until they are no more or one does not hold.

    What stands behind an event may be read, but not what is behind the buffer.
    """
    hold = side_by_side(vectors)
    least, most = np.uint64(16 + CHECKSUM_SIZE), np.uint64(long_from(vectors))
    load_tails = {1: load8, 2: load16, 4: load32}[vectors]
    with_checksums = np.uint64(int.from_bytes(bytes([CHECKSUM_SIZE] * vectors)))

    @inline
    def behind(buffer: Any, begins: Any, sizes: Any, tails: Any, event: Any, events: Any) -> Any:
        while event + vectors <= events and load_tails(tails, event) == with_checksums:
            last, beyond = np.uint64(0), np.uint64(0)
            for one in range(event, event + vectors):
                last = max(last, load32(begins, 4 * one))
                # What is below the least becomes too large.
                beyond = max(beyond, load32(sizes, 4 * one) - least)
            longest = signed(beyond + least)
            if beyond > most or signed(last) + longest + 16 > size_of(buffer):
                break
            _checked(buffer, signed(last), longest)
            if not hold(buffer, begins, sizes, event, longest):
                break
            event += vectors
        return event

    return behind


@inline
def _same(_buffer: Any, _begins: Any, _sizes: Any, _tails: Any, event: Any, _events: Any) -> Any:
    return event


_behind_short: Final = behind_short(_AT_ONCE) if _AT_ONCE > 1 else _same


@kernel
def checksum(buffer: Any) -> Any:
    """The CRC32 of a uint8 array."""
    return crc32(buffer, 0, len(buffer))


@kernel
def checksums_hold(buffer: Any, begins: Any, sizes: Any, tails: Any, events: Any) -> Any:
    """The first of so many events whose last 4 bytes are not the CRC32 of those before them; -1 if there is none.

    Event ``i`` is the ``sizes[i]`` bytes (int32, at least 4) from ``buffer[begins[i]]`` (int32); it has no checksum if
    ``tails[i]`` (uint8) is 0, and one if it is 4.
    """
    data = memory(buffer)
    all_begins, all_sizes, all_tails = memory(begins.view(np.uint8)), memory(sizes.view(np.uint8)), memory(tails)
    event = np.int64(0)
    while True:
        event = _behind_short(data, all_begins, all_sizes, all_tails, event, events)
        if event >= events:
            return -1
        if tails[event] != 0:
            begin = np.int64(begins[event])
            count = np.int64(sizes[event]) - CHECKSUM_SIZE
            if np.uint64(crc32(data, begin, count)) != load32(data, begin + count):
                return event
        event += 1


__all__ = [
    "CHECKSUM_SIZE",
    "behind_short",
    "checksums_hold",
    "crc32",
    "crc32_by_folding",
    "crc32_by_tables",
    "multiplies_at_once",
]
