"""Peers that are built: their sources lie here, what they need comes through Go's and Maven's ordinary clients."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.benchmarks.measure import WARM_UP, NotHere, OwnClock

_HERE = Path(__file__).parent

#: SHA-256 of the libraries that Maven brings (``java/pom.xml`` names the versions); Go checks against ``go/go.sum``.
_LIBRARIES = {
    "mysql-binlog-connector-java-0.41.0.jar": "a4bd7e9e24269fdfbbdfcd692f100878dc2539b5f331276c7700fdde44341364",
    "zstd-jni-1.5.0-2.jar": "b66a7029711976566c921ef255c57192fbbdc42a96c11ad3d879e6ad6001be12",
}


def go_mysql(folder: Path, path: Path) -> OwnClock:
    """go-mysql, on one processor, checksums verified.  ``folder`` keeps what is built.  Raises NotHere."""
    program = _build_go(folder)
    return OwnClock((str(program), str(path)), environment={"GOMAXPROCS": "1"})


def java_connector(folder: Path, path: Path) -> OwnClock:
    """mysql-binlog-connector-java with the serial collector; it verifies no checksums.  Raises NotHere."""
    classes = _build_java(folder)
    command = ("java", "-XX:+UseSerialGC", "-cp", f"{classes}:{classes}/lib/*", "Peer")
    return OwnClock((*command, str(path)), warm_up=WARM_UP)


def versions() -> dict[str, str]:
    """What the builds ask for."""
    module = re.search(r"go-mysql-org/go-mysql v(\S+)", (_HERE / "go" / "go.mod").read_text())
    artifact = re.search(r"<version>(\d+\.\S+)</version>", (_HERE / "java" / "pom.xml").read_text())
    assert module is not None
    assert artifact is not None
    return {"go-mysql": module[1], "mysql-binlog-connector-java": artifact[1]}


@cache
def _build_go(folder: Path) -> Path:
    program = folder / "go-mysql"
    if not _is_built(program, _HERE / "go" / "main.go"):
        _need("go", "Go is not installed")
        _run(("go", "build", "-mod=readonly", "-o", str(program), "."), _HERE / "go", "go-mysql cannot be built")
    return program


@cache
def _build_java(folder: Path) -> Path:
    classes, source = folder / "java-connector", _HERE / "java" / "Peer.java"
    if not _is_built(classes / "Peer.class", source):
        for program in ("java", "javac", "mvn"):
            _need(program, f"{program} is not installed")
        libraries = f"-DoutputDirectory={classes / 'lib'}"
        fetch = ("mvn", "-q", "-B", "-f", str(_HERE / "java" / "pom.xml"), "dependency:copy-dependencies", libraries)
        _run(fetch, _HERE, "mysql-binlog-connector-java cannot be fetched")
        _check(classes / "lib")
        compile_ = ("javac", "-cp", f"{classes}/lib/*", "-d", str(classes), str(source))
        _run(compile_, _HERE, "the program for mysql-binlog-connector-java cannot be compiled")
    return classes


def _is_built(program: Path, source: Path) -> bool:
    return program.exists() and program.stat().st_mtime >= source.stat().st_mtime


def _check(folder: Path) -> None:
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.jar")}
    if digests != _LIBRARIES:
        shutil.rmtree(folder)
        raise NotHere("mysql-binlog-connector-java: the libraries that were fetched are not those that are known")


def _need(program: str, message: str) -> None:
    if shutil.which(program) is None:
        raise NotHere(message)


def _run(command: Sequence[str], folder: Path, message: str) -> None:
    ended = subprocess.run(command, cwd=folder, check=False, stdout=subprocess.DEVNULL)
    if ended.returncode:
        raise NotHere(f"{message} ({command[0]} ended with {ended.returncode})")
