"""What a wheel holds."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def test_the_wheel_has_the_templates_and_the_corpora(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
        archive.extractall(tmp_path / "site")
    for name in ("templates", "corpora"):
        here = {f"forge/_data/{path.relative_to(ROOT)}" for path in (ROOT / name).rglob("*") if path.is_file()}
        assert here
        assert here - packed == set()
    code = "import forge.resources as r; print(r.templates_dir().is_dir(), r.corpora_dir().is_dir(), r.__file__)"
    shown = subprocess.run(
        [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); {code}"],
        cwd=tmp_path, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert shown.split() == ["True", "True", str(tmp_path / "site/forge/resources.py")]
