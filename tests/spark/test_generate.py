"""``forge generate`` on Spark: the same bytes as in this process, for any number of partitions."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="the extra [spark] is not installed")
pytest.importorskip("numba", reason="the extra [rows] is not installed")

from forge.bulk.generating.generate import generate
from forge.errors import ForgeError
from forge.resources import corpora_dir
from forge.scenario import load_scenario
from forge.spark.generate import generate_on_spark

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

SHOP = corpora_dir() / "volumes" / "shop.yaml"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_any_number_of_partitions_makes_the_same_bytes(tmp_path: Path) -> None:
    scenario = load_scenario(SHOP)
    generate(scenario, tmp_path / "here", rows=2000, files=5)
    expected = contents(tmp_path / "here")
    for partitions in (1, 3, 16):
        out = tmp_path / str(partitions)
        generate_on_spark(scenario, out, rows=2000, files=5, partitions=partitions)
        assert contents(out) == expected


def test_a_failing_task_leaves_finished_parts_and_one_sentence(tmp_path: Path) -> None:
    scenario = load_scenario(SHOP)
    out = tmp_path / "out"
    blocked = out / ".generate" / "binlog.000002"
    blocked.mkdir(parents=True)  # A part cannot be renamed to the name of a folder.
    with pytest.raises(ForgeError, match=r"the Spark job failed: .*Error") as failure:
        generate_on_spark(scenario, out, rows=600, files=3, partitions=4)
    assert "\n" not in str(failure.value)
    assert [path.name for path in out.iterdir()] == [".generate"]
    blocked.rmdir()
    assert generate_on_spark(scenario, out, rows=600, files=3).kept > 0
    generate(scenario, tmp_path / "here", rows=600, files=3)
    assert contents(out) == contents(tmp_path / "here")
