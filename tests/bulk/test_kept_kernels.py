"""Where compiled kernels are kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the extra [rows] is not installed")

from forge.bulk.kept_kernels import _KernelFiles
from tests.pages import ROOT, Tree

pytestmark = pytest.mark.slow

_USE = """
import numpy as np
from forge.bulk.gather import nulls_of

nulls_of(np.zeros(8, np.int32))
"""

_NOWHERE = """
import numpy as np
from numba.core.caching import CacheImpl
CacheImpl._locator_classes = []
from forge.bulk.machine import kernel

@kernel
def first(array):
    return array[0]

assert first(np.ones(1, np.uint8)) == 1
"""


def _run(script: Path, package: Path, kernels: str) -> None:
    environment = os.environ | {"PYTHONPATH": str(package), "NUMBA_CACHE_DIR": kernels}
    subprocess.run([sys.executable, script], env=environment, check=True)


def _files(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.nbc")}


@pytest.mark.nightly
def test_a_package_at_another_place_finds_the_kernels_of_the_first(tmp_path: Path) -> None:
    script, kernels = tmp_path / "use.py", tmp_path / "kernels"
    script.write_text(_USE)
    _run(script, ROOT, str(kernels))
    first = _files(kernels)
    assert first
    _run(script, Tree(tmp_path / "again").folder, str(kernels))
    assert _files(kernels) == first


def test_a_kernel_that_can_be_kept_nowhere_is_compiled_for_its_process(tmp_path: Path) -> None:
    script = tmp_path / "nowhere.py"
    script.write_text(_NOWHERE)
    _run(script, ROOT, "/dev/null")


def test_each_signature_has_a_file_of_its_own_whichever_process_writes_it(tmp_path: Path) -> None:
    ours, theirs = (_KernelFiles(tmp_path, "walk-1", "stamp") for _ in range(2))
    assert ours.load(1) is theirs.load(2) is None
    ours.save(1, "of 1")
    theirs.save(2, "of 2")
    assert (ours.load(2), theirs.load(1)) == ("of 2", "of 1")
    assert _KernelFiles(tmp_path, "walk-1", "other").load(1) is None


def test_a_file_that_is_no_kernel_is_written_again(tmp_path: Path) -> None:
    kept = _KernelFiles(tmp_path, "walk-1", "stamp")
    kept.save(1, "of 1")
    [path] = tmp_path.iterdir()
    for damage in (b"", b"\0", path.read_bytes()[:-2]):
        path.write_bytes(damage)
        assert kept.load(1) is None
    kept.save(1, "of 1")
    assert kept.load(1) == "of 1"
