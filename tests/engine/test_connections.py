"""Several connections in one scenario: what is logged when, what each has of its own, and what would wait."""

from __future__ import annotations

import pytest

from forge.compile import compile_files
from forge.errors import ScenarioError
from forge.events.event import Event
from forge.events.gtid import AnonymousGtid
from forge.render.sql import replay_sessions
from forge.scenario import plan
from forge.scenario.matrix import base_scenario

HEAD = "scenario: x\ntables: ['CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)']\ntransactions:\n"


def scenario(*transactions: str, server: str = "mysql-9.7") -> str:
    return f"server: {server}\n{HEAD}" + "".join(f"  - {entry}\n" for entry in transactions)


def insert(connection: str, end: str = "commit") -> str:
    return f"{{connection: {connection}, end: {end}, statements: [insert: {{into: d.t, rows: [{{v: 1}}]}}]}}"


def compiled(text: str) -> list[Event]:
    [events] = compile_files(plan(base_scenario(text, file="f.yaml")))
    return events


@pytest.mark.parametrize("server", ["mysql-9.7", "mysql-8.0"])
def test_a_transaction_depends_on_what_was_committed_when_its_last_statement_ran(server: str) -> None:
    end = "{connection: one, statements: [savepoint: s]}"
    text = scenario(insert("one", "open"), insert("two"), insert("two"), end, server=server)
    gtids = [event.body for event in compiled(text) if isinstance(event.body, AnonymousGtid)]
    assert [gtid.sequence_number for gtid in gtids] == [1, 2, 3, 4, 5]
    # CREATE DATABASE and CREATE TABLE were committed when the first INSERT was over.
    assert gtids[-1].last_committed == 2


def test_numbers_are_those_of_the_statements_order_and_the_log_that_of_the_ends() -> None:
    planned = plan(base_scenario(scenario(insert("one", "open"), insert("two"), insert("one"))))
    assert [row[0] for row in planned.contents["d.t"]] == [1, 2, 3]
    changes = [
        change.after[0]
        for group in planned.groups[2:]
        for statement in group.rows_statements  # type: ignore[union-attr]
        for change in statement.changes
        if change.after is not None
    ]
    assert changes == [2, 1, 3]


def test_each_connection_begins_with_the_settings_of_the_session() -> None:
    text = scenario("{connection: one, statements: [set: {unique_checks: false}]}", insert("one"), insert("two"))
    sent = [
        (session.client, session.sql.count("unique_checks = 0"))
        for session in replay_sessions(plan(base_scenario(text)))
    ]
    assert sent == [(0, 0), (0, 0), (1, 1), (2, 0)]


def test_a_rollback_takes_back_its_own_rows_alone() -> None:
    planned = plan(
        base_scenario(scenario(insert("one", "open"), insert("two", "open"), insert("one", "rollback"), insert("two")))
    )
    assert [row[0] for row in planned.contents["d.t"]] == [2, 4]


@pytest.mark.parametrize(
    ("transactions", "sentence"),
    [
        ((insert("one", "open"),), "the transaction of connection 'one' stays open"),
        (
            (
                insert("one", "open"),
                "{connection: two, statements: [update: {table: d.t, where: {id: 1}, set: {v: 2}}]}",
            ),
            "f.yaml:6: a row of table d.t is locked by another transaction",
        ),
        ((insert("one", "open"), "- ddl: DROP TABLE d.t"), "f.yaml:6: "),
        (
            (insert("one", "open"), "- restart: clean"),
            "f.yaml:6: a restart under the open transaction or temporary tables of connection 'one'",
        ),
        (("{end: open, xa: {gtrid: g}, statements: [savepoint: s]}",), "f.yaml:5: `end: open` excludes `xa`"),
    ],
)
def test_what_would_wait_or_is_not_followed_is_refused(transactions: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        plan(base_scenario(scenario(*transactions), file="f.yaml"))
    assert str(caught.value).startswith(sentence)


def test_a_connection_of_mariadb_is_bound_to_what_it_has_prepared_and_others_go_on() -> None:
    prepared = "{connection: one, xa: {gtrid: g, end: prepared}, statements: [insert: {into: d.t, rows: [{v: 1}]}]}"
    taken = scenario(prepared, insert("two"), "{connection: one, xa_commit: {gtrid: g}}", server="mariadb-11.8")
    assert len(plan(base_scenario(taken)).contents["d.t"]) == 2
    bound = scenario(prepared, insert("two"), insert("one"), server="mariadb-11.8")
    with pytest.raises(ScenarioError, match="the session has a prepared XA transaction"):
        plan(base_scenario(bound))


def test_connections_begin_anew_behind_a_restart() -> None:
    text = scenario(insert("one"), "- restart: clean", insert("one"), insert("two"))
    sessions = list(replay_sessions(plan(base_scenario(text))))
    assert [(session.client, session.restart) for session in sessions][-3:] == [(0, "restart"), (1, None), (2, None)]
    assert all("SET NAMES" in session.sql for session in sessions[-2:])
