"""The JVM of a session that this process starts: its Java, its settings, where it writes, its end."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from forge.spark.java import find_java
from forge.spark.versions import JAVA_25, spark_release

#: Seconds that the JVM has to end by itself.
_END_LIMIT: Final = 10.0

#: How PySpark's warning about pandas begins; it comes with each batch.  What is used here works with pandas 2 and 3.
PANDAS_3: Final = "PySpark does not yet fully support pandas"

#: Where a user may name a garbage collector, beside the session's own settings.
_OPTIONS_OF_JAVA: Final = (
    "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS", "PYSPARK_SUBMIT_ARGS",
)  # fmt: skip
_FILES_OF_OPTIONS: Final = ("spark-defaults.conf", "spark-env.sh")
_COLLECTOR: Final = re.compile(r"-XX:[+-]Use\w+GC\b")

_LOG4J2: Final = """\
status = error
rootLogger.level = error
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {log}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d %p %c: %m%n%ex
"""


def is_local(master: str | None) -> bool:
    """Whether the executors are threads of the driver's JVM."""
    return master is not None and (master == "local" or master.startswith("local["))


@contextlib.contextmanager
def jvm_environment(master: str, folder: Path, log: Path) -> Iterator[None]:
    """The environment that a session is started in; what a JVM that starts prints goes to ``log``.

    ``folder`` is a temporary one.  Raises EnvironmentMissing if no Java fits.
    """
    from pyspark import SparkContext

    # Else the workers of some steps are whatever `python3` is on the PATH.  A cluster may have its Python elsewhere.
    python = sys.executable if is_local(master) else os.environ.get("PYSPARK_PYTHON", sys.executable)
    environment = {"PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": sys.executable}
    if SparkContext._gateway is None:  # A JVM that runs already keeps its Java, log and settings.
        environment |= _new_jvm(master, folder, log)
    with _environment_set(environment), _stderr_to(log):
        yield


def _new_jvm(master: str, folder: Path, log: Path) -> dict[str, str]:
    environment = {
        "JAVA_HOME": str(find_java(newest=25 if spark_release() >= JAVA_25 else 21).prepare_home(folder)),
        "SPARK_CONF_DIR": str(conf_dir(folder / "conf", log)),
        # Python workers inherit it; the colon ends the text that the warning begins with.
        "PYTHONWARNINGS": ",".join(
            filter(None, [os.environ.get("PYTHONWARNINGS"), f"ignore:{PANDAS_3}:FutureWarning"])
        ),
    }
    # Whatever the user has set comes before it.
    if "SPARK_DRIVER_MEMORY" not in os.environ:
        environment["SPARK_DRIVER_MEMORY"] = heap_limit(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    # Plans of a data source are made by workers beside the driver, on a cluster too.
    environment["PYTHONPATH"] = _worker_path()
    if is_local(master):
        environment["SPARK_LOCAL_IP"] = "127.0.0.1"
    return environment


def heap_limit(memory: int) -> str:
    """The heap of a JVM on a machine with that much memory: a quarter, between 1 GiB (Spark's default) and 4 GiB.

    With 1 GiB the JVM ends where a million rows are collected (measured with 4.3.0).
    """
    return f"{min(max(memory // 4, 1 << 30), 4 << 30) >> 20}m"


def names_a_collector(conf: Mapping[str, str]) -> bool:
    """Whether the user chooses a garbage collector: a JVM with two does not start."""
    said = [*conf.values(), *(os.environ.get(name, "") for name in _OPTIONS_OF_JAVA)]
    said += [path.read_text(errors="replace") for path in _given_settings() if path.name in _FILES_OF_OPTIONS]
    return any(map(_COLLECTOR.search, said))


def _given_settings() -> list[Path]:
    """The files of the user's settings of Spark."""
    home = os.environ.get("SPARK_HOME")
    named = os.environ.get("SPARK_CONF_DIR") or (Path(home) / "conf" if home else None)
    return [*Path(named).iterdir()] if named is not None and Path(named).is_dir() else []


def conf_dir(folder: Path, log: Path) -> Path:
    """The user's settings of Spark, such as spark-defaults.conf, with logging to ``log``."""
    folder.mkdir()
    for path in _given_settings():
        if not path.name.startswith("log4j2"):
            (folder / path.name).symlink_to(path.absolute())
    (folder / "log4j2.properties").write_text(_LOG4J2.format(log=log))
    return folder


def _worker_path() -> str:
    """PYTHONPATH with the folder that ``forge`` was imported from, so that workers find the same one."""
    import forge

    home = str(Path(forge.__file__).resolve().parent.parent)
    paths = [home, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return os.pathsep.join(dict.fromkeys(paths))


@contextlib.contextmanager
def _environment_set(values: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _stderr_to(log: Path) -> Iterator[None]:
    """Redirect file descriptor 2 to ``log``, permanently for a JVM started in the block.

    Spark's launcher prints lines before any logging setting is read; Python workers write to the JVM's stderr too.
    """
    sys.stderr.flush()
    saved = os.dup(2)
    try:
        with log.open("ab") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(saved, 2)
        os.close(saved)


def last_words(log: Path, error: Exception) -> str:
    """Why the JVM did not start: its last line that names an error, else the first one of Python's."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    telling = [line.strip() for line in lines if "Exception" in line or "Error" in line]
    return telling[-1] if telling else (str(error).splitlines() or [type(error).__name__])[0]


def end_jvm() -> None:
    """End the JVM that this process started, so that nothing writes into its folder any more."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    process = getattr(gateway, "proc", None)
    if gateway is None or process is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    with contextlib.suppress(Exception):
        gateway.shutdown()
    # It ends when its standard input does.
    process.stdin.close()
    try:
        process.wait(timeout=_END_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
