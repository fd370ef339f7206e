"""Which character sets and definitions the text of a statement names."""

from __future__ import annotations

import pytest

from forge.sql.reads.charsets import names_charset


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("INSERT INTO t (v) VALUES (_latin1'a')", True),
        ("INSERT INTO t (v) VALUES (_binary x'61')", True),
        ("INSERT INTO t (v) VALUES (CONVERT('a' USING latin1))", True),
        ("INSERT INTO t (v) VALUES (CAST('a' AS CHAR CHARACTER SET latin1))", True),
        ("INSERT INTO t (v) VALUES (N'a', '_latin1', `_latin1`, 'a' COLLATE utf8mb4_bin)", False),
        ("DELETE FROM t USING t JOIN u USING (id)", False),
    ],
)
def test_a_text_that_names_a_character_set_is_logged_with_the_sessions_choice_of_collations(
    sql: str, named: bool
) -> None:
    assert names_charset(sql) is named


@pytest.mark.parametrize(
    ("rest", "named"),
    [
        ("VARCHAR(3) CHARACTER SET utf8 COLLATE utf8_bin)", False),
        ("VARCHAR(3) CHARACTER SET utf8)", True),
        ("VARCHAR(3) COLLATE latin1_bin DEFAULT _latin1'a')", True),
        ("VARCHAR(3) COLLATE latin1_bin DEFAULT N'a')", False),
        ("VARCHAR(3), KEY k (a) USING HASH)", False),
        ("INT) CHARSET=latin1", True),
        ("INT) CHARSET=latin1 COLLATE=latin1_bin", False),
    ],
)
def test_a_definition_names_a_set_without_a_collation(rest: str, named: bool) -> None:
    assert names_charset(f"CREATE TABLE d.t (a {rest}") is named
