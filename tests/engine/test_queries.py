"""INSERT ... SELECT, subqueries and joins over the scenario's tables, as three servers ran them."""

from __future__ import annotations

from typing import Any

import pytest

from forge.errors import ScenarioError, UnsupportedError
from forge.scenario import expand, plan

SCRIPT = """CREATE DATABASE d;
USE d;
CREATE TABLE t (id INT PRIMARY KEY, k INT, s VARCHAR(20), v INT, KEY (v));
INSERT INTO t VALUES (1, 3, 'c', 9), (2, 1, 'a', 8), (3, 3, 'C', 7), (4, 2, 'b', 1), (5, 1, 'a', 5);
CREATE TABLE u (id INT PRIMARY KEY, tk INT, w INT);
INSERT INTO u VALUES (1, 2, 10), (2, 3, 20), (3, 1, 30), (4, 3, 40);
CREATE TABLE g (n INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(30), b VARCHAR(30));
"""


def rows_after(statements: str, server: str = "mysql-9.7", table: str = "d.g") -> list[tuple[Any, ...]]:
    [case] = expand(f"-- forge: server: {server}\n{SCRIPT}{statements}", file="f.sql")
    return list(plan(case.scenario).contents[table])


def selected(query: str, server: str = "mysql-9.7") -> list[tuple[Any, ...]]:
    return [row[1:] for row in rows_after(f"INSERT INTO g (a, b) {query};", server)]


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (
            "SELECT k * 2, CONCAT(s, '-', v) FROM t WHERE v > 5 ORDER BY v DESC",
            [("6", "c-9"), ("2", "a-8"), ("6", "C-7")],
        ),
        ("SELECT 1, 'x'", [("1", "x")]),
        ("SELECT DISTINCT k, 1 FROM t", [("3", "1"), ("1", "1"), ("2", "1")]),
        ("SELECT DISTINCT s, 1 FROM t", [("c", "1"), ("a", "1"), ("b", "1")]),
        ("SELECT v, id FROM t", [("1", "4"), ("5", "5"), ("7", "3"), ("8", "2"), ("9", "1")]),
        ("SELECT COUNT(*), GROUP_CONCAT(s ORDER BY v SEPARATOR '/') FROM t", [("5", "b/a/C/a/c")]),
        ("SELECT COUNT(DISTINCT s), AVG(v) FROM t", [("3", "6.0000")]),
        ("SELECT MAX(v), COUNT(k) FROM t WHERE id > 100", [(None, "0")]),
        ("SELECT t.id, u.id FROM u JOIN t ON t.id = u.tk", [("2", "1"), ("3", "2"), ("1", "3"), ("3", "4")]),
        ("SELECT t.id, w FROM t LEFT JOIN u USING (id) ORDER BY t.id DESC LIMIT 2", [("5", None), ("4", "40")]),
        ("SELECT id, (SELECT SUM(w) FROM u WHERE tk = t.k) FROM t WHERE id IN (1, 4)", [("1", "60"), ("4", "10")]),
        ("SELECT id, k FROM t WHERE NOT EXISTS (SELECT * FROM u WHERE u.id = t.id)", [("5", "1")]),
        (
            "SELECT k, c FROM (SELECT k, COUNT(*) AS c FROM t GROUP BY k) x WHERE c > 1 ORDER BY k",
            [("1", "2"), ("3", "2")],
        ),
        ("SELECT 1, 2 UNION ALL SELECT id, w FROM u WHERE id < 2", [("1", "2"), ("1", "10")]),
    ],
)
def test_a_query_gives_the_rows_of_the_server_in_its_order(query: str, rows: list[Any]) -> None:
    assert selected(query) == rows


@pytest.mark.parametrize(
    ("server", "keys"),
    [("mysql-9.7", ["3", "1", "2"]), ("mariadb-10.11", ["1", "2", "3"]), ("mariadb-11.8", ["1", "2", "3"])],
)
def test_groups_come_as_their_first_rows_on_mysql_and_sorted_on_mariadb(server: str, keys: list[str]) -> None:
    assert [row[0] for row in selected("SELECT k, COUNT(*) FROM t GROUP BY k", server)] == keys


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT t.id, u.id FROM t JOIN u ON t.k = u.tk", "the order of the query's rows"),
        ("SELECT k, v FROM t WHERE v > 6", "the order of the query's rows"),
        ("SELECT s, v FROM t ORDER BY k LIMIT 1", "leaves rows equal"),
        ("SELECT x.id, y.id FROM t x, t y, t z, t a, t b, t c, t d, t e, t f, t g", "combinations of rows"),
        ("WITH q AS (SELECT 1) SELECT * FROM q", "WITH is not supported yet"),
        ("SELECT UUID(), 1", "UUID"),
    ],
)
def test_what_servers_may_do_in_several_ways_is_refused_by_name(query: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        selected(query)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT id, nothing FROM t", "no column 'nothing'"),
        ("SELECT id, 1 FROM t, u", "column 'id' is ambiguous"),
        ("SELECT (SELECT id FROM u), 1", "more than 1 row"),
        ("SELECT id, 1 FROM missing", "missing"),
        ("SELECT id FROM u WHERE id = 1", "the row has 1 cells"),
    ],
)
def test_what_a_server_refuses_is_refused_with_its_line(query: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message) as caught:
        selected(query)
    assert str(caught.value).startswith("f.sql:9")


def test_update_and_delete_of_a_join_change_each_row_once() -> None:
    update = "UPDATE u JOIN t ON t.id = u.tk SET t.v = t.v + u.w WHERE u.w > 10;"
    assert [row[3] for row in rows_after(update, table="d.t")] == [39, 8, 27, 1, 5]
    delete = "DELETE u FROM u JOIN t ON t.id = u.tk WHERE t.id = 3;"
    assert [row[0] for row in rows_after(delete, table="d.u")] == [1, 3]
    both = "DELETE FROM t, u USING u JOIN t ON t.id = u.tk WHERE u.id = 3;"
    assert [row[0] for row in rows_after(both, table="d.t")] == [2, 3, 4, 5]


def test_on_duplicate_key_update_sees_the_old_row_and_the_new_one() -> None:
    insert = (
        "INSERT INTO u VALUES (1, 7, 5), (9, 9, 9) AS new(i, k, x) ON DUPLICATE KEY UPDATE w = u.w * 10 + x, tk = w;"
    )
    assert rows_after(insert, table="d.u")[0] == (1, 105, 105)
    assert rows_after("INSERT INTO u (id, w) VALUES (20, id * 2);", table="d.u")[-1] == (20, None, 40)


def test_order_by_and_partitions_choose_the_rows_of_a_statement() -> None:
    assert [row[3] for row in rows_after("UPDATE t SET v = 0 ORDER BY s DESC, id LIMIT 2;", table="d.t")] == [
        0,
        8,
        0,
        1,
        5,
    ]
    parts = (
        "CREATE TABLE p (id INT PRIMARY KEY) PARTITION BY HASH (id) PARTITIONS 2; INSERT INTO p VALUES (1), (2), (3);"
    )
    assert rows_after(f"{parts} DELETE FROM p PARTITION (p1) WHERE id > 0;", table="d.p") == [(2,)]
    assert [row[1] for row in rows_after("UPDATE IGNORE u SET id = 2 WHERE id = 1;", table="d.u")] == [2, 3, 1, 3]
