"""What was there before the log begins: tables, and transactions that have changed them."""

from __future__ import annotations

import pytest

from forge.compile import compile_files
from forge.errors import ScenarioError
from forge.events.rows import AnyRows
from forge.render.sql import replay_sessions
from forge.scenario import plan
from forge.scenario.matrix import base_scenario

TABLE = "scenario: x\ntables: ['CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)']\n"
INSERT = "insert: {into: d.t, rows: [{v: 1}]}"


def test_rows_from_before_the_log_are_there_and_not_in_it() -> None:
    delete = "delete: {from: d.t, where: {id: 2}}"
    text = f"{TABLE}existing:\n  - - {INSERT}\n  - - {INSERT}\ntransactions:\n  - - {delete}\n"
    planned = plan(base_scenario(text))
    [events] = compile_files(planned)
    assert [type(event.body).__name__ for event in events if isinstance(event.body, AnyRows)] == ["DeleteRows"]
    assert [row[0] for row in planned.contents["d.t"]] == [1]
    [sent] = replay_sessions(planned)
    off, on = (sent.sql.index(f"SET sql_log_bin = {switch}") for switch in (0, 1))
    assert off < sent.sql.index("CREATE TABLE") < sent.sql.rindex("INSERT INTO") < on < sent.sql.index("DELETE FROM")


def test_true_and_an_empty_list_mean_the_same() -> None:
    transactions = f"transactions:\n  - - {INSERT}\n"
    logs = [compile_files(plan(base_scenario(f"{TABLE}existing: {value}\n{transactions}"))) for value in ("true", "[]")]
    assert logs[0] == logs[1]


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("- logged: {text: SELECT 1}", "logged has no place before the log begins"),
        ("- flush: binary_logs", "flush has no place before the log begins"),
        ("- event: {type: INCIDENT, fields: {incident: 1}}", "event has no place before the log begins"),
        (f"{{connection: other, statements: [{INSERT}]}}", "connection has no place before the log begins"),
        (f"{{end: open, statements: [{INSERT}]}}", "end: open has no place before the log begins"),
        (f"{{xa: {{gtrid: a}}, statements: [{INSERT}]}}", "xa has no place before the log begins"),
    ],
)
def test_what_tells_of_the_log_is_refused_there(entry: str, problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem) as raised:
        plan(base_scenario(f"{TABLE}existing:\n  - {entry}\n", file="f.yaml"))
    assert str(raised.value).startswith("f.yaml:4: ")


def test_a_row_that_a_server_refuses_is_named_with_its_line() -> None:
    text = f"{TABLE}existing:\n  - - {INSERT}\n    - insert: {{into: d.t, rows: [{{id: 1}}]}}\n"
    with pytest.raises(ScenarioError, match=r"f\.yaml:5: .*id"):
        plan(base_scenario(text, file="f.yaml"))
