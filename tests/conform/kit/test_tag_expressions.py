"""Cases chosen by an expression over their tags, and the tables of a case for readers that ask a server."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.cli.app import run
from forge.conform.kit.definitions import definition_files
from forge.conform.kit.tag_expressions import selected
from forge.errors import ScenarioError
from forge.logs import build
from forge.scenario.matrix import base_scenario


@dataclass(frozen=True)
class Case:
    server: str
    tags: list[str] = field(default_factory=list)
    verdict: str = "accept"


PLAIN = Case("mysql-8.0", ["rows", "type:INT", "event:XID"])
JSON = Case("mysql-8.0", ["rows", "type:JSON", "image:minimal update by primary key"])
MARIADB = Case("mariadb-11.8", ["fault", "verdict:reject: row"], "reject")
CASES = [PLAIN, JSON, MARIADB]


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("mysql-8.0 & rows & !JSON", [PLAIN]),
        ("mysql-8.0", [PLAIN, JSON]),
        ("mariadb | json", [JSON, MARIADB]),
        ("! (mariadb | type:JSON)", [PLAIN]),
        ("!mariadb & !JSON | reject", [PLAIN, MARIADB]),
        ("minimal update by primary key", [JSON]),
        ("!!xid", [PLAIN]),
        ("verdict:reject", [MARIADB]),
    ],
)
def test_an_expression_chooses_cases(expression: str, found: list[Case]) -> None:
    assert selected(CASES, expression) == found


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("rowz", "no case has the tag 'rowz'.* did you mean 'rows'"),
        ("mysql-8.00", "did you mean 'mysql-8.0"),
        ("rows &", "is wrong at its end; expected a word"),
        ("", "is wrong at its end"),
        ("rows (JSON)", r"is wrong at '\('; expected & or |"),
        ("(rows", r"is wrong at its end; expected \)"),
        ("mysql-9.7", "no case of 3 is 'mysql-9.7'"),
    ],
)
def test_a_wrong_expression_says_where(expression: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        selected(CASES, expression)


@given(st.recursive(
    st.sampled_from(["rows", "json", "mariadb", "reject", "xid"]).map(lambda word: (word, word)),
    lambda inner: st.one_of(
        inner.map(lambda one: (f"!({one[0]})", f"(not {one[1]})")),
        st.tuples(inner, inner).map(lambda two: (f"({two[0][0]}) & ({two[1][0]})", f"({two[0][1]} and {two[1][1]})")),
        st.tuples(inner, inner).map(lambda two: (f"({two[0][0]}) | ({two[1][0]})", f"({two[0][1]} or {two[1][1]})")),
    ),
))  # fmt: skip
def test_an_expression_means_what_it_says(pair: tuple[str, str]) -> None:
    expression, python = pair
    truths = [
        {"rows": True, "json": False, "mariadb": False, "reject": False, "xid": True},
        {"rows": True, "json": True, "mariadb": False, "reject": False, "xid": False},
        {"rows": False, "json": False, "mariadb": True, "reject": True, "xid": False},
    ]
    right = [case for case, truth in zip(CASES, truths, strict=True) if eval(python, truth)]
    if right:
        assert selected(CASES, expression) == right
    else:
        with pytest.raises(ScenarioError, match="no case of 3"):
            selected(CASES, expression)


TABLES = """\
scenario: tables
server: mysql-8.0
session: {row_metadata: full}
tables: ["CREATE TABLE d.t (id INT UNSIGNED PRIMARY KEY, e ENUM('a','b'))"]
transactions: [[insert: {into: d.t, rows: [{id: 1, e: b}]}]]
"""


def test_the_tables_of_a_log_are_those_of_its_table_maps() -> None:
    log = build(base_scenario(TABLES, file="tables.yaml")).files[0]
    files = definition_files({log.name: log.data}, "mysql-8.0")
    [table] = json.loads(files["tables.json"])
    assert (table["file"], table["table"]) == (log.name, "t")
    assert [(column["name"], column["unsigned"], column["members"]) for column in table["columns"]] == [
        ("id", True, None), ("e", None, ["a", "b"]),
    ]  # fmt: skip
    assert "CREATE TABLE `d`.`t` (\n  `id` INT UNSIGNED NOT NULL,\n  `e` ENUM('a','b')" in files["schema.sql"].decode()


def test_a_table_without_names_and_one_of_a_damaged_log_have_some() -> None:
    log = build(base_scenario(TABLES.replace("full", "minimal"), file="tables.yaml")).files[0]
    whole = definition_files({log.name: log.data}, "mysql-8.0")
    assert [column["name"] for column in json.loads(whole["tables.json"])[0]["columns"]] == ["col1", "col2"]
    assert definition_files({log.name: log.data[:-20]}, "mysql-8.0") == whole
    assert definition_files({log.name: log.data[:150]}, "mysql-8.0") == {}


def test_every_table_of_a_kit_that_is_named_has_a_definition(kit: Path) -> None:
    for tables in kit.glob("cases/*/tables.json"):
        text = tables.with_name("schema.sql").read_text()
        assert text.count("CREATE TABLE") + text.count(" cannot be told") >= 1
        for table in json.loads(tables.read_text()):
            assert isinstance(table["table"], dict) or f"`{table['table']}`" in text or not table["table"].isprintable()


def test_conform_takes_an_expression(kit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["conform", "true", "--kit", str(kit), "--tags", "mysql & verdct:reject"]) == 2
    assert "no case has the tag 'verdct:reject'" in capsys.readouterr().err
