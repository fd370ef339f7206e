"""The tags of cases: a known set of words, and features that are found by themselves."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import get_args

import pytest

pytest.importorskip("pyarrow", reason="the extra [spark] is not installed")

from forge.conform.kit.registry import digest_of, read_registry
from forge.corpus.cases import Case, compile_case, find_cases, shipped_folders
from forge.corpus.coverage import Coverage, coverage_lines, coverage_object
from forge.corpus.manifest import Entry, FileEntry
from forge.corpus.vocabulary import vocabulary
from forge.errors import Phase, UnsupportedError

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WORDS = vocabulary()


@pytest.fixture(scope="module")
def shipped() -> list[Case]:
    return find_cases(shipped_folders())


@pytest.fixture(scope="module")
def samples(shipped: list[Case]) -> list[tuple[Case, tuple[str, ...]]]:
    """The first case of every file, with all its tags."""
    by_file = {case.file: case for case in reversed(shipped)}
    found = []
    for case in by_file.values():
        try:
            found.append((case, compile_case(case).tags))
        except UnsupportedError:
            continue
    return found


def test_every_shipped_scenario_has_tags_that_the_vocabulary_knows(shipped: list[Case]) -> None:
    unknown = {(case.file, *pair) for case in shipped for pair in WORDS.unknown(case.tags).items()}
    said = [f"{file}: {tag!r} is no known tag; nearest is {near!r}" for file, tag, near in sorted(unknown)]
    assert said == [], "the known ones are in forge/corpus/tags.toml"
    assert {case.file for case in shipped if not case.tags} == set()


def test_every_shipped_case_has_a_frozen_id_that_stands_for_its_bytes(shipped: list[Case]) -> None:
    ids = read_registry()
    unlisted = [case.id for case in shipped if ids.row_of(case.id) is None]
    assert unlisted == [], "forge corpus freeze gives them ids"
    changed = []
    for case in sorted(shipped, key=lambda one: hashlib.sha256(one.id.encode()).digest())[:60]:
        try:
            files = compile_case(case).files
        except UnsupportedError:
            continue
        row = ids.row_of(case.id)
        entries = [FileEntry(name=f.name, size=len(f.data), sha256=hashlib.sha256(f.data).hexdigest()) for f in files]
        if row is not None and row.digest != digest_of(case.verdict, case.phase, entries):
            changed.append(case.id)
    assert changed == [], "an id never changes its meaning: forge corpus freeze gives new ones"


def test_an_unknown_tag_is_answered_with_the_nearest() -> None:
    assert WORDS.unknown(["gtid", "signednes", "WL4618-F8"]) == {"signednes": "signedness", "WL4618-F8": "WL4618-F7"}


@pytest.mark.nightly
def test_the_features_that_are_found_are_in_the_vocabulary(samples: list[tuple[Case, tuple[str, ...]]]) -> None:
    assert {tag for _, tags in samples for tag in tags} - WORDS.all == set()


def test_every_phase_has_cases_that_readers_must_reject(shipped: list[Case]) -> None:
    rejected = {case.phase for case in shipped if case.verdict == "reject"}
    assert set(get_args(Phase)) - rejected == {"listing"}
    page = (ROOT / "docs" / "scenario" / "verdicts.md").read_text()
    assert {phase for phase in rejected if f"| `{phase}` |" not in page} == set()


@pytest.mark.nightly
def test_every_feature_has_a_case(shipped: list[Case], samples: list[tuple[Case, tuple[str, ...]]]) -> None:
    found = {tag for _, tags in samples for tag in tags}
    rare = [case for case in shipped if case.file.startswith(("scenarios/rare/", "scenarios/informational/"))]
    found |= {tag for case in rare for tag in compile_case(case).tags}
    # The verdicts of all cases are known without compiling them.
    found |= {f"verdict:{case.verdict}" + (f": {case.phase}" if case.verdict == "reject" else "") for case in shipped}
    of_groups = {f"{group}:{word}" for group, features in WORDS.features.items() for word in features.words}
    assert of_groups - found == set()


def test_what_a_real_server_has_written_exists_on_its_line(samples: list[tuple[Case, tuple[str, ...]]]) -> None:
    contradictions = {
        (tag, case.server)
        for case, tags in samples
        if "recorded" in tags
        for tag in tags
        if ":" in tag and tag not in WORDS.thresholds and not WORDS.has(tag, case.server)
    }
    assert contradictions == set()


def test_features_are_found_in_what_is_declared_and_in_what_is_logged() -> None:
    text = """\
scenario: features
session: {row_image: minimal, row_metadata: full, rows_query: true, gtid: true}
tables: ["CREATE TABLE t.a (id INT PRIMARY KEY, e ENUM('x') CHARACTER SET latin1, v INT AS (id) VIRTUAL)"]
transactions: [[{insert: {into: t.a, rows: [{id: 1}]}}, {delete: {from: t.a}}]]
"""
    tags = set(compile_case(Case("f", "f.yaml", text, "mysql-9.7", tags=("rows",))).tags)
    assert {
        "rows", "event:ROWS_QUERY", "event:GTID", "record:enum_members", "image:minimal insert", "verdict:accept",
        "image:minimal delete by primary key", "type:ENUM", "charset:latin1", "column:generated virtual",
        "session:metadata full", "statement:create_table", "statement:several statements", "WL4618-F5",
        "WL4033-query-1",
    } <= tags  # fmt: skip
    assert not {"image:minimal update by primary key", "record:set_members", "session:split rows"} & tags


def test_rules_are_shown_by_features_that_exist() -> None:
    shown = {tag for rule in WORDS.rules.values() for tag in rule.shown_by}
    assert shown - WORDS.all == set()
    assert WORDS.rules_shown_by(["record:column_name", "WL4033-reader-3"]) >= {"WL4618-F3", "WL4033-reader-3"}


def entry(case: str, server: str, *tags: str) -> Entry:
    files = [FileEntry(name="binlog.000001", size=4, sha256="")]
    return Entry(
        case=case, file="f.yaml", server=server, title=None, tags=list(tags), verdict="accept", phase=None,
        status="compiled", error=None, against=None, verdicts=[], files=files,
    )  # fmt: skip


def test_coverage_tells_cases_recordings_gaps_and_what_a_line_lacks() -> None:
    found = Coverage(
        [
            entry("a", "mysql-9.7", "event:XID", "recorded", "WL4618-F1"),
            entry("b", "mysql-9.7", "event:XID", "threshold:8/9"),
        ]
    )
    assert str(found.cell("event:XID", "mysql-9.7")) == "2*1"
    assert str(found.cell("event:XID", "mysql-8.0")) == ""
    assert str(found.cell("event:GTID_LIST", "mysql-9.7")) == "n/a"
    assert str(found.cell("threshold:8/9", "mysql-9.7")) == "1"
    assert "WL4618-F1" not in found.rules_without_cases
    assert "WL4618-F2" in found.rules_without_cases
    shown = coverage_object(found)
    assert shown["features"]["event:XID"]["mysql-9.7"] == {"cases": 2, "recorded": 1, "state": "cases"}
    assert shown["features"]["event:XID"]["mysql-8.0"]["state"] == "none"
    assert shown["rules"]["WL4618-F1"]["example"] == "a"
    lines = list(coverage_lines(found))
    assert any(re.match(r"XID .* 2\*1", line) for line in lines)
    assert lines[-1].startswith("rules without a case: WL4618-F2")


def test_the_page_on_the_corpus_explains_every_word_that_an_author_may_write() -> None:
    page = (ROOT / "docs" / "corpus.md").read_text()
    assert {word for word in WORDS.authored if f"`{word}`" not in page} == set()
    assert {group for group in WORDS.features if f"`{group}:" not in page} == set()


def test_the_table_of_worklogs_has_every_rule_and_names_cases_that_exist(shipped: list[Case]) -> None:
    page = (ROOT / "docs" / "worklogs.md").read_text()
    rows = {match[1]: match[2] for match in re.finditer(r"^\| `(WL\d+-[\w-]+)` \| (.*) \|$", page, re.MULTILINE)}
    assert set(rows) == set(WORDS.rules)
    assert {rule for rule, row in rows.items() if not row.startswith(f"{WORDS.rules[rule].means} | ")} == set()
    named = {word for word in re.findall(r"`([^`]+)`", page) if "/" in word or "[" in word}
    files = {word for word in named if word.startswith("corpora/")}
    assert {word for word in files if not (ROOT / word).is_file()} == set()
    assert named - files - {case.id for case in shipped} == set()
    assert {rule for rule, row in rows.items() if not set(re.findall(r"`([^`]+)`", row)) & named} == set()


def test_the_cases_that_the_table_of_worklogs_names_show_their_rule(shipped: list[Case]) -> None:
    page = (ROOT / "docs" / "worklogs.md").read_text()
    by_id = {case.id: case for case in shipped}
    wrong = []
    for match in re.finditer(r"^\| `(WL\d+-[\w-]+)` \| [^|]* \| ([^|]*) \|", page, re.MULTILINE):
        cases = [by_id[name] for name in re.findall(r"`([^`]+)`", match[2])]
        if not any(match[1] in compile_case(case).tags for case in cases):
            wrong.append(match[1])
    assert wrong == []
