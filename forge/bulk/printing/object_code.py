"""The kernel that prints as machine code that is kept, and loaded without numba and NumPy: they take half a second.

What is kept is an object file, for the processor and the sources that it was made of; LLVM's loader takes it.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import logging
import os
import sys
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import llvmlite
import llvmlite.binding as llvm

from forge.bulk.kernel_sources import are_as_imported

#: What the kernel is made of, beside this folder.
_SOURCES: Final = (
    "machine.py", "digits.py", "plan.py", "text/utf8.py", "json/text.py", "json/strings.py", "json/doubles.py",
    "json/powers.py",
)  # fmt: skip
_LOG = logging.getLogger("forge.bulk")
_NAME: Final = "print_events"
_KIND: Final = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64
)
#: (address of a table of words, its bytes): why it returned.
Kernel = Callable[[int, int], int]


def _machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), jit=True
    )


def _path() -> Path:
    checked = os.environ.get("FORGE_CHECKED_KERNELS")
    digest = hashlib.sha256(f"{llvmlite.__version__} {llvm.get_host_cpu_name()} {checked}".encode())
    digest.update(llvm.get_host_cpu_features().flatten().encode())
    folder = Path(__file__).parent
    for path in (*sorted(folder.glob("*.py")), *(folder.parent / name for name in _SOURCES)):
        digest.update(path.read_bytes())
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    home = Path(base) if base else Path.home() / ".cache"
    return home / "binlog-forge" / f"{_NAME}-{digest.hexdigest()[:16]}.o"


def is_kept() -> bool:
    """Whether the kernel has been compiled on this machine before."""
    return _path().exists()


def _compiled() -> tuple[str, bytes]:
    """The name of the function, and the object file that has it."""
    import numba
    from numba import types

    # As a progress bar, for people only.
    level = logging.WARNING if sys.stderr is not None and sys.stderr.isatty() else logging.INFO
    _LOG.log(level, "compiling the kernel that prints for this machine, once; `forge warm-up` does it ahead")

    function = importlib.import_module("forge.bulk.printing.events").print_events
    made = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    made.compile((types.int64, types.int64))
    (overload,) = made.overloads.values()
    _, _, (code, _) = overload.library.serialize_using_object_code()
    return overload.fndesc.llvm_func_name, code


def _kept(path: Path) -> tuple[str, bytes] | None:
    with suppress(OSError):
        name, _, code = path.read_bytes().partition(b"\n")
        if name and code:
            return name.decode(), code
    return None


def _keep(path: Path, name: str, code: bytes) -> None:
    unfinished = path.with_suffix(f".{uuid.uuid4().hex}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(name.encode() + b"\n" + code)
        unfinished.replace(path)


@cache
def kernel() -> Kernel:
    """The kernel (forge.bulk.printing.events.print_events).  It is compiled where it is not kept."""
    path = _path()
    found = _kept(path)
    if found is None:
        found = _compiled()
        # Of the sources that the name of the file is made of, if none was replaced meanwhile.
        if are_as_imported() and path == _path():
            _keep(path, *found)
    name, code = found
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    function = _KIND(engine.get_function_address(name))

    def call(address: int, size: int, engine: Any = engine) -> int:
        why = ctypes.c_int64()
        error = (ctypes.c_void_p * 8)()
        if function(ctypes.byref(why), ctypes.addressof(error), address, size):
            raise IndexError("access outside an array")
        return why.value

    return call
