"""Exported targets, each run for a minute by its engine: it finds a defect that is known, in a release that has it.

What is not here is said and skipped. ``FORGE_CONNECTOR_C`` is a folder with the source of MariaDB Connector/C 3.3.8;
``make nightly`` runs these.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from forge.conform.fuzz.export import engine_of, exported
from forge.conform.fuzz.seeds import SeedLog, chosen_seeds, recorded_logs

#: Seconds that an engine may run.
_MINUTE = 60.0
_CONNECTOR_C = os.environ.get("FORGE_CONNECTOR_C", "")
_LIBRARY = Path("connector/libmariadb/libmariadbclient.a")
#: What a run with libFuzzer leaves: the log that it ended at.
_UNIT = re.compile(r"Test unit written to (\S+)")


@dataclass(frozen=True, slots=True)
class Target:
    """What makes a target try the release, what runs it, what it says of the known defect.

    A run that ends at one log says which by ``ended``; the log is taken away, and the engine goes on.
    """

    needs: tuple[str, ...]
    defect: str
    said: str
    run: tuple[str, ...]
    build: tuple[tuple[str, ...], ...] = ()
    edit: Callable[[Path], None] = lambda folder: None
    ended: re.Pattern[str] = _UNIT
    environment: tuple[tuple[str, str], ...] = ()


def _go_release(folder: Path) -> None:
    module = folder / "go.mod"
    module.write_text(re.sub(r"(go-mysql) v\S+", r"\1 v1.12.0", module.read_text()))


_LIBFUZZER = ("-seed=1", "-dict=binlog.dict", "-timeout=5", "-rss_limit_mb=1024", "-max_total_time=60")
_C_FLAGS = f"FLAGS=-I{_CONNECTOR_C}/include -Iconnector/include {_LIBRARY} -lz -ldl -lm -lpthread"


def _connector(compiler: str, flags: str) -> tuple[tuple[str, ...], ...]:
    """Compile Connector/C with the instrumentation of the engine."""
    without = ("-DWITH_SSL=OFF", "-DWITH_UNIT_TESTS=OFF", "-DWITH_CURL=OFF", "-DCLIENT_PLUGIN_ZSTD=OFF")
    return (
        ("cmake", "-S", _CONNECTOR_C, "-B", "connector", f"-DCMAKE_C_COMPILER={compiler}", f"-DCMAKE_C_FLAGS={flags}",
         "-DWITH_EXTERNAL_ZLIB=OFF", *without),
        ("cmake", "--build", "connector", "--target", "mariadbclient"),
        ("make", _C_FLAGS),
    )  # fmt: skip


_PARTITIONS = ("CONC-688: rows of a partitioned table end the reader", r"mariadb_rpl\.c:18[0-9]+")
TARGETS = {
    "go": Target(
        ("go",), "go-mysql before 1.13: compressed rows of MariaDB are a panic", r"EventType:0xa[6-8], ",
        ("sh", "-c", "go test; go test -fuzz FuzzBinlog -fuzztime 60s"), (("go", "mod", "tidy"),), _go_release,
        re.compile(r"seed corpus entry: FuzzBinlog/(\w+)|written to testdata/fuzz/FuzzBinlog/(\w+)"),
    ),
    "cargo-fuzz": Target(
        ("cargo-fuzz",), "mysql_common: a negative TIME with a fraction", r"misc\.rs:\d+:\d+:\s+attempt to subtract",
        ("cargo", "+nightly", "fuzz", "run", "--fuzz-dir", ".", "binlog", "--", *_LIBFUZZER),
        (("cargo", "+nightly", "fuzz", "build", "--fuzz-dir", "."),),
    ),
    "jazzer": Target(
        ("mvn",), "the connector of Zendesk before 0.28.3: a table with a YEAR cannot be read (osheroff#46)",
        r"a correct log is refused[\s\S]*EOFException: Failed to read remaining",
        ("mvn", "--batch-mode", "-Dconnector.version=0.28.0", "test"), ended=re.compile(r"(?!)"),
    ),
    "atheris": Target(
        (), "python-mysql-replication leaves compressed rows of MariaDB out", r"it gives 0 rows without a word",
        ("env/bin/python", "fuzz.py", *_LIBFUZZER, "seeds"),
        ((sys.executable, "-m", "venv", "env"), ("env/bin/pip", "install", "--quiet", "-r", "requirements.txt")),
    ),
    "libfuzzer": Target(
        ("clang", "cmake"), *_PARTITIONS, ("./fuzz", *_LIBFUZZER, "seeds"),
        _connector("clang", "-g -O1 -fsanitize=fuzzer-no-link,address"),
        environment=(("ASAN_OPTIONS", "detect_leaks=0"),),
    ),
    "afl": Target(
        ("afl-fuzz", "cmake"), *_PARTITIONS,
        ("sh", "-c", "afl-fuzz -s 1 -V 60 -i seeds -o found -x binlog.dict -- ./fuzz;"
         " for log in found/default/crashes/id*; do ./fuzz < $log; done"),
        _connector("afl-clang-fast", "-g -O1"), ended=re.compile(r"(?!)"),
        environment=(("AFL_USE_ASAN", "1"), ("AFL_NO_UI", "1"), ("AFL_SKIP_CPUFREQ", "1"),
                     ("AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES", "1")),
    ),
}  # fmt: skip


@cache
def _seeds() -> list[SeedLog]:
    return chosen_seeds(recorded_logs())


def _missing(name: str) -> str | None:
    target = TARGETS[name]
    missing = [program for program in target.needs if shutil.which(program) is None]
    if "cmake" in target.needs and not Path(_CONNECTOR_C, "libmariadb").is_dir():
        missing.append("FORGE_CONNECTOR_C")
    if name == "atheris" and sys.version_info >= (3, 14):
        missing.append("a Python before 3.14")
    return ", ".join(missing) or None


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_an_engine_finds_a_known_defect_within_a_minute(name: str, tmp_path: Path) -> None:
    target = TARGETS[name]
    if missing := _missing(name):
        pytest.skip(f"THE TARGET OF {name.upper()} WAS NOT RUN: without {missing}")
    for path, data in exported(engine_of(name), _seeds()).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    target.edit(tmp_path)
    for words in target.build:
        built = _said(words, tmp_path, target, 1200.0)
        assert built.returncode == 0, built.stdout[-3000:]
    folder, said, ends = tmp_path / engine_of(name).seeds, "", time.monotonic() + _MINUTE
    while not re.search(target.said, said) and time.monotonic() < ends:
        said = _said(target.run, tmp_path, target, 300.0).stdout
        ended = target.ended.search(said)
        if ended is None:
            break
        at = next(one for one in ended.groups() if one)
        crash = tmp_path / at
        name_of_log = hashlib.sha256(crash.read_bytes()).hexdigest()[:16] if crash.is_file() else at
        (folder / name_of_log).unlink(missing_ok=True)
    assert re.search(target.said, said), f"{target.defect}: not found; the last run said\n{said[-3000:]}"


def _said(words: tuple[str, ...], folder: Path, target: Target, seconds: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
        timeout=seconds, env=os.environ | dict(target.environment),
    )  # fmt: skip
