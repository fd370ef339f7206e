"""What became of mutants is known to the next run, as long as the code is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.power.mutants import Mutant, mutants_of
from tests.power.outcomes import Outcomes

pytestmark = pytest.mark.unit

CODE = """
def first(a):
    return a + 1


class Kind:
    def second(self, a):
        return a < 2 and a < 2
"""


def mutants(folder: Path, text: str) -> dict[str, Mutant]:
    path = folder / "code.py"
    path.write_text(text)
    return {mutant.name: mutant for mutant in mutants_of(path)}


def test_a_mutant_keeps_its_name_while_its_function_stays_as_it_is(tmp_path: Path) -> None:
    before = mutants(tmp_path, CODE)
    assert len(before) == len(mutants_of(tmp_path / "code.py"))
    after = mutants(tmp_path, CODE.replace("a + 1", "a + 2 + a"))
    second = {name for name in before if "Kind.second" in name}
    assert len(second) == 6
    assert second == {name for name in after if "Kind.second" in name}
    assert not {name for name in before if ": first" in name} & after.keys()


def _kept(folder: Path) -> tuple[Mutant, Mutant, Mutant, Path]:
    """A mutant that was told, one that survived, one that could not be made, and the file that knows it."""
    told, survived, odd, *_ = mutants(folder, CODE).values()
    path = folder / "kept.json"
    first = Outcomes(path, "code")
    first.add(survived, None, ["a", "b"])
    first.add(told, "c", ["a"])
    first.add_not_made(odd)
    first.write()
    return told, survived, odd, path


def test_what_is_known_of_a_mutant_is_known_to_the_next_run(tmp_path: Path) -> None:
    told, survived, odd, path = _kept(tmp_path)
    again = Outcomes(path, "code")
    assert again.told_by(told) == "c"
    assert again.tried(survived) == {"a", "b"}
    assert again.is_not_made(odd)


def test_with_other_code_only_the_log_that_told_a_mutant_before_is_known(tmp_path: Path) -> None:
    told, survived, odd, path = _kept(tmp_path)
    other = Outcomes(path, "other code")
    assert other.told_by(told) is None
    assert other.told_before(told) == "c"
    assert not other.tried(survived)
    assert not other.is_not_made(odd)
