"""Whatever a testee does, the run ends, and every other case has its right outcome."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("pyarrow")

from forge.cli.app import run
from forge.conform.kit.case_files import KitCase
from forge.conform.kit.export import export_kit
from forge.conform.kit.reading import open_kit
from forge.conform.runner import run_cases
from forge.conform.testee import Limits
from forge.errors import EnvironmentMissing, ScenarioError
from forge.resources import corpora_dir
from tests.conform.odd_testee import BAD
from tests.small_corpus import write_corpus

pytestmark = pytest.mark.slow

ECHO = [shlex.join(["sh", str(corpora_dir() / "testees/echo/echo.sh")])]
ECHO += [shlex.join([sys.executable, str(corpora_dir() / "testees/echo/echo.py")])]
ODD = Path(__file__).with_name("odd_testee.py")
#: It takes every 1 for a 9: cells are {"integer":"1"} in the kit.
WRONG = """wrong = lambda row: row.strip().replace('{"integer":"1"}', '{"integer":"9"}')"""
LIMITS = Limits(seconds=1.5, memory=256 << 20, output=4 << 20)


def odd(word: str) -> str:
    return shlex.join([sys.executable, str(ODD), word])


def is_bad(case: KitCase) -> bool:
    return int.from_bytes(case.id.encode(), "big") % BAD == 0


@pytest.mark.parametrize("command", ECHO, ids=["shell", "python"])
def test_the_echo_testees_are_right(kit: Path, command: str) -> None:
    opened = open_kit(kit)
    hello, results = run_cases(opened, opened.cases, command, jobs=2)
    assert hello.name.startswith("echo")
    assert {result.outcome for result in results} <= {"agree", "rejects"}
    assert sum(result.cells for result in results) > 1000


def test_a_testee_that_says_that_bytes_are_no_value_is_right_about_them(tmp_path: Path) -> None:
    families = ("faults/compressed-values", "faults/partial-json")
    export_kit(write_corpus(tmp_path / "corpus", families), tmp_path / "kit", jobs=1)
    opened = open_kit(tmp_path / "kit")
    _, results = run_cases(opened, opened.cases, ECHO[1])
    assert {result.outcome for result in results if result.case.verdict == "reject"} == {"rejects"}
    assert all(result.right for result in results)


@pytest.mark.parametrize(
    ("word", "outcome", "said"),
    [
        ("crash", "crashed", "it ended by signal SIGABRT"),
        ("exit", "crashed", "it ended with exit code 1: it cannot go on"),
        ("child", "crashed", "it ended with exit code 9"),
        ("hang", "timeout", "it had not ended after 1.5 s"),
        ("silence", "crashed", "it closed its output"),
        ("garbage", "crashed", "this is no answer of the protocol: 'panic: runtime error'"),
        ("binary", "crashed", "this is no answer of the protocol"),
        ("order", "crashed", "it answers request"),
        ("nameless", "crashed", "its end does not have the id of the request"),
        ("flood", "crashed", "without coming to an end"),
        ("rows", "crashed", "without coming to an end"),
        ("line", "crashed", "without coming to an end"),
        ("memory", "crashed", "MiB of memory; the limit is 256"),
        ("errors", "timeout", "it had not ended"),
    ],
)
def test_a_testee_that_misbehaves_spoils_only_its_own_cases(kit: Path, word: str, outcome: str, said: str) -> None:
    opened = open_kit(kit)
    bad = [case for case in opened.cases if is_bad(case)][:2]
    others = [case for case in opened.cases if not is_bad(case)][:8]
    cases = [others[0], bad[0], *others[1:4], bad[1], *others[4:]]
    _, results = run_cases(opened, cases, odd(word), limits=LIMITS)
    for case, result in zip(cases, results, strict=True):
        if case in bad:
            assert result.outcome == outcome
            assert said in str(result.message)
        else:
            assert result.right, result.message


@pytest.mark.parametrize("word", ["twice", "ahead"])
def test_answers_beyond_those_that_were_asked_for_spoil_no_other_case(kit: Path, word: str) -> None:
    opened = open_kit(kit)
    _, results = run_cases(opened, opened.cases, odd(word), limits=LIMITS)
    wrong = [result.case for result in results if not result.right]
    assert wrong
    assert all(is_bad(case) for case in wrong)


def test_a_testee_that_dies_every_tenth_case_loses_only_those(kit: Path) -> None:
    opened = open_kit(kit)
    # It is asked about the twin of a case as well.
    cases = 3 * [case for case in opened.cases if case.twin is None]
    _, results = run_cases(opened, cases, odd("tenth"), limits=LIMITS)
    wrong = [number for number, result in enumerate(results) if not result.right]
    assert wrong == list(range(9, len(cases), 10))
    assert {results[number].message for number in wrong} == {"it ended with exit code 9"}


@pytest.mark.parametrize("word", ["flood", "rows", "line", "errors"])
def test_the_memory_of_the_run_stays_flat_whatever_a_testee_says(kit: Path, word: str) -> None:
    case = next(case for case in open_kit(kit).cases if is_bad(case))
    # In a process of its own, whose largest size is that of this run alone.
    program = f"""
import resource
from pathlib import Path
from forge.conform.runner import run_cases
from forge.conform.testee import Limits
from forge.conform.kit.reading import open_kit
kit = open_kit(Path({str(kit)!r}))
case = next(case for case in kit.cases if case.id == {case.id!r})
limits = Limits(seconds=2)
run_cases(kit, [case], {odd(word)!r}, limits=limits)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
_, results = run_cases(kit, [case] * 3, {odd(word)!r}, limits=limits)
assert not any(result.right for result in results)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 16 << 10  # KiB, after three times 8 MiB of answers and more.


@pytest.mark.parametrize(("word", "outcome"), [("refuse", "refused"), ("crash", "crashed"), ("hang", "timeout")])
def test_a_valid_file_that_is_refused_or_crashed_on_or_never_ends_fails_the_run(
    kit: Path, capfd: pytest.CaptureFixture[str], word: str, outcome: str
) -> None:
    case = next(case for case in open_kit(kit).cases if is_bad(case) and case.verdict == "accept")
    command = ["conform", odd(word), "--kit", str(kit), "--case", case.id, "--timeout", "1.5"]
    assert run(command) == 1
    assert f"1 case: 1 {outcome}" in capfd.readouterr().out


def test_a_testee_that_does_not_start_is_one_sentence() -> None:
    kit = pytest.importorskip("forge.conform.kit.reading").OpenKit(Path(), [])
    with pytest.raises(EnvironmentMissing, match="cannot be started: No such file"):
        run_cases(kit, [], "./no-such-testee")
    with pytest.raises(ScenarioError, match="does not say hello"):
        run_cases(kit, [], "true")


def test_failures_are_listed_and_then_expected(kit: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    listed, junit = tmp_path / "known.txt", tmp_path / "results.xml"
    command = ["conform", odd("exit"), "--kit", str(kit), "-j", "2"]
    assert run([*command, "--junit", str(junit)]) == 1
    failures = ElementTree.parse(junit).getroot().findall("testcase/failure")
    bad = [case.id for case in open_kit(kit).cases if is_bad(case)]
    assert len(failures) == len(bad) > 0
    assert run([*command, "--write-expected-failures", str(listed)]) == 0
    assert [line.split()[0] for line in listed.read_text().splitlines() if line[0] != "#"] == sorted(bad)
    capfd.readouterr()
    assert run([*command, "--expected-failures", str(listed), "--junit", str(junit)]) == 0
    assert f"{len(bad)} fail as the list says" in capfd.readouterr().out
    assert ElementTree.parse(junit).getroot().get("skipped") == str(len(bad))


def test_a_listed_failure_that_passes_makes_the_run_fail(
    kit: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    case = next(case.id for case in open_kit(kit).cases)
    (tmp_path / "known.txt").write_text(f"{case} disagree it was wrong once\n")
    command = [
        "conform",
        ECHO[1],
        "--kit",
        str(kit),
        "--case",
        case,
        "--expected-failures",
        str(tmp_path / "known.txt"),
    ]
    assert run(command) == 1
    assert "1 are on the list and right now" in capfd.readouterr().out


def test_the_first_difference_names_the_cell_and_its_bytes(
    kit: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "wrong.py"
    echo = (corpora_dir() / "testees/echo/echo.py").read_text()
    script.write_text(echo.replace("{row.strip()}", "{wrong(row)}").replace("import json", "import json\n" + WRONG))
    command = ["conform", shlex.join([sys.executable, str(script)]), "--kit", str(kit), "--json", "-j", "1"]
    assert run(command) == 1
    results = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    wrong = next(result for result in results if result.get("outcome") == "disagree")
    assert wrong["difference"]["what"] == "value"
    assert '"9"' in wrong["message"] or "9" in wrong["message"]
    assert wrong["difference"]["column"] >= 1
    assert wrong["difference"]["raw"]
    assert results[-1]["summary"]["outcomes"]["disagree"] > 0
