"""A small corpus, and a kit of it, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.resources import corpora_dir

SCENARIOS = ("first-day", "torn-files", "payloads", "json")


def write_corpus(folder: Path, names: tuple[str, ...] = SCENARIOS) -> Path:
    """A corpus of some shipped scenarios, judged by nobody."""
    pa = pytest.importorskip("pyarrow")
    from forge.corpus.cases import cases_of
    from forge.corpus.judge import judge_case
    from forge.corpus.manifest import SCHEMA, Summary, digest, part_name, row_of, write_part, write_summary

    home = corpora_dir() / "scenarios"
    cases = sorted((case for name in names for case in cases_of(home / f"{name}.yaml", home, "s")), key=lambda c: c.id)
    rows = [row_of(judge_case(case, decoders=())) for case in cases]
    folder.mkdir(parents=True, exist_ok=True)
    write_part(folder / part_name(0), pa.Table.from_pylist(rows, schema=SCHEMA))
    sums = digest(sorted(folder.glob("*.parquet")))
    write_summary(folder, Summary(format=4, forge="0", cases=len(rows), sha256=sums, decoders={}, absent={}))
    return folder


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="session")
def kit(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from forge.conform.kit.export import export_kit

    out = tmp_path_factory.mktemp("kit") / "kit"
    export_kit(corpus, out, jobs=1)
    return out
