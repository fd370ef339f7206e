"""The listing's own YAML text is, character for character, the text that PyYAML writes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forge.binlog.listing import disassemble
from forge.binlog.listing.text import dump_document, is_safe, pyyaml_text
from forge.located import load
from forge.resources import corpora_dir

pytestmark = pytest.mark.slow

WORDS = ("null", "Yes", "@1", "`a", "a.", "a b", "0x1", "~", "", " ", "\n", "a\n", "\na", "a\nb", "a \nb", "1.5", "- a")
TEXTS = (
    st.sampled_from([*WORDS, "x" * 130, "\xe9" * 70, "\U0001f600", "it's", "a: b", "a\tb", "a\n\n\nb\n\n"])
    | st.text(alphabet="ab '\n\t:#@`,[]{}.-\U0001f600\xe9\"\\yn", max_size=10)
    | st.text(max_size=12)
).filter(is_safe)
KEYS = st.sampled_from(["a", "@1", "null", "a b", "x'y", "\xe9", "", "1", "`z", "a.", "a: b", "k" * 128]) | TEXTS
SCALARS = st.none() | st.booleans() | st.integers() | TEXTS
DOCUMENTS = st.dictionaries(
    KEYS,
    st.recursive(SCALARS, lambda inside: st.lists(inside, max_size=4) | st.dictionaries(KEYS, inside, max_size=4)),
    max_size=5,
)


@given(DOCUMENTS)
@example({})
@example({"rows": [{"@1": 1, "@2": None}, {"@1": 2, "@2": "a"}]})
@example({"a": "x" * (1 << 20), "b": [1] * (1 << 18), "c": "a b " * (1 << 18)})
@example({"a": {"b": {"c": ["a\nb", [[], {}], [{"d": "e\nf\n"}]]}}})
def test_a_document_has_the_text_that_pyyaml_writes(document: dict[str, Any]) -> None:
    assert dump_document(document) == pyyaml_text(document)


def test_what_occurs_twice_is_written_twice() -> None:
    shared = ["a", {"b": "c d'"}]
    text = dump_document({"one": shared, "two": shared})
    assert text == pyyaml_text({"one": shared, "two": shared})
    assert load(text).value == {"one": shared, "two": shared}


@pytest.mark.parametrize("name", ["first-day", "characters-utf8mb4", "compressed"])
def test_a_recording_has_the_text_that_pyyaml_writes(name: str) -> None:
    path = next(corpora_dir().glob(f"recordings/**/{name}/binlog.0*"))
    for document in disassemble(path.read_bytes()):
        assert dump_document(document) == pyyaml_text(document)
