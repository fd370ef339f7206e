"""The list of known bugs of other decoders: its form, and that its cases are in the corpus.

`make known-bugs` runs it: this does not fetch releases.
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")

from forge.conform.kit.registry import read_registry
from forge.conform.known_bugs import guards, read_known_bugs
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


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ("", "it needs cases, or a sentence why there can be none"),
        ('cases = ["a"]', "it needs a bad release, or a sentence why it is not run"),
        ('cases = ["a"]\ngood = "x 1.0"', "it has a good release and no bad one"),
        ('cases = ["a"]\nbad = "1.0"', "'1.0' is no release"),
        ('why_none = "it is of a server"\nelse = 1', "this is no list of known bugs"),
        ('why_none = "it is of a server"\n' + ENTRY + 'why_none = "again"', "its number is taken"),
    ],
)
def test_an_entry_that_is_not_whole_is_refused(tmp_path: Path, more: str, sentence: str) -> None:
    path = tmp_path / "known-bugs.toml"
    path.write_text(ENTRY + more + "\n")
    with pytest.raises(ScenarioError, match=sentence):
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
