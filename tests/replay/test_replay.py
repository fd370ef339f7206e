"""``forge.replay`` and ``forge replay``: end states, errors, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings

import forge
from forge.cli.app import run
from forge.errors import ScenarioError, UnsupportedError
from forge.scenario.matrix import base_scenario
from forge.strategies import ReplayedLog, replayed_logs

_SOURCE = """
scenario: orders
tables:
  - CREATE TABLE shop.orders (id INT PRIMARY KEY, amount INT, note VARCHAR(20))
existing: true
transactions:
  - - insert: {into: shop.orders, rows: [{id: 1, amount: 9, note: first}, {id: 2, amount: 20, note: second}]}
  - - update: {table: shop.orders, where: {id: 2}, set: {amount: 21}}
  - - delete: {from: shop.orders, where: {id: 1}}
"""
_HEAD = "-- forge: server: mysql-9.7\nCREATE DATABASE shop;\n"
_SAME = _HEAD + "CREATE TABLE shop.orders (id INT PRIMARY KEY, amount INT, note VARCHAR(20));\n"
_WIDER = _HEAD + "CREATE TABLE shop.orders (id INT PRIMARY KEY, amount BIGINT, note VARCHAR(20));\n"
_LOSSLESS = {"replica_type_conversions": "ALL_NON_LOSSY"}


def _log() -> bytes:
    return forge.build(base_scenario(_SOURCE)).data


def test_the_same_table_ends_as_the_source_s() -> None:
    state = forge.replay(forge.build(base_scenario(_SOURCE)), onto=_SAME)
    assert state.error is None
    assert state.rows("shop.orders") == [{"id": "2", "amount": "21", "note": "second"}]
    assert state.values("shop.orders") == [{"id": 2, "amount": 21, "note": "second"}]


def test_a_type_that_is_not_converted_stops_with_the_server_s_number_and_leaves_nothing() -> None:
    state = forge.replay(_log(), onto=_WIDER)
    assert state.error is not None
    assert (state.error.code, state.error.table, state.count("shop.orders")) == (13146, "shop.orders", 0)
    assert forge.replay(_log(), onto=_WIDER, settings=_LOSSLESS).count("shop.orders") == 1
    on_mariadb = forge.replay(_log(), onto=_WIDER, line="mariadb-11.8")
    assert on_mariadb.error is not None
    assert on_mariadb.error.code == 1677


def test_a_line_or_a_variable_of_unknown_effect_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"mysql-8\.4"):
        forge.replay(_log(), onto=_SAME, line="mysql-8.4")
    with pytest.raises(UnsupportedError, match="replica_parallel_type"):
        forge.replay(_log(), onto=_SAME, settings={"replica_parallel_type": "DATABASE"})
    with pytest.raises(ScenarioError, match="exec_mode"):
        forge.replay(_log(), onto=_SAME, settings={"slave_exec_mode": "LENIENT"})


def test_the_command_writes_and_compares_the_end(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log, onto, state = tmp_path / "orders.000001", tmp_path / "replica.sql", tmp_path / "state"
    log.write_bytes(_log())
    onto.write_text(_WIDER)
    given = ["replay", str(log), "--onto", str(onto)]
    assert run(given) == 1
    assert "error 13146" in capfd.readouterr().out
    given += ["--set", "replica_type_conversions=ALL_NON_LOSSY"]
    assert run([*given, "-o", str(state)]) == 0
    rows = state / "shop.orders.jsonl"
    assert json.loads(rows.read_text()) == {"id": "2", "amount": "21", "note": "second"}
    assert run([*given, "--expect", str(state)]) == 0
    capfd.readouterr()
    rows.write_text(rows.read_text().replace("21", "22"))
    assert run([*given, "--expect", str(rows)]) == 1
    assert capfd.readouterr().out.splitlines()[-2:] == [
        '- shop.orders {"id": "2", "amount": "22", "note": "second"}',
        '+ shop.orders {"id": "2", "amount": "21", "note": "second"}',
    ]
    assert run([*given, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["rows"] == {"shop.orders": 1}
    assert run([*given, "--set", "sql_mode"]) == 2


_MANY = """
scenario: many
tables: ["CREATE TABLE s.t (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(300), b DECIMAL(6,2), c INT NOT NULL{more})"]
existing: true
transactions:
  - - insert: {{into: s.t, rows: [{rows}]}}
  - - update: {{table: s.t, where: {{c: 1}}, set: {{a: new}}}}
    - update: {{table: s.t, where: {{id: 5}}, set: {{id: 50}}}}
  - - delete: {{from: s.t, where: {{c: 2}}}}
"""


@pytest.mark.parametrize("more", ["", ", UNIQUE (a(4), id)", ", KEY (c)"])
@pytest.mark.parametrize(
    "there", ["", "INSERT INTO s.t VALUES (50, 'x', 1, 0)", "INSERT INTO s.t VALUES (9, 'x', 1, 0)"]
)
def test_plain_rows_end_as_those_that_are_looked_at(more: str, there: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ", ".join(f"{{a: {'null' if n % 3 else 'x' * n}, b: {n}.5, c: {n % 4}}}" for n in range(20))
    log = forge.build(base_scenario(_MANY.format(more=more, rows=rows)))
    columns = "id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(300), b DECIMAL(6,2), c INT NOT NULL"
    onto = f"CREATE DATABASE s;\nCREATE TABLE s.t ({columns}{more});\n{there};\n"
    for line in ("mysql-9.7", "mariadb-11.8"):
        plain = forge.replay(log, onto=onto, line=line)
        with monkeypatch.context() as patched:
            patched.setattr("forge.replay.applying.plain_rows", lambda *given, **named: None)
            looked_at = forge.replay(log, onto=onto, line=line)
        assert (plain.error, plain.notes) == (looked_at.error, looked_at.notes)
        assert plain.rows("s.t") == looked_at.rows("s.t")
        assert (plain.error is None) == (not there)


def test_between_two_definitions(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source, replica = tmp_path / "source.sql", tmp_path / "replica.sql"
    source.write_text(_SAME)
    columns = "id INT NOT NULL, amount BIGINT, note INT, more INT, UNIQUE u (more), KEY (id)"
    replica.write_text(f"{_HEAD}CREATE TABLE shop.orders ({columns});\n")
    assert run(["compat", "--replica", str(source), str(replica), "--json"]) == 0
    (pair,) = json.loads(capfd.readouterr().out)
    assert [column["needs"] for column in pair["columns"]] == ["", "ALL_NON_LOSSY", None]
    assert pair["further"] == ["more"]
    assert [row["outcome"][:3] for row in pair["rows"]] == ["R6:", "R1:", "R1:", "R1:"]
    assert run(["compat", "--replica", str(source), str(replica), "--as", "mariadb-11.8"]) == 0
    assert "minimal images" in capfd.readouterr().out
    assert run(["compat", "--replica", str(source)]) == 2
    assert run(["compat", str(source)]) == 2


def test_a_log_that_makes_what_is_there_stops_or_is_left_out_so_far() -> None:
    log = forge.build(base_scenario(_SOURCE.replace("existing: true\n", "")))
    stopped = forge.replay(log, onto=_SAME)
    assert stopped.error is not None
    assert (stopped.error.code, stopped.count("shop.orders")) == (1007, 0)
    assert "--rows-only" in str(stopped.error)
    state = forge.replay(log, onto=_SAME, rows_only=True)
    assert (state.error, state.count("shop.orders"), len(state.left_out)) == (None, 1, 2)
    assert forge.replay(log, onto="CREATE DATABASE other;").rows("shop.orders") == state.rows("shop.orders")


@settings(max_examples=20, deadline=None)
@given(replayed_logs())
def test_drawn_logs_end_as_they_say(drawn: ReplayedLog) -> None:
    state = forge.replay(drawn.log, onto=drawn.onto, settings=drawn.settings, rows_only=True)
    assert state.rows("d.t") == drawn.state.rows("d.t")
    if state.error is None:
        assert len(drawn.log.tables["d.t"]) <= state.count("d.t") + 1
    else:
        assert state.error.code in (1032, 1062, 13146)
