"""Sessions with sql_mode: '' (corpora/recordings/lenient holds them to real servers)."""

from __future__ import annotations

from typing import Any

import pytest

from forge.compile.query.status import session_variables
from forge.errors import ScenarioError
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.plan.statements import RowsStatement
from forge.plan.transactions import Transaction as Committed
from forge.render.sql import replay_script
from forge.scenario import Scenario, Statement, expand, insert, plan, update
from forge.servers import server_line

LENIENT = Session(sql_mode="")


def planned(columns: str, *statements: Statement, session: Session = LENIENT, server: str = "mysql-9.7") -> Plan:
    table = f"CREATE TABLE d.t (id INT PRIMARY KEY, {columns})"
    scenario = Scenario("x", server=server, tables=[table], session=session)
    for statement in statements:
        scenario = scenario.transaction(statement)
    return plan(scenario)


def statement_of(made: Plan) -> RowsStatement:
    group = made.groups[-1]
    assert isinstance(group, Committed)
    return group.rows_statements[-1]


def test_insert_stores_the_clipped_value_and_says_the_declared_one() -> None:
    made = planned("a TINYINT, b CHAR(3)", insert("d.t", {"id": 1, "a": 1000, "b": "abcdef"}))
    assert made.contents["d.t"] == ((1, 127, "abc"),)
    assert statement_of(made).text.sql.endswith("VALUES (1, 1000, 'abcdef')")


def test_update_stores_the_clipped_value_and_says_the_declared_one() -> None:
    made = planned("a DATE", insert("d.t", {"id": 1}), update("d.t", where={"id": 1}, set={"a": "2024-02-30"}))
    assert made.contents["d.t"] == ((1, "0000-00-00"),)
    assert "SET `a` = '2024-02-30'" in statement_of(made).text.sql


@pytest.mark.parametrize("cells", [{"a": 1000}, {"b": "2024-00-10"}, {}, {"c": "abcd", "a": 1}])
def test_the_same_is_refused_in_strict_mode(cells: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError):
        planned("a TINYINT NOT NULL, b DATE, c CHAR(3)", insert("d.t", {"id": 1, **cells}), session=Session())


def test_a_column_without_a_default_gets_the_implicit_one() -> None:
    made = planned("a INT NOT NULL, b DATE NOT NULL, c ENUM('x') NOT NULL", insert("d.t", {"id": 1}))
    assert made.contents["d.t"] == ((1, 0, "0000-00-00", 1),)


def test_null_is_an_error_in_an_insert_of_one_row_and_becomes_zero_in_one_of_several() -> None:
    with pytest.raises(ScenarioError, match=r"d\.t\.a is NOT NULL"):
        planned("a INT NOT NULL", insert("d.t", {"id": 1, "a": None}))
    made = planned("a INT NOT NULL", insert("d.t", {"id": 1, "a": None}, {"id": 2, "a": 3}))
    assert made.contents["d.t"] == ((1, 0), (2, 3))


def test_update_makes_zero_of_null() -> None:
    made = planned(
        "a CHAR(3) NOT NULL", insert("d.t", {"id": 1, "a": "x"}), update("d.t", where={"id": 1}, set={"a": None})
    )
    assert made.contents["d.t"] == ((1, ""),)


@pytest.mark.parametrize(("server", "value"), [("mysql-9.7", 0), ("mariadb-11.8", 1)])
def test_the_zero_of_an_enum_is_the_server_s(server: str, value: int) -> None:
    made = planned(
        "a ENUM('x','y') NOT NULL",
        insert("d.t", {"id": 1, "a": "y"}),
        update("d.t", where={"id": 1}, set={"a": None}),
        server=server,
    )
    assert made.contents["d.t"] == ((1, value),)


def test_mariadb_s_null_in_a_timestamp_is_the_current_time_and_nothing_is_zero() -> None:
    made = planned(
        "a TIMESTAMP NOT NULL",
        insert("d.t", {"id": 1, "a": None}, {"id": 2, "a": "2024-01-01"}),
        insert("d.t", {"id": 3}),
        server="mariadb-11.8",
    )
    (_, now), (_, given), (_, nothing) = made.contents["d.t"]
    assert now is not None
    assert now > "2024-01-01"
    assert (given, nothing) == ("2024-01-01 00:00:00", "0000-00-00 00:00:00")


def test_a_generated_column_is_clipped_as_well() -> None:
    made = planned("a INT, b TINYINT AS (a * 2) STORED", insert("d.t", {"id": 1, "a": 100}))
    assert made.contents["d.t"] == ((1, 100, 127),)


def test_query_events_carry_the_mode_and_the_replay_script_sets_it() -> None:
    line = server_line("mysql-9.7")
    assert session_variables(LENIENT, line)["sql_mode"] == 0
    assert session_variables(Session(), line)["sql_mode"] == line.query.sql_mode != 0
    made = planned("a INT", insert("d.t", {"id": 1}))
    assert "SET NAMES utf8mb4;\nSET SESSION sql_mode = '';\n" in replay_script(made)
    assert "sql_mode" not in replay_script(planned("a INT", insert("d.t", {"id": 1}), session=Session()))


def test_an_unknown_mode_is_named_in_the_error() -> None:
    text = "scenario: x\nserver: mysql-9.7\nsession:\n  gtid: true\n  sql_mode: ORACLE\n"
    with pytest.raises(ScenarioError, match=r"mysql-9\.7 has no sql_mode 'ORACLE'") as caught:
        plan(next(expand(text)).scenario)
    assert caught.value.line == 5


def test_a_wrong_address_is_null_or_zeros_and_a_wrong_vector_zeros_on_mariadb() -> None:
    made = planned(
        "a UUID, b INET4 NOT NULL, c VECTOR(2) NOT NULL",
        insert("d.t", {"id": 1, "a": "x", "b": "1.2.3", "c": "[1]"}),
        server="mariadb-11.8",
    )
    assert made.contents["d.t"] == ((1, None, bytes(4), bytes(8)),)
    assert statement_of(made).text.sql.endswith("VALUES (1, 'x', '1.2.3', '[1]')")


@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
def test_hex_digits_are_a_number_in_a_numeric_column(server: str) -> None:
    made = planned(
        "a TINYINT, b DOUBLE", insert("d.t", {"id": 1, "a": {"hex": "31"}, "b": {"hex": "0102"}}), server=server
    )
    assert made.contents["d.t"] == ((1, 49, 258.0),)


def test_zero_and_partial_dates_are_defaults_without_strict_mode_alone() -> None:
    columns = "a DATE DEFAULT '0000-00-00', b DATETIME DEFAULT '2024-00-10', n INT"
    made = planned(columns, insert("d.t", {"id": 1, "n": 1}), server="mysql-9.7")
    assert made.contents["d.t"] == ((1, "0000-00-00", "2024-00-10 00:00:00", 1),)
    with pytest.raises(ScenarioError, match="default of column 'a' is impossible"):
        plan(Scenario("strict", tables=[f"CREATE TABLE d.t (id INT PRIMARY KEY, {columns})"]))


@pytest.mark.parametrize("session", [LENIENT, Session()], ids=["lenient", "strict"])
def test_well_known_binary_is_said_as_it_was_declared_and_stored_as_the_server_converts_it(session: Session) -> None:
    cell = {"wkb": "000000000140300000000000004048000000000000", "srid": 4326}
    made = planned("p POINT", insert("d.t", {"id": 1, "p": cell}), session=session)
    assert made.contents["d.t"] == ((1, bytes.fromhex("e6100000010100000000000000000048400000000000003040")),)
    assert statement_of(made).text.sql.endswith(f"VALUES (1, ST_GeomFromWKB(x'{cell['wkb']}', 4326))")
