"""Expressions: what they give, against what MySQL 9.7 was seen to give, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.charsets import collation
from forge.errors import ScenarioError, UnsupportedError
from forge.servers import server_line
from forge.sql.ast.expressions import Call, Cast, CastType, ColumnName, Literal, Node, Unread, Variable
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError
from forge.sql.expressions import Document, Unsigned, parse_expression
from forge.sql.expressions.documents import values_at
from forge.sql.expressions.types import text_collation
from forge.sql.parse.expressions import expression
from forge.values.declaration.sqltype import SqlType
from forge.values.json.path import Cell, Member

ROW: dict[str, Any] = {
    "a": 7,
    "n": None,
    "u": Unsigned(0),
    "p": Decimal("1.50"),
    "s": "aBcß",
    "d": "2020-02-29",
    "at": "2020-12-31 10:00:00",
    "zero": "0000-03-01",
    "j": Document({"a": [1, [2], "3"], "b": "x", "n": 5, "none": None}),
}

#: Selected on 9.7.4.
SELECTED = [
    ("a / 2", Decimal("3.5000")),
    ("p / 3", Decimal("0.500000")),
    ("a DIV 2", 3),
    ("-a DIV 2", -3),
    ("-a % 3", -1),
    ("CAST(2.5 AS SIGNED)", 3),
    ("CAST(-2.5 AS SIGNED)", -3),
    ("CAST('12' AS UNSIGNED)", 12),
    ("CAST(-1 AS UNSIGNED)", (1 << 64) - 1),
    ("SUBSTRING('abc', -2)", "bc"),
    ("SUBSTRING('abc', 0)", ""),
    ("SUBSTRING('abc', -5, 2)", ""),
    ("SUBSTRING('abc', 2, -1)", ""),
    ("LEFT('abc', -1)", ""),
    ("RIGHT('abc', 5)", "abc"),
    ("LOWER('\u0130\u1e9e\u03a3')", "i\u00df\u03c3"),
    ("UPPER('\u00df\u0131\u017f\u0149')", "\u00dfIS\u0149"),
    ("DAYOFYEAR(at)", 366),
    ("WEEKDAY(d)", 5),
    ("DAYOFWEEK(d)", 7),
    ("TO_DAYS(d)", 737849),
    ("TO_DAYS('0000-01-01')", 1),
    ("TO_DAYS(zero)", 60),
    ("TO_DAYS('2020-00-10')", None),
    ("YEAR(n)", None),
    ("a > n", None),
    ("n IS NULL", 1),
    ("a IN (1, 7)", 1),
    ("CONCAT(s, a, p)", "aBcß71.50"),
    ("CONCAT_WS('-', n, a)", "7"),
    ("j->'$.b'", Document("x")),
    ("j->>'$.b'", "x"),
    ("j->'$.a[*]'", Document([1, [2], "3"])),
    ("j->'$.n[0]'", Document(5)),
    ("j->'$.missing'", None),
    ("JSON_VALUE(j, '$.n' RETURNING UNSIGNED)", 5),
    ("JSON_VALUE(j, '$.b' RETURNING UNSIGNED)", None),
    ("JSON_VALUE(j, '$.a')", None),
]


@pytest.mark.parametrize(("sql", "value"), SELECTED, ids=[sql for sql, _ in SELECTED])
def test_expressions_give_what_the_server_selects(sql: str, value: Any) -> None:
    assert parse_expression(sql).evaluate(ROW) == value


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("u - 1", "BIGINT UNSIGNED"),
        ("9223372036854775807 + a", "BIGINT"),
        ("a / 0", "divides by zero"),
        ("CAST(s AS SIGNED)", "to a number"),
        ("CAST(s AS CHAR(2))", "at most 2 characters"),
        ("CAST(j->'$.none' AS UNSIGNED ARRAY)", "not a scalar"),
        ("CAST(j AS UNSIGNED ARRAY)", "a JSON object"),
        ("CAST(j->'$.a' AS UNSIGNED ARRAY)", "not a scalar"),
        ("a +", "not an expression"),
    ],
)
def test_what_strict_mode_refuses_is_refused(sql: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        parse_expression(sql).evaluate(ROW)


@pytest.mark.parametrize("sql", ["NOW()", "RAND()", "s LIKE 'a%'", "SOUNDEX(s)", "j->'$**.a'", "s = 'x'", "1e3"])
def test_what_is_not_computed_is_refused_by_name(sql: str) -> None:
    with pytest.raises(UnsupportedError, match="not supported yet"):
        parse_expression(sql).evaluate(ROW)


@pytest.mark.parametrize("sql", ["j->'$.a'", "CAST(a AS UNSIGNED ARRAY)", "JSON_VALUE(j, '$.a')"])
def test_json_paths_are_refused_for_mariadb(sql: str) -> None:
    with pytest.raises(UnsupportedError):
        parse_expression(sql, server_line("mariadb-11.8").grammar)


def test_elements_of_a_multi_valued_key_are_cast_and_counted_once() -> None:
    values = Document({"a": [1, "2", True, 2.0, 1]})
    assert parse_expression("CAST(j->'$.a' AS UNSIGNED ARRAY)").evaluate({"j": values}) == (1, 2)
    assert parse_expression("CAST(j->'$.a' AS CHAR(4) ARRAY)").evaluate({"j": values}) == ("1", "2", "true", "2.0")
    with pytest.raises(ScenarioError, match="0 to"):
        parse_expression("CAST(j AS UNSIGNED ARRAY)").evaluate({"j": Document([-1])})


@given(st.integers(-(10**6), 10**6), st.integers(-1000, 1000).filter(bool))
def test_whole_quotient_and_remainder_make_the_dividend(dividend: int, divisor: int) -> None:
    row = {"a": dividend, "b": divisor}
    quotient, rest = (parse_expression(sql).evaluate(row) for sql in ("a DIV b", "a % b"))
    assert quotient * divisor + rest == dividend
    assert abs(rest) < abs(divisor)


JSON = st.recursive(st.none() | st.integers(0, 9) | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3))


@given(st.dictionaries(st.text(min_size=1, max_size=3), JSON, min_size=1))
def test_a_path_finds_every_member_and_every_cell(document: dict[str, Any]) -> None:
    for name, value in document.items():
        assert values_at(document, [Member(name)]) == [value]
        if isinstance(value, list):
            for index, cell in enumerate(value):
                assert values_at(document, [Member(name), Cell(index)]) == [cell]


def test_text_keeps_the_collation_of_its_column() -> None:
    latin1 = collation("latin1_swedish_ci").id
    columns = {"s": SqlType("VARCHAR", length=5, collation=latin1), "t": SqlType("TEXT", collation=255)}
    found = {
        sql: text_collation(parse_expression(sql).tree, columns, 255, "mysql-9.7")
        for sql in ("LOWER(s)", "CONCAT(1, s)", "IF(t, s, t)", "LEFT(t, 3)", "CAST(s AS CHAR(3))", "s->>'$.a'", "1 + 1")
    }
    assert list(found.values()) == [latin1, latin1, latin1, 255, 255, 46, None]


def test_a_long_text_that_is_no_expression_is_told_by_its_beginning() -> None:
    with pytest.raises(ScenarioError) as error:
        parse_expression("(" * 3000 + "1" + ")" * 3000)
    assert len(str(error.value)) < 200
    assert "6001 characters" in str(error.value)


A, B, ONE = ColumnName("a"), ColumnName("b"), Literal(1)
TREES: list[tuple[str, Node]] = [
    ("a + b * 1", Call("+", (A, Call("*", (B, ONE))))),
    ("a - b - 1", Call("-", (Call("-", (A, B)), ONE))),
    ("-a % 1", Call("%", (Call("NEG", (A,)), ONE))),
    ("NOT a = 1 AND b", Call("AND", (Call("NOT", (Call("=", (A, ONE)),)), B))),
    ("a || b && 1", Call("OR", (A, Call("AND", (B, ONE))))),
    ("a NOT IN (1, b)", Call("NOT", (Call("IN", (A, ONE, B)),))),
    ("a BETWEEN 1 AND b AND 1", Call("AND", (Call("BETWEEN", (A, ONE, B)), ONE))),
    ("a IS NOT NULL", Call("NOT", (Call("IS NULL", (A,)),))),
    ("a LIKE b ESCAPE '!'", Call("LIKE", (A, B, Literal("!")))),
    ("a COLLATE utf8mb4_bin = b", Call("=", (Call("COLLATE", (A, Literal("utf8mb4_bin"))), B))),
    ("a->>'$.x' = 1", Call("=", (Call("->>", (A, Literal("$.x"))), ONE))),
    ("d.t.a", ColumnName("a", "t", "d")),
    ("`a b`", ColumnName("a b")),
    ("@A.b := @@Global.x", Call(":=", (Variable("@a.b"), Variable("@@global.x")))),
    ("CASE a WHEN 1 THEN b END", Call("CASE", (Call("=", (A, ONE)), B, Literal(None)))),
    ("CASE WHEN a THEN b ELSE 1 END", Call("CASE", (A, B, ONE))),
    ("CAST(a AS DECIMAL(4,1))", Cast(A, CastType("DECIMAL", (4, 1)))),
    ("CONVERT(a, SIGNED INTEGER)", Cast(A, CastType("SIGNED"))),
    ("CONVERT(a USING latin1)", Call("CONVERT", (A, Literal("latin1")))),
    ("a + INTERVAL 1 DAY", Call("+", (A, Call("INTERVAL", (ONE, Literal("DAY")))))),
    ("INTERVAL(a, b)", Call("INTERVAL", (A, B))),
    ("EXTRACT(YEAR_MONTH FROM a)", Call("EXTRACT", (Literal("YEAR_MONTH"), A))),
    ("SUBSTRING(a FROM 1 FOR b)", Call("SUBSTRING", (A, ONE, B))),
    ("(a, b) = (SELECT 1)", Call("=", (Call("ROW", (A, B)), Unread("(SELECT 1)")))),
    ("COUNT(DISTINCT a, b)", Call("COUNT", (Unread("(DISTINCT a, b)"),))),
    ("GROUP_CONCAT(a ORDER BY b SEPARATOR ',')", Call("GROUP_CONCAT", (A, Unread("ORDER BY b SEPARATOR ','")))),
    ("CURRENT_USER", Call("CURRENT_USER")),
    ("_latin1 x'41'", Literal("A", "latin1")),
    ("x'41'", Literal(b"A", form="hex_text")),
    ("b'101'", Literal(b"\x05")),
    ("1.5e2", Literal(Decimal("150"), form="double")),
    ("DATE '2024-02-29'", Literal("2024-02-29", form="moment")),
    ("'it''s' ' it'", Literal("it's it")),
]


@pytest.mark.parametrize(("sql", "tree"), TREES, ids=[sql for sql, _ in TREES])
def test_an_expression_is_read_by_the_servers_precedence(sql: str, tree: Node) -> None:
    cursor = Cursor(sql)
    assert expression(cursor) == tree
    assert cursor.at_end()


@pytest.mark.parametrize(
    ("sql", "offset", "expected"),
    [
        ("a + )", 4, "an expression"),
        ("CASE a END", 7, "WHEN"),
        ("a IS b", 5, "NULL, TRUE or FALSE"),
        ("CAST(a AS 5)", 10, "a type"),
        ("a BETWEEN 1", 11, "AND"),
    ],
)
def test_what_is_wrong_in_an_expression_has_its_place(sql: str, offset: int, expected: str) -> None:
    with pytest.raises(SqlError) as error:
        expression(Cursor(sql))
    assert (error.value.offset, error.value.expected) == (offset, expected)
