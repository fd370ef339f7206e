"""The list of known bugs of other decoders: its form, and that its cases are in the corpus.

`make known-bugs` runs it: this does not fetch releases.
"""

from __future__ import annotations

import re
import sys
from itertools import groupby
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")

from forge.conform.kit.registry import read_registry
from forge.conform.known_bugs import KnownBug, guards, read_known_bugs
from forge.corpus.cases import RECORDED, SUFFIXES, cases_of, shipped_folders
from forge.errors import ScenarioError
from forge.resources import corpora_dir
from tests.known_bugs.catching import catch

#: As many as field notes have gathered.
BUGS = 110

ENTRY = """
[[bug]]
number = 1
issues = ["someone/decoder#7"]
what = "negative numbers are positive"
"""


def test_each_bug_has_a_case_or_a_sentence_why_there_is_none() -> None:
    bugs = read_known_bugs()
    assert [bug.number for bug in bugs] == list(range(1, BUGS + 1))
    assert all(bool(bug.cases) != bool(bug.why_none) for bug in bugs)


@pytest.mark.slow
def test_the_cases_of_known_bugs_are_in_the_corpus() -> None:
    missing = []
    ids = read_registry()
    added = sorted(case for case in guards(read_known_bugs()) if ids.row_of(case) is None)
    for stem, names in groupby(added, key=lambda case: case.partition("[")[0]):
        files = ((file, folder, name) for name, folder in shipped_folders() for file in files_of(folder, stem))
        shipped = {case.id for file, folder, name in files for case in cases_of(file, folder, name)}
        missing += [case for case in names if case not in shipped]
    assert not missing


def files_of(folder: Path, stem: str) -> list[Path]:
    """The scenario of that name in a folder, if it is there."""
    candidates = [folder / f"{stem}{suffix}" for suffix in SUFFIXES] + [
        folder / stem.removeprefix("recordings/") / RECORDED
    ]
    return [path for path in candidates if path.is_file()]


def test_a_release_names_a_testee_that_is_shipped() -> None:
    built = (corpora_dir().parent / ".ci" / "release").read_text()
    decoders = {release.split()[0] for bug in read_known_bugs() for release in bug.releases}
    assert not {decoder for decoder in decoders if decoder not in built}


@pytest.mark.parametrize("bug", read_known_bugs(), ids=lambda bug: str(bug.number))
def test_an_entry_is_whole(bug: KnownBug) -> None:
    assert bug.issues
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", issue) for issue in bug.issues)
    assert all(re.fullmatch(r"[\w-]+ \d[\w.-]*", release) for release in bug.releases)
    assert bug.good is None or bug.bad is not None
    assert not bug.cases or bool(bug.releases) != (bug.not_run is not None), "a bad release, or why it is not run"


def test_a_list_of_another_form_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "known-bugs.toml"
    path.write_text(ENTRY + "else = 1\n")
    with pytest.raises(ScenarioError, match="this is no list of known bugs"):
        read_known_bugs(path)


def test_a_bug_is_caught_if_bad_fails_and_good_is_right(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from forge.conform.kit.case_files import KitCase
    from forge.conform.kit.reading import OpenKit

    silent = tmp_path / "silent"
    silent.write_text(
        f"#!{sys.executable}\n"
        "import json, sys\n"
        "for line in map(json.loads, sys.stdin):\n"
        "    hello = {'hello': {'name': 'silent', 'version': '1'}}\n"
        "    print(json.dumps({'id': line['id']} | (hello if 'hello' in line else {'end': 'refused'})), flush=True)\n"
    )
    silent.chmod(0o755)
    path = tmp_path / "known-bugs.toml"
    path.write_text(ENTRY + 'cases = ["missing"]\nbad = "silent 1"\n')
    kit = OpenKit(tmp_path, list[KitCase]())
    [caught] = catch(read_known_bugs(path), kit, {"silent 1": silent})
    assert caught.problems == ("the kit has no case missing",)
    assert catch(read_known_bugs(path), kit, {}) == []
    [caught] = catch(read_known_bugs(path), kit, {"silent 1": Path("/bin/false")})
    assert caught.problems == ("silent 1: the testee '/bin/false' does not say hello: it ended with exit code 1",)
