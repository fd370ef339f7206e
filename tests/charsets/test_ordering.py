"""The order of texts under the common collations, as WEIGHT_STRING of real servers gives it."""

from typing import Any

import pytest

from forge.charsets import collation, order_key


def collation_id(name: str) -> int:
    return collation(name).id


def order_of(name: str, text: str) -> Any:
    key = order_key(collation_id(name), text)
    assert key is not None
    return key


@pytest.mark.parametrize(
    ("name", "ordered"),
    [
        ("utf8mb4_general_ci", ["", "$", "-a", "1", "a", "a b", "ab", "A_", "B", "zA", "Zz", "[", "^", "_", "{", "~"]),
        ("latin1_swedish_ci", ["1", "a", "A-", "B", "[", "_"]),
        ("utf8mb4_0900_ai_ci", ["_", "-", ",", "^", "~", "$", "1", "A", "a_", "ab", "B"]),
        ("utf8mb4_0900_as_cs", ["a", "A", "aa", "Ab", "b", "B"]),
        ("utf8mb4_unicode_ci", ["`", "^", "_", "-", "+", "$", "1", "A", "b"]),
        ("utf8mb4_uca1400_ai_ci", ["_", "-", "`", "^", "+", "1", "A", "b"]),
    ],
)
def test_texts_have_the_order_of_their_collation(name: str, ordered: list[str]) -> None:
    mixed = ordered[::-1]
    assert sorted(mixed, key=lambda text: order_of(name, text)) == ordered


@pytest.mark.parametrize(
    ("name", "text"), [("utf8mb4_general_ci", "é"), ("latin7_general_ci", "a"), ("utf8mb4_tr_0900_ai_ci", "a")]
)
def test_an_order_that_is_not_known_is_none(name: str, text: str) -> None:
    assert order_key(collation_id(name), text) is None


def test_trailing_spaces_do_not_count_where_texts_are_padded() -> None:
    general = collation_id("utf8mb4_general_ci")
    assert order_key(general, "a ") == order_key(general, "a")
