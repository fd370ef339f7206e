"""The page of findings names recordings that exist, and every defect that the tests expect is on it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "findings.md").read_text(encoding="utf-8")
NAMES = {path.stem for path in (HERE / "data").glob("*.binlog")}


def section(title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}.*?(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[0]


def expected(file: str, variable: str) -> dict[str, tuple[str, str]]:
    """A table of expectations, read from the test's source: importing it would need what it tests."""
    for node in ast.parse((HERE / file).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == variable:
            table: dict[str, tuple[str, str]] = ast.literal_eval(node.value)
            return table
    raise AssertionError(variable)


def test_every_case_of_the_page_is_a_recording() -> None:
    named = {match[1] for match in re.finditer(r"^\| `([a-z0-9-]+)`", PAGE, re.MULTILINE)}
    named |= {match[1] for match in re.finditer(r"from `([a-z0-9-]+)`", PAGE)}
    assert len(named) > 20
    assert named - NAMES == set()


@pytest.mark.parametrize(
    ("title", "file", "variable", "outcomes"),
    [
        ("python-mysql-replication", "test_python_mysql_replication.py", "FINDINGS", ("disagree", "refused")),
        ("mariadb-binlog", "test_command_line_readers.py", "MARIADB_BINLOG", ("disagree",)),
    ],
)
def test_every_defect_that_the_tests_expect_is_on_the_page(
    title: str, file: str, variable: str, outcomes: tuple[str, ...]
) -> None:
    text = section(title)
    defects = [name for name, (outcome, _) in expected(file, variable).items() if outcome in outcomes]
    assert [name for name in defects if f"`{name}`" not in text] == []
