"""The lexer that everything which reads SQL goes through."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from forge.errors import ScenarioError, UnsupportedError
from forge.sql.lexer import Token, place_of, scan, tokenize


def texts(sql: str) -> Sequence[tuple[str, str]]:
    return [(token.kind, token.text) for token in tokenize(sql)][:-1]


def test_a_place_has_a_line_and_a_column() -> None:
    sql = "a\nbc"
    assert [place_of(sql, offset) for offset in range(4)] == [(1, 1), (1, 2), (2, 1), (2, 2)]


@pytest.mark.parametrize(
    ("modes", "sql", "pieces"),
    [
        ({"ANSI_QUOTES"}, '"a""b" \'"\'', [("name", 'a"b'), ("string", '"')]),
        ({"NO_BACKSLASH_ESCAPES"}, r"'a\' 'it''s'", [("string", "a\\"), ("string", "it's")]),
        ({"ANSI_QUOTES", "NO_BACKSLASH_ESCAPES"}, r""" "a\" '\' """, [("name", "a\\"), ("string", "\\")]),
    ],
)
def test_modes_decide_what_quotes_and_backslashes_are(modes: set[str], sql: str, pieces: list[tuple[str, str]]) -> None:
    assert [(token.kind, token.text) for token in tokenize(sql, frozenset(modes))][:-1] == pieces


def test_tokens_know_their_places() -> None:
    sql = "RENAME TABLE `a``b` TO c -- d\n, 'it''s' 0x1F b'1' 1.5e3"
    for token in tokenize(sql):
        if token.kind == "word":
            assert sql[token.start : token.end] == token.text
    assert [token.text for token in tokenize(sql)] == [
        "RENAME", "TABLE", "a`b", "TO", "c", ",", "it's", "1F", "1", "1.5e3", "",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("'it''s'", "it's"),
        ("\"it''s\"", "it''s"),
        ('"say ""hi"""', 'say "hi"'),
        ('\'say ""hi""\'', 'say ""hi""'),
        (r"'a\'b\\c\nd'", "a'b\\c\nd"),
        (r"'5\% of \_'", r"5\% of \_"),
        ("n'national'", "national"),
        ("'-- /* # */'", "-- /* # */"),
    ],
)
def test_a_string_is_unquoted_as_servers_do_it(sql: str, text: str) -> None:
    assert texts(sql) == [("string", text)]


@pytest.mark.parametrize(
    ("sql", "kinds"),
    [
        ("0x1f", [("hex", "1f")]),
        ("x'1F'", [("hex", "1F")]),
        ("0b01", [("bit", "01")]),
        ("B'01'", [("bit", "01")]),
        ("0xyz", [("word", "0xyz")]),
        ("1a", [("word", "1a")]),
        ("1e3", [("number", "1e3")]),
        ("1.5", [("number", "1.5")]),
        (".5", [("mark", "."), ("number", "5")]),
        ("_utf8mb4'x'", [("word", "_utf8mb4"), ("string", "x")]),
        ("@a", [("mark", "@"), ("word", "a")]),
        ("@@session.x", [("mark", "@@"), ("word", "session"), ("mark", "."), ("word", "x")]),
        ("a:=1", [("word", "a"), ("mark", ":="), ("number", "1")]),
        ("j->>'$.a'", [("word", "j"), ("mark", "->>"), ("string", "$.a")]),
        ("größe", [("word", "größe")]),
    ],
)
def test_literals_variables_and_operators_are_told_apart(sql: str, kinds: list[tuple[str, str]]) -> None:
    assert texts(sql) == kinds


@pytest.mark.parametrize("comment", ["/* ' \" ` */", "# it's\n", "-- it's\n", "--\n", "/*+ NO_INDEX(t) */", "/**/"])
def test_no_kind_of_comment_is_a_token(comment: str) -> None:
    assert texts(f"a {comment} b") == [("word", "a"), ("word", "b")]


def test_two_hyphens_without_white_space_are_no_comment() -> None:
    assert texts("5--1") == [("number", "5"), ("mark", "-"), ("mark", "-"), ("number", "1")]


def test_a_version_comment_may_hold_a_comment() -> None:
    sql = "a /*!80023 b /* c */ d */ e"
    assert [token.text for token in scan(sql)] == ["a", "/*!80023 b /* c */ d */", "e"]
    comment = list(scan(sql))[1]
    assert comment.version == ("!", "80023")
    assert Token("comment", "/* plain */", 0, 11).version is None
    with pytest.raises(UnsupportedError, match="version comments"):
        tokenize(sql)


@pytest.mark.parametrize("sql", ["'a", '"a', "`a", "/* a", "'a\\'"])
def test_a_quote_or_comment_that_is_not_closed_is_refused(sql: str) -> None:
    with pytest.raises(ScenarioError, match="not closed"):
        tokenize(sql)


def test_only_statements_that_hold_others_may_have_semicolons_inside() -> None:
    assert len(tokenize("CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; END;")) > 10
    with pytest.raises(ScenarioError, match="a second statement begins here"):
        tokenize("DROP TABLE a; DROP TRIGGER b")
    with pytest.raises(ScenarioError, match="a second statement begins here"):
        tokenize("CREATE TABLE a (`trigger` INT COMMENT 'a TRIGGER'); DROP TABLE a")
