"""What a session may do in and between transactions."""

import pytest

from forge.errors import ScenarioError, UnsupportedError
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


def planned(server: str, transactions: str, gtid: str = "false") -> None:
    [one] = expand(HEAD.format(server=server, gtid=gtid) + transactions, file="f.yaml")
    plan(one.scenario)


@pytest.mark.parametrize("behind", [INSERT, "  - - ddl: DROP TABLE d.t\n", "  - - flush: binary_logs\n", PREPARED])
def test_a_prepared_session_of_mariadb_refuses_all_but_its_end(behind: str) -> None:
    with pytest.raises(ScenarioError, match=r"f.yaml:9: .*error 1399"):
        planned("mariadb-11.8", PREPARED + behind)


@pytest.mark.parametrize(
    "end", ["  - xa_commit: {gtrid: g}\n", "  - xa_rollback: {gtrid: g}\n", "  - - restart: clean\n"]
)
def test_the_session_is_free_after_the_end_or_a_new_start_of_the_server(end: str) -> None:
    planned("mariadb-11.8", PREPARED + end + INSERT)


def test_mysql_detaches_prepared_transactions() -> None:
    planned("mysql-9.7", PREPARED + INSERT)


def test_with_gtids_a_logged_savepoint_forbids_changes_of_tables_without_transactions() -> None:
    planned("mysql-9.7", BEHIND_A_SAVEPOINT)
    with pytest.raises(ScenarioError, match="enforce_gtid_consistency"):
        planned("mysql-9.7", BEHIND_A_SAVEPOINT, gtid="true")


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
    with pytest.raises(ScenarioError, match=r"f.yaml:9: .*prepared XA transaction"):
        planned("mysql-9.7", PREPARED + behind)
    planned("mysql-9.7", PREPARED + "  - xa_rollback: {gtrid: g}\n" + behind)


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


@pytest.mark.parametrize("hole", [SHRUNK, ONE_LESS])
def test_rows_of_a_table_without_a_key_have_no_known_order_once_a_hole_is_filled(hole: str) -> None:
    def run(transactions: str) -> None:
        [one] = expand(KEYLESS.format(server="mariadb-11.8") + transactions, file="f.yaml")
        plan(one.scenario)

    run(THREE + hole + ALL)
    run(THREE + ONE_MORE + ALL)
    with pytest.raises(UnsupportedError, match="in the place of old ones"):
        run(THREE + hole + ONE_MORE + ALL)
