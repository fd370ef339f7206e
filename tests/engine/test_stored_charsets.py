"""What MariaDB keeps of a definition as text, in the table's character set or with the name of one.

Recorded on 10.11 and 11.8 (tests/record/recordings/charsets-that-are-kept-mariadb-11.8 has which statements read it).
"""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError, UnsupportedError
from forge.scenario import Scenario, insert, plan

MARIADB = ("mariadb-10.11", "mariadb-11.8")


@pytest.mark.parametrize(
    ("column", "table_charset", "error"),
    [
        ("v TEXT CHARACTER SET utf8mb4 DEFAULT '٣'", "latin1", ScenarioError),
        ("v VARCHAR(5) CHARACTER SET utf8mb4 AS (CONCAT('٣', 'a'))", "latin1", ScenarioError),
        ("v VARCHAR(5) CHARACTER SET utf8mb4, CHECK (v <> '٣')", "latin1", ScenarioError),
        ("v VARBINARY(10) DEFAULT '٣'", "latin1", None),
        ("v TEXT CHARACTER SET utf8mb4 DEFAULT '٣'", "ucs2", None),
        ("v BLOB DEFAULT 'é'", "latin1", UnsupportedError),
        ("v BLOB DEFAULT 'a'", "ucs2", UnsupportedError),
        ("v BLOB DEFAULT 'a'", "latin1", None),
    ],
)
def test_texts_of_a_definition_are_kept_in_the_tables_character_set(
    column: str, table_charset: str, error: type[ScenarioError] | None
) -> None:
    for server in MARIADB:
        scenario = Scenario("texts", server=server, tables=[f"CREATE TABLE d.t ({column}) CHARSET={table_charset}"])
        if error is None:
            plan(scenario)
        else:
            with pytest.raises(error) as refused:
                plan(scenario)
            assert isinstance(refused.value, UnsupportedError) is (error is UnsupportedError)


def test_a_text_default_that_names_a_character_set_is_not_supported_where_its_collation_is_logged() -> None:
    older, newer = (
        Scenario("defaults", server=server, tables=["CREATE TABLE d.t (v TEXT DEFAULT _latin1'a')"])
        for server in MARIADB
    )
    assert plan(older.transaction(insert("d.t", {}))).contents["d.t"] == (("a",),)
    with pytest.raises(UnsupportedError, match="names a character set"):
        plan(newer)
