"""CREATE TABLE ... SELECT: the new table's definition and rows, and what is refused."""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError, UnsupportedError
from forge.plan.definitions import DdlStatement, TableCreationSelect
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.scenario import Scenario, insert, plan

SOURCE = "CREATE TABLE d.s (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(5) NOT NULL, u INT, KEY (a))"


def _planned(sql: str, **session: object) -> Plan:
    scenario = Scenario(scenario="ctas", tables=[SOURCE], session=Session(**session))  # type: ignore[arg-type]
    scenario = scenario.transaction(insert("d.s", {"a": "x", "u": 1}, {"a": "y"}, {"id": 9, "a": "z", "u": 3}))
    return plan(scenario.ddl(sql))


def test_columns_of_the_select_come_behind_the_others_and_keep_their_names() -> None:
    made = _planned("CREATE TABLE t (id INT, x INT DEFAULT 4, KEY (x)) SELECT ID, a AS b, u FROM s WHERE id > 1")
    assert [column.name for column in made.tables["d.t"].columns] == ["x", "ID", "b", "u"]
    assert made.contents["d.t"] == ((4, 2, "y", None), (4, 9, "z", 3))


def test_what_is_logged_is_the_table_as_it_is_and_what_is_sent_is_the_statement() -> None:
    sql = "CREATE TABLE t SELECT id, u FROM s"
    group = _planned(sql).groups[-1]
    assert isinstance(group, DdlStatement)
    printed = "CREATE TABLE `t` (\n  `id` int NOT NULL DEFAULT '0',\n  `u` int DEFAULT NULL\n) START TRANSACTION"
    assert (group.text.sql, group.text.replayed) == (printed, sql)


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("CREATE TABLE t SELECT u + 1 FROM s", "SELECT"),
        ("CREATE TABLE t SELECT DISTINCT u FROM s", "with DISTINCT"),
        ("CREATE TABLE t SELECT 1 FROM s", "without AS"),
        ("CREATE TABLE t SELECT 1 AS a", "columns of one table"),
        ("CREATE TABLE t SELECT 1.5 AS a FROM s", "of expressions"),
        ("CREATE TABLE t SELECT '' AS a FROM s", "of expressions"),
        ("CREATE TABLE t SELECT id, u FROM s, s AS x", "with ,"),
        ("CREATE TABLE t SELECT id, u FROM s GROUP BY u", "GROUP"),
        ("CREATE TABLE t IGNORE SELECT id, u FROM s", "IGNORE"),
        ("CREATE TABLE t SELECT u FROM s WHERE a = 'x'", "that are no integers"),
    ],
)
def test_what_is_not_made_is_named(sql: str, problem: str) -> None:
    with pytest.raises(UnsupportedError, match=problem):
        _planned(sql)


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("CREATE TABLE t SELECT v FROM s", "no column 'v'"),
        ("CREATE TABLE t SELECT u FROM z", "no table"),
        ("CREATE TABLE t SELECT u, u FROM s", "two columns of the SELECT have the same name"),
        ("CREATE TABLE t (u INT NOT NULL) SELECT u FROM s", "cannot be NULL"),
        ("CREATE TABLE t (x INT PRIMARY KEY) SELECT u FROM s", "no default"),
        ("CREATE TABLE t SELECT z.u FROM s", "reads only 's'"),
        ("CREATE TABLE t (n TINYINT) SELECT u, 300 AS n FROM s", "300"),
    ],
)
def test_what_a_server_refuses_is_refused(sql: str, problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem) as caught:
        _planned(sql)
    assert not isinstance(caught.value, UnsupportedError)


@pytest.mark.parametrize(
    ("sql", "by_text"),
    [
        ("CREATE TABLE t SELECT id, u FROM s", True),
        ("CREATE TABLE t ENGINE=MyISAM SELECT id, u FROM s", True),
        ("CREATE TABLE t (k INT AUTO_INCREMENT PRIMARY KEY) SELECT u FROM s", False),
    ],
)
def test_mixed_format_logs_the_text_unless_rows_are_numbered(sql: str, by_text: bool) -> None:
    group = _planned(sql, binlog_format="mixed").groups[-1]
    assert isinstance(group, TableCreationSelect)
    assert (group.selected is None, group.text.sql == sql) == (by_text, by_text)


def test_literals_order_and_limit_make_the_rows() -> None:
    sql = "CREATE TABLE t (n BIGINT) SELECT x.id, 'q' AS t, -7 AS n FROM d.s AS x"
    made = _planned(f"{sql} WHERE id IN (1, 2, 9) ORDER BY id DESC LIMIT 2")
    assert [column.name for column in made.tables["d.t"].columns] == ["id", "t", "n"]
    assert made.contents["d.t"] == ((9, "q", -7), (2, "q", -7))
