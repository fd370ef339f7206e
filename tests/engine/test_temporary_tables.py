"""Temporary tables: which table a name means, what is logged, what is refused."""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError, UnsupportedError
from forge.plan.definitions import DdlStatement
from forge.plan.session import Session
from forge.scenario import Scenario, Statement, insert, plan
from forge.sql.reads.reads import reads_of

BASE = "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)"


def _scenario(server: str = "mysql-9.7", **session: object) -> Scenario:
    return Scenario(scenario="temporary", server=server, tables=[BASE], session=Session(**session))  # type: ignore[arg-type]


def test_a_temporary_table_hides_the_other_of_its_name_until_it_is_dropped() -> None:
    scenario = _scenario().ddl("CREATE TEMPORARY TABLE t (a INT)").transaction(insert("t", {"a": 5}))
    scenario = scenario.ddl("DROP TABLE t").transaction(insert("t", {"id": 1, "v": 2}))
    made = plan(scenario)
    assert made.contents == {"d.t": ((1, 2),)}
    assert not made.tables["d.t"].temporary


def test_row_format_logs_nothing_of_it_and_statement_format_drops_it_at_the_end_of_the_session() -> None:
    for binlog_format, logged in (("row", 0), ("statement", 3)):
        scenario = _scenario(binlog_format=binlog_format).ddl("CREATE TEMPORARY TABLE a (a INT)")
        groups = plan(scenario.ddl("CREATE TEMPORARY TABLE b (a INT)")).groups[2:]
        assert sum(isinstance(group, DdlStatement) and not group.unlogged for group in groups) == logged
    assert isinstance(groups[-1], DdlStatement)
    assert groups[-1].text.sql == "DROP /*!40005 TEMPORARY */ TABLE IF EXISTS `b`,`a`"


def test_rollback_takes_its_rows_back_but_neither_its_making_nor_its_end() -> None:
    made = Statement(ddl="CREATE TEMPORARY TABLE x (a INT PRIMARY KEY)")
    scenario = _scenario().transaction(made, insert("x", {"a": 1}), end="rollback")
    plan(scenario.transaction(insert("x", {"a": 1})))
    gone = scenario.transaction(Statement(ddl="DROP TEMPORARY TABLE x"), end="rollback")
    with pytest.raises(ScenarioError, match="no table"):
        plan(gone.transaction(insert("x", {"a": 1})))


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("DROP TEMPORARY TABLE t", "no temporary table"),
        ("CREATE TEMPORARY VIEW v AS SELECT 1", "TABLE"),
    ],
)
def test_what_a_server_refuses_is_refused(sql: str, problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        plan(_scenario().ddl(sql))


def test_lines_whose_logs_of_temporary_tables_are_not_known_refuse_them() -> None:
    with pytest.raises(UnsupportedError, match=r"temporary tables on mysql-5\.7"):
        plan(_scenario("mysql-5.7").ddl("CREATE TEMPORARY TABLE x (a INT)"))


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ("INSERT INTO a.b (x, y) SELECT c, d FROM e, `f` g JOIN h.i ON j = k", {"a.b", ".e", ".f", "h.i"}),
        ("INSERT b VALUES (1), (2)", {".b"}),
        ("UPDATE a, b SET a.x = (SELECT MAX(y) FROM c WHERE z IN (1, d)) WHERE a.id = b.id", {".a", ".b", ".c"}),
        ("SELECT 1 FROM (SELECT x, y FROM a) AS q, (b, c) WHERE x > 1", {".a", ".q", ".b", ".c"}),
        ("DELETE FROM a WHERE x = 1 ORDER BY y, z LIMIT 1", {".a"}),
    ],
)
def test_the_tables_that_a_text_names_are_found(sql: str, tables: set[str]) -> None:
    found = {f"{database}.{name}" for database, name in reads_of(sql).tables}
    assert tables - {".q"} <= found <= tables | {".q"}
