"""A driver program: a stream of a growing folder, written to Parquet with one folder for each batch.

``stream_to_parquet.py MASTER LOG OUT [NAME=VALUE...]``, where the values are options of the stream; ``now=yes`` ends
when all that is there was read.  A batch that runs again must have the rows that it had.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from forge.spark.session import spark_session
from forge.spark.source import register
from tests.columnar.growing import TABLE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def main(master: str, log: str, out: Path, options: dict[str, str]) -> None:
    now = options.pop("now", "") == "yes"
    conf = {"spark.sql.shuffle.partitions": "2", "spark.executor.memory": "512m"}
    with spark_session(master, conf=conf) as session:
        register(session)

        def write(frame: DataFrame, number: int) -> None:
            folder = out / f"batch={number}"
            before = sorted(ids_of(folder)) if (folder / "_SUCCESS").exists() else None
            frame.write.mode("overwrite").parquet(str(folder))
            if before is not None and sorted(ids_of(folder)) != before:
                (out / "CHANGED").write_text(f"batch {number} has other rows when it runs again\n")

        stream = session.readStream.format("binlog").options(table=TABLE, **options).load(log)
        writer = stream.writeStream.foreachBatch(write).option("checkpointLocation", str(out / "checkpoint"))
        query = (writer.trigger(availableNow=True) if now else writer).start()
        sys.stdout.write("started\n")
        sys.stdout.flush()
        query.awaitTermination()


def ids_of(folder: Path) -> list[Any]:
    """The ids that are in the files of one batch."""
    return [id for file in sorted(folder.glob("*.parquet")) for id in pq.read_table(file)["id"].to_pylist()]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), dict(pair.split("=", 1) for pair in sys.argv[4:]))
