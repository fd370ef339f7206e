"""A kit: what it has, that it says the truth, and what it is not written over."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest

jsonschema = pytest.importorskip("jsonschema")
pytest.importorskip("pyarrow")

from forge.cli.app import run
from forge.cli.commands.conform import opened_kit
from forge.conform.kit.export import export_kit
from forge.conform.kit.profiles import SMOKE_LIMIT, chosen_entries
from forge.conform.kit.reading import open_kit
from forge.conform.kit.schemas import kit_schemas
from forge.corpus.manifest import Entry, FileEntry
from forge.decode.decode import canonical_rows
from forge.errors import ScenarioError

pytestmark = pytest.mark.slow


def test_every_case_has_its_files_and_what_is_expected_of_them(kit: Path) -> None:
    cases = open_kit(kit).cases
    assert len(cases) > 20
    for case in cases:
        assert case.title
        for file in case.files:
            path = kit / "cases" / case.id / file.name
            data = path.read_bytes()
            assert (len(data), hashlib.sha256(data).hexdigest()) == (file.size, file.sha256)
            assert len(path.with_name(file.name + ".events.jsonl").read_text().splitlines()) == file.events
            assert len(path.with_name(file.name + ".rows.jsonl").read_text().splitlines()) == file.rows


def test_rows_are_those_of_the_canonical_decode(kit: Path) -> None:
    opened = open_kit(kit)
    compared = 0
    for case in opened.cases:
        if case.verdict != "accept":
            continue
        for file in case.files:
            rows = opened.expected(case, file).rows
            for row, change in zip(rows, canonical_rows(opened.path(case, file).read_bytes()), strict=True):
                for image in ("before", "after"):
                    cells = getattr(change, image)
                    assert (row[image] is None) == (cells is None)
                    for shown, cell in zip(row[image] or (), cells or (), strict=True):
                        assert shown["raw"] == (None if cell.raw is None else cell.raw.hex())
                        text = cell.text()
                        assert shown.get("text") == (text if isinstance(text, str) else None)
                        compared += 1
    assert compared > 1000


def test_all_that_a_kit_has_fits_its_schemas(kit: Path) -> None:
    schemas = {name: json.loads((kit / "schemas" / f"{name}.json").read_text()) for name in kit_schemas()}
    check = {name: jsonschema.Draft202012Validator(schema) for name, schema in schemas.items()}
    for line in (kit / "index.jsonl").read_text().splitlines():
        check["case"].validate(json.loads(line))
    for path in kit.glob("cases/*/tables.json"):
        check["tables"].validate(json.loads(path.read_text()))
    for path in sorted(kit.glob("cases/*/*.jsonl"))[:60]:
        kind = "event" if path.name.endswith(".events.jsonl") else "row"
        for line in path.read_text().splitlines()[:20]:
            check[kind].validate(json.loads(line))


def test_the_checksums_are_those_of_all_files(kit: Path) -> None:
    lines = {line[66:]: line[:64] for line in (kit / "SHA256SUMS").read_text().splitlines()}
    files = {path.relative_to(kit).as_posix() for path in kit.rglob("*") if path.is_file()} - {"SHA256SUMS"}
    assert set(lines) == files
    assert lines["README.md"] == hashlib.sha256((kit / "README.md").read_bytes()).hexdigest()


def test_ids_are_names_of_files_on_every_system(kit: Path) -> None:
    ids = [case.id for case in open_kit(kit).cases]
    assert all(
        len(name) <= 40 and name == name.lower() and set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        for name in ids
    )
    assert len(set(ids)) == len(ids)


def test_smoke_has_every_tag_that_the_corpus_has(corpus: Path, kit: Path, tmp_path: Path) -> None:
    export_kit(corpus, tmp_path / "smoke", profile="smoke", jobs=1)
    few, many = open_kit(tmp_path / "smoke").cases, open_kit(kit).cases
    assert len(few) < len(many)
    assert {tag for case in few for tag in case.tags} == {tag for case in many for tag in case.tags}
    assert {case.id for case in few} == {case.id for case in many if case.smoke}


def test_smoke_has_the_cases_that_their_author_has_chosen() -> None:
    def entry(case: str, *tags: str) -> Entry:
        return Entry(
            case=case, file=f"s/{case}.yaml", server="mysql-9.7", title=case, tags=["type:INT", *tags],
            verdict="accept", phase=None, status="compiled", error=None, against=None, verdicts=[],
            files=[FileEntry(name="binlog.000001", size=4, sha256="00")],
        )  # fmt: skip

    chosen = [entry(f"chosen-{number:03}", "chosen") for number in range(200)]
    others = [entry(f"other-{number:03}") for number in range(600)]
    few = chosen_entries([*others, *chosen], "smoke")
    assert {entry.case for entry in chosen} <= {entry.case for entry in few}
    assert len(few) == SMOKE_LIMIT


def test_an_archive_has_the_same_bytes_each_time_and_the_same_files(corpus: Path, kit: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        export_kit(corpus, tmp_path / name / "kit.tar.gz", profile="mysql-9.7", jobs=1)
    assert (tmp_path / "a" / "kit.tar.gz").read_bytes() == (tmp_path / "b" / "kit.tar.gz").read_bytes()
    with opened_kit(tmp_path / "a" / "kit.tar.gz") as unpacked:
        assert {case.server for case in unpacked.cases} == {"mysql-9.7"}
        assert all(unpacked.path(case, file).is_file() for case in unpacked.cases for file in case.files)
        assert all((kit / "cases" / case.id / "case.json").is_file() for case in unpacked.cases)


@pytest.mark.parametrize("name", ["../outside", "/outside", "kit/../../outside"])
def test_an_archive_writes_nothing_outside_of_its_folder(name: str, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "kit.tar.gz", "w:gz") as archive:
        archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    with (
        pytest.raises(ScenarioError, match="is no file below the archive's folder"),
        opened_kit(tmp_path / "kit.tar.gz"),
    ):
        pass


def test_an_archive_has_no_links(tmp_path: Path) -> None:
    link = tarfile.TarInfo("kit/cases")
    link.type, link.linkname = tarfile.SYMTYPE, "/"
    with tarfile.open(tmp_path / "kit.tar.gz", "w:gz") as archive:
        archive.addfile(link)
    with pytest.raises(ScenarioError, match="is no file below"), opened_kit(tmp_path / "kit.tar.gz"):
        pass


def test_a_folder_with_something_else_stays_as_it_is(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ScenarioError, match="holds something else than a kit"):
        export_kit(corpus, tmp_path, jobs=1)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_kit_is_replaced_by_a_new_one(corpus: Path, tmp_path: Path) -> None:
    for profile in ("full", "mysql-9.7"):
        export_kit(corpus, tmp_path / "kit", profile=profile, jobs=1)
    assert {case.server for case in open_kit(tmp_path / "kit").cases} == {"mysql-9.7"}
    assert [path.name for path in tmp_path.iterdir()] == ["kit"]


def test_a_profile_that_is_not_there_is_refused_with_a_near_one(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["corpus", "export", str(tmp_path / "kit"), "--from", str(corpus), "--profile", "smok"]
    assert run(command) == 2
    assert "did you mean 'smoke'?" in capsys.readouterr().err


def test_a_case_that_a_vendor_has_to_have_first_is_in_no_kit(
    corpus: Path, kit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = open_kit(kit).cases[0]
    monkeypatch.setattr("forge.conform.kit.profiles.withheld_cases", lambda: frozenset([case.case]))
    export_kit(corpus, tmp_path / "kit", jobs=1)
    assert case.id not in (tmp_path / "kit/index.jsonl").read_text()
    assert not (tmp_path / "kit/cases" / case.id).exists()
    assert len(open_kit(tmp_path / "kit").cases) == len(open_kit(kit).cases) - 1


def test_a_case_of_ones_own_with_the_name_of_a_shipped_one_gets_an_id_of_its_own(tmp_path: Path) -> None:
    from forge.conform.kit.registry import read_registry

    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "first-day.yaml").write_text("scenario: mine\ntables: [CREATE TABLE t.a (id INT)]\n")
    built = ["corpus", "build", "--scenarios", str(tmp_path / "mine"), "--out", str(tmp_path / "out"), "--decoders"]
    assert run([*built, "forge"]) == 0
    export_kit(tmp_path / "out", tmp_path / "kit", jobs=1)
    [case] = open_kit(tmp_path / "kit").cases
    known = read_registry().row_of("first-day")
    assert known is not None
    assert case.case == "first-day"
    assert (case.since, case.id == known.id) == (None, False)
