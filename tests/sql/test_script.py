"""A script is cut where the vendors' clients cut it."""

from __future__ import annotations

import pytest

from forge.sql.errors import SqlError
from forge.sql.script import ScriptStatement, statements


def _cut(text: str) -> list[tuple[str, int, int]]:
    return [
        (one.sql if isinstance(one, ScriptStatement) else f"source {one.file}", one.place.line, one.place.column)
        for one in statements(text)
    ]


def test_each_statement_has_its_line_and_column() -> None:
    assert _cut("USE a; INSERT INTO t\nVALUES (1);\n  COMMIT") == [
        ("USE a", 1, 1),
        ("INSERT INTO t\nVALUES (1)", 1, 8),
        ("COMMIT", 3, 3),
    ]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 'a;b'",
        "SELECT 'it''s; ' + 'one\\';'",
        'SELECT "a;""b;"',
        "SELECT `a;``b;`",
        "SELECT 1 /* ; */ + 2",
        "SELECT 1 -- ;\n + 2",
        "SELECT 1 # ;\n + 2",
        "/*!50001 SET a = 1 */",
    ],
)
def test_a_delimiter_in_quotes_and_comments_ends_nothing(sql: str) -> None:
    assert [one for one, _, _ in _cut(f"{sql}; COMMIT")] == [sql, "COMMIT"]


def test_minus_signs_without_white_space_begin_no_comment() -> None:
    assert [one for one, _, _ in _cut("SELECT 1--1; COMMIT")] == ["SELECT 1--1", "COMMIT"]


def test_delimiter_names_another_for_the_lines_behind_it() -> None:
    text = "DELIMITER //\nCREATE TRIGGER x BEGIN SET a = 1; END//\ndelimiter ;\nCOMMIT;"
    assert _cut(text) == [("CREATE TRIGGER x BEGIN SET a = 1; END", 2, 1), ("COMMIT", 4, 1)]


def test_source_names_a_file() -> None:
    assert [one for one, _, _ in _cut("source a.sql\n\\. b.sql\nCOMMIT")] == ["source a.sql", "source b.sql", "COMMIT"]


def test_comments_for_us_stand_with_the_statement_behind_them() -> None:
    (first, second) = statements("-- forge: server: mysql-9.7\n# of someone else's\nBEGIN;\nCOMMIT; -- forge: x: 1")
    assert isinstance(first, ScriptStatement)
    assert isinstance(second, ScriptStatement)
    assert [(place.line, words) for place, words in first.told] == [(1, "server: mysql-9.7")]
    assert second.told == ()


@pytest.mark.parametrize(
    ("text", "offset"), [("COMMIT; SELECT 'a", 15), ("SELECT /* a", 7), ("SELECT `a", 7), ("DELIMITER \n", 0)]
)
def test_what_is_not_closed_is_refused_at_its_place(text: str, offset: int) -> None:
    with pytest.raises(SqlError) as error:
        list(statements(text))
    assert error.value.offset == offset
