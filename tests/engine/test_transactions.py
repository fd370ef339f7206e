"""What a session may do in and between transactions."""

import pytest

from forge.errors import ScenarioError, UnsupportedError
from forge.plan.plan import Plan
from forge.render.sql import replay_sessions
from forge.scenario import expand, plan

HEAD = """\
scenario: s
server: {server}
session: {{gtid: {gtid}}}
tables:
  - CREATE TABLE d.t (id INT PRIMARY KEY)
  - CREATE TABLE d.m (id INT PRIMARY KEY) ENGINE=MyISAM
transactions:
"""
PREPARED = "  - {statements: [{insert: {into: d.t, rows: [{id: 1}]}}], xa: {gtrid: g, end: prepared}}\n"
INSERT = "  - - insert: {into: d.t, rows: [{id: 2}]}\n"
BEHIND_A_SAVEPOINT = """\
  - - insert: {into: d.m, rows: [{id: 1}]}
    - savepoint: x
    - insert: {into: d.m, rows: [{id: 2}]}
"""


def planned(server: str, transactions: str, gtid: str = "false") -> Plan:
    [one] = expand(HEAD.format(server=server, gtid=gtid) + transactions, file="f.yaml")
    return plan(one.scenario)


@pytest.mark.parametrize("behind", [INSERT, "  - - flush: binary_logs\n"])
def test_a_session_that_a_prepared_transaction_binds_is_followed_by_another(behind: str) -> None:
    end = "  - xa_commit: {gtrid: g}\n"
    assert planned("mariadb-11.8", PREPARED + behind + end).reconnects == (4,)
    assert planned("mariadb-11.8", PREPARED + end + behind).reconnects == ()
    assert planned("mysql-9.7", PREPARED + behind + end).reconnects == ()
    assert len(list(replay_sessions(planned("mysql-5.7", PREPARED + behind + end)))) == 2


def test_another_session_cannot_end_what_has_changed_nothing() -> None:
    fruitless = PREPARED.replace("insert: {into: d.t, rows: [{id: 1}]}", "update: {table: d.t, set: {id: 5}}")
    with pytest.raises(ScenarioError, match=r"f.yaml:10: .*error 1402"):
        planned("mariadb-11.8", fruitless + INSERT + "  - xa_commit: {gtrid: g}\n")


@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
def test_a_new_start_keeps_what_innodb_has_prepared(server: str) -> None:
    behind = "  - - restart: crash\n  - xa_commit: {gtrid: g}\n"
    planned(server, PREPARED + behind)
    with pytest.raises(ScenarioError, match="no XA transaction of that name"):
        planned(server, PREPARED.replace("d.t", "d.m") + behind)


@pytest.mark.parametrize(
    "end", ["  - xa_commit: {gtrid: g}\n", "  - xa_rollback: {gtrid: g}\n", "  - - restart: clean\n"]
)
def test_the_session_is_free_after_the_end_or_a_new_start_of_the_server(end: str) -> None:
    planned("mariadb-11.8", PREPARED + end + INSERT)


def test_mysql_detaches_prepared_transactions() -> None:
    planned("mysql-9.7", PREPARED + INSERT)


@pytest.mark.parametrize(
    "behind",
    [
        "  - - update: {table: d.t, set: {id: 5}}\n",
        "  - - delete: {from: d.t}\n",
        "  - - ddl: TRUNCATE TABLE d.t\n",
        "  - - ddl: DROP TABLE d.t\n",
    ],
)
def test_what_would_wait_for_a_prepared_transaction_is_refused(behind: str) -> None:
    with pytest.raises(ScenarioError, match=r"f.yaml:9: .*(prepared XA|another) transaction"):
        planned("mysql-9.7", PREPARED + behind)
    planned("mysql-9.7", PREPARED + "  - xa_rollback: {gtrid: g}\n" + behind)


MEMORY = """\
scenario: s
server: mariadb-11.8
tables: ["CREATE TABLE d.t (a INT)", "CREATE TABLE d.m (a INT) ENGINE=MyISAM", "CREATE TABLE d.h (a INT) ENGINE=MEMORY"]
transactions:
  - - restart: clean
  - - insert: {into: %s, rows: [{a: 1}]}
    - insert: {into: d.h, rows: [{a: 1}]}
"""


def test_a_memory_table_is_emptied_ahead_of_the_transaction_that_uses_it_first() -> None:
    [one] = expand(MEMORY % "d.t", file="f.yaml")
    assert [getattr(group, "kind", "") for group in plan(one.scenario).groups][4:] == ["empty_memory", ""]
    [one] = expand(MEMORY % "d.m", file="f.yaml")
    with pytest.raises(UnsupportedError, match=r"f.yaml:6: d\.h is first used after a restart in a transaction"):
        plan(one.scenario)


KEYLESS = """\
scenario: s
server: {server}
tables: ["CREATE TABLE d.m (a INT, v VARCHAR(50)) ENGINE=MyISAM"]
transactions:
"""
THREE = "  - - insert: {into: d.m, rows: [{a: 1, v: aaaaaaaaaaaaaaaaaaaaaaaa}, {a: 2, v: b}, {a: 3, v: c}]}\n"
SHRUNK = "  - - update: {table: d.m, set: {v: x}}\n"
ONE_LESS = "  - - delete: {from: d.m, where: {a: 2}}\n"
ONE_MORE = "  - - insert: {into: d.m, rows: [{a: 4, v: z}]}\n"
ALL = "  - - update: {table: d.m, set: {a: 8}}\n"
