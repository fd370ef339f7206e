"""The corpus job: any division of the work gives the same bytes, and a bad case is a row."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="the extra [spark] is not installed")

from forge.corpus.cases import Case
from forge.corpus.judge import CaseFile, DecoderVerdict, Judge, Judgement, Jury
from forge.corpus.manifest import CASES_PER_PART, parts, read_case, read_entries, read_summary
from forge.errors import ForgeError, ScenarioError
from forge.spark.corpus import build_corpus
from forge.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

JURY = Jury(present={"stub": "1"}, absent={"other": "not on this machine"})


def cases(count: int) -> list[Case]:
    """Not in the order of their ids."""
    numbers = sorted(range(count), key=lambda number: hashlib.sha256(str(number).encode()).digest())
    return [Case(id=f"c/{n:05d}", file="c.yaml", text=str(n), server="mysql-9.7", tags=("a",)) for n in numbers]


def stub_judge() -> Judge:
    """A judge that travels to the workers by value."""

    def judge(case: Case) -> Judgement:
        number = int(case.text)
        if number % 10 == 3:
            return Judgement(case=case, status="unsupported", error="no such thing yet")
        binlog = hashlib.sha256(case.text.encode()).digest() * (number % 7)
        verdict = DecoderVerdict(decoder="stub", version="1", outcome="agree")
        if number % 10 == 4:
            verdict = DecoderVerdict(decoder="stub", version="1", outcome="disagree", detail="row 1")
        sha256 = hashlib.sha256(binlog).hexdigest()
        file = CaseFile(name="binlog.000001", data=binlog, sha256=sha256, decode="{}\n")
        return Judgement(case=case, status="compiled", files=[file], verdicts=[verdict])

    return judge


def build(out: Path, given: Sequence[Case], judge: Judge | None = None, partitions: int | None = None) -> Path:
    build_corpus(given, judge or stub_judge(), out, jury=JURY, partitions=partitions)
    return out


def test_any_number_of_partitions_gives_the_same_manifest(tmp_path: Path) -> None:
    given = cases(CASES_PER_PART + 40)
    made = [build(tmp_path / str(n), given, partitions=n) for n in (1, 3, 16)]
    contents = [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in made]
    assert contents[0] == contents[1] == contents[2]
    assert sorted(contents[0]) == ["_corpus.json", "part-00000.parquet", "part-00001.parquet"]


def test_the_manifest_is_sorted_by_case_and_complete(tmp_path: Path) -> None:
    given = cases(40)
    made = build(tmp_path / "out", given, partitions=5)
    entries = list(read_entries(made))
    assert [entry.case for entry in entries] == sorted(case.id for case in given)
    assert {entry.case for entry in entries if entry.failing} == {f"c/{n:05d}" for n in range(40) if n % 10 in (3, 4)}
    assert read_case(made, "c/00008")["files"][0]["bytes"] == hashlib.sha256(b"8").digest()
    assert read_summary(made).cases == 40
    assert read_summary(made).absent == JURY.absent


def test_the_folder_is_a_dataset_for_spark(tmp_path: Path) -> None:
    folder = build(tmp_path / "out", cases(3))
    with spark_session() as session:
        rows = session.read.parquet(str(folder)).select("case").collect()
    assert sorted(row["case"] for row in rows) == [f"c/{n:05d}" for n in range(3)]


def test_a_killed_worker_is_replaced_and_no_case_is_lost(tmp_path: Path) -> None:
    mark = tmp_path / "killed"
    inner = stub_judge()

    def judge(case: Case) -> Judgement:
        if case.text == "7" and not mark.exists():
            mark.touch()
            os._exit(9)
        return inner(case)

    whole = build(tmp_path / "whole", cases(20), partitions=4)
    struck = build(tmp_path / "struck", cases(20), judge, partitions=4)
    assert mark.exists()
    assert [path.read_bytes() for path in parts(struck)] == [path.read_bytes() for path in parts(whole)]


def test_a_corpus_is_replaced_as_a_whole(tmp_path: Path) -> None:
    out = build(tmp_path / "out", cases(5))
    build(out, cases(3))
    assert len(list(read_entries(out))) == 3
    assert list(tmp_path.iterdir()) == [out]


def test_a_failed_job_leaves_the_old_corpus_and_nothing_else(tmp_path: Path) -> None:
    def judge(case: Case) -> Judgement:
        raise RuntimeError(f"infrastructure fails at {case.id}")

    out = build(tmp_path / "out", cases(5))
    with pytest.raises(
        ForgeError, match="the Spark job failed: RuntimeError: infrastructure fails at c/0000"
    ) as failure:
        build(out, cases(3), judge)
    assert "\n" not in str(failure.value)
    assert len(list(read_entries(out))) == 5
    assert list(tmp_path.iterdir()) == [out]


def test_a_folder_with_something_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ScenarioError, match="not part of a corpus"):
        build(tmp_path, cases(1))
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_two_cases_with_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="two cases have the id 'c/00000'"):
        build(tmp_path / "out", [*cases(1), *cases(1)])


def test_no_cases_make_an_empty_corpus(tmp_path: Path) -> None:
    assert list(read_entries(build(tmp_path / "out", []))) == []


def test_progress_is_told(spark: SparkSession, tmp_path: Path) -> None:
    import time

    told: list[tuple[int, int]] = []
    inner = stub_judge()

    def judge(case: Case) -> Judgement:
        time.sleep(0.3)
        return inner(case)

    assert spark.sparkContext.defaultParallelism == 2
    build_corpus(cases(6), judge, tmp_path / "out", jury=JURY, partitions=6, progress=lambda *seen: told.append(seen))
    assert 6 in {total for _, total in told}
    assert all(0 <= done <= total for done, total in told)
