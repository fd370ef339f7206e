"""Statement format: what stands before a text, what MIXED logs as rows (recorded on 9.7, MariaDB 10.11 and 11.8)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.binlog import read_events, write_binlog
from forge.compile import compile_plan
from forge.compile.query.statement_format import user_var
from forge.errors import ScenarioError
from forge.events.event import Event
from forge.plan.statement_text import UserVariable
from forge.scenario import Scenario, Session, Statement, Transaction, delete, insert, plan, update
from forge.servers import server_line
from forge.sql.reads.reads import reads_of
from forge.values.numeric.decimals import unpack

TABLE = "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20))"
Format = Literal["row", "statement", "mixed"]


def events(*statements: Statement, format: Format = "statement", server: str = "mysql-9.7") -> list[Event]:
    """The events of one transaction after its GTID event."""
    scenario = Scenario("s", server=server, session=Session(binlog_format=format), tables=[TABLE])
    data = write_binlog(compile_plan(plan(scenario.transaction(*statements))))
    found = [placed.event for placed in read_events(data)]
    last = max(i for i, event in enumerate(found) if event.type_name in ("ANONYMOUS_GTID", "MARIADB_GTID"))
    return found[last + 1 : -1]


def names(found: list[Event]) -> list[str]:
    return [event.type_name for event in found]


def query(sql: str, **more: Any) -> Statement:
    """An INSERT with its own text."""
    rows = [{"v": "x"}] * (1 + sql.count("), ("))
    return msgspec.structs.replace(insert("d.t", *rows, query=sql), **more)


def test_a_generated_number_stands_before_its_insert() -> None:
    found = events(insert("d.t", {"v": "a"}, {"v": "b"}))
    assert names(found) == ["QUERY", "INTVAR", "QUERY", "XID"]
    assert (found[1].body.variable, found[1].body.value) == (2, 1)  # type: ignore[attr-defined]


@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
def test_a_statement_without_effect_is_logged_and_ends_with_commit(server: str) -> None:
    found = events(delete("d.t", where={"id": 9}), server=server)
    assert [event.body.query for event in found][-2:] == ["DELETE FROM `d`.`t` WHERE `id` = 9", "COMMIT"]  # type: ignore[attr-defined]
    assert events(delete("d.t", where={"id": 9}), format="row", server=server)[-1].body.query.startswith("CREATE")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("sql", "server", "rows"),
    [
        ("INSERT INTO t (v) VALUES (UUID())", "mysql-9.7", True),
        ("INSERT INTO t (v) VALUES ('UUID()')", "mysql-9.7", False),
        ("INSERT INTO t (v) VALUES (NOW())", "mysql-9.7", False),
        ("INSERT INTO t (v) VALUES (RAND(3))", "mysql-9.7", True),
        ("INSERT INTO t (v) VALUES (RAND(3))", "mariadb-11.8", False),
        ("INSERT INTO t (v) VALUES (@@sql_mode)", "mysql-9.7", True),
        ("INSERT INTO t (v) VALUES (@@session.time_zone)", "mysql-9.7", False),
        ("INSERT INTO t (v) SELECT 'x'", "mysql-9.7", False),
        ("INSERT INTO t (v) SELECT v FROM t", "mysql-9.7", True),
    ],
)
def test_mixed_logs_the_rows_of_unsafe_statements(sql: str, server: str, rows: bool) -> None:
    found = names(events(query(sql), format="mixed", server=server))
    assert any("WRITE_ROWS" in name for name in found) is rows


def test_a_text_is_preceded_by_all_that_it_reads_in_this_order() -> None:
    found = events(
        query(
            "INSERT INTO t (v) VALUES (CONCAT(@b, LAST_INSERT_ID(), RAND(), @`a`, @B))",
            user_variables={"a": 1, "b": "x", "unread": 3},
            rand_seeds=(5, 7),
        )
    )
    assert names(found) == ["QUERY", "INTVAR", "INTVAR", "RAND", "USER_VAR", "USER_VAR", "QUERY", "XID"]
    assert [event.body.name for event in found[4:6]] == ["b", "a"]  # type: ignore[attr-defined]


def test_rand_without_seeds_is_refused() -> None:
    with pytest.raises(ScenarioError, match="rand_seeds"):
        events(query("INSERT INTO t (v) VALUES (RAND())"))


def test_an_update_that_finds_no_row_reads_its_where_only() -> None:
    one = update("d.t", set={"v": "x"}, where={"id": 5}, query="UPDATE t SET v = @v WHERE id = @w")
    one = msgspec.structs.replace(one, user_variables={"v": "x", "w": 5})
    assert names(events(one)).count("USER_VAR") == 1
    assert names(events(one, server="mariadb-11.8")).count("USER_VAR") == 2


def test_a_transaction_that_is_rolled_back_leaves_no_text() -> None:
    scenario = Scenario(
        "s",
        session=Session(binlog_format="statement"),
        tables=[TABLE],
        transactions=[Transaction(statements=[insert("d.t", {"v": "a"})], end="rollback")],
    )
    data = write_binlog(compile_plan(plan(scenario)))
    assert not any(placed.event.type_name == "INTVAR" for placed in read_events(data))


@given(st.decimals(min_value=-(10**35), max_value=10**35, places=30) | st.decimals(-(10**9), 10**9, places=3))
def test_decimals_of_user_variables_are_packed_as_their_text_says(value: Decimal) -> None:
    written = Decimal(f"{value:f}")
    event = user_var(UserVariable("x", written), Session(), server_line("mysql-9.7"))
    assert event.value is not None
    precision, scale, raw = event.value[2][0], event.value[2][1], event.value[2][2:]
    digits = f"{written:f}".lstrip("-").replace(".", "")
    assert (precision, scale) == (len(digits), -int(written.as_tuple().exponent))
    assert unpack(raw, precision, scale) == written


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("INSERT INTO t VALUES (@a, @`b c`, @'d', @A)", ("a", "b c", "d")),
        ("INSERT INTO t VALUES ('@a', \"@b\", `@c`) /* @d */ -- @e", ()),
        ("UPDATE t SET v = @a WHERE id = @b ORDER BY @c", ("b", "c")),
        ("SELECT @@a, @@session.b, @c.d", ("c.d",)),
    ],
)
def test_user_variables_are_found_in_a_text(sql: str, expected: tuple[str, ...]) -> None:
    assert reads_of(sql).variables == expected


def test_a_variable_is_what_the_last_assignment_made_of_it() -> None:
    first = query("INSERT INTO t (v) VALUES (@n := @n + 1)", user_variables={"n": 4})
    found = events(first, query("INSERT INTO t (v) VALUES (@n)"))
    values = [event.body.value for event in found if event.type_name == "USER_VAR"]  # type: ignore[attr-defined]
    assert [int.from_bytes(value[2], "little") for value in values] == [4, 5]


def test_a_variable_that_was_computed_is_refused_until_it_is_set_again() -> None:
    first = query("INSERT INTO t (v) VALUES (@n := LENGTH(v))")
    with pytest.raises(ScenarioError, match="@n holds is not known"):
        events(first, query("INSERT INTO t (v) VALUES (@n)"))
    assert events(first, query("INSERT INTO t (v) VALUES (@n)", user_variables={"n": 1}))


def test_last_insert_id_is_what_an_expression_made_it() -> None:
    found = events(
        insert("d.t", {"v": "1"}),
        update("d.t", where={"id": 1}, set={"id": 8}, query="UPDATE t SET id = LAST_INSERT_ID(id + 7)"),
        query("INSERT INTO t (v) VALUES (LAST_INSERT_ID())"),
    )
    assert [event.body.value for event in found if event.type_name == "INTVAR"] == [1, 8, 9]  # type: ignore[attr-defined]


@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
def test_a_log_tells_the_variables_of_the_text_or_those_that_the_scenario_says(server: str) -> None:
    sql, variables = "INSERT INTO t (v) VALUES (IF(@a, @b, @n))", {"a": 1, "b": 2, "n": None}
    for told in (None, ["a", "b"]):
        found = events(query(sql, user_variables=variables, told_variables=told), server=server)
        names_told = [event.body.name for event in found if event.type_name == "USER_VAR"]  # type: ignore[attr-defined]
        assert names_told == (told or ["a", "b", "n"])


def test_a_scenario_says_how_a_statement_is_logged_where_a_server_chooses_otherwise() -> None:
    row = insert("d.t", {"v": "x"})
    as_rows = events(msgspec.structs.replace(row, logged_as="rows"), format="mixed")
    assert "WRITE_ROWS" in names(as_rows)
    as_text = events(query("INSERT INTO t (v) VALUES (UUID())", logged_as="text"), format="mixed")
    assert "WRITE_ROWS" not in names(as_text)
