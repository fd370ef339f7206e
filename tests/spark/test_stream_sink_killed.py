"""A stream into the sink whose driver is killed again and again: every row is in the logs once."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="the extra [spark] is not installed")
pytest.importorskip("numba", reason="the extra `rows` is not installed")

import pyarrow.parquet as pq

import forge
from forge.spark.versions import spark_release
from tests.spark.processes import Driver
from tests.spark.sink_writes import TABLE, rows, temporaries

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.nightly,
    pytest.mark.skipif(spark_release() < (4, 1), reason="PySpark 4.0 has no writers of streams that take Arrow"),
]

#: How often the driver is killed.
KILLS = int(os.environ.get("FORGE_SINK_FAULTS", "1"))
ROWS = 50
PROGRAM = f"""
import sys
from forge.spark.session import spark_session
from forge.spark.source import register

source, folder, checkpoint = sys.argv[1:]
if __name__ == "__main__":
    with spark_session("local[2,3]") as session:
        register(session)
        stream = session.readStream.schema("id INT, who STRING").option("maxFilesPerTrigger", 1).parquet(source)
        options = {{"table": {TABLE!r}, "rows_per_transaction": 7, "checkpointLocation": checkpoint}}
        query = stream.coalesce(1).writeStream.format("binlog").options(**options).trigger(availableNow=True)
        query.start(folder).awaitTermination()
        print("done", flush=True)
"""


def test_every_row_is_written_once_however_often_the_driver_is_killed(tmp_path: Path) -> None:
    source, folder, log = tmp_path / "source", tmp_path / "logs", tmp_path / "driver.log"
    source.mkdir()
    program = tmp_path / "driver.py"
    program.write_text(PROGRAM)
    chance = random.Random(1)
    files = 4 + 2 * KILLS
    for number in range(files):
        path = source / f"{number}.parquet"
        pq.write_table(rows(number * ROWS, ROWS), path)
        # Spark takes files in the order of their times.
        os.utime(path, (number, number + 1_700_000_000))
    arguments = [str(source), str(folder), str(tmp_path / "checkpoint")]
    for _ in range(KILLS):
        with Driver(program, *arguments, log=log) as driver:
            begun = _logs(folder)
            while not driver.ended() and _logs(folder) == begun:
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 1))
            driver.kill()
    with Driver(program, *arguments, log=log) as driver:
        assert driver.wait() == 0, driver.output
    read = forge.read_rows(sorted(folder.glob("binlog.0*")), table="shop.orders", names=["id", "who"]).read_all()
    assert read["id"].to_pylist() == list(range(files * ROWS))
    assert temporaries(folder) == []


def _logs(folder: Path) -> int:
    return len(list(folder.glob("binlog.0*")))
