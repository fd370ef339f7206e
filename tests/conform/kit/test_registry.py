"""Short ids never change their meaning."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyarrow")

from forge.conform.kit.registry import Registry, read_registry, registry_text, short_id
from forge.corpus.manifest import Entry, FileEntry
from forge.errors import ScenarioError


def entry(case: str, sha256: str = "00") -> Entry:
    return Entry(
        case=case, file="s/a.yaml", server="mysql-9.7", title=None, tags=[], verdict="accept", phase=None,
        status="compiled", error=None, against=None, verdicts=[],
        files=[FileEntry(name="binlog.000001", size=4, sha256=sha256)],
    )  # fmt: skip


def test_a_new_case_gets_an_id_of_the_next_version() -> None:
    first = Registry().frozen([entry("values/bits[server=mysql-9.7]")])
    second = first.frozen([entry("values/bits[server=mysql-9.7]"), entry("json")])
    assert [(row.case, row.since) for row in second.rows] == [("values/bits[server=mysql-9.7]", 1), ("json", 2)]
    assert second.version == 2


def test_the_same_corpus_is_the_same_version() -> None:
    first = Registry().frozen([entry("a"), entry("b")])
    assert registry_text(first.frozen([entry("b"), entry("a")])) == registry_text(first)


def test_a_case_with_other_bytes_gets_another_id() -> None:
    first = Registry().frozen([entry("a")])
    second = first.frozen([entry("a", "11")])
    [old, new] = second.rows
    assert (old.id, old.retired, new.since, new.retired) == (short_id("a"), 2, 2, None)
    assert new.id == f"{old.id}-2"
    assert second.row_of("a") == new


def test_the_file_gives_the_registry_back(tmp_path: Path) -> None:
    ids = Registry().frozen([entry("a"), entry("b[x={'y': 1}]")]).frozen([entry("a", "22")])
    (tmp_path / "cases.tsv").write_text(registry_text(ids), "utf-8")
    assert read_registry(tmp_path / "cases.tsv").rows == ids.rows


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "cases.tsv").write_text("id\tsince\tretired\tdigest\tcase\na\tx\t\t00\ta\n")
    with pytest.raises(ScenarioError, match=r"cases\.tsv:2: not a line of a registry"):
        read_registry(tmp_path / "cases.tsv")


@given(st.text(min_size=1))
def test_any_long_name_has_a_short_one(case: str) -> None:
    assert len(short_id(case)) <= 33
    assert set(short_id(case)) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
