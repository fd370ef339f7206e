"""One session, quiet, and never somebody else's to stop."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from forge.errors import EnvironmentMissing, ForgeError
from forge.spark.jvm import conf_dir, heap_limit, is_local, names_a_collector
from forge.spark.session import job_errors, sockets_in, spark_session
from forge.spark.settled import settled
from forge.spark.versions import spark_release

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

QUIET_JOB = """
from forge.spark.session import spark_session
if __name__ == "__main__":
    conf = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}  # quick to start
    with spark_session("local[1]", conf=conf) as session:
        print(session.sparkContext.parallelize([1], 1).map(lambda _: __import__("forge").__file__).collect()[0])
"""


def test_an_active_session_is_used_and_not_stopped(spark: SparkSession) -> None:
    with spark_session("local[1]") as again:
        assert again is spark
    assert spark.range(3).count() == 3


def test_a_session_that_is_given_is_used_and_not_stopped(spark: SparkSession) -> None:
    with spark_session("local[1]", spark=spark) as found:
        assert found is spark
    assert spark.range(3).count() == 3


def test_a_session_that_spark_gives_no_format_is_refused_in_a_sentence(spark: SparkSession) -> None:
    later = spark.newSession()
    with (
        pytest.raises(EnvironmentMissing, match="in the first session of this application"),
        spark_session(spark=later),
    ):
        pass


def test_settings_of_the_user_hold_but_where_the_log_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "spark-defaults.conf").write_text("spark.executor.cores 3\n")
    (own / "log4j2.properties").write_text("rootLogger.level = debug\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(own))
    made = conf_dir(tmp_path / "conf", tmp_path / "jvm.log")
    assert (made / "spark-defaults.conf").read_text() == "spark.executor.cores 3\n"
    assert str(tmp_path / "jvm.log") in (made / "log4j2.properties").read_text()
    assert (own / "log4j2.properties").read_text() == "rootLogger.level = debug\n"


@pytest.mark.parametrize(
    ("memory", "limit"), [(1 << 30, "1024m"), (8 << 30, "2048m"), (23 << 30, "4096m"), (512 << 30, "4096m")]
)
def test_a_jvm_may_take_a_quarter_of_the_memory_up_to_a_limit(memory: int, limit: str) -> None:
    assert heap_limit(memory) == limit


def test_a_garbage_collector_that_the_user_names_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JAVA_TOOL_OPTIONS", "SPARK_CONF_DIR", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert not names_a_collector({"spark.driver.extraJavaOptions": "-XX:+UseStringDeduplication"})
    assert names_a_collector({"spark.driver.extraJavaOptions": "-Xint -XX:+UseZGC"})
    (tmp_path / "spark-defaults.conf").write_text("spark.driver.extraJavaOptions -XX:+UseG1GC\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert names_a_collector({})
    monkeypatch.delenv("SPARK_CONF_DIR")
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:-UseG1GC")
    assert names_a_collector({})


def test_a_jvm_that_has_ended_is_said() -> None:
    with pytest.raises(ForgeError, match=r"its JVM has ended.*spark\.driver\.memory"), job_errors():
        raise ConnectionRefusedError(111, "Connection refused")


@pytest.mark.parametrize("version", ["3.5.7", "2.4.8"])
def test_a_pyspark_that_is_too_old_is_said(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", version)
    with pytest.raises(EnvironmentMissing, match=rf"PySpark {version} is too old: binlog-forge needs 4\.0 to 4\.3"):
        spark_release()


def test_workers_run_this_python_and_this_forge(spark: SparkSession) -> None:
    import forge

    def where(_: int) -> tuple[str, str | None]:
        return sys.executable, __import__("forge").__file__

    assert spark.sparkContext.parallelize([0], 1).map(where).collect() == [(sys.executable, forge.__file__)]


def test_a_jvm_of_ours_reads_arrow_without_checks_and_keeps_options_that_are_given(spark: SparkSession) -> None:
    assert spark.sparkContext._jvm is not None
    management = spark.sparkContext._jvm.java.lang.management.ManagementFactory
    options = list(management.getRuntimeMXBean().getInputArguments())
    assert {"-Darrow.enable_unsafe_memory_access=true", "-XX:+UseSerialGC"} <= set(options)


def test_sockets_of_ours_are_files_unless_their_path_is_too_long(spark: SparkSession) -> None:
    folder = spark.sparkContext.getConf().get("spark.python.unix.domain.socket.dir")
    assert folder is None or Path(folder).name.startswith("forge-spark-")
    assert sockets_in(Path("/tmp/forge-spark-12345678")).keys() == {
        "spark.python.unix.domain.socket.enabled",
        "spark.python.unix.domain.socket.dir",
    }
    assert sockets_in(Path(f"/{'x' * 70}")) == {}


def test_what_a_worker_has_loaded_is_no_garbage_after_its_first_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forge.spark.settled._known", 0)
    before = gc.get_freeze_count()
    try:
        assert list(settled(iter("ab"))) == ["a", "b"]
        assert gc.get_freeze_count() > before
    finally:
        gc.unfreeze()


def test_the_process_environment_is_left_as_it_was(spark: SparkSession) -> None:
    assert spark.range(1).count() == 1
    assert "SPARK_CONF_DIR" not in os.environ
    assert "SPARK_LOCAL_IP" not in os.environ


@pytest.mark.slow
def test_a_session_prints_nothing_of_its_own_and_leaves_nothing_behind(tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text(QUIET_JOB)
    home = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": home, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip().endswith("forge/__init__.py")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(("forge-", "spark-", "metastore"))] == []


@pytest.mark.parametrize(
    ("master", "local"),
    [("local", True), ("local[*,3]", True), ("local-cluster[2,1,1024]", False), ("spark://h:1", False)],
)
def test_local_masters_are_known(master: str, local: bool) -> None:
    assert is_local(master) is local
