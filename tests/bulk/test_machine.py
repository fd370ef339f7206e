"""What kernels are made of."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba", reason="the extra [rows] is not installed")

import numpy as np

from forge.bulk.machine import copy, kernel, load32, memory, store16

pytestmark = pytest.mark.slow


@kernel
def _through_memory(source: Any, to: Any) -> int:
    read, written = memory(source), memory(to)
    store16(written, 1, load32(read, 2))
    copy(written, 4, read, 0, 2)
    return int(read[1])


def test_the_memory_of_an_array_is_loaded_and_stored_as_the_array_is() -> None:
    source, to = np.arange(7, dtype=np.uint8), np.zeros(6, np.uint8)
    assert _through_memory(source, to) == 7
    assert to.tolist() == [0, 2, 3, 0, 0, 1]


_BEYOND = """
import numpy as np
from forge.bulk.machine import kernel, load32, memory

@kernel
def beyond(array, at):
    return load32({what}, at)

array = np.zeros(8, np.uint8)
assert beyond(array, 4) == 0
for at in (5, -1):
    try:
        beyond(array, at)
    except IndexError:
        continue
    raise SystemExit(f"{{at}} was read")
"""


@pytest.mark.slow
@pytest.mark.parametrize("what", ["array", "memory(array)"])
def test_a_checked_kernel_refuses_an_access_outside_its_array(what: str, tmp_path: Path) -> None:
    script = tmp_path / "beyond.py"
    script.write_text(_BEYOND.format(what=what))
    environment = os.environ | {"FORGE_CHECKED_KERNELS": "1", "PYTHONPATH": str(Path.cwd())}
    subprocess.run([sys.executable, script], env=environment, check=True)
