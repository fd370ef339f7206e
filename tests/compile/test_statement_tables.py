"""Texts of several tables: joins, subqueries, triggers, foreign keys (recorded on 9.7, MariaDB 10.11 and 11.8)."""

from __future__ import annotations

import pytest

from forge.binlog import read_events, write_binlog
from forge.compile import compile_plan
from forge.scenario import Scenario, Session, Statement, delete, insert, plan, update
from forge.scenario.table_model import TableDeclaration
from forge.servers import server_line
from forge.sql.reads.tables import is_of_several_tables

TABLES: list[str | TableDeclaration] = [
    "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)",
    "CREATE TABLE e.u (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE d.log (n INT AUTO_INCREMENT PRIMARY KEY, v INT)",
]


def last_queries(
    *statements: Statement, format: str = "statement", server: str = "mysql-9.7"
) -> list[tuple[str, dict[str, object]]]:
    """Texts and status variables of the last transaction."""
    session = Session(binlog_format=format)  # type: ignore[arg-type]
    data = write_binlog(
        compile_plan(plan(Scenario("s", server=server, session=session, tables=TABLES).transaction(*statements)))
    )
    found = [placed.event for placed in read_events(data)]
    last = max(i for i, event in enumerate(found) if event.type_name in ("ANONYMOUS_GTID", "MARIADB_GTID"))
    bodies = [event.body for event in found[last:] if event.type_name == "QUERY"]
    return [(body.query, dict(body.status_variables)) for body in bodies]  # type: ignore[attr-defined]


def test_a_text_names_the_databases_of_all_tables_that_it_reads() -> None:
    sql = "UPDATE t SET v = (SELECT MAX(v) FROM e.u) WHERE id = 1"
    found = last_queries(insert("d.t", {"v": 1}), update("d.t", where={"id": 1}, set={"v": 2}, query=sql))
    assert found[-1][1]["updated_databases"] == ("e", "d")


def test_mixed_logs_rows_where_a_numbered_table_is_written_and_another_read() -> None:
    sql = "UPDATE t SET v = (SELECT MAX(v) FROM e.u) WHERE id = 1"
    found = last_queries(
        insert("d.t", {"v": 1}), update("d.t", where={"id": 1}, set={"v": 2}, query=sql), format="mixed"
    )
    assert sql not in [text for text, _ in found]


@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-10.11"])
def test_an_update_says_which_of_several_tables_it_changes(server: str) -> None:
    sql = "UPDATE t JOIN e.u ON t.id = u.id SET u.v = 5"
    found = last_queries(
        insert("e.u", {"id": 1, "v": 1}), update("e.u", where={"id": 1}, set={"v": 5}, query=sql), server=server
    )
    assert found[-1][1]["table_map_for_update"] == 2


@pytest.mark.parametrize(
    ("sql", "servers"),
    [
        ("DELETE FROM t WHERE id = 1", ()),
        ("DELETE /*+ NO_INDEX(t) */ FROM t WHERE id = 1", ()),
        ("DELETE t FROM t", ("mysql-9.7", "mariadb-10.11", "mariadb-11.8")),
        ("DELETE FROM t USING t JOIN u ON t.id = u.id", ("mysql-9.7", "mariadb-10.11", "mariadb-11.8")),
        ("DELETE FROM t WHERE id IN (SELECT id FROM u)", ("mysql-9.7", "mariadb-11.8")),
        ("DELETE FROM t WHERE id NOT IN (SELECT id FROM u)", ("mysql-9.7",)),
        ("DELETE FROM t WHERE EXISTS (SELECT 1 FROM u)", ("mysql-9.7",)),
        ("DELETE FROM t WHERE id = (SELECT MAX(id) FROM u)", ()),
        ("DELETE FROM t WHERE id IN (SELECT id FROM u) ORDER BY id", ("mariadb-11.8",)),
        ("UPDATE t SET v = 1 WHERE id IN (SELECT id FROM u)", ("mariadb-11.8",)),
        ("UPDATE t, u SET t.v = 1", ("mysql-9.7", "mariadb-10.11", "mariadb-11.8")),
    ],
)
def test_a_statement_of_several_tables_is_told_by_its_text(sql: str, servers: tuple[str, ...]) -> None:
    found = [
        server
        for server in ("mysql-9.7", "mariadb-10.11", "mariadb-11.8")
        if is_of_several_tables(sql, server_line(server).texts.joins_subqueries)
    ]
    assert tuple(found) == servers


def test_a_delete_of_several_tables_is_the_connections_own() -> None:
    session = Session(binlog_format="statement")
    one = delete("e.u", where={"id": 1}, query="DELETE u FROM e.u WHERE id = 1")
    scenario = (
        Scenario("s", session=session, tables=TABLES).transaction(insert("e.u", {"id": 1, "v": 1})).transaction(one)
    )
    found = [placed.event for placed in read_events(write_binlog(compile_plan(plan(scenario))))]
    assert [event.flags & 0x0004 for event in found[-4:-1]] == [4, 4, 0]
