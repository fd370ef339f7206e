"""What the texts of views say, and what is taken for SQL in them."""

from __future__ import annotations

import pytest

from forge.compile.query.ddl_text import ddl_text
from forge.errors import UnsupportedError
from forge.plan.definitions import ObjectDefinition
from forge.scenario import Scenario, Session, plan
from forge.servers import server_line
from forge.sql.views import is_mergeable

TABLE = "CREATE TABLE d.t (id INT PRIMARY KEY, name VARCHAR(9), at DATETIME DEFAULT '2020-01-01 00:00:00')"


def logged(select: str, server: str = "mysql-9.7", *, algorithm: str = "MERGE") -> tuple[str, ObjectDefinition]:
    scenario = Scenario("x", server=server, session=Session(database="d"), tables=[TABLE])
    group = plan(scenario.ddl(f"CREATE ALGORITHM={algorithm} VIEW v AS {select}")).groups[-1]
    assert isinstance(group, ObjectDefinition)
    return ddl_text(group, Session(), server_line(server)), group


@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
@pytest.mark.parametrize(
    ("select", "algorithm"),
    [
        ("SELECT * FROM t WHERE name = 'a count'", "MERGE"),
        ('SELECT * FROM t WHERE name = "a limit"', "MERGE"),
        ("SELECT 'from' AS a", "UNDEFINED"),
        ('SELECT "from" AS a', "UNDEFINED"),
        ("SELECT 1 AS `from`", "UNDEFINED"),
        ("SELECT 1 AS a /* from t */", "UNDEFINED"),
        ("SELECT t.id AS `group` FROM t /* union */", "MERGE"),
    ],
)
def test_a_view_with_words_in_strings_names_or_comments_keeps_its_algorithm(
    server: str, select: str, algorithm: str
) -> None:
    text, _ = logged(select, server)
    assert text.startswith(f"CREATE ALGORITHM={algorithm} ")


@pytest.mark.parametrize(
    ("select", "merges"),
    [
        ("SELECT id FROM t", True),
        ("(SELECT id FROM t ORDER BY id)", True),
        ("SELECT id FROM t WHERE id IN (SELECT MAX(id) FROM u GROUP BY id LIMIT 1)", True),
        ("SELECT (SELECT COUNT(*) FROM u) AS n FROM t", True),
        ("SELECT TRIM('x' FROM name) AS n", False),
        ("SELECT (SELECT 1 FROM u) AS n", False),
        ("SELECT SUM(id) AS n FROM t", False),
        ("SELECT DISTINCT id FROM t", False),
        ("SELECT id FROM t LIMIT 1", False),
        ("SELECT id FROM t UNION SELECT 1", False),
        ("SELECT id FROM t HAVING id", False),
        ("SELECT ROW_NUMBER() OVER (ORDER BY id) AS n FROM t", False),
    ],
)
def test_a_select_with_groups_a_limit_or_union_of_its_own_is_not_merged(select: str, merges: bool) -> None:
    assert is_mergeable(select) is merges


def test_a_mariadb_view_with_rand_in_a_string_is_logged() -> None:
    select = "SELECT 'rand()' AS a, \"from_unixtime (1)\" AS b, `id` /* rand() */ FROM t"
    text, _ = logged(select, "mariadb-11.8", algorithm="UNDEFINED")
    assert text.endswith(select)
    with pytest.raises(UnsupportedError, match="RAND"):
        logged("SELECT rand() AS a FROM t", "mariadb-11.8", algorithm="UNDEFINED")
