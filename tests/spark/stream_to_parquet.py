"""A driver program: a stream of a growing folder, written to Parquet with one folder for each batch.

``stream_to_parquet.py MASTER LOG OUT [NAME=VALUE...]``, where the values are options of the stream.  It ends when all
was read that is there: with ``now=yes`` when it starts, else when OUT has a file ``end``.  With ``fail=yes`` the first
task of each batch fails behind its first rows.  A batch that runs again must have the rows that it had.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import TaskContext
from pyspark.errors import StreamingQueryException

from forge.spark.session import spark_session
from forge.spark.source import register
from tests.bulk.growing import TABLE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def failing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches; the first attempt of the first partition's task fails behind the first of them."""
    context = TaskContext.get()
    assert context is not None
    for batch in batches:
        yield batch
        if context.partitionId() == 0 and context.attemptNumber() == 0:
            raise RuntimeError("this task fails")


def main(master: str, log: str, out: Path, options: dict[str, str]) -> None:
    now, fail = (options.pop(name, "") == "yes" for name in ("now", "fail"))
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
        stream = stream.mapInArrow(failing, stream.schema) if fail else stream
        writer = stream.writeStream.foreachBatch(write).option("checkpointLocation", str(out / "checkpoint"))
        query = (writer.trigger(availableNow=True) if now else writer).start()
        sys.stdout.write("started\n")
        sys.stdout.flush()
        try:
            while not now and not (out / "end").exists():
                query.awaitTermination(1)
            if not now:
                query.processAllAvailable()
                query.stop()
            query.awaitTermination()
        except StreamingQueryException as error:
            sys.exit(str(error))  # It asks the JVM, which ends with the session.


def ids_of(folder: Path) -> list[Any]:
    """The ids that are in the files of one batch."""
    return [id for file in sorted(folder.glob("*.parquet")) for id in pq.read_table(file)["id"].to_pylist()]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), dict(pair.split("=", 1) for pair in sys.argv[4:]))
