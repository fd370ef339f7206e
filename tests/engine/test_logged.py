"""Statements that a scenario gives as the server logs them."""

from __future__ import annotations

from typing import Any

import pytest

from forge.compile import compile_plan
from forge.errors import ScenarioError
from forge.events.plain import to_bytes
from forge.events.query import Query
from forge.render.sql import replay_script
from forge.scenario import Scenario, Session, logged, plan

GRANT = "GRANT SELECT ON `d`.* TO 'ann'@'%'"


def scenario(text: str = GRANT, *, server: str = "mysql-9.7", **form: Any) -> Scenario:
    base = Scenario("logged", server=server, session=Session(database="d"), tables=["CREATE TABLE d.t (a INT)"])
    return base.transaction(logged(text, **form))


def query(made: Scenario) -> Query:
    bodies = [event.body for event in compile_plan(plan(made))]
    return [body for body in bodies if isinstance(body, Query)][-1]


def test_the_event_has_the_text_and_the_variables_of_the_session_and_its_own() -> None:
    event = query(scenario(status={"invoker": ["root", "localhost"], "updated_databases": ["d", "mysql"]}))
    variables = dict(event.status_variables)
    assert event.query == GRANT
    assert event.database == "d"
    assert variables["invoker"] == ("root", "localhost")
    assert variables["updated_databases"] == ("d", "mysql")
    assert {"flags2", "sql_mode", "catalog", "charset", "ddl_xid"} <= variables.keys()


def test_null_leaves_a_variable_out_and_numbered_false_the_number() -> None:
    variables = dict(query(scenario(status={"catalog": None}, numbered=False)).status_variables)
    assert not {"catalog", "ddl_xid"} & variables.keys()


def test_mariadb_has_its_own_number() -> None:
    variables = dict(query(scenario("DROP USER ann", server="mariadb-11.8")).status_variables)
    assert "mariadb_ddl_xid" in variables


def test_the_replay_sends_what_a_client_sends() -> None:
    script = replay_script(plan(scenario(sent="grant select on d.* to ann")))
    assert "grant select on d.* to ann;" in script
    assert GRANT not in script


def test_the_text_may_be_bytes_in_any_character_set() -> None:
    data = "ALTER TABLE d.t COMMENT 'Óû§'".encode("latin1")
    made = scenario({"hex": data.hex()})  # type: ignore[arg-type]
    assert to_bytes(query(made).query) == data
    assert data in to_bytes(replay_script(plan(made)))
    latin = Scenario("x", session=Session(names="latin1"), transactions=[[logged("CREATE USER 'é'")]])
    assert to_bytes(query(latin).query) == b"CREATE USER '\xe9'"


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"text": {"hex": "4"}}, "text is .*expected text, or .hex"),
        ({"text": {"hexx": "44"}}, "text is .*expected text, or .hex"),
        ({"status": {"invokr": ["a", "b"]}}, "'invokr' is not a status variable.*did you mean 'invoker'"),
        ({"status": {"invoker": 7}}, "the status variable invoker cannot be 7"),
        ({"status": {"microseconds": -1}}, "the status variable microseconds cannot be -1"),
        ({"status": {"hrnow": 1}}, "mysql-9.7 does not have"),
        ({"flags": ["THREAD"]}, "unknown flag 'THREAD'"),
    ],
)
def test_a_form_that_cannot_be_is_refused(form: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ScenarioError, match=sentence):
        plan(scenario(**form))


def test_it_commits_by_itself() -> None:
    with pytest.raises(ScenarioError, match="commits by itself"):
        plan(Scenario("logged", tables=["CREATE TABLE d.t (a INT)"]).transaction(logged(GRANT), logged(GRANT)))
