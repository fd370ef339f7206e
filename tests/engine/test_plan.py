"""What statements do to tables (forge.scenario.planning)."""

from __future__ import annotations

from typing import Any

import pytest

from forge.errors import ScenarioError
from forge.plan.definitions import DdlStatement
from forge.plan.facts import Facts
from forge.plan.grouping.groups import LoggedTransaction
from forge.plan.grouping.logged_groups import logged_groups
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.plan.statements import RowsStatement
from forge.plan.transactions import Transaction as Committed
from forge.scenario import Scenario, Statement, Transaction, delete, expand, insert, insert_many, plan, update
from forge.servers import server_line

FIRST_DAY = """\
scenario: first-day
server: mysql-9.7
session: {row_image: full, row_metadata: full, rows_query: true, gtid: true}
tables:
  - CREATE TABLE shop.orders (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, who VARCHAR(60) NOT NULL, qty INT, at DATETIME(6)) DEFAULT CHARSET utf8mb4
transactions:
  - - insert: {into: shop.orders, rows: [{who: Ann, qty: 2, at: 2024-02-29 10:00:00.5}, {who: {choice: [Bob]}, qty: 1}]}
  - - update: {table: shop.orders, where: {id: 1}, set: {qty: 3}}
    - delete: {from: shop.orders, where: {id: 2}}
"""  # noqa: E501


def planned(text: str) -> Plan:
    return plan(next(expand(text)).scenario)


def one_table(sql: str, *transactions: list[Statement], session: Session | None = None) -> Plan:
    scenario = Scenario("x", tables=[f"CREATE TABLE d.t {sql}"], session=session or Session())
    for statements in transactions:
        scenario = scenario.transaction(*statements)
    return plan(scenario)


def rows_of(planned_: Plan, table: str = "d.t") -> list[tuple[Any, ...]]:
    return list(planned_.contents[table])


def statements(planned_: Plan) -> list[RowsStatement]:
    return [s for group in planned_.groups if isinstance(group, Committed) for s in group.rows_statements]


def test_the_first_day_has_four_groups_with_full_images_and_their_sql() -> None:
    result = planned(FIRST_DAY)
    database, table, first, second = result.groups
    assert isinstance(database, DdlStatement)
    assert (database.kind, database.text.sql, database.current_database) == (
        "create_database",
        "CREATE DATABASE `shop`",
        "",
    )
    assert isinstance(table, DdlStatement)
    assert (table.kind, table.current_database, table.databases, table.text.line) == (
        "create_table",
        "shop",
        ("shop",),
        5,
    )
    assert table.text.sql.startswith("CREATE TABLE shop.orders (id ")
    assert table.text.sql.endswith("utf8mb4")
    assert isinstance(first, Committed)
    assert isinstance(second, Committed)
    assert (first.explicit, second.explicit) == (False, True)
    assert [s.kind for s in (*first.rows_statements, *second.rows_statements)] == ["insert", "update", "delete"]
    ann, bob = (1, "Ann", 2, "2024-02-29 10:00:00.500000"), (2, "Bob", 1, None)
    assert [(c.before, c.after) for c in first.rows_statements[0].changes] == [(None, ann), (None, bob)]
    assert [(c.before, c.after) for c in second.rows_statements[0].changes] == [(ann, (1, "Ann", 3, ann[3]))]
    assert [(c.before, c.after) for c in second.rows_statements[1].changes] == [(bob, None)]
    assert [s.text.sql for s in statements(result)] == [
        "INSERT INTO `shop`.`orders` (`who`, `qty`, `at`) VALUES"
        " ('Ann', 2, '2024-02-29 10:00:00.500000'), ('Bob', 1, DEFAULT)",
        "UPDATE `shop`.`orders` SET `qty` = 3 WHERE `id` = 1",
        "DELETE FROM `shop`.`orders` WHERE `id` = 2",
    ]
    assert [s.text.line for s in statements(result)] == [7, 8, 9]
    assert result.contents == {"shop.orders": ((1, "Ann", 3, ann[3]),)}
    assert first.rows_statements[0].text.assigned == frozenset({1, 2, 3})
    assert second.rows_statements[0].search.compared == frozenset({0})


def test_python_says_the_same_as_yaml() -> None:
    scenario = (
        Scenario(
            "first-day",
            server="mysql-9.7",
            session=Session(row_metadata="full", rows_query=True, gtid=True),
            tables=[FIRST_DAY.splitlines()[4].strip("- ")],
        )
        .transaction(
            insert(
                "shop.orders",
                {"who": "Ann", "qty": 2, "at": "2024-02-29 10:00:00.5"},
                {"who": {"choice": ["Bob"]}, "qty": 1},
            )
        )
        .transaction(update("shop.orders", where={"id": 1}, set={"qty": 3}), delete("shop.orders", where={"id": 2}))
    )
    from_python, from_yaml = plan(scenario), planned(FIRST_DAY)
    assert from_python.contents == from_yaml.contents
    assert [s.text.sql for s in statements(from_python)] == [s.text.sql for s in statements(from_yaml)]


AUTO = "(id INT AUTO_INCREMENT PRIMARY KEY, n INT)"


@pytest.mark.parametrize(
    ("start", "given", "ids", "following"),
    [
        # Recorded on MySQL 9.7 (innodb_autoinc_lock_mode=2): a statement reserves values for all of its rows.
        (1, [None, 10, None], [1, 10, 11], 12),
        (101, [1, None, 5, None], [1, 101, 5, 102], 105),
        (1, [10, None, None], [10, 11, 12], 14),
        (1, [None, 3, None], [1, 3, 4], 5),
        (1, [5, None, 10, None, None, None], [5, 6, 10, 11, 12, 13], 15),
        (1, [0, None], [1, 2], 3),
        (1, [-5, None, None], [-5, 1, 2], 4),
        (1, [None, -5, None], [1, -5, 2], 4),
    ],
)
def test_auto_increment_leaves_the_gaps_that_innodb_leaves(
    start: int, given: list[int | None], ids: list[int], following: int
) -> None:
    sql = f"{AUTO} AUTO_INCREMENT={start}"
    inserted = insert("d.t", *({"id": value, "n": n} for n, value in enumerate(given)))
    result = one_table(sql, [inserted], [insert("d.t", {"n": 99})])
    assert [change.after[0] for change in statements(result)[0].changes if change.after] == ids
    assert (following, 99) in rows_of(result)


def test_an_update_of_the_number_moves_the_counter_and_truncate_sets_it_back() -> None:
    scenario = Scenario("x", tables=[f"CREATE TABLE d.t {AUTO}"])
    scenario = scenario.transaction(insert("d.t", {})).transaction(update("d.t", set={"id": 10}))
    scenario = scenario.transaction(insert("d.t", {}))
    assert rows_of(plan(scenario)) == [(10, None), (11, None)]
    assert rows_of(plan(scenario.ddl("TRUNCATE d.t").transaction(insert("d.t", {})))) == [(1, None)]


def test_a_counter_at_its_end_is_an_error() -> None:
    with pytest.raises(ScenarioError, match="no number left after 127"):
        one_table("(id TINYINT AUTO_INCREMENT PRIMARY KEY)", [insert("d.t", {"id": 127})], [insert("d.t", {})])


def test_columns_that_are_left_out_get_their_defaults() -> None:
    sql = (
        "(a INT DEFAULT 7, b VARCHAR(5) NOT NULL DEFAULT 'x', c INT, e ENUM('p','q') NOT NULL, f BIT(4) DEFAULT b'101',"
    )
    sql += " g JSON DEFAULT (JSON_OBJECT('k', 1)), h DECIMAL(5,2) DEFAULT 1.5)"
    result = one_table(sql, [insert("d.t", {})])
    assert rows_of(result)[0][:6] == (7, "x", None, 1, 5, rows_of(result)[0][5])
    assert statements(result)[0].text.sql == "INSERT INTO `d`.`t` () VALUES ()"


def test_several_rows_without_any_cell_name_a_column() -> None:
    result = one_table("(a INT, b INT)", [insert("d.t", {}, {})])
    assert statements(result)[0].text.sql == "INSERT INTO `d`.`t` (`a`) VALUES (DEFAULT), (DEFAULT)"


def test_the_column_list_is_the_union_in_table_order() -> None:
    result = one_table("(a INT, b INT DEFAULT 5, c INT)", [insert("d.t", {"c": 1}, {"b": 2})])
    assert statements(result)[0].text.sql == "INSERT INTO `d`.`t` (`b`, `c`) VALUES (DEFAULT, 1), (2, DEFAULT)"
    assert rows_of(result) == [(None, 5, 1), (None, 2, None)]


NOW = "(id INT PRIMARY KEY, n INT, made TIMESTAMP(3) DEFAULT NOW(3), changed DATETIME(6) ON UPDATE NOW(6))"


def test_current_timestamp_is_the_time_of_the_statement_cut_to_the_column() -> None:
    session = Session(timestamp="2024-05-06 07:08:09.123999")
    result = one_table(NOW, [insert("d.t", {"id": 1})], [update("d.t", set={"n": 1})], session=session)
    assert rows_of(result) == [(1, 1, "2024-05-06 07:08:09.123", "2024-05-06 07:08:09.123999")]


def test_current_timestamp_of_a_recording_is_what_its_facts_say() -> None:
    session = Session(facts=Facts(timestamps=[[5], [5], [1700000000]]))
    result = one_table(NOW, [insert("d.t", {"id": 1})], session=session)
    assert rows_of(result) == [(1, None, "2023-11-14 22:13:20.000", None)]


def test_groups_are_a_second_apart_where_nothing_is_said() -> None:
    result = one_table(NOW, [insert("d.t", {"id": 1})], [insert("d.t", {"id": 2})])
    assert [row[2] for row in rows_of(result)] == ["2024-01-01 00:00:03.000", "2024-01-01 00:00:04.000"]


def test_on_update_leaves_a_row_alone_that_does_not_change() -> None:
    result = one_table(NOW, [insert("d.t", {"id": 1, "n": 4}, {"id": 2})], [update("d.t", set={"n": 4})])
    assert [row[3] is None for row in rows_of(result)] == [True, False]
    assert len(statements(result)[1].changes) == 1


def test_a_transaction_that_changes_nothing_is_replayed_and_not_logged() -> None:
    result = one_table("(a INT)", [update("d.t", set={"a": 1})], [delete("d.t")], [insert("d.t", {"a": 1})])
    logged = list(logged_groups(result.groups, server_line("mysql-9.7")))
    assert [len(group.rows_statements) for group in logged if isinstance(group, LoggedTransaction)] == [1]
    result = one_table("(a INT)", [insert("d.t", {"a": 1}), update("d.t", set={"a": 1})])
    (group,) = logged_groups(result.groups[-1:], server_line("mysql-9.7"))
    assert isinstance(group, LoggedTransaction)
    assert [s.kind for s in group.rows_statements] == ["insert"]


def test_rows_stand_in_the_order_of_the_clustering_key() -> None:
    rows = [{"a": 3, "b": "B"}, {"a": 1, "b": "a"}, {"a": 2, "b": "b"}]
    assert [r[0] for r in rows_of(one_table("(a INT PRIMARY KEY, b CHAR(1))", [insert("d.t", *rows)]))] == [1, 2, 3]
    promoted = "(a INT, b CHAR(1) COLLATE utf8mb4_bin NOT NULL, UNIQUE (a), UNIQUE (b))"
    assert [r[1] for r in rows_of(one_table(promoted, [insert("d.t", *rows)]))] == ["B", "a", "b"]
    assert [r[0] for r in rows_of(one_table("(a INT, b CHAR(1), KEY (a))", [insert("d.t", *rows)]))] == [3, 1, 2]


def test_several_rows_are_changed_in_an_order_that_the_sql_asks_for() -> None:
    keyed = one_table("(a INT PRIMARY KEY, b INT)", [insert("d.t", {"a": 2}, {"a": 1})], [update("d.t", set={"b": 1})])
    assert statements(keyed)[1].text.sql == "UPDATE `d`.`t` SET `b` = 1 ORDER BY `a`"
    assert [c.after for c in statements(keyed)[1].changes] == [(1, 1), (2, 1)]
    text = "(a CHAR(2) PRIMARY KEY)"
    deleted = one_table(text, [insert("d.t", {"a": "b"}, {"a": "A"})], [delete("d.t")])
    assert statements(deleted)[1].text.sql == "DELETE FROM `d`.`t` ORDER BY CAST(`a` AS BINARY)"
    bare = one_table("(a INT, KEY (a))", [insert("d.t", {"a": 2}, {"a": 1})], [delete("d.t", where={"a": {"gt": 0}})])
    assert statements(bare)[1].text.sql == "DELETE /*+ NO_INDEX(`t`) */ FROM `d`.`t` WHERE `a` > 0"
    assert [c.before for c in statements(bare)[1].changes] == [(2,), (1,)]


def test_generated_values_of_several_rows_are_chosen_by_their_keys() -> None:
    result = one_table(
        "(a INT PRIMARY KEY, b INT)",
        [insert("d.t", {"a": 2}, {"a": 1})],
        [update("d.t", set={"b": {"sequence": 10}})],
    )
    assert (
        statements(result)[1].text.sql
        == "UPDATE `d`.`t` SET `b` = CASE WHEN `a` = 1 THEN 11 WHEN `a` = 2 THEN 10 END ORDER BY `a`"
    )
    assert rows_of(result) == [(1, 11), (2, 10)]
    with pytest.raises(ScenarioError, match="has no primary key"):
        one_table("(b INT)", [insert("d.t", {}, {})], [update("d.t", set={"b": {"sequence": 1}})])


def test_generated_columns_follow_the_columns_they_use() -> None:
    sql = "(a INT, b INT AS (a * 2) VIRTUAL, c VARCHAR(20) AS (CONCAT('<', b, '>')) STORED)"
    result = one_table(sql, [insert("d.t", {"a": 4}, {})], [update("d.t", where={"a": 4}, set={"a": 5})])
    assert rows_of(result) == [(5, 10, "<10>"), (None, None, None)]


@pytest.mark.parametrize(
    ("key", "rows"),
    [
        ("UNIQUE (v)", ["Ann", "ANN"]),
        ("UNIQUE (v(2))", ["Anna", "Anton"]),
        ("PRIMARY KEY (v)", ["x", "X"]),
    ],
)
def test_keys_compare_as_their_collation_does(key: str, rows: list[str]) -> None:
    with pytest.raises(ScenarioError, match=r"already has a row whose .* key"):
        one_table(f"(v VARCHAR(9), {key})", [insert("d.t", *({"v": row} for row in rows))])
    one_table(
        f"(v VARCHAR(9) COLLATE utf8mb4_bin, {key.replace('(2)', '')})", [insert("d.t", *({"v": r} for r in rows))]
    )


def test_nulls_are_never_duplicates() -> None:
    assert len(rows_of(one_table("(a INT UNIQUE)", [insert("d.t", {}, {})]))) == 2


def test_a_refused_change_leaves_the_key_where_it_was() -> None:
    scenario = Scenario("x", tables=["CREATE TABLE d.t (a INT PRIMARY KEY)"])
    scenario = scenario.transaction(insert("d.t", {"a": 1}, {"a": 2}))
    with pytest.raises(ScenarioError, match="whose primary key is a 2"):
        plan(scenario.transaction(update("d.t", where={"a": 1}, set={"a": 2})))
    moved = scenario.transaction(update("d.t", where={"a": 1}, set={"a": 3})).transaction(insert("d.t", {"a": 1}))
    assert [row[0] for row in rows_of(plan(moved))] == [1, 2, 3]


def test_many_rows_of_one_pattern() -> None:
    result = one_table(AUTO, [insert_many("d.t", 500, {"n": {"cycle": [1, 2, 3]}})])
    assert rows_of(result)[:4] == [(1, 1), (2, 2), (3, 3), (4, 1)]
    assert len(rows_of(result)) == 500


def test_an_own_query_text_is_logged_instead_of_ours() -> None:
    result = one_table("(a INT)", [insert("d.t", {"a": 1}, query="insert into d.t set a = 1 -- mine")])
    assert statements(result)[0].text.sql == "insert into d.t set a = 1 -- mine"


def test_begin_and_commit_come_with_several_statements_or_on_demand() -> None:
    one = Transaction(statements=[insert("d.t", {})], explicit=True)
    result = plan(Scenario("x", tables=["CREATE TABLE d.t (a INT)"], transactions=[one]))
    group = result.groups[-1]
    assert isinstance(group, Committed)
    assert group.explicit


def test_databases_are_made_first_unless_the_scenario_makes_them() -> None:
    text = """\
scenario: x
session: {database: other}
tables: [CREATE TABLE a.t (x INT), CREATE TABLE u (x INT)]
transactions:
  - - ddl: CREATE DATABASE later CHARACTER SET latin1
  - - ddl: CREATE TABLE later.t (c CHAR(1))
  - - ddl: CREATE TABLE b.t (c CHAR(1))
"""
    result = planned(text)
    made = [g for g in result.groups if isinstance(g, DdlStatement)]
    assert [(g.text.sql, g.current_database) for g in made[:4]] == [
        ("CREATE DATABASE `other`", ""),
        ("CREATE DATABASE `a`", ""),
        ("CREATE DATABASE `b`", ""),
        ("CREATE TABLE a.t (x INT)", "other"),
    ]
    assert set(result.tables) == {"a.t", "other.u", "later.t", "b.t"}
    assert result.tables["later.t"].columns[0].type.collation == 8
    assert result.tables["b.t"].columns[0].type.collation == 255


def test_the_session_loses_its_database_with_it() -> None:
    scenario = Scenario("x", tables=["CREATE TABLE d.t (a INT)"]).ddl("DROP DATABASE d").ddl("CREATE TABLE e.t (a INT)")
    groups = plan(scenario).groups
    assert [g.current_database for g in groups] == ["", "", "d", "", ""]
    assert list(plan(scenario).tables) == ["e.t"]
