"""Where compiled kernels are kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("numba", reason="the extra [rows] is not installed")

from forge.bulk.kept_kernels import KeptKernel
from tests.pages import ROOT, Tree

pytestmark = pytest.mark.slow

_USE = """
import numpy as np
from forge.bulk.gather import nulls_of

nulls_of(np.zeros(8, np.int32))
"""

_NOWHERE = """
import numpy as np
from forge.bulk.gather import nulls_of

assert nulls_of(np.zeros(8, np.int32)) == 0
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


_UPGRADE = """
import os, sys
from pathlib import Path
import numpy as np
import forge.bulk
import forge.bulk.{first}
path = Path(forge.bulk.__file__).with_name("gather.py")
text = path.read_text()
path.unlink()
path.write_text(text + "# another version\\n")
from forge.bulk.gather import nulls_of

assert nulls_of(np.zeros(8, np.int32)) == 0
"""


@pytest.mark.parametrize("first", ["kernel_sources", "machine", "gather"])
def test_a_process_whose_sources_were_replaced_keeps_no_kernel(tmp_path: Path, first: str) -> None:
    script, kernels = tmp_path / "upgraded.py", tmp_path / "kernels"
    script.write_text(_UPGRADE.format(first=first))
    _run(script, Tree(tmp_path / "package").folder, str(kernels))
    assert not _files(kernels)


class _Code:
    """In the place of what numba compiles, and of the machine that it compiles for."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    @property
    def codegen(self) -> _Code:
        return self

    def magic_tuple(self) -> tuple[str, ...]:
        return ("this machine",)

    def _reduce(self) -> tuple[str]:
        return (self.text,)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> KeptKernel:
    monkeypatch.setattr("forge.bulk.kept_kernels.kernels_folder", lambda: tmp_path)
    monkeypatch.setattr("forge.bulk.kept_kernels.rtsys.initialize", lambda _: None)
    monkeypatch.setattr("forge.bulk.kept_kernels.CompileResult._rebuild", lambda _, text: text)
    return KeptKernel(test_a_kernel_that_can_be_kept_nowhere_is_compiled_for_its_process)


def _loaded(kernel: KeptKernel, signature: str) -> object:
    return kernel.load_overload(signature, SimpleNamespace(codegen=_Code))


def test_each_signature_has_a_file_of_its_own(kernel: KeptKernel) -> None:
    assert _loaded(kernel, "1") is _loaded(kernel, "2") is None
    kernel.save_overload("1", _Code("of 1"))
    kernel.save_overload("2", _Code("of 2"))
    assert (_loaded(kernel, "2"), _loaded(kernel, "1")) == ("of 2", "of 1")


def test_a_file_that_is_no_kernel_is_written_again(kernel: KeptKernel, tmp_path: Path) -> None:
    kernel.save_overload("1", _Code("of 1"))
    [path] = tmp_path.iterdir()
    for damage in (b"", b"\0", path.read_bytes()[:-2]):
        path.write_bytes(damage)
        assert _loaded(kernel, "1") is None
    kernel.save_overload("1", _Code("of 1"))
    assert _loaded(kernel, "1") == "of 1"
