"""Which strings a collation calls equal (recorded on MySQL 9.7 and MariaDB 11.8 with ``=``)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.charsets import collation, compare_key, is_exact
from forge.errors import ScenarioError
from tests.charsets.measuring.weights import fold_by_weights

EQUAL = [
    ("utf8mb4_0900_ai_ci", "Straße", "STRASSE"), ("utf8mb4_0900_ai_ci", "Ærø", "AERO"),
    ("utf8mb4_0900_ai_ci", "a\u200bb", "ab"), ("utf8mb4_0900_ai_ci", "ｶﾞ", "か"), ("utf8mb4_0900_ai_ci", "Đ", "d"),
    ("utf8mb4_0900_as_ci", "É", "é"), ("utf8mb4_0900_as_cs", "é", "e\u0301"),
    ("utf8mb4_general_ci", "ß", "S"), ("utf8mb4_general_ci", "😀", "😁"), ("utf8mb4_general_ci", "É ", "e"),
    ("utf8mb4_unicode_ci", "ß", "ss"), ("utf8mb4_unicode_ci", "😀", "𝄞"), ("utf8mb4_unicode_520_ci", "Ł", "l"),
    ("utf8mb3_general_ci", "Ä", "a"), ("ucs2_unicode_ci", "ß", "SS"),
    ("latin1_swedish_ci", "Ü", "y"), ("latin1_swedish_ci", "å", "Å"), ("latin1_german1_ci", "ß", "s"),
    ("latin1_german2_ci", "ß", "SS"), ("latin1_german2_ci", "ä", "AE"), ("latin1_general_ci", "é", "É"),
    ("big5_chinese_ci", "E", "`"), ("gbk_chinese_ci", "Y", "~"), ("sjis_japanese_ci", "A", "a"),
    ("cp1251_general_ci", "Я", "я"), ("utf8mb4_swedish_ci", "Ü", "y"), ("utf8mb4_sv_0900_ai_ci", "É", "e"),
    ("utf8mb4_tr_0900_ai_ci", "ı", "I"), ("utf8mb4_uca1400_ai_ci", "É ", "e"), ("latin1_bin", "a", "a  "),
    ("cp932_bin", "晡", "晙"),
]  # fmt: skip
DIFFERENT = [
    ("utf8mb4_0900_ai_ci", "a", "a "), ("utf8mb4_0900_ai_ci", "😀", "😁"), ("utf8mb4_0900_ai_ci", "か", "き"),
    ("utf8mb4_0900_as_ci", "é", "e"), ("utf8mb4_0900_as_cs", "É", "é"), ("utf8mb4_0900_bin", "a", "a "),
    ("utf8mb4_general_ci", "ß", "ss"), ("utf8mb4_unicode_ci", "Ł", "l"), ("utf8mb4_bin", "a", "A"),
    ("latin1_swedish_ci", "å", "a"), ("latin1_general_ci", "é", "e"), ("latin1_general_cs", "a", "A"),
    ("big5_chinese_ci", "一", "乙"), ("gbk_chinese_ci", "α", "Α"), ("sjis_japanese_ci", "Ａ", "ａ"),
    ("utf8mb4_sv_0900_ai_ci", "å", "a"), ("utf8mb4_tr_0900_ai_ci", "i", "I"), ("utf8mb4_swedish_ci", "å", "a"),
    ("utf8mb4_uca1400_nopad_ai_ci", "a", "a "), ("binary", "a", "a "), ("tis620_thai_ci", "\x00", " "),
]  # fmt: skip


@pytest.mark.parametrize(("name", "one", "other"), EQUAL)
def test_the_collation_calls_them_equal(name: str, one: str, other: str) -> None:
    number = collation(name).id
    assert compare_key(number, one) == compare_key(number, other)


@pytest.mark.parametrize(("name", "one", "other"), DIFFERENT)
def test_the_collation_tells_them_apart(name: str, one: str, other: str) -> None:
    number = collation(name).id
    assert compare_key(number, one) != compare_key(number, other)


def test_a_mysql_collation_named_croatian_folds_unlike_mariadbs() -> None:
    assert compare_key(245, "Ž") != compare_key(245, "z")
    assert compare_key(collation("utf8mb4_croatian_ci", "mariadb").id, "Ž") != compare_key(245, "z")


def test_only_code_point_collations_are_exact() -> None:
    exact = ["binary", "utf8mb4_bin", "latin1_bin", "utf8mb4_0900_bin", "utf8mb4_nopad_bin", "cp932_bin"]
    folding = ["latin1_general_cs", "utf8mb4_0900_as_cs", "utf8mb4_0900_ai_ci", "latin1_swedish_ci"]
    assert [is_exact(collation(name).id) for name in exact] == [True] * len(exact)
    assert [is_exact(collation(name).id) for name in folding] == [False] * len(folding)


def test_a_key_for_an_unknown_collation_is_refused() -> None:
    with pytest.raises(ScenarioError, match="unknown collation id 99999"):
        compare_key(99999, "a")


def test_every_collation_of_every_server_has_a_folding() -> None:
    from forge.charsets import comparison
    from forge.charsets.collations import known_collations

    for found in known_collations():
        assert is_exact(found.id) or comparison.folding_of(found.id) is not None, found


IDS = st.sampled_from([8, 31, 45, 46, 63, 83, 192, 224, 255, 278, 305, 1069, 2304])


@given(IDS, st.text(max_size=12))
def test_a_key_is_its_own_key(number: int, text: str) -> None:
    key = compare_key(number, text)
    assert compare_key(number, key) == key


@given(IDS, st.text(max_size=8), st.text(max_size=8))
def test_keys_of_parts_make_the_key_of_the_whole(number: int, one: str, other: str) -> None:
    joined = compare_key(number, one + "|") + compare_key(number, other)
    assert joined == compare_key(number, one + "|" + other)


def test_a_fold_divides_an_expansion_into_the_characters_of_its_weights() -> None:
    seen = {
        "a": b"\x01\x01",
        "A": b"\x01\x01",
        "e": b"\x02\x02",
        "æ": b"\x01\x01\x02\x02",
        "\u0301": b"",
        "x": b"\x03\x03",
    }
    assert fold_by_weights(seen, str.lower, levels=False, unit=2) == {
        "a": "a", "A": "a", "e": "e", "æ": "ae", "\u0301": "", "x": "x",
    }  # fmt: skip
