"""`forge build` as a person types it: families, options that are wrong, inputs that an output would replace."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from forge.cli.app import run
from forge.cli.case_names import folder_names

SCENARIO = """\
scenario: one
session: {row_image: full}
tables: [CREATE TABLE d.t (a INT)]
transactions: [[{insert: {into: d.t, rows: [{a: 1}]}}]]
"""
FAMILY = SCENARIO.replace("one", "family") + "matrix: {server: [mysql-8.0, mysql-9.7], session.gtid: [true, false]}\n"


@pytest.fixture
def one(tmp_path: Path) -> Path:
    (tmp_path / "one.yaml").write_text(SCENARIO)
    return tmp_path / "one.yaml"


@pytest.fixture
def family(tmp_path: Path) -> Path:
    (tmp_path / "family.yaml").write_text(FAMILY)
    return tmp_path / "family.yaml"


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_folder_takes_every_case_of_a_family_and_they_are_listed(
    family: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(["build", str(family), "-o", f"{out}/"]) == 0
    expected = [
        f"family,server={server},gtid={gtid}/binlog.000001"
        for server in ("mysql-8.0", "mysql-9.7")
        for gtid in ("false", "true")
    ]
    assert files_in(out) == expected
    lines = capfd.readouterr().out.splitlines()
    assert sorted(line.partition(": ")[0] for line in lines[:-1]) == [str(out / name) for name in expected]
    assert lines[-1] == "4 of 4 cases"


def test_the_folder_of_a_case_holds_what_the_case_alone_gives(family: Path, tmp_path: Path) -> None:
    assert run(["build", str(family), "-o", f"{tmp_path / 'out'}/"]) == 0
    alone = tmp_path / "alone"
    assert run(["build", str(family), "--case", "family[server=mysql-8.0,gtid=true]", "-o", str(alone)]) == 0
    inside = tmp_path / "out" / "family,server=mysql-8.0,gtid=true" / "binlog.000001"
    assert alone.read_bytes() == inside.read_bytes()


def test_one_file_for_several_cases_is_refused_with_what_to_do(
    family: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for output in (str(tmp_path / "x.000001"), "-"):
        assert run(["build", str(family), "-o", output]) == 2
        out, shown = capfd.readouterr()
        assert out == ""
        assert f"the matrix makes several cases, but {output} is one file" in shown
        assert "--case 'family[server=mysql-8.0,gtid=true]'" in shown
        assert "--set" in shown
    assert files_in(tmp_path) == ["family.yaml"]


def test_options_that_leave_one_case_make_one_file(family: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.000001"
    assert run(["build", str(family), "--server", "mysql-8.4", "--set", "session.gtid=true", "-o", str(out)]) == 0
    assert out.stat().st_size


def test_a_case_that_cannot_be_built_does_not_stop_the_others(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "family.yaml"
    file.write_text(FAMILY.replace("mysql-8.0", "mysql-6.0"))
    assert run(["build", str(file), "-o", f"{tmp_path / 'out'}/"]) == 2
    assert len(files_in(tmp_path / "out")) == 2
    out, shown = capfd.readouterr()
    assert out.endswith("2 of 4 cases\n")
    assert shown.startswith(
        "forge: 2 of 4 cases cannot be built; the first is family[server=mysql-6.0,gtid=true]:"
        f" {file}:5: unknown server line 'mysql-6.0'"
    )


@pytest.mark.parametrize("output", ["one.yaml", "./one.yaml", "symbolic", "hard"])
def test_an_output_that_is_the_input_is_refused_also_through_links(
    one: Path, output: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(one.parent)
    Path("symbolic").symlink_to(one)
    Path("hard").hardlink_to(one)
    for command in ("build", "asm", "disasm"):
        assert run([command, "one.yaml", "-o", output]) == 2
        assert capfd.readouterr().err.startswith(f"forge: {output} is an input of the command")
        assert one.read_text() == SCENARIO


def test_a_file_of_a_folder_that_is_the_input_is_not_replaced(one: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scenario = one.rename(one.parent / "binlog.000001")
    assert run(["build", str(scenario), "-o", f"{one.parent}/"]) == 2
    assert "is an input of the command" in capfd.readouterr().err
    assert scenario.read_text() == SCENARIO


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--server", "mysql-6.0"], "--server mysql-6.0: unknown server line 'mysql-6.0'"),
        (["--set", "server=mysql-6.0"], "--set server=mysql-6.0: unknown server line 'mysql-6.0'"),
        (["--set", "session.row_imag=x"], "--set session.row_imag=x: unknown word 'row_imag' in session"),
        (["--set", "session.row_image=ful"], "--set session.row_image=ful: session.row_image is 'ful'"),
        (["--set", "session.timestamp=soon"], "--set session.timestamp=soon: "),
        (["--set", "tables=[CREATE TABL d.t (a INT)]"], "--set tables=[CREATE TABL d.t (a INT)]: "),
        (["--set", "row_image=full"], "--set row_image=full: the scenario has no field 'row_image'"),
        (["--set", "a=[1"], "--set a=[1: bad YAML: "),
        (["--set", "row_image"], "--set 'row_image' sets nothing"),
    ],
)
def test_a_wrong_option_is_named_and_no_line_of_the_file(
    one: Path, options: list[str], problem: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["build", str(one), "-o", str(one.parent / "out"), *options]) == 2
    shown = capfd.readouterr().err
    assert shown.startswith(f"forge: {problem}")
    assert "one.yaml" not in shown


def test_a_wrong_line_of_the_file_is_named_beside_options_that_are_right(
    one: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    one.write_text(SCENARIO.replace("row_image: full", "row_imag: full"))
    assert run(["build", str(one), "-o", str(one.parent / "out"), "--server", "mysql-8.4"]) == 2
    assert capfd.readouterr().err.startswith(f"forge: {one}:2: unknown word 'row_imag' in session")


def test_a_program_gets_the_files_of_each_case_as_json(
    family: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["build", str(family), "-o", f"{tmp_path / 'out'}/", "--json"]) == 0
    cases = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [case["case"] for case in cases][:1] == ["family[server=mysql-8.0,gtid=true]"]
    for case in cases:
        for file in case["files"]:
            data = Path(file["path"]).read_bytes()
            assert (file["size"], file["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    assert len(cases) == 4


def test_json_is_not_mixed_with_a_binary_log(one: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["build", str(one), "-o", "-", "--json"]) == 2
    assert capfd.readouterr() == (
        "",
        "forge: --json lists the files that are written, and -o - writes none (see `forge build --help`)\n",
    )


@pytest.mark.slow
def test_a_scenario_may_come_from_standard_input(one: Path, tmp_path: Path) -> None:
    build = [sys.executable, "-m", "forge", "build"]
    assert run(["build", str(one), "-o", str(tmp_path / "file")]) == 0
    piped = subprocess.run([*build, "-", "-o", "-"], input=one.read_bytes(), capture_output=True, check=True)
    assert piped.stdout == (tmp_path / "file").read_bytes()
    wrong = subprocess.run([*build, "-", "-o", "-"], input=b"scenario: x\nseed: y\n", capture_output=True, check=False)
    assert wrong.stderr.startswith(b"forge: standard input:2: seed is text")
    assert wrong.returncode == 2


def test_names_of_folders_are_safe_and_differ() -> None:
    long = "x" * 300
    names = folder_names(["a[k=1]", "a[k=../../b]", "A[k=1]", "../up", "a b", "a/b", "-o", long, long + "y"])
    assert names[1] == "a,k=.._.._b"
    assert [name for name in names if "/" in name or name.startswith((".", "-")) or len(name.encode()) > 255] == []
    assert len({name.casefold() for name in names}) == len(names)
