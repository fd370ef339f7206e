"""What the texts of statements on rows say: tables, clauses, columns, functions, variables."""

from __future__ import annotations

import pytest

from forge.sql.reads.inserts import has_column_list
from forge.sql.reads.reads import reads_of
from forge.sql.reads.tables import is_of_several_tables, named_tables, table_references
from forge.sql.words import readable_tokens


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("INSERT INTO t VALUES (1)", False),
        ("insert ignore `d`.`t` /* (a) */ values (1)", False),
        ("REPLACE t (SELECT 1)", False),
        ("INSERT INTO t SELECT 1", False),
        ("INSERT INTO d . t (a) VALUES (1)", True),
        ("INSERT t SET a = 1", True),
        ("INSERT INTO t () VALUES ()", True),
        ("INSERT INTO t VALUES ('it''s (a) SET')", False),
        ("INSERT INTO `a (b)` VALUES (1)", False),
        ("INSERT /* INTO u (a) */ t # (a)\nVALUES (1)", False),
        ("INSERT INTO t PARTITION (p0) VALUES (1)", False),
        ("INSERT INTO t PARTITION (p0, p1) (a) VALUES (1)", True),
        ("INSERT INTO t ((SELECT 1))", False),
        ("INSERT INTO t (`select`) VALUES (1)", True),
    ],
)
def test_the_text_of_an_insert_tells_whether_it_names_columns(sql: str, named: bool) -> None:
    assert has_column_list(sql) is named


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("UPDATE a, d.`b c` SET x = 1", ["a", "b c"]),
        ("UPDATE IGNORE a JOIN b ON a.x = b.y STRAIGHT_JOIN c SET x = 1", ["a", "b", "c"]),
        ("UPDATE a /* , b */ SET x = ', b'", ["a"]),
        ("UPDATE a, (SELECT ',' AS x FROM b, c) d SET a.x = 1", ["a", ""]),
        ('UPDATE a JOIN b ON a.x = ") JOIN c" SET x = 1', ["a", "b"]),
        ("UPDATE `a SET b` SET x = 1", ["a SET b"]),
        ("DELETE FROM a WHERE x = 'from b, c'", ["a"]),
        ("DELETE a, b FROM a JOIN b USING (x) WHERE a.y = 1", ["a", "b"]),
        ("DELETE FROM a USING a JOIN b USING (x)", ["a", "b"]),
        ("DELETE QUICK FROM a -- , b\n ORDER BY x LIMIT 1", ["a"]),
        ("INSERT INTO a SELECT * FROM b", []),
        ("UPDATE 'a", []),
    ],
)
def test_the_table_references_of_an_update_or_delete_are_what_stands_outside_of_quotes(
    sql: str, names: list[str]
) -> None:
    assert table_references(sql) == names


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("UPDATE a SET x = 'from b'", {("", "a")}),
        ("INSERT INTO a SELECT x FROM d.b JOIN `c` USING (y)", {("", "a"), ("d", "b"), ("", "c")}),
        ('DELETE FROM a WHERE x IN (SELECT y FROM b WHERE z = "JOIN c")', {("", "a"), ("", "b")}),
        ("INSERT INTO a (x) SELECT TRIM('x' FROM b) FROM c", {("", "a"), ("", "c")}),
        ("INSERT INTO a VALUES (EXTRACT(YEAR FROM b), CONVERT(c USING latin1), SUBSTRING(d FROM 2))", {("", "a")}),
        ("INSERT INTO a SELECT 1 FROM (b JOIN c ON b.x = c.x), d # , e", {("", "a"), ("", "b"), ("", "c"), ("", "d")}),
    ],
)
def test_a_text_names_the_tables_behind_its_clauses(sql: str, names: set[tuple[str, str]]) -> None:
    assert set(named_tables(readable_tokens(sql))) == names


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM t WHERE v = 'x USING y'",
        'DELETE FROM t WHERE v = "x USING y"',
        "DELETE FROM t WHERE v IN ('(SELECT 1 FROM u)')",
        "UPDATE t SET v = ', u' WHERE id = 1",
        "UPDATE t SET v = 1 /* JOIN u */",
        "UPDATE `t, u` SET v = 1",
    ],
)
def test_words_inside_strings_names_and_comments_make_no_statement_of_several_tables(sql: str) -> None:
    assert not is_of_several_tables(sql, "all")
    assert not is_of_several_tables(sql, "in")


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE t SET v = 'NOW() LIMIT 1 @x @@time_zone IGNORE'",
        'UPDATE t SET v = "NOW() LIMIT 1 @x @@time_zone IGNORE"',
        "UPDATE t SET v = 1 /* NOW() LIMIT 1 @x @@time_zone IGNORE */",
        "UPDATE t SET v = 1 -- NOW() LIMIT 1 @x @@time_zone IGNORE",
        "UPDATE t SET v = `NOW() LIMIT 1 @x @@time_zone IGNORE`",
        "UPDATE t IGNORE INDEX (k) SET v = 1",
        "UPDATE /*+ SET_VAR(time_zone = '+01:00') */ t SET v = 1",
    ],
)
def test_words_inside_strings_names_and_comments_are_no_clauses_functions_and_variables(sql: str) -> None:
    reads = reads_of(sql)
    assert not reads.words & {"LIMIT", "IGNORE"}
    assert not any(call.name == "NOW" for call in reads.calls)
    assert not reads.variables + reads.assigned
    assert not reads.system_variables


def test_a_user_variable_is_no_column_of_its_name() -> None:
    assert reads_of("UPDATE t SET a = @a, b = @`b`, c = @@c").named == {
        ("", "update"): 1,
        ("", "t"): 1,
        ("", "set"): 1,
        ("", "a"): 1,
        ("", "b"): 1,
        ("", "c"): 1,
    }


def test_a_subquery_in_set_does_not_end_it() -> None:
    reads = reads_of("UPDATE t SET a = (SELECT MAX(b) FROM u WHERE c = 1 ORDER BY d LIMIT 1), e = @x WHERE f = @y")
    assert (reads.variables, reads.assigned) == (("y",), ("x",))


def test_from_inside_of_a_function_reads_no_table() -> None:
    assert "FROM" not in reads_of("INSERT INTO t SELECT EXTRACT(YEAR FROM '2020-01-01')").words
    assert "FROM" in reads_of("INSERT INTO t SELECT COALESCE((SELECT 1 FROM u), 2)").words
