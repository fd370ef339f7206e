"""Keys on expressions: what a server refuses, what has to be unique, and what the rest of a table knows of them."""

from __future__ import annotations

from typing import Any

import pytest

from forge.errors import ScenarioError
from forge.plan.keys import key_entries
from forge.scenario import Scenario, insert, plan, update

COLUMNS = "id INT PRIMARY KEY, a INT, b VARCHAR(10), t TEXT, j JSON, at DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3)"


def keyed(key: str, *, server: str = "mysql-9.7") -> Scenario:
    return Scenario("keys", server=server, tables=[f"CREATE TABLE d.t ({COLUMNS}, {key})"])


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("KEY ((a + zzz))", "no column 'zzz'"),
        ("KEY ((a + 1)(3))", "unexpected"),
        ("KEY ((NOW()))", "NOW"),
    ],
)
def test_a_key_that_no_server_makes_is_refused(key: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        plan(keyed(key))


def test_mariadb_has_no_keys_on_expressions() -> None:
    with pytest.raises(ScenarioError, match=r"mariadb-11\.8 does not have keys on expressions"):
        plan(keyed("KEY ((a + 1))", server="mariadb-11.8"))


@pytest.mark.parametrize(
    ("key", "one", "other"),
    [
        ("UNIQUE KEY ((a % 3))", {"a": 1}, {"a": 4}),
        ("UNIQUE KEY ((LOWER(b)))", {"b": "Ann"}, {"b": "ANN"}),
        ("UNIQUE KEY ((CAST(j->'$[*]' AS UNSIGNED ARRAY)))", {"j": [1, 2]}, {"j": [3, 2]}),
        ("UNIQUE KEY ((CAST(j AS CHAR(3) ARRAY)), a)", {"j": ["x", "y"], "a": 1}, {"j": ["y"], "a": 1}),
    ],
)
def test_a_value_that_is_there_already_is_refused(key: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    scenario = keyed(key).transaction(insert("d.t", {"id": 1, **one}))
    with pytest.raises(ScenarioError, match="already has a row whose unique key"):
        plan(scenario.transaction(insert("d.t", {"id": 2, **other})))


@pytest.mark.parametrize("document", [["ABC"], ["abc "], [], None])
def test_elements_compare_by_their_bytes_and_none_is_no_entry(document: object) -> None:
    scenario = keyed("UNIQUE KEY ((CAST(j AS CHAR(4) ARRAY)))")
    rows = [{"id": 1, "j": ["abc"]}, {"id": 2, "j": document}]
    assert len(plan(scenario.transaction(insert("d.t", *rows))).contents["d.t"]) == 2


def test_a_row_that_the_expression_has_no_value_for_is_refused_by_the_keys_name() -> None:
    scenario = keyed("KEY by_b ((CAST(b AS SIGNED)))")
    with pytest.raises(ScenarioError, match=r"key by_b of table d\.t: .* to a number"):
        plan(scenario.transaction(insert("d.t", {"id": 1, "b": "x"})))


def test_a_column_of_an_expression_stays() -> None:
    with pytest.raises(ScenarioError, match=r"after the statement: table d\.t has no column 'a'"):
        plan(keyed("KEY f ((a + 1))").ddl("ALTER TABLE d.t DROP COLUMN a"))


def test_unnamed_keys_are_called_functional_index() -> None:
    planned = plan(keyed("KEY ((a + 1)), KEY (a, (a + 2)), KEY (a)"))
    assert [key.name for key in planned.tables["d.t"].keys] == [
        "PRIMARY", "functional_index", "functional_index_2", "a",
    ]  # fmt: skip


def test_a_row_has_an_entry_for_every_element() -> None:
    planned = plan(keyed("UNIQUE KEY (a, (CAST(j AS UNSIGNED ARRAY)))"))
    table = planned.tables["d.t"]
    scenario = keyed("UNIQUE KEY (a, (CAST(j AS UNSIGNED ARRAY)))")
    row = plan(scenario.transaction(insert("d.t", {"id": 1, "a": 5, "j": [3, 1, 3]}))).contents["d.t"][0]
    assert list(key_entries(table, table.keys[1], row)) == [(5, 3), (5, 1)]


def test_a_changed_row_gives_its_old_entries_back() -> None:
    scenario = keyed("UNIQUE KEY ((CAST(j AS UNSIGNED ARRAY)))").transaction(insert("d.t", {"id": 1, "j": [1, 2]}))
    scenario = scenario.transaction(update("d.t", where={"id": 1}, set={"j": {"value": [2, 3]}}))
    planned = plan(scenario.transaction(insert("d.t", {"id": 2, "j": [1]})))
    assert len(planned.contents["d.t"]) == 2


#: Recorded on 9.7: whether code 5 (TIME_ZONE) and 13 (MICROSECONDS) are in the statement's event.
METHODS = [
    ("CREATE INDEX z9 ON d.t ((a + 2))", "in_place"),
    ("CREATE UNIQUE INDEX z9 ON d.t ((a + 2))", "copy"),
    ("ALTER TABLE d.t ADD KEY z9 ((a + 2)), ADD KEY z8 (a)", "in_place"),
    ("ALTER TABLE d.t ADD KEY a9 ((a + 2))", "copy"),
    ("ALTER TABLE d.t ADD KEY z9 ((a + 2)), COMMENT 'x'", "copy"),
    ("ALTER TABLE d.t ADD COLUMN v INT AS (a) VIRTUAL", "copy"),
    ("ALTER TABLE d.t DROP KEY f", "metadata"),
    ("ALTER TABLE d.t DROP KEY f, ADD COLUMN q INT", "copy"),
    ("ALTER TABLE d.t DROP KEY f, ADD KEY z9 (a)", "in_place"),
    ("ALTER TABLE d.t RENAME KEY f TO g", "metadata"),
]
