"""CRC32 of events inside kernels: the polynomial of zlib.crc32, which is the one that a server writes.

ISA-L works it out, whose function kernels call where it lies: a call from Python would cost more than a short event.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from contextlib import suppress
from importlib import import_module
from typing import Any, Final

import numpy as np
from llvmlite import binding
from numba.core import types

from forge.bulk.kept_kernels import CHECKED
from forge.bulk.machine import inline, kernel, load8, load32, memory
from forge.events.format import CHECKSUM_SIZE

#: What kernels call it, whichever library it is of: those that are kept name it so.
_NAME: Final = "forge_crc32"
#: (CRC32 of the bytes before, address, number of bytes) -> CRC32, in the extension of each module.
_IN_MODULES: Final = (("isal.isal_zlib", "crc32_gzip_refl"), ("zlib", "crc32_z"))


def _found() -> Any:
    """The function of ISA-L, or that of zlib on a machine that ISA-L is not built for."""
    for module, name in _IN_MODULES:
        with suppress(ImportError, AttributeError, OSError):
            return getattr(ctypes.CDLL(import_module(module).__file__), name)
    return ctypes.CDLL(ctypes.util.find_library("z")).crc32_z


binding.add_symbol(_NAME, ctypes.cast(_found(), ctypes.c_void_p).value)
_crc32: Any = types.ExternalFunction(_NAME, types.uint32(types.uint64, types.intp, types.uint64))


@inline
def crc32(data: Any, begin: Any, count: Any) -> Any:
    """The CRC32 of ``count`` bytes of the memory of a uint8 array, as uint32."""
    if CHECKED and count > 0:
        load8(data, begin)
        load8(data, begin + count - 1)
    return _crc32(np.uint64(0), data[0] + begin, np.uint64(count))


@kernel
def checksums_hold(buffer: Any, begins: Any, sizes: Any, tails: Any, events: Any) -> Any:
    """The first of so many events whose last 4 bytes are not the CRC32 of those before them; -1 if there is none.

    Event ``i`` is the ``sizes[i]`` bytes (int32, at least 4) from ``buffer[begins[i]]`` (int32); it has no checksum if
    ``tails[i]`` (uint8) is 0, and one if it is 4.
    """
    data = memory(buffer)
    for event in range(events):
        if tails[event] != 0:
            begin = np.int64(begins[event])
            count = np.int64(sizes[event]) - CHECKSUM_SIZE
            if np.uint64(crc32(data, begin, count)) != load32(data, begin + count):
                return event
    return -1
