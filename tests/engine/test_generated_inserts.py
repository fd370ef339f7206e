"""INSERT of many generated rows, held to the same rows stored one by one: the same bytes, rows, texts and errors."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from forge.compile import compile_files, write_files
from forge.engine.dictionary.key_sets import KeySet, KeySets, is_taken, share_entries
from forge.engine.dml import generated_inserts
from forge.errors import ScenarioError
from forge.plan.changes import Insertions
from forge.plan.plan import Plan
from forge.plan.statements import RowsStatement
from forge.plan.transactions import Transaction
from forge.scenario import Scenario, insert, insert_many, plan
from forge.scenario.matrix import base_scenario
from forge.servers import server_line, server_names
from forge.sql.write import insert_sql

NUMBERS = (
    "{sequence: 1}", "{sequence: {start: -3, step: 2}}", "{sequence: {start: 9, step: -1}}", "{random_int: {max: 9}}",
    "{random_int: {min: -40, max: 90}}", "{random_int: {max: 1000000000}}", "{choice: [1, 2, 3]}",
    "{cycle: [5, null, 7]}", "{choice: [1, x]}", "4", "null",
)  # fmt: skip
TEXTS = (
    "{text: 4}", "{text: {min: 0, length: 4}}", "{text: 5}", "{choice: [a, 'b ', null]}", "{choice: [ä, 日]}",
    "{cycle: ['', x]}", "{faker: first_name}", "{faker: first_name, locale: ja_JP}", "{random_int: {max: 9999}}", "w",
)  # fmt: skip
MOMENTS = (
    "{datetime: {from: 2020-01-01, to: 2030-01-01}}", "{datetime: {from: 1960-01-01, to: 2050-01-01}}",
    "{datetime: {from: '9999-12-31 23:59:59.4', to: '9999-12-31 23:59:59.999999'}}",
    "{datetime: {from: '2024-02-28 23:59:59.4', to: '2024-02-28 23:59:59.6'}}",
    "{choice: ['2024-02-29 10:00:00.25', null]}", "2024-02-29", "null",
)  # fmt: skip
BYTES = (
    "{bytes: 4}", "{bytes: {min: 0, length: 3}}", "{bytes: 5}", "{choice: [{hex: '00'}, a]}", "{text: 3}",
    "{cycle: [{hex: ff00}, null]}",
)  # fmt: skip
MEMBERS = (
    "{choice: [a, b]}", "{random_int: {min: 1, max: 2}}", "{sequence: {start: 1, step: 0}}", "{cycle: [b, null]}",
    "{choice: [a, z]}", "{random_int: {max: 1}}",
)  # fmt: skip
DOCUMENTS = (
    "{generate: {choice: [{a: 1}, [2], null, x]}}", "{generate: {random_int: {max: 9}}}", "{generate: {text: 4}}",
    "{generate: {faker: first_name}}", "{a: {choice: [1]}}",
    "{generate: {cycle: [!datetime '2024-01-02 03:04:05', 1]}}",
)  # fmt: skip
#: Types of columns, and the cells that are put into them.
TYPES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("INT", "BIGINT", "TINYINT UNSIGNED", "SMALLINT", "DECIMAL(6,2)", "DOUBLE", "FLOAT"), NUMBERS),
    **dict.fromkeys(("YEAR", "BIT(4)"), NUMBERS),
    **dict.fromkeys(("VARCHAR(4)", "CHAR(4)", "CHAR(4) CHARACTER SET latin1", "TEXT"), TEXTS),
    "VARCHAR(4) CHARACTER SET ucs2": TEXTS,
    **dict.fromkeys(("VARBINARY(4)", "BINARY(4)", "BLOB"), BYTES),
    **dict.fromkeys(("DATE", "DATETIME", "TIMESTAMP NULL"), MOMENTS),
    "TIME": ("{choice: ['10:00:00', '-1:2:3']}", "{cycle: ['838:59:59', null]}", *MOMENTS),
    **dict.fromkeys(("ENUM('a','b')", "SET('a','b')"), MEMBERS),
}
#: Those that a server of 5.7 or later knows.
NEWER: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("DATETIME(2)", "DATETIME(6)", "TIMESTAMP(3) NULL"), MOMENTS),
    "TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)": MOMENTS,
    "JSON": DOCUMENTS,
    "POINT": ("{choice: [{wkt: POINT(1 2)}, null]}", "{wkt: POINT(3 4)}"),
}
OLD = ("mysql-5.1", "mysql-5.5", "mysql-5.5-twitter", "mysql-5.6", "mariadb-5.5", "mariadb-10.0")
OPTIONS = ("", "", " NOT NULL", " UNIQUE", " NOT NULL UNIQUE", " PRIMARY KEY")
DEFAULTS = {"INT": " DEFAULT 7", "VARCHAR(4)": " NOT NULL DEFAULT 'd'", "DATETIME": " DEFAULT CURRENT_TIMESTAMP"}
#: What may follow, so that the rows are asked for; ``again`` is the statement itself.
AFTERWARDS = (
    "again", "again", "again", "update: {table: d.t, where: {c0: 5}, set: {c1: null}}", "delete: {from: d.t}",
    "delete: {from: d.t, where: {c0: {ge: 2}}}", "ddl: ALTER TABLE d.t ADD COLUMN more INT DEFAULT 3",
    "ddl: TRUNCATE TABLE d.t", "insert: {into: d.t, rows: [{c0: 5}, {}]}", "restart: clean",
)  # fmt: skip
BACK = ["  - - savepoint: s", "    - again", "    - rollback_to: s", "    - insert: {into: d.t, rows: [{c0: 5}]}"]


def sessions(server: str) -> st.SearchStrategy[dict[str, Any]]:
    """Settings that decide how rows are logged."""
    optional: dict[str, Any] = {
        "binlog_row_event_max_size": 256,
        "sql_mode": "''",
        "auto_increment_increment": 3,
        "auto_increment_offset": 2,
        "max_binlog_size": 4096,
        "foreign_key_checks": "false",
    }
    if server_line(server).knows("fractional_seconds"):
        optional |= {"row_image": "minimal", "rows_query": "true"}
    if server in ("mysql-8.0", "mysql-8.4", "mysql-9.7"):
        optional |= {"compression": "true", "gtid": "true", "row_metadata": "full"}
    if server in ("mariadb-10.11", "mariadb-11.8"):
        optional |= {"log_bin_compress": "true", "gtid": "true"}
    return st.fixed_dictionaries({}, optional={name: st.just(value) for name, value in optional.items()})


@st.composite
def definitions(draw: st.DrawFn, types: list[str], numbered: bool) -> list[str]:
    columns = [f"id {draw(st.sampled_from(('INT', 'TINYINT')))} AUTO_INCREMENT PRIMARY KEY"] if numbered else []
    keyed = numbered
    for index, name in enumerate(types):
        plain = any(word in name for word in ("TEXT", "BLOB", "JSON", "POINT", "NULL"))
        option = draw(st.sampled_from(("",) if plain else (*OPTIONS[: -1 if keyed else None], DEFAULTS.get(name, ""))))
        keyed |= "PRIMARY" in option
        columns.append(f"c{index} {name}{option}")
    pair = draw(st.booleans()) and not any(word in "".join(types[:2]) for word in ("TEXT", "BLOB", "JSON", "POINT"))
    return [*columns, *(["UNIQUE KEY pair (c1, c0)"] if pair else [])]


@st.composite
def scenarios(draw: st.DrawFn) -> str:
    server = draw(st.sampled_from([name for name in server_names() if server_line(name).knows("row_events")]))
    known = TYPES if server in OLD else TYPES | NEWER
    types = draw(st.lists(st.sampled_from(sorted(known)), min_size=2, max_size=4))
    numbered = draw(st.booleans())
    cells = [
        f"c{index}: {draw(st.sampled_from(known[name]))}" for index, name in enumerate(types) if draw(st.integers(0, 5))
    ]
    if numbered and not draw(st.integers(0, 2)):
        cells.append(f"id: {draw(st.sampled_from(NUMBERS))}")
    count = draw(st.sampled_from((2, 5, 40, 140)))
    settings = ", ".join(f"{name}: {value}" for name, value in draw(sessions(server)).items())
    later = [f"  - - {step}" for step in draw(st.lists(st.sampled_from(AFTERWARDS), max_size=4))]
    lines = [
        "scenario: x",
        f"server: {server}",
        f"seed: {draw(st.integers(0, 99))}",
        f"session: {{{settings}}}",
        "tables:",
        f"  - CREATE TABLE d.t ({', '.join(draw(definitions(types, numbered)))})",
        "transactions:",
        "  - - again",
        *later,
        *(BACK if draw(st.booleans()) else []),
    ]
    statement = f"insert: {{into: d.t, count: {count}, row: {{{', '.join(cells)}}}}}"
    return "\n".join(lines).replace("again", statement)


def rows_statements(planned: Plan) -> list[RowsStatement]:
    transactions = [group for group in planned.groups if isinstance(group, Transaction)]
    return [step for group in transactions for step in group.statements if isinstance(step, RowsStatement)]


def outcome(text: str, fewest: int) -> tuple[Any, ...]:
    """What comes of a scenario whose statements of at least ``fewest`` rows store them at once."""
    with mock.patch.object(generated_inserts, "FEWEST", fewest):
        try:
            planned = plan(base_scenario(text, file="case.yaml"))
            files = write_files(planned, compile_files(planned))
        except ScenarioError as error:
            event("refused")
            return (type(error), str(error), error.file, error.line)
    statements = rows_statements(planned)
    event(f"at once: {sum(isinstance(statement.changes, Insertions) for statement in statements)}")
    return (
        [bytes(file) for file in files],
        dict(planned.contents),
        [(tuple(each.changes), each.text.sql, each.text.assigned, each.text.clauses) for each in statements],
        [each.evaluation for each in statements],
    )


@pytest.mark.slow
@given(scenarios())
def test_rows_that_are_stored_at_once_are_those_that_are_stored_one_by_one(text: str) -> None:
    assert outcome(text, 2) == outcome(text, 1 << 30)


def test_rows_of_many_such_statements_are_computed_only_when_they_are_asked_for() -> None:
    scenario = Scenario("x", tables=["CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT UNIQUE)"])
    for start in (0, 10_000, 5_000):
        cells = {"v": {"sequence": {"start": start, "step": 1}}}
        scenario = scenario.transaction(insert_many("d.t", generated_inserts.FEWEST, cells))
    planned = plan(scenario)
    assert all(isinstance(statement.changes, Insertions) for statement in rows_statements(planned))
    rows = planned.contents["d.t"]
    assert [row[0] for row in rows] == list(range(1, 3 * generated_inserts.FEWEST + 1))
    assert rows[generated_inserts.FEWEST] == (generated_inserts.FEWEST + 1, 10_000 + generated_inserts.FEWEST)


@pytest.mark.parametrize("asked", [False, True])
def test_the_text_of_such_a_statement_is_written_only_where_it_is_logged(asked: bool) -> None:
    text = f"""
scenario: x
session: {{rows_query: {str(asked).lower()}}}
tables: [CREATE TABLE d.t (v INT)]
transactions: [[insert: {{into: d.t, count: 400, row: {{v: {{sequence: 1}}}}}}]]
"""
    with mock.patch("forge.engine.dml.generated_inserts.insert_sql", wraps=insert_sql) as writer:
        planned = plan(base_scenario(text, file="case.yaml"))
        (log,) = write_files(planned, compile_files(planned))
    assert (writer.called, b"(400)" in bytes(log)) == (asked, asked)


@pytest.mark.parametrize(
    ("first", "second"),
    [({"sequence": 1}, {"sequence": {"start": -800, "step": 1}}), ({"sequence": 1}, {"random_int": {"max": 10**12}})],
)
def test_a_row_that_is_not_stored_yet_is_in_the_way_of_a_later_one(first: Any, second: Any) -> None:
    scenario = Scenario("x", tables=["CREATE TABLE d.t (v BIGINT PRIMARY KEY)"])
    for cell in (first, second):
        scenario = scenario.transaction(insert_many("d.t", 400, {"v": cell}))
    assert all(isinstance(statement.changes, Insertions) for statement in rows_statements(plan(scenario)))
    taken = plan(scenario).contents["d.t"][-1][0]
    with pytest.raises(ScenarioError, match=f"already has a row whose primary key is v {taken}"):
        plan(scenario.transaction(insert("d.t", {"v": taken})))


def some_keys() -> st.SearchStrategy[KeySet]:
    ends = st.integers(-9, 9)
    steps = st.sampled_from((-3, -1, 1, 2))
    return st.builds(range, ends, ends, steps) | st.sets(ends)


@given(some_keys(), some_keys())
def test_keys_share_entries_where_the_sets_do(one: KeySet, other: KeySet) -> None:
    assert share_entries(one, other) == bool(set(one) & set(other))


@given(st.lists(some_keys()), some_keys())
def test_sets_of_entries_hold_what_was_put_into_them(parts: list[KeySet], asked: KeySet) -> None:
    together = KeySets()
    for part in parts:
        together.add(part)
    everything: set[object] = set().union(*parts)
    assert together.shares(asked) == bool(everything & set(asked))
    assert is_taken(asked, {(entry,): 0 for entry in everything}, single=True) == together.shares(asked)
