"""Partitions: which one a row is in (ids recorded on MySQL 9.7), and which definitions servers refuse."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.binlog import read_events, write_binlog
from forge.compile import compile_plan
from forge.engine.requests.rows import Delete, Update
from forge.errors import ScenarioError, UnsupportedError
from forge.events.rows import UpdateRows, WriteRows
from forge.plan.session import Session
from forge.scenario import Scenario, Statement, delete, insert, plan, update


def place(clause: str, row: dict[str, Any], columns: str = "a INT, b INT, d DATE") -> int:
    """The id of the partition that a row goes to."""
    scenario = Scenario("p", tables=[f"CREATE TABLE d.t ({columns}) PARTITION BY {clause}"])
    planned = plan(scenario.transaction(insert("d.t", row)))
    choose = planned.tables["d.t"].partition
    assert choose is not None
    return choose(planned.contents["d.t"][0])


#: Recorded on 9.7.4 with 97 partitions: (type of the column, value, partition).
KEY_HASHES = [
    ("TINYINT", -1, 75), ("TINYINT", 97, 95), ("TINYINT", 65, 95), ("TINYINT", 32, 1), ("SMALLINT", -300, 22),
    ("MEDIUMINT", 6381921, 77), ("INT", -5, 12), ("INT", 0, 1), ("INT", 538976288, 1), ("INT UNSIGNED", 4000000000, 92),
    ("BIGINT", 7, 36), ("DECIMAL(10,2)", "1.5", 3), ("DECIMAL(10,2)", "-3.25", 94), ("DATE", "2020-01-01", 82),
    ("DATETIME(3)", "2020-01-01 10:00:00.5", 33), ("DATETIME(3)", "1999-12-31", 14), ("TIME(2)", "-1:00:00", 39),
    ("TIMESTAMP", "2020-01-01 10:00:00", 2), ("YEAR", 1997, 95), ("BINARY(5)", "ab", 50), ("VARBINARY(9)", "ab  ", 33),
    ("ENUM('a','b')", "b", 73), ("SET('a','b')", "a,b", 76), ("FLOAT", 1.5, 65), ("DOUBLE", 1.5, 75), ("INT", None, 2),
    ("CHAR(5) CHARSET latin1", "\u00e9", 18), ("VARCHAR(5) CHARSET latin1", "ab  ", 22),
    ("VARCHAR(5) COLLATE latin1_bin", "ab ", 0), ("VARCHAR(9) COLLATE utf8mb4_bin", "\u00e9", 24),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value", "partition"), KEY_HASHES)
def test_key_places_a_value_where_the_server_does(kind: str, value: Any, partition: int) -> None:
    assert place("KEY (x) PARTITIONS 97", {"x": value, "k": 1}, f"x {kind}, k INT") == partition


@pytest.mark.parametrize(("one", "other", "partition"), [(1, 2, 5), (2, 1, 53), (None, 1, 57), (1, None, 0)])
def test_key_hashes_columns_in_the_order_of_the_table(one: int | None, other: int | None, partition: int) -> None:
    for names in ("a, b", "b, a"):
        assert place(f"KEY ({names}) PARTITIONS 97", {"a": one, "b": other, "d": None}) == partition


@pytest.mark.parametrize("kind", ["VARCHAR(5) COLLATE utf8mb4_0900_as_cs", "BIT(3)"])
def test_a_key_whose_hash_is_not_known_is_refused_by_name(kind: str) -> None:
    with pytest.raises(UnsupportedError, match="PARTITION BY KEY on"):
        place("KEY (x) PARTITIONS 3", {"x": 1}, f"x {kind}")


@pytest.mark.parametrize(
    ("clause", "row", "partition"),
    [
        ("HASH (a) PARTITIONS 4", {"a": -5}, 1),
        ("HASH (a) PARTITIONS 4", {"a": None, "b": 1}, 0),
        ("HASH (a) PARTITIONS 13", {"a": None, "b": 1}, 8),
        ("HASH (TO_DAYS(d)) PARTITIONS 3", {"a": 1, "b": 1}, 2),
        ("LINEAR HASH (a) PARTITIONS 6", {"a": 6}, 2),
        ("LINEAR HASH (a) PARTITIONS 6", {"a": 5}, 5),
        ("RANGE (a) (PARTITION p VALUES LESS THAN (5), PARTITION q VALUES LESS THAN MAXVALUE)", {"a": 5}, 1),
        ("RANGE (a) (PARTITION p VALUES LESS THAN (5), PARTITION q VALUES LESS THAN (2 * 5))", {"b": 5}, 0),
        ("LIST (a) (PARTITION p VALUES IN (1, 2), PARTITION q VALUES IN (NULL, 3))", {"b": 1}, 1),
        (
            "RANGE (YEAR(d)) SUBPARTITION BY HASH (a) SUBPARTITIONS 2"
            " (PARTITION p VALUES LESS THAN (2000), PARTITION q VALUES LESS THAN (2010))",
            {"a": 5, "d": "2009-12-31"},
            3,
        ),
        (
            "RANGE COLUMNS (a, b) (PARTITION p VALUES LESS THAN (5, 3), PARTITION q VALUES LESS THAN (9, MAXVALUE))",
            {"a": 5, "b": 3},
            1,
        ),
        ("LIST COLUMNS (d) (PARTITION p VALUES IN ('2020-01-01'), PARTITION q VALUES IN (NULL))", {"a": 1}, 1),
    ],
)
def test_a_row_is_in_the_partition_that_the_server_says(clause: str, row: dict[str, Any], partition: int) -> None:
    assert place(clause, row) == partition


@given(st.integers(-(2**31), 2**31 - 1), st.integers(1, 40))
def test_every_number_has_a_place(number: int, count: int) -> None:
    for kind in ("HASH", "LINEAR HASH"):
        assert 0 <= place(f"{kind} (a) PARTITIONS {count}", {"a": number}) < count


@pytest.mark.parametrize(
    ("columns", "clause", "message"),
    [
        ("a INT", "KEY ()", "needs a primary or unique key"),
        ("a INT", "HASH (z)", "no column 'z'"),
    ],
)
def test_a_definition_that_no_server_takes_is_refused(columns: str, clause: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        plan(Scenario("p", tables=[f"CREATE TABLE d.t ({columns}) PARTITION BY {clause}"]))


def test_a_row_without_a_partition_is_refused() -> None:
    with pytest.raises(ScenarioError, match="no partition for 9"):
        place("RANGE (a) (PARTITION p VALUES LESS THAN (5))", {"a": 9})


HASHED = Scenario("p", tables=["CREATE TABLE d.t (a INT, b INT) PARTITION BY HASH (a) PARTITIONS 3"])


def test_an_event_has_rows_of_one_partition_and_says_which() -> None:
    rows = [{"a": number, "b": 0} for number in (1, 4, 2, 1)]
    scenario = HASHED.transaction(insert("d.t", *rows)).transaction(update("d.t", where={"a": 4}, set={"a": 5}))
    events = list(read_events(write_binlog(compile_plan(plan(scenario)))))
    written = [placed.event.body for placed in events if isinstance(placed.event.body, WriteRows)]
    assert [body.extra.hex() for body in written] == ["010100", "010200", "010100"]
    (moved,) = (placed.event.body for placed in events if isinstance(placed.event.body, UpdateRows))
    # The new partition, then the old one.
    assert moved.extra.hex() == "0102000100"


def test_rows_without_a_key_are_in_the_order_of_their_partitions_and_move_to_the_end() -> None:
    rows = [{"a": number, "b": number} for number in (1, 2, 3, 4, 5, 6)]
    scenario = HASHED.transaction(insert("d.t", *rows)).transaction(update("d.t", where={"b": [1, 2]}, set={"a": 3}))
    assert [row[1] for row in plan(scenario).contents["d.t"]] == [3, 6, 1, 2, 4, 5]


def test_a_dropped_partition_takes_its_rows_with_it() -> None:
    table = "CREATE TABLE d.t (a INT) PARTITION BY LIST (a) (PARTITION p VALUES IN (1), PARTITION q VALUES IN (2))"
    scenario = Scenario("p", tables=[table]).transaction(insert("d.t", {"a": 1}, {"a": 2}))
    assert plan(scenario.ddl("ALTER TABLE d.t DROP PARTITION p")).contents["d.t"] == ((2,),)
    with pytest.raises(ScenarioError, match="no partition 'x'"):
        plan(scenario.ddl("ALTER TABLE d.t DROP PARTITION x"))


def test_a_column_that_distributes_rows_stays() -> None:
    with pytest.raises(ScenarioError, match=r"after the statement: table d\.t has no column"):
        plan(HASHED.ddl("ALTER TABLE d.t DROP COLUMN a"))


@pytest.mark.parametrize(("key", "present"), [("", "58"), (", PRIMARY KEY (a)", "08")])
def test_updates_without_a_key_have_all_virtual_columns(key: str, present: str) -> None:
    columns = (
        f"a INT, b INT, c INT, l INT, g INT AS (a + 1) VIRTUAL, s INT AS (a + 1) STORED, h INT AS (b) VIRTUAL{key}"
    )
    table = f"CREATE TABLE d.t ({columns}) PARTITION BY HASH (a)"
    scenario = Scenario("p", tables=[table], session=Session(row_image="minimal"))
    scenario = scenario.transaction(insert("d.t", {"a": 1})).transaction(update("d.t", set={"l": 5}))
    events = read_events(write_binlog(compile_plan(plan(scenario))))
    (changed,) = (placed.event.body for placed in events if isinstance(placed.event.body, UpdateRows))
    assert changed.present_after.hex() == present


@pytest.mark.parametrize(
    ("text", "place"), [("a", 564), ("A", 564), ("b", 352), ("hello world", 105), ("", 839), ("ß", 542), ("é", 891)]
)
def test_key_partitions_of_the_default_collation_are_the_recorded_ones(text: str, place: int) -> None:
    # Recorded on 9.7: PARTITION BY KEY (v) PARTITIONS 1021.
    table = "CREATE TABLE d.t (v VARCHAR(20)) PARTITION BY KEY (v) PARTITIONS 1021"
    made = plan(Scenario("x", tables=[table])).tables["d.t"]
    assert made.partition is not None
    assert made.partition((text,)) == place


SERVERS = ("mysql-9.7", "mariadb-10.11", "mariadb-11.8")
IN_FOUR = "CREATE TABLE d.t (id INT PRIMARY KEY, v INT, s INT, KEY s (s)) PARTITION BY HASH (id) PARTITIONS 4"
KEY_ORDER, BY_PARTITION = [1, 2, 3, 4, 5], [4, 1, 5, 2, 3]


def _order(statement: Statement, server: str = "mysql-9.7", table: str = IN_FOUR) -> list[Any]:
    """The ids of the rows in the order in which the statement changes them."""
    rows = insert("d.t", *({"id": number, "v": number, "s": 9 - number} for number in range(1, 6)))
    planned = plan(Scenario("p", server=server, tables=[table]).transaction(rows).transaction(statement))
    (last,) = planned.groups[-1].rows_statements  # type: ignore[union-attr]
    return [change.before[0] for change in last.changes if change.before is not None]


def _update(cells: dict[str, Any], where: dict[str, Any] | None = None, **fields: Any) -> Statement:
    # The text says nothing of its own: it compares by an expression.
    return Statement(
        update=Update(table="d.t", set=cells, where=where), query="UPDATE t SET v = 0 WHERE id + v + s > 0", **fields
    )


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize(
    ("cells", "where", "order"),
    [
        ({"v": 0}, None, BY_PARTITION),
        ({"s": 0, "v": 0}, {"v": {"gt": 0}}, BY_PARTITION),
        ({"id": {"sql": "id + 10"}}, None, KEY_ORDER),
        ({"id": {"sql": "id"}, "v": 0}, {"v": {"gt": 0}}, KEY_ORDER),
        ({"v": 0}, {"id": {"gt": 0}}, KEY_ORDER),
        ({"v": 0}, {"v": {"gt": 0}, "id": {"between": [1, 9]}}, KEY_ORDER),
    ],
)
def test_an_update_reads_the_key_where_it_compares_or_sets_it_and_else_partition_by_partition(
    server: str, cells: dict[str, Any], where: dict[str, Any] | None, order: list[int]
) -> None:
    assert _order(_update(cells, where), server) == order
    if "id" not in cells:
        delete = Statement(delete=Delete(table="d.t", where=where), query="DELETE FROM t WHERE id + v + s > 0")
        assert _order(delete, server) == order


def test_a_falling_key_is_read_as_it_falls_where_the_server_obeys_it() -> None:
    table = "CREATE TABLE d.t (id INT, v INT, s INT, PRIMARY KEY (id DESC))"
    assert _order(_update({"v": 0}), table=table) == KEY_ORDER[::-1]
    assert _order(_update({"v": 0}), "mariadb-10.5", table) == KEY_ORDER


@pytest.mark.parametrize("server", SERVERS)
def test_create_table_select_reads_partition_by_partition_and_after_deleted_rows(server: str) -> None:
    scenario = Scenario("p", server=server, tables=[IN_FOUR.replace(", KEY s (s)", "")])
    scenario = scenario.transaction(insert("d.t", *({"id": number, "v": number} for number in (9, *KEY_ORDER))))
    scenario = scenario.transaction(delete("d.t", where={"id": 9})).ddl("CREATE TABLE d.all SELECT * FROM t")
    planned = plan(
        scenario.ddl("CREATE TABLE d.some SELECT id FROM t WHERE v > 1").ddl("CREATE TABLE d.ids SELECT id FROM t")
    )
    assert [row[0] for row in planned.contents["d.all"]] == BY_PARTITION
    assert [row[0] for row in planned.contents["d.some"]] == [4, 5, 2, 3]
    merged = server == "mariadb-10.11"
    assert [row[0] for row in planned.contents["d.ids"]] == (KEY_ORDER if merged else BY_PARTITION)


@pytest.mark.parametrize(
    ("clause", "columns", "message"),
    [
        ("HASH (COMMAND(a))", "a INT", "COMMAND in expressions is not supported yet"),
    ],
)
def test_a_function_that_chooses_no_partition_is_named_by_its_text(clause: str, columns: str, message: str) -> None:
    with pytest.raises((ScenarioError, UnsupportedError)) as refused:
        plan(Scenario("p", tables=[f"CREATE TABLE d.t (id INT, {columns}) PARTITION BY {clause} PARTITIONS 3"]))
    assert message in str(refused.value)
    assert "VAR" not in str(refused.value)


def test_unix_timestamp_is_for_partitions_alone() -> None:
    with pytest.raises(UnsupportedError, match="UNIX_TIMESTAMP in expressions is not supported yet"):
        plan(Scenario("p", tables=["CREATE TABLE d.t (a TIMESTAMP NULL, b BIGINT AS (UNIX_TIMESTAMP(a)))"]))
