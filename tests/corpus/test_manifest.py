"""The folder of a corpus: a dataset for other programs, and what is refused of a damaged one."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

pa = pytest.importorskip("pyarrow")

from forge.cli.app import run
from forge.corpus.cases import Case
from forge.corpus.judge import CaseFile, Judgement
from forge.corpus.manifest import (
    SCHEMA,
    SUMMARY,
    Summary,
    digest,
    part_name,
    read_case,
    read_summary,
    row_of,
    write_part,
    write_summary,
)
from forge.errors import ManifestError

DATA = b"\xfebin and more"


def corpus(folder: Path, name: str = "binlog.000001", sha256: str | None = None) -> Path:
    """A corpus of the cases a and b, in a part each; the file of b is called ``name``."""
    for number, (case, file_name) in enumerate([("a", "binlog.000001"), ("b", name)]):
        file = CaseFile(
            name=file_name, data=DATA, sha256=sha256 or hashlib.sha256(DATA).hexdigest(), decode='{"index": 0}\n'
        )
        judgement = Judgement(case=Case(case, f"s/{case}.yaml", "", "mysql-9.7"), status="compiled", files=[file])
        write_part(folder / part_name(number), pa.Table.from_pylist([row_of(judgement)], schema=SCHEMA))
    write_summary(
        folder,
        Summary(format=2, forge="0", cases=2, sha256=digest(sorted(folder.glob("*.parquet"))), decoders={}, absent={}),
    )
    return folder


def test_the_folder_is_a_dataset_for_pyarrow(tmp_path: Path) -> None:
    dataset = pytest.importorskip("pyarrow.dataset")
    table = dataset.dataset(corpus(tmp_path), format="parquet").to_table()
    assert table.schema.names == SCHEMA.names
    assert table["case"].to_pylist() == ["a", "b"]
    assert table["files"].to_pylist()[0][0]["bytes"] == DATA


def test_the_folder_is_a_dataset_for_pandas(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(corpus(tmp_path))
    assert list(frame["case"]) == ["a", "b"]


@pytest.mark.parametrize("name", ["../../x", "/tmp/x", "..", "a/b", "a\\b", "", "x\0y"])
def test_a_file_name_that_leads_out_of_the_folder_is_refused(
    tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "corpus").mkdir()
    folder = corpus(tmp_path / "corpus", name)
    out = tmp_path / "deep" / "er" / "out"
    assert run(["corpus", "extract", "b", "--from", str(folder), "--out", str(out)]) == 3
    shown = capfd.readouterr().err
    assert shown == f"forge: {folder}: {name!r}, a file of the case 'b', has no plain file name of its own\n"
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_bytes_that_are_not_those_of_the_sha256_are_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = corpus(tmp_path, sha256="00" * 32)
    assert run(["corpus", "extract", "a", "--from", str(folder), "-o", str(tmp_path / "x")]) == 3
    assert "binlog.000001 of the case 'a' does not have the sha256 of the manifest" in capfd.readouterr().err
    assert not (tmp_path / "x").exists()


def test_a_case_is_not_extracted_over_the_corpus_itself(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = corpus(tmp_path)
    assert run(["corpus", "extract", "a", "--from", str(folder), "-o", str(folder / part_name(1))]) == 2
    assert "is an input of the command" in capfd.readouterr().err
    assert read_case(folder, "b")["case"] == "b"


@pytest.mark.parametrize("name", [SUMMARY, part_name(0)])
def test_a_damaged_file_of_a_corpus_is_one_sentence_with_exit_code_3(
    tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = corpus(tmp_path)
    (folder / name).write_bytes(b"nonsense")
    assert run(["corpus", "show", str(folder), "--findings"]) == 3
    shown = capfd.readouterr().err
    assert shown.startswith(f"forge: {folder}: the manifest cannot be read: ")
    assert shown.count("\n") == 1


def test_what_made_a_corpus_is_read_back(tmp_path: Path) -> None:
    assert read_summary(corpus(tmp_path)).cases == 2
    (tmp_path / SUMMARY).write_text('{"format": 2}')
    with pytest.raises(ManifestError, match="cannot be read"):
        read_summary(tmp_path)


def test_cases_are_listed_with_what_is_chosen(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = str(corpus(tmp_path))
    assert run(["corpus", "show", folder]) == 0
    assert [line.split()[0] for line in capfd.readouterr().out.splitlines()] == ["case", "a", "b"]
    assert run(["corpus", "show", folder, "--failing", "--json"]) == 0
    assert capfd.readouterr().out == ""
    assert run(["corpus", "show", folder, "--case", "b", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["files"][0]["decode"] == [{"index": 0}]
    assert run(["corpus", "show", folder, "--findings", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["findings"] == []


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--tag", "gtdi"], "no case in {} has the tag 'gtdi'\n"),
        (["--case", "c"], "there is no case 'c' in {}\n"),
        (["--case", "a", "--coverage"], "use only one of --case, --findings and --coverage"),
        (["--case", "a", "--failing"], "use only one of --case, --findings and --coverage"),
    ],
)
def test_a_choice_of_nothing_is_said(
    tmp_path: Path, options: list[str], problem: str, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = str(corpus(tmp_path))
    assert run(["corpus", "show", folder, *options]) == 2
    assert capfd.readouterr().err.startswith("forge: " + problem.format(folder))


def test_a_case_is_extracted_with_its_decode(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    folder = corpus(tmp_path / "corpus")
    assert run(["corpus", "extract", "a", "--from", str(folder), "--out", str(tmp_path / "a")]) == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()} == {
        "binlog.000001": DATA,
        "binlog.000001.jsonl": b'{"index": 0}\n',
    }
