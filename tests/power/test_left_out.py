"""The list of what the figures of docs/power.md leave out."""

from __future__ import annotations

from functools import lru_cache

import pytest

from tests.power.left_out import LeftOut, entries, numbered, spans
from tests.power.mutants import mutants_of
from tests.power.subjects import SUBJECTS, Subject

ENTRIES = list(entries())


@lru_cache
def subject_of(name: str) -> Subject:
    if name == "python-mysql-replication":
        pytest.importorskip("pymysqlreplication")
    return SUBJECTS[name]()


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.file}: {entry.function}: {entry.text}")
def test_what_is_left_out_of_the_figures_is_there(entry: LeftOut) -> None:
    paths = [path for path in subject_of(entry.decoder).files if path.as_posix().endswith(entry.file)]
    assert len(paths) == 1, "one file is meant"
    found = spans(paths[0], entry)
    assert found, "the statement is gone: take the entry from the list, or say where it is now"
    names = {name for mutant, name in numbered(mutants_of(paths[0])) if any(mutant.line in span for span in found)}
    assert (names | {name.partition(" #")[0] for name in names}).issuperset(entry.what)
    assert entry.reason
