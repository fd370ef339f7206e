"""UPDATE by JSON functions, and the lines that have no partial images."""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError, UnsupportedError
from forge.scenario import expand, plan

TEXT = """
scenario: one
server: {server}
session: {{{session}}}
tables: ["CREATE TABLE d.t (id INT PRIMARY KEY, j JSON)"]
transactions:
  - - insert: {{into: d.t, rows: [{{id: 1, j: {{a: some long text}}}}]}}
  - - update: {{table: d.t, set: {{j: {cell}}}}}
"""
PARTIAL = "row_value_options: PARTIAL_JSON"


def planned(server: str, session: str, cell: str) -> None:
    (case,) = expand(TEXT.format(server=server, session=session, cell=cell), file="one.yaml")
    plan(case.scenario)


@pytest.mark.parametrize("server", ["mysql-5.7", "mariadb-10.11"])
def test_lines_without_partial_images_refuse_the_session(server: str) -> None:
    with pytest.raises(ScenarioError, match="PARTIAL_UPDATE_ROWS"):
        planned(server, PARTIAL, "{value: {a: 1}}")


@pytest.mark.parametrize("cell", ["{json_set: {}}", "{json_remove: $.a}", "{json_remove: [$]}", "{json_set: {a: 1}}"])
def test_arguments_that_a_function_does_not_take_are_refused(cell: str) -> None:
    with pytest.raises(ScenarioError, match=r"one\.yaml:8"):
        planned("mysql-9.7", "", cell)


def test_json_functions_of_mariadb_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match="MariaDB"):
        planned("mariadb-10.11", "", "{json_set: {$.a: 1}}")
