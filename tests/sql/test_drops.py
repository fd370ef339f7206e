"""The comment that MariaDB keeps of DROP TABLE."""

from __future__ import annotations

import pytest

from forge.sql.reads.drops import comment_before_names


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
        ("DROP TABLE", ""),
    ],
)
def test_only_a_comment_directly_before_the_names_stays(sql: str, comment: str) -> None:
    assert comment_before_names(sql) == comment
