"""The testees that drive other people's decoders: those that are built read the corpus, and their lists are true.

``make testees`` builds them into out/testees.  That of python-mysql-replication runs in this environment too.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from forge.conform.expected_failures import read_expected_failures
from forge.conform.forms import Forms
from forge.conform.kit.reading import open_kit
from forge.conform.runner import run_cases
from forge.conform.testee import Testee
from forge.resources import corpora_dir
from tests.testees import command_of_testee

pytestmark = pytest.mark.slow

SHIPPED = sorted(path.parent for path in (corpora_dir() / "testees").glob("*/expected-failures.txt"))
#: A kind of defect is a reason; a list with more of them has messages for reasons.
MOST_REASONS = 40


@pytest.fixture(params=SHIPPED, ids=lambda folder: folder.name)
def shipped(request: pytest.FixtureRequest) -> Path:
    folder: Path = request.param
    return folder


def test_its_list_has_few_reasons_in_words(shipped: Path) -> None:
    listed = read_expected_failures(shipped / "expected-failures.txt")
    reasons = {failure.reason for failure in listed.values()}
    assert listed
    assert len(reasons) <= MOST_REASONS
    raw = re.compile(r"Error|panic: |Exception|at \d|.{111}")
    assert not [reason for reason in reasons if raw.search(reason)]


def test_it_is_the_release_that_its_list_was_made_for(shipped: Path) -> None:
    with Testee(command_of_testee(shipped.name)) as testee:
        hello = testee.hello()
    Forms(hello.forms)
    title = (shipped / "expected-failures.txt").read_text().splitlines()[0]
    assert title == f"# Cases that {hello.name} {hello.version} fails."


def test_it_reads_rows_of_many_cases(shipped: Path, kit: Path) -> None:
    opened = open_kit(kit)
    accepted = [case for case in opened.cases if case.verdict == "accept"]
    cases = accepted[:: max(1, len(accepted) // 24)]
    _, results = run_cases(opened, cases, command_of_testee(shipped.name), jobs=1)
    said = [result for result in results if result.outcome != "unsupported"]
    agreeing = [result for result in said if result.outcome == "agree"]
    assert sum(result.cells for result in agreeing) > 0
    assert len(agreeing) >= len(said) // 2, [(result.case.id, result.outcome, result.message) for result in said]
