"""The Spark session: the one place that starts or stops one.

A session that is given, or active already (a notebook, another library), is used as it is and never stopped.  It may be
one of Spark Connect, which has no SparkContext.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import signal
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from forge.errors import EnvironmentMissing, ForgeError
from forge.spark.jvm import PANDAS_3, end_jvm, is_local, jvm_environment, last_words, names_a_collector
from forge.spark.versions import spark_release

#: Each cell of an Arrow batch is looked at without a check of its bounds: an eighth of what a read costs the JVM.
_UNCHECKED = "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"

#: Rows that live for a moment: on two cores G1, the JVM's own choice, costs a read or a write a tenth more.
_THROUGHPUT = "-XX:+UseParallelGC"

#: For a session whose JVM hands out a few tasks: what it would compile thoroughly is never used long enough.
FEW_TASKS: Final = {"spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

#: All cores; a task is tried three times, so a worker process that was killed does not end the job.
DEFAULT_MASTER = "local[*,3]"

#: What jobs need of a session of ours; none is fixed when a session of Spark Connect begins.
_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Re-planning from sizes seen would change the number of partitions that was asked for.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.python.filterPushdown.enabled": "true",
}

#: A JVM and its Python processes talk through sockets of the file system, from PySpark 4.1 on: over TCP a read costs a
#: tenth more.
_SOCKETS: Final = "spark.python.unix.domain.socket"

#: Bytes of the path of such a socket at most: Linux takes 107, macOS 103 (unix(7)).
_SOCKET_PATH: Final = 103

#: What Spark adds to the folder: a point, a UUID, and an ending.
_SOCKET_NAME: Final = "/.00000000-0000-0000-0000-000000000000.sock"


@contextlib.contextmanager
def spark_session(
    master: str | None = None,
    *,
    spark: SparkSession | None = None,
    conf: Mapping[str, str] | None = None,
    binlog: bool = True,
) -> Iterator[SparkSession]:
    """The session ``spark``, else the active one, else one on ``master`` with ``conf``, which is closed at the end.

    ``master`` is ``local[*,3]`` unless given; ``sc://HOST`` is a server of Spark Connect.  ``binlog``: the session
    knows the format of that name, for which Spark SQL has to start.

    Raises EnvironmentMissing if PySpark or a fitting Java is not here, if Spark does not start, or if the executors
    cannot import this version of ``forge``.
    """
    spark_release()
    from pyspark.sql import SparkSession

    found = spark or SparkSession.getActiveSession()
    if found is not None:
        _require(found, binlog)
        yield found
        return
    with contextlib.ExitStack() as closing:
        folder = Path(tempfile.mkdtemp(prefix="forge-spark-"))
        closing.callback(shutil.rmtree, folder, ignore_errors=True)
        warnings.filterwarnings("ignore", message=PANDAS_3, category=FutureWarning)
        with _interrupt_deferred():
            session = _start(master or DEFAULT_MASTER, folder, conf or {})
            closing.callback(_stop, session)
        _require(session, binlog)
        yield session


def _require(session: SparkSession, binlog: bool) -> None:
    require_forge(session)
    if binlog:
        from forge.spark.source import register

        register(session)


def open_session(master: str | None = None, *, conf: Mapping[str, str] | None = None) -> SparkSession:
    """What :func:`spark_session` gives, for a shell or a notebook: one of ours is closed when Python ends."""
    closing = contextlib.ExitStack()
    session = closing.enter_context(spark_session(master, conf=conf))
    atexit.register(closing.close)
    return session


@contextlib.contextmanager
def job_errors() -> Iterator[None]:
    """A failed job as one sentence: the last line of the worker's traceback.  Raises ForgeError."""
    from pyspark.errors import PySparkException

    try:
        yield
    except ConnectionRefusedError as error:
        raise ForgeError(
            "the Spark job failed: its JVM has ended, most often for want of memory (spark.driver.memory)"
        ) from error
    except Exception as error:
        if isinstance(error, PySparkException) or type(error).__module__.startswith("py4j."):
            raise ForgeError(f"the Spark job failed: {_cause(str(error))}") from error
        raise


def _cause(text: str) -> str:
    """The line that tells most: Python's exception line, else the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[A-Za-z_][\w.]*(?:Error|Exception|Missing|Exit)\b(?:: |$)", line)]
    return (named or lines or ["no message"])[-1 if named else 0]


def context_of(session: SparkSession) -> SparkContext | None:
    """Its SparkContext; None for a session of Spark Connect, whose driver is elsewhere."""
    if any(base.__module__.startswith("pyspark.sql.connect") for base in type(session).__mro__):
        return None
    return session.sparkContext


def parallelism(session: SparkSession) -> int:
    """How many tasks the executors run at once; where that is not known, how many partitions a shuffle makes."""
    context = context_of(session)
    if context is not None:
        return context.defaultParallelism
    return int(session.conf.get("spark.sql.shuffle.partitions") or 200)


def require_forge(session: SparkSession) -> None:
    """Raises EnvironmentMissing unless the executors import the driver's version of ``forge``."""
    import forge

    context = context_of(session)
    if context is not None and is_local(context.master):
        return

    def versions_there(batches: Any) -> Any:  # Nested, so that it travels by value and needs no forge to be unpacked.
        import pyarrow

        version: str | None = None
        with contextlib.suppress(ImportError):
            from forge import __version__ as version
        for batch in batches:
            yield pyarrow.RecordBatch.from_pydict({"version": pyarrow.array([version] * len(batch), pyarrow.string())})

    with job_errors():
        [row] = session.range(0, 1, 1, 1).mapInArrow(versions_there, "version string").collect()
    if row.version != forge.__version__:
        place = "Spark Connect" if context is None else context.master
        raise EnvironmentMissing(
            f"the Python of the executors of {place} needs binlog-forge {forge.__version__} and has"
            f" {row.version or 'none'}: install it there (PYSPARK_PYTHON names another Python)"
        )


def _start(master: str, folder: Path, conf: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    if master.startswith("sc://"):
        return _connected(master, conf)
    settings: dict[str, Any] = {**_SETTINGS, **_places(master, folder, conf), **conf}
    builder = SparkSession.builder.master(master).appName("binlog-forge").config(map=settings)
    log = folder / "jvm.log"
    try:
        with jvm_environment(master, folder, log):
            return builder.getOrCreate()
    except EnvironmentMissing:
        raise
    except Exception as error:
        raise EnvironmentMissing(f"Spark did not start on {master}: {last_words(log, error)}") from error


def _connected(master: str, conf: Mapping[str, str]) -> SparkSession:
    """A session of its own on a server of Spark Connect; no Java is needed here."""
    from pyspark.sql import SparkSession

    try:
        settings: dict[str, Any] = {**_SETTINGS, **conf}
        return SparkSession.builder.remote(master).config(map=settings).getOrCreate()
    except Exception as error:
        raise EnvironmentMissing(f"there is no session of Spark Connect on {master}: {_cause(str(error))}") from error


def _places(master: str, folder: Path, conf: Mapping[str, str]) -> dict[str, str]:
    """Settings of a driver of ours, and where it keeps its files."""
    # Drivers of clusters hand rows on; what runs beside their executors is not ours to know.
    chosen = is_local(master) and not names_a_collector(conf)
    quiet = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        # Those that are named extraJavaOptions are the user's.
        "spark.driver.defaultJavaOptions": f"{_UNCHECKED} {_THROUGHPUT}" if chosen else _UNCHECKED,
        "spark.executor.defaultJavaOptions": _UNCHECKED,
    }
    if not is_local(master):  # The hosts of a cluster have places of their own.
        return quiet
    return {**quiet, **sockets_in(folder), "spark.local.dir": str(folder / "local")}


def sockets_in(folder: Path) -> dict[str, str]:
    """Settings for sockets in that folder; none where their paths are too long."""
    if len(os.fsencode(f"{folder}{_SOCKET_NAME}")) > _SOCKET_PATH:
        return {}
    return {f"{_SOCKETS}.enabled": "true", f"{_SOCKETS}.dir": str(folder)}


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


def _stop(session: SparkSession) -> None:
    connected = context_of(session) is None
    with contextlib.suppress(Exception):
        session.stop()
    if not connected:
        end_jvm()
