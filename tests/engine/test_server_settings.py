"""Settings of definitions that show in the log: what they refuse, and what of them is not made.

Recordings (``tests/record/recordings``) have the rest.
"""

from __future__ import annotations

from typing import Any

import pytest

from forge.binlog.listing import disassemble
from forge.binlog.writer import write_binlog
from forge.compile import compile_plan
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.plan import Plan
from forge.scenario import Scenario, Session, ddl, insert, plan
from forge.servers import server_line

TABLE = "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)"


def planned(*transactions: Any, server: str = "mysql-9.7", tables: tuple[str, ...] = (TABLE,), **session: Any) -> Plan:
    settings = Session(**session)
    return plan(Scenario("x", server=server, session=settings, tables=list(tables), transactions=list(transactions)))


@pytest.mark.parametrize(
    ("server", "setting", "message"),
    [
        ("mysql-9.7", {"binlog_alter_two_phase": True}, "mysql-9.7"),
        ("mariadb-10.6", {"binlog_alter_two_phase": True}, "mariadb-10.6"),
        ("mysql-9.7", {"check_constraint_checks": False}, "mysql-9.7"),
        ("mariadb-11.8", {"sql_require_primary_key": True}, "mariadb-11.8"),
        ("mysql-5.7", {"sql_require_primary_key": True}, "mysql-5.7"),
        ("mysql-5.7", {"default_collation_for_utf8mb4": "utf8mb4_general_ci"}, "mysql-5.7"),
        ("mariadb-11.8", {"default_collation_for_utf8mb4": "utf8mb4_general_ci"}, "mariadb-11.8"),
        ("mysql-5.7", {"default_table_encryption": True}, "mysql-5.7"),
        (
            "mysql-5.5",
            {"explicit_defaults_for_timestamp": True},
            "mysql-5.5 does not have a setting for what TIMESTAMP",
        ),
        ("mysql-9.7", {"default_storage_engine": "Aria"}, "mysql-9.7 has no storage engine 'Aria'"),
        ("mysql-9.7", {"default_storage_engine": "InoDB"}, "did you mean 'InnoDB'"),
    ],
)
def test_a_setting_that_the_line_does_not_have_is_refused(server: str, setting: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        planned(server=server, **setting)


@pytest.mark.parametrize(
    ("server", "nullable"),
    [("mysql-5.5", False), ("mysql-5.6", False), ("mysql-5.7", False), ("mysql-8.0", True), ("mysql-9.7", True),
     ("mariadb-10.1", False), ("mariadb-10.6", False), ("mariadb-10.11", True), ("mariadb-11.4", True)],
)  # fmt: skip
def test_a_timestamp_is_as_the_line_takes_it_where_a_scenario_says_nothing(server: str, nullable: bool) -> None:
    table = "CREATE TABLE d.u (id INT PRIMARY KEY, a TIMESTAMP)"
    made = planned(tables=(table,), server=server)
    column = made.tables["d.u"].columns[1]
    assert (column.nullable, column.default_now, column.on_update_now) == (nullable, not nullable, not nullable)
    assert made.session.explicit_defaults_for_timestamp == nullable
    if not server_line(server).knows("timestamp_defaults"):
        return
    said = planned(tables=(table,), server=server, explicit_defaults_for_timestamp=not nullable)
    assert said.tables["d.u"].columns[1].nullable != nullable


@pytest.mark.parametrize(
    ("server", "checksum", "size"),
    [("mysql-5.5", "none", 1024), ("mysql-5.6", "crc32", 8192), ("mariadb-10.1", "none", 1024),
     ("mariadb-10.2", "crc32", 8192), ("mysql-9.7", "crc32", 8192)],
)  # fmt: skip
def test_a_session_has_the_defaults_of_its_line(server: str, checksum: str, size: int) -> None:
    made = planned(server=server).session
    assert (made.checksum, made.binlog_row_event_max_size) == (checksum, size)
    assert planned(server=server, binlog_row_event_max_size=512).session.binlog_row_event_max_size == 512


def test_a_second_timestamp_has_the_zero_default_which_strict_mode_refuses() -> None:
    text = "CREATE TABLE d.u (id INT PRIMARY KEY, a TIMESTAMP, b TIMESTAMP)"
    with pytest.raises(ScenarioError, match="the default of column 'b' is impossible"):
        planned([ddl(text)], explicit_defaults_for_timestamp=False)
    planned([ddl(text)], explicit_defaults_for_timestamp=False, server="mariadb-11.8")


def test_names_of_a_server_that_lowers_them_are_one_name() -> None:
    table = "CREATE TABLE Shop.T (id INT PRIMARY KEY)"
    made = planned([insert("SHOP.t", {"id": 1})], tables=(table,), lower_case_table_names=1)
    maps = [each for each in disassemble(write_binlog(compile_plan(made))) if each["event"] == "TABLE_MAP"]
    assert [(each["database"], each["table"]) for each in maps] == [("shop", "t")]
    with pytest.raises(ScenarioError, match=r"table shop\.t exists already"):
        planned([ddl("CREATE TABLE sHOP.T (id INT PRIMARY KEY)")], tables=(table,), lower_case_table_names=1)
    with pytest.raises(ScenarioError, match="there is no table"):
        planned([insert("shop.t", {"id": 1})], tables=("CREATE TABLE shop.T (id INT PRIMARY KEY)",))


def test_utf8mb4_has_the_collation_of_the_session() -> None:
    table = "CREATE TABLE d.c (id INT, a VARCHAR(3) CHARACTER SET utf8mb4, b VARCHAR(3) CHARACTER SET utf8mb4 BINARY)"
    made = planned(tables=(table,), default_collation_for_utf8mb4="utf8mb4_general_ci").tables["d.c"]
    assert [column.type.collation for column in made.columns] == [None, 45, 46]
    made = planned(tables=(table,)).tables["d.c"]
    assert [column.type.collation for column in made.columns] == [None, 255, 46]
    with pytest.raises(UnsupportedError, match="default_collation_for_utf8mb4"):
        planned([ddl("CREATE TABLE d.s SELECT * FROM d.t")], default_collation_for_utf8mb4="utf8mb4_general_ci")
