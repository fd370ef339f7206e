"""The kit's own values are right in every form, and in every combination of forms that a testee may declare."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forge.conform.forms import FORMS, Forms
from forge.decode.expected import expected_of
from forge.resources import corpora_dir
from tests.conform.own_values import ANY, DECLARATIONS, SPELLINGS, declared, spelled

TESTEE = Path(__file__).with_name("own_values.py")
RECORDED = ("values", "images-partial-json-types-mysql-9.7-full")


def wrong_spellings(cells: Iterator[Mapping[str, Any]]) -> list[str]:
    """The spellings of cells that are not taken for their values, of each kind in each of its forms."""
    spellings = {
        kind: [({kind: form}, Forms({kind: form})) for form in (*forms, *ANY)] for kind, forms in SPELLINGS.items()
    }
    wrong, seen = [], set()
    for cell in cells:
        kind = next(iter(cell.get("value") or ["null"]))
        key = (cell["type_code"], cell["raw"], cell.get("text"), json.dumps(cell.get("value")))
        if kind in ("null", "broken") or key in seen:
            continue
        seen.add(key)
        for form, forms in spellings[kind]:
            for odd in (False, True):
                shown = json.loads(json.dumps(spelled(cell, form, odd)))
                if not forms.agree(cell, shown):
                    wrong.append(f"{form[kind]} of {kind}: {json.dumps(cell)[:300]}: {json.dumps(shown)[:300]}")
    assert {json.loads(key[3]).popitem()[0] for key in seen} <= set(SPELLINGS)
    return wrong


def cells_of(rows: Iterator[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    return (cell for row in rows for image in ("before", "after") for cell in row[image] or ())


def test_the_testee_knows_every_form_of_every_kind() -> None:
    assert {kind: {form.split()[0] for form in forms} for kind, forms in SPELLINGS.items()} == {
        kind: set(forms) for kind, forms in FORMS.items()
    }
    assert {option for kind in FORMS.values() for form in kind.values() for option in form.options} == {
        option for forms in SPELLINGS.values() for form in forms for option in form.split()[1:]
    }


@pytest.mark.slow
def test_values_that_servers_wrote_are_right_in_every_form() -> None:
    def rows() -> Iterator[Mapping[str, Any]]:
        for name in RECORDED:
            for path in sorted((corpora_dir() / "recordings" / name).rglob("*.0[0-9][0-9][0-9][0-9][0-9]*")):
                if path.stat().st_size < 1 << 16:
                    yield from msgspec.json.decode(msgspec.json.encode(expected_of(path.read_bytes()).rows))

    kinds: set[str] = set()

    def noted() -> Iterator[Mapping[str, Any]]:
        for cell in cells_of(rows()):
            kinds.update(cell.get("value") or ())
            yield cell

    assert wrong_spellings(noted()) == []
    assert kinds >= set(SPELLINGS)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(0, DECLARATIONS, 5))
def test_a_testee_that_answers_the_kits_own_values_is_right_in_every_case(values_kit: Path, number: int) -> None:
    from forge.conform.kit.reading import open_kit
    from forge.conform.runner import run_cases

    kit = open_kit(values_kit)
    _, results = run_cases(kit, kit.cases, shlex.join([sys.executable, str(TESTEE), str(number)]))
    assert [(result.case.case, result.outcome, result.message) for result in results if not result.right] == []
    assert declared(number)


@pytest.fixture(scope="module")
def values_kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("pyarrow")
    from forge.conform.kit.export import export_kit
    from tests.small_corpus import write_corpus

    home = tmp_path_factory.mktemp("values")
    names = ("binary", "enum-set", "documents", "values/compressed", "values/vectors", "faults/compressed-values")
    export_kit(write_corpus(home / "corpus", (*names, "images/partial-json-types", "moments")), home / "kit", jobs=1)
    return home / "kit"


@pytest.mark.slow
@pytest.mark.nightly
def test_a_testee_that_answers_the_kits_own_values_is_right_in_all_cases_of_the_full_kit(tmp_path: Path) -> None:
    from forge.cli.app import run
    from forge.conform.kit.reading import open_kit
    from forge.conform.runner import run_cases

    assert run(["corpus", "build", "--out", str(tmp_path / "corpus"), "--decoders", "forge"]) == 0
    assert run(["corpus", "export", str(tmp_path / "kit"), "--from", str(tmp_path / "corpus")]) == 0
    kit = open_kit(tmp_path / "kit")
    for number in range(0, DECLARATIONS, 8):
        _, results = run_cases(kit, kit.cases, shlex.join([sys.executable, str(TESTEE), str(number)]), jobs=2)
        assert [(result.case.case, result.outcome, result.message) for result in results if not result.right] == []
    rows = (row for case in kit.cases for file in case.files for row in kit.expected(case, file).rows)
    assert wrong_spellings(cells_of(rows)) == []
