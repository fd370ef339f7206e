"""The comment that MariaDB keeps of DROP TABLE."""

from __future__ import annotations

import pytest

from forge.sql.ast.statements import DropTables
from forge.sql.parse.statements import parse_ddl


@pytest.mark.parametrize(
    ("sql", "comment"),
    [
        ("DROP TABLE /* x */ t", "/* x */"),
        ("drop tables if exists/* x *//* y */ t", "/* x */"),
        ("DROP TABLE /* x */ IF EXISTS t", ""),
        ("DROP /* x */ TABLE t", ""),
        ("DROP TABLE t /* x */", ""),
        ("DROP TABLE `/* x */`", ""),
        ("DROP TABLE # x\n t", ""),
        ("DROP TEMPORARY TABLE /* x */ t", ""),
    ],
)
def test_only_a_comment_directly_before_the_names_stays(sql: str, comment: str) -> None:
    statement = parse_ddl(sql)
    assert isinstance(statement, DropTables)
    assert statement.comment == comment
