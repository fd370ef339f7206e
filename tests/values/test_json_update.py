"""JSON functions on stored documents: patches in place, and the diffs that the server notes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import ScenarioError
from forge.values.json.binary import decode_document, encode_document
from forge.values.json.diff import Diff, Operation, apply_diffs, build_diffs, parse_diffs
from forge.values.json.path import Cell, Member, format_path
from forge.values.json.update import JsonFunction, update_document

NAMES = st.sampled_from(["a", "b", "bb", "k y", "é", "Ā", "1a", ""])
SCALARS = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=20) | st.just(1.5)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12
)
PATHS = st.lists(
    st.builds(Member, NAMES) | st.builds(Cell, st.integers(0, 3), st.booleans()), min_size=1, max_size=3
).map(lambda legs: format_path(tuple(legs)))
CHANGES = st.lists(st.tuples(PATHS, VALUES), min_size=1, max_size=3).map(tuple)
FUNCTIONS = st.lists(
    st.builds(JsonFunction, st.sampled_from(["json_set", "json_replace", "json_remove"]), CHANGES),
    min_size=1,
    max_size=3,
)


@given(VALUES, st.lists(FUNCTIONS, min_size=1, max_size=3))
def test_the_diffs_lead_from_the_document_before_to_the_one_after(
    value: Any, updates: list[list[JsonFunction]]
) -> None:
    document = encode_document(value)
    for functions in updates:
        after, diffs = update_document(document, functions)
        if diffs is not None:
            assert parse_diffs(build_diffs(diffs)) == diffs
            assert apply_diffs(document, diffs) == encode_document(decode_document(after))
        document = after


@given(VALUES, FUNCTIONS)
def test_patching_in_place_gives_the_value_that_encoding_anew_gives(value: Any, functions: list[JsonFunction]) -> None:
    document = encode_document(value)
    patched, _ = update_document(document, functions)
    anew, _ = update_document(document, functions, in_place=False)
    assert encode_document(decode_document(patched)) == anew


def update(value: Any, name: Any, *changes: tuple[str, Any]) -> tuple[bytes, tuple[Diff, ...] | None]:
    return update_document(encode_document(value), [JsonFunction(name, changes)])


def test_a_shorter_text_leaves_the_rest_of_the_old_one() -> None:
    after, diffs = update({"s": "abcdef"}, "json_set", ("$.s", "XY"))
    assert after.endswith(b"\x02XYcdef")
    assert diffs == (Diff(Operation.REPLACE, "$.s", b"\x0c\x02XY"),)


def test_an_equal_value_is_no_change() -> None:
    assert update({"a": 1}, "json_set", ("$.a", 1)) == (encode_document({"a": 1}), ())


def test_a_leg_to_the_first_element_of_a_single_value_means_that_value() -> None:
    _, diffs = update({"a": 1}, "json_replace", ("$.a[0][last]", 2))
    assert diffs == (Diff(Operation.REPLACE, "$.a", b"\x05\x02\x00"),)


def test_a_single_value_that_becomes_an_array_is_named_by_its_place_from_the_start() -> None:
    _, diffs = update({"a": [1, 2]}, "json_set", ("$.a[last-1][5]", 3))
    assert diffs == (Diff(Operation.REPLACE, "$.a[0]", encode_document([1, 3])),)


def test_a_new_document_has_no_diffs() -> None:
    assert update({"a": 1}, "json_set", ("$", 5)) == (b"\x05\x05\x00", None)


@pytest.mark.parametrize("path", ["$", "$.*", "$**.a", "a"])
def test_json_remove_refuses_the_whole_document_and_many_places(path: str) -> None:
    with pytest.raises(ScenarioError):
        update({"a": 1}, "json_remove", (path, None))
