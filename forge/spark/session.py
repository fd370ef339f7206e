"""The Spark session: the one place that starts or stops one.

A session that is already active (a notebook, another library) is used as it is and never stopped.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from forge.errors import EnvironmentMissing, ForgeError
from forge.spark.java import find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: All cores; a task is tried three times, so a worker process that was killed does not end the job.
DEFAULT_MASTER = "local[*,3]"

#: Seconds that the JVM has to end by itself.
_JVM_END_LIMIT = 10.0

LOG4J2 = """\
status = error
rootLogger.level = error
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {log}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d %p %c: %m%n%ex
"""


@contextlib.contextmanager
def spark_session(master: str | None = None, *, conf: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """A session on ``master`` (default ``local[*,3]``), with ``conf`` added to ours, closed at the end.

    It knows the format ``binlog``.

    Raises EnvironmentMissing if PySpark or a fitting Java is not here, or if Spark does not start.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise EnvironmentMissing("PySpark is not installed: `pip install binlog-forge[spark]`") from error
    from forge.spark.source import register

    active = SparkSession.getActiveSession()
    if active is not None:
        _require_forge(active)
        register(active)
        yield active
        return
    with contextlib.ExitStack() as closing:
        folder = Path(tempfile.mkdtemp(prefix="forge-spark-"))
        closing.callback(shutil.rmtree, folder, ignore_errors=True)
        with _interrupt_deferred():
            session = _start(master or DEFAULT_MASTER, folder, conf or {})
            closing.callback(_stop, session)
        _require_forge(session)
        register(session)
        yield session


@contextlib.contextmanager
def job_errors() -> Iterator[None]:
    """A failed job as one sentence: the last line of the worker's traceback.  Raises ForgeError."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise ForgeError(f"the Spark job failed: {_cause(str(error))}") from error


def _cause(text: str) -> str:
    """The line that tells most: Python's exception line, else the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[A-Za-z_][\w.]*(?:Error|Exception|Missing|Exit)\b(?:: |$)", line)]
    return (named or lines or ["no message"])[-1 if named else 0]


def is_local(master: str | None) -> bool:
    """Whether the executors are threads of the driver's JVM."""
    return master is not None and (master == "local" or master.startswith("local["))


def _start(master: str, folder: Path, conf: Mapping[str, str]) -> SparkSession:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("binlog-forge")
    for key, value in {**_settings(folder), **conf}.items():
        builder = builder.config(key, value)
    log = folder / "jvm.log"
    # Else the workers of some steps are whatever `python3` is on the PATH.
    environment = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    if SparkContext._gateway is None:  # A JVM that runs already keeps its Java, log and settings.
        environment |= _jvm_environment(master, folder, log)
    try:
        with _environment_set(environment), _stderr_to(log):
            return builder.getOrCreate()
    except EnvironmentMissing:
        raise
    except Exception as error:
        raise EnvironmentMissing(f"Spark did not start on {master}: {_last_words(log, error)}") from error


def _settings(folder: Path) -> dict[str, str]:
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Re-planning from sizes seen would change the number of partitions that was asked for.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.python.filterPushdown.enabled": "true",
    }


def _jvm_environment(master: str, folder: Path, log: Path) -> dict[str, str]:
    (folder / "log4j2.properties").write_text(LOG4J2.format(log=log))
    environment = {
        "JAVA_HOME": str(find_java().prepare_home(folder)),
        "SPARK_CONF_DIR": str(folder),
    }
    if is_local(master):
        environment["SPARK_LOCAL_IP"] = "127.0.0.1"
        environment["PYTHONPATH"] = _worker_path()
    return environment


def _worker_path() -> str:
    """PYTHONPATH with the folder that ``forge`` was imported from, so that workers find the same one."""
    import forge

    home = str(Path(forge.__file__).resolve().parent.parent)
    paths = [home, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return os.pathsep.join(dict.fromkeys(paths))


def _require_forge(session: SparkSession) -> None:
    """Raises EnvironmentMissing unless the executors import the driver's version of ``forge``."""
    import forge

    context = session.sparkContext
    if is_local(context.master):
        return

    def version_there(_: int) -> str | None:  # Nested, so that it travels by value and needs no forge to be unpacked.
        try:
            from forge import __version__
        except ImportError:
            return None
        return __version__

    versions = context.parallelize([0], 1).map(version_there).collect()
    if versions != [forge.__version__]:
        there = versions[0] or "none"
        raise EnvironmentMissing(
            f"the Python of the executors of {context.master} needs binlog-forge {forge.__version__} and has {there}:"
            " install it there (PYSPARK_PYTHON names another Python)"
        )


@contextlib.contextmanager
def _interrupt_deferred() -> Iterator[None]:
    """Ctrl-C takes effect at the end of the block, and Spark's own handler of it is undone.

    A launch that is interrupted leaves a JVM that nobody ends; Spark's handler calls the JVM in the middle of another
    call to it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupted = threading.Event()
    before = signal.signal(signal.SIGINT, lambda _signal, _frame: interrupted.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupted.is_set() and before is not signal.SIG_IGN:
        raise KeyboardInterrupt


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
    """File descriptor 2 goes to ``log``, for good in the JVM that is started meanwhile.

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


def _last_words(log: Path, error: Exception) -> str:
    try:
        lines = log.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    telling = [line.strip() for line in lines if "Exception" in line or "Error" in line]
    return telling[-1] if telling else str(error).splitlines()[0]


def _stop(session: SparkSession) -> None:
    with contextlib.suppress(Exception):
        session.stop()
    _end_jvm()


def _end_jvm() -> None:
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
        process.wait(timeout=_JVM_END_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
