"""A session of Spark Connect, whose driver is elsewhere: it has no SparkContext."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="the extra [spark] is not installed")
pytest.importorskip("grpc", reason="Spark Connect needs grpcio: make spark-versions has it")
pytest.importorskip("numba", reason="the extra [rows] is not installed")

from forge.compile import compile_files, write_files
from forge.resources import corpora_dir
from forge.scenario import Scenario, Session, insert, plan
from forge.spark.java import find_java
from tests.spark.processes import HOME

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.nightly]

SHOP = corpora_dir() / "volumes" / "shop.yaml"

SCRIPT = """
import sys
from pyspark.sql import SparkSession
from forge.scenario import load_scenario
from forge.spark.generate import generate_on_spark
from forge.spark.session import context_of, parallelism, spark_session

if __name__ == "__main__":
    spark = SparkSession.builder.remote("local[2]").getOrCreate()
    with spark_session() as found:
        assert found is spark and context_of(found) is None and parallelism(found) > 0
        rows = found.read.format("binlog").option("table", "shop.orders").load(sys.argv[1])
        print(sorted(tuple(row) for row in rows.select("id", "who").collect()))
    made = generate_on_spark(load_scenario(sys.argv[2]), sys.argv[3], rows=200, files=2, partitions=2)
    print(len(made.manifest.files))
    print(spark.range(3).count())
    spark.stop()
"""


def test_a_session_of_spark_connect_reads_a_log_makes_a_volume_and_is_not_stopped(tmp_path: Path) -> None:
    scenario = Scenario(
        "orders",
        server="mysql-9.7",
        session=Session(row_metadata="full"),
        tables=["CREATE TABLE shop.orders (id INT PRIMARY KEY, who VARCHAR(9))"],
    ).transaction(insert("shop.orders", {"id": 1, "who": "Ann"}, {"id": 2, "who": None}))
    planned = plan(scenario)
    [data] = write_files(planned, compile_files(planned))
    log = tmp_path / "binlog.000001"
    log.write_bytes(data)
    script = tmp_path / "connected.py"
    script.write_text(SCRIPT)
    environment = {
        **os.environ,
        "PYTHONPATH": str(HOME),
        "PYSPARK_PYTHON": sys.executable,
        "JAVA_HOME": str(find_java().prepare_home(tmp_path)),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    done = subprocess.run(
        [sys.executable, str(script), str(log), str(SHOP), str(tmp_path / "volume")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines() == ["[(1, 'Ann'), (2, None)]", "2", "3"]
