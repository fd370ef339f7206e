"""What servers read of version comments, and what clients send."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.errors import ScenarioError
from forge.scenario import plan
from forge.scenario.load import load_scenario
from forge.servers import server_line
from forge.sql.version_comments import as_sent, read_text

MYSQL, MARIADB = server_line("mysql-9.7"), server_line("mariadb-11.8")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT '/*!99999 a */'",
        'SELECT "/*!99999 a */"',
        "SELECT `/*!99999 a */`",
        "SELECT 1 -- /*!99999 a */",
        "SELECT 1 # /*!99999 a */\n",
        "SELECT 'it''s /*!99999 a */'",
        r"SELECT '\' /*!99999 a */'",
    ],
)
def test_a_version_comment_inside_of_quotes_and_comments_is_none(text: str) -> None:
    assert read_text(text, MYSQL) == (text, text)


def test_a_version_comment_that_holds_a_comment_ends_behind_it() -> None:
    text = "DROP /*!99999 a /* b */ c */ TABLE t"
    read, logged = read_text(text, MYSQL)
    assert read.split() == ["DROP", "TABLE", "t"]
    assert logged == "DROP /* 99999 a (* b *) c */ TABLE t"


def test_the_client_keeps_comments_in_quotes_as_they_are() -> None:
    assert as_sent("SELECT '/*x*/y'/*z*/, 1;", MYSQL) == "SELECT '/*x*/y'/*z*/ , 1"
    assert as_sent("# one\n-- two\n/* three */DROP TABLE t;;", MARIADB) == "/* three */ DROP TABLE t"


def test_an_error_behind_comment_lines_names_its_own_line(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(
        "scenario: x\nserver: mysql-9.7\ntables:\n  - |\n    -- a comment\n    # another\n"
        "    CREATE TABLE d.t (\n      a INT,\n      b NOPE)\ntransactions: []\n"
    )
    with pytest.raises(ScenarioError, match=r"f\.yaml:9: "):
        plan(load_scenario(file))
