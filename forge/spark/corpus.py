"""Building a corpus: cases are judged in parallel, the manifest is the same for any number of partitions.

Two stages: judge (one task a partition, cases spread evenly), then write (one task a part of the manifest; which
case belongs to which part follows from the sorted ids alone).  A task that is tried again writes under another name;
only files that a finished task named are taken.
"""

from __future__ import annotations

import os
import pickle
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from forge import __version__
from forge.corpus.cases import Case
from forge.corpus.judge import Judge, Jury
from forge.corpus.manifest import (
    CASES_PER_PART,
    FORMAT,
    SCHEMA,
    Summary,
    digest,
    part_name,
    row_of,
    write_part,
    write_summary,
)
from forge.errors import ForgeError, ScenarioError
from forge.spark.session import context_of, job_errors, parallelism, spark_session
from forge.spark.watch import Progress, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_INPUT = pa.schema([pa.field("part", pa.int32()), pa.field("spec", pa.binary())])
_JUDGED = pa.schema([pa.field("part", pa.int32()), *SCHEMA])
_WRITTEN = pa.schema([pa.field("part", pa.int32()), pa.field("file", pa.string()), pa.field("cases", pa.int64())])

#: Tasks a core: enough that the progress bar moves and no core waits long for the last task.
TASKS_PER_CORE = 16
#: Few fat rows cross to Python: small batches keep a batch's memory small.
_SMALL_BATCHES = {"spark.sql.execution.arrow.maxRecordsPerBatch": "64"}


def build_corpus(
    cases: Sequence[Case],
    judge: Judge,
    out: Path,
    *,
    jury: Jury,
    master: str | None = None,
    partitions: int | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Judge every case and put the manifest into the folder ``out``, which is replaced as a whole at the end.

    ``judge`` goes to the workers: a module-level function, or a partial of one; ``jury`` says which decoders it has.
    Raises ScenarioError if ``out`` is something else than a corpus, or if two cases have one id; EnvironmentMissing if
    Spark cannot start.
    """
    _check_target(out)
    placed = _placed(cases)
    out.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        # mkdtemp makes folders that nobody else may read.
        building.chmod(0o777 & ~_umask())
        with spark_session(master, conf=_SMALL_BATCHES) as spark, watched(context_of(spark), progress):
            written = _judge_and_write(spark, placed, judge, building, partitions)
        _adopt(written, building, len(cases))
        summary = Summary(
            format=FORMAT,
            forge=__version__,
            cases=len(cases),
            sha256=digest(sorted(building.glob("part-*.parquet"))),
            decoders=jury.present,
            absent=jury.absent,
        )
        write_summary(building, summary)
        _publish(building, out)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return summary


def _placed(cases: Sequence[Case]) -> pa.Table:
    """The cases with the part of the manifest that each belongs to."""
    ordered = sorted(cases, key=lambda case: case.id)
    for case, following in pairwise(ordered):
        if case.id == following.id:
            raise ScenarioError(f"two cases have the id {case.id!r}", file=following.file)
    return pa.table(
        {
            "part": [index // CASES_PER_PART for index in range(len(ordered))],
            "spec": [pickle.dumps(case) for case in ordered],
        },
        schema=_INPUT,
    )


def _judge_and_write(
    spark: SparkSession, placed: pa.Table, judge: Judge, folder: Path, partitions: int | None
) -> list[dict[str, Any]]:
    from pyspark.sql.pandas.types import from_arrow_schema

    count = len(placed)
    if count == 0:
        return []
    tasks = partitions or min(count, TASKS_PER_CORE * parallelism(spark))
    parts = -(-count // CASES_PER_PART)
    judged = spark.createDataFrame(placed).repartition(tasks).mapInArrow(_Judging(judge), from_arrow_schema(_JUDGED))
    written = (
        judged.repartition(parts, "part")
        .sortWithinPartitions("part", "case")
        .mapInArrow(_Writing(str(folder)), from_arrow_schema(_WRITTEN))
    )
    with job_errors():
        return [row.asDict() for row in written.collect()]


class _Judging:
    """Stage one, in a worker: rows of _INPUT to rows of _JUDGED."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            # One row a batch: a case may be large, and judging takes far longer than handing it over.
            for row in batch.to_pylist():
                judgement = self.judge(pickle.loads(row["spec"]))
                yield pa.RecordBatch.from_pylist([{"part": row["part"], **row_of(judgement)}], schema=_JUDGED)


class _Writing:
    """Stage two, in a worker: sorted rows of _JUDGED to files, and a row of _WRITTEN for each."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        number: int | None = None
        held: list[pa.RecordBatch] = []
        for batch in batches:
            for part in batch["part"].unique().to_pylist():
                if part != number and held:
                    yield self._write(number, held)
                    held = []
                number = part
                held.append(batch.filter(pa.compute.equal(batch["part"], part)))
        if held:
            yield self._write(number, held)

    def _write(self, number: int | None, rows: list[pa.RecordBatch]) -> pa.RecordBatch:
        from pyspark import TaskContext

        assert number is not None
        context = TaskContext.get()
        attempt = 0 if context is None else context.taskAttemptId()
        path = self.folder / f"_{part_name(number)}.attempt-{attempt}"
        table = pa.Table.from_batches(rows)
        write_part(path, table)
        return pa.RecordBatch.from_pylist([{"part": number, "file": path.name, "cases": len(table)}], schema=_WRITTEN)


def _adopt(written: list[dict[str, Any]], folder: Path, cases: int) -> None:
    """Give the files of finished tasks their names and remove what others left."""
    if sum(row["cases"] for row in written) != cases:
        raise ForgeError(f"the job lost cases: {sum(row['cases'] for row in written)} of {cases} were written")
    for row in written:
        (folder / row["file"]).rename(folder / part_name(row["part"]))
    for leftover in folder.glob("_part-*"):
        leftover.unlink()


def _check_target(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise ScenarioError(f"{out} is a file", expected="a folder for the corpus")
    others = [path.name for path in out.iterdir() if not _is_of_corpus(path.name)] if out.is_dir() else []
    if others:
        raise ScenarioError(
            f"{out} holds {others[0]!r}, which is not part of a corpus; a build replaces the whole folder",
            expected="a new or empty folder, or one that `forge corpus build` made",
        )


def _is_of_corpus(name: str) -> bool:
    """Whether a build writes files of this name, or did when the summary had no underscore."""
    return re.fullmatch(r"part-\d+\.parquet|_?corpus\.json", name) is not None


def _publish(building: Path, out: Path) -> None:
    """Put the finished folder in the place of the old one."""
    if not out.exists():
        building.rename(out)
        return
    old = building.with_name(building.name + ".old")
    out.rename(old)
    try:
        building.rename(out)
    except OSError:
        old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
