from __future__ import annotations

from typing import get_args

import pytest

from forge.engine.ddl.ddl_context import DdlContext
from forge.engine.ddl.handlers import HANDLERS, run_definition
from forge.engine.dictionary.catalog import Catalog, declared_name
from forge.engine.rows.defaults import StatementTime
from forge.errors import ScenarioError
from forge.sql.ast.statements import Ddl
from forge.sql.parse.statements import parse_ddl

pytestmark = pytest.mark.unit


def _catalog(*texts: str) -> Catalog:
    catalog = Catalog("mysql-9.7")
    for sql in ("CREATE DATABASE d", *texts):
        run_definition(parse_ddl(sql), DdlContext(catalog, sql, "d", StatementTime(0, 0)))
    return catalog


def test_a_temporary_table_hides_the_one_of_its_name() -> None:
    catalog = _catalog("CREATE TABLE t (a INT)", "CREATE TEMPORARY TABLE t (b INT)")
    assert catalog.table(declared_name("t"), "d").table.temporary


@pytest.mark.parametrize(
    ("name", "current", "problem"),
    [
        ("t.u.v", "d", "'t.u.v' is not the name of a table"),
        ("t", "", "table 't' names no database"),
        ("e.t", "d", "there is no database 'e'"),
        ("mysql.user", "d", "'mysql' is a system database"),
        ("tt", "d", "there is no table d.tt"),
    ],
)
def test_a_name_that_means_no_table_says_why(name: str, current: str, problem: str) -> None:
    with pytest.raises(ScenarioError) as error:
        _catalog("CREATE TABLE t (a INT)").table(declared_name(name), current)
    assert error.value.problem == problem


def test_every_data_definition_statement_has_a_handler() -> None:
    assert set(get_args(Ddl)) == set(HANDLERS)
