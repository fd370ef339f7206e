"""Accounts that statements name are there, or the server refuses them."""

import pytest

from forge.errors import ScenarioError
from forge.plan.statements import DdlStatement
from forge.scenario import Scenario, plan


def planned(*statements: str, server: str = "mysql-9.7") -> list[DdlStatement]:
    made = Scenario("accounts", server=server, tables=["CREATE TABLE d.t (a INT)"])
    for text in statements:
        made = made.ddl(text)
    return [group for group in plan(made).groups[2:] if isinstance(group, DdlStatement)]


@pytest.mark.parametrize(
    "text",
    [
        "GRANT SELECT ON d.* TO nobody",
        "GRANT r TO u",
        "GRANT SELECT ON d.* TO U",
        "REVOKE SELECT ON d.* FROM u, nobody",
        "REVOKE r FROM nobody",
        "DROP USER u, nobody",
        "DROP ROLE r",
        "ALTER USER nobody ACCOUNT LOCK",
        "RENAME USER nobody TO somebody",
        "SET PASSWORD FOR nobody = 'x'",
    ],
)
def test_an_account_that_is_not_there_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match="there is no account"):
        planned("CREATE USER u", text)


@pytest.mark.parametrize("text", ["CREATE USER u", "CREATE ROLE u", "RENAME USER v TO u", "CREATE USER root@LOCALHOST"])
def test_an_account_that_is_there_is_not_made_again(text: str) -> None:
    with pytest.raises(ScenarioError, match="exists already"):
        planned("CREATE USER u, v", text)


def test_accounts_come_and_go() -> None:
    planned("CREATE USER u@H", "RENAME USER u@h TO w", "GRANT SELECT ON d.* TO w", "DROP USER w", "CREATE ROLE w")
    planned("DROP USER IF EXISTS u", "CREATE USER IF NOT EXISTS u", "ALTER USER IF EXISTS w ACCOUNT LOCK")


def test_privileges_taken_from_nobody_touch_no_database() -> None:
    (done,) = planned("REVOKE IF EXISTS SELECT ON d.* FROM nobody IGNORE UNKNOWN USER")
    assert done.databases == ("mysql",)


def test_before_5_7_grant_makes_accounts() -> None:
    planned("GRANT SELECT ON d.* TO nobody", server="mysql-5.6")
    with pytest.raises(ScenarioError, match="there is no account"):
        planned("GRANT SELECT ON d.* TO nobody", server="mysql-5.7")
