"""The cutter of the vendors' scripts, and that what it gives is run by us and by a real server."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from forge.record.builds import is_unpacked
from tests.long.suites.mysqltest import statements_of
from tests.long.suites.outcomes_of_scripts import outcome_of
from tests.long.suites.page import page_of
from tests.long.suites.servers import ScriptServer

SCRIPT = """\
# A comment, and a part that lies elsewhere.
--source include/have_innodb.inc
--source extra/part.inc
let $engine= InnoDB;
eval CREATE TABLE t1 (a INT) ENGINE=$engine;
let $i= 3;
while ($i)
{
  --eval INSERT INTO t1 VALUES ($i)
  dec $i;
}
if ($unknown)
{
  DROP TABLE t1;
}
--error 1062
INSERT INTO t1 VALUES (';'); # the rest of a line
delimiter |;
CREATE PROCEDURE p() BEGIN SELECT 1; END|
delimiter ;|
connect (other,localhost,root,,);
DELETE FROM t1;
connection slave;
DROP TABLE t1;
--connection default
--write_file out.txt
no statement;
EOF
SET GLOBAL x = 1;
eval INSERT INTO t1 VALUES ($what);
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra/part.inc").write_text("USE test;\n")
    (tmp_path / "one.test").write_text(SCRIPT)
    return tmp_path


def test_a_script_of_mysqltest_is_cut_into_the_statements_of_its_first_server(root: Path) -> None:
    sent = statements_of(root / "one.test", root)
    assert [(one.sql, one.connection) for one in sent] == [
        ("USE test", ""),
        ("CREATE TABLE t1 (a INT) ENGINE=InnoDB", ""),
        *[(f"INSERT INTO t1 VALUES ({number})", "") for number in (3, 2, 1)],
        ("INSERT INTO t1 VALUES (';')", ""),
        ("CREATE PROCEDURE p() BEGIN SELECT 1; END", ""),
        ("DELETE FROM t1", "other"),
    ]
    assert (sent[0].file, sent[5].line) == ("extra/part.inc", 17)


@pytest.mark.servers
@pytest.mark.slow
@pytest.mark.parametrize("line", ["mysql-9.7", "mariadb-11.8"])
def test_a_script_is_run_by_both_and_counted(root: Path, tmp_path: Path, line: str) -> None:
    if not is_unpacked("mysql97" if line.startswith("mysql") else "maria118"):
        pytest.skip(f"no server of {line} is here: make servers")
    sent = [one for one in statements_of(root / "one.test", root) if not re.search("';'|PROCEDURE", one.sql)]
    with ScriptServer(line) as server:
        outcome = outcome_of("one", sent, server, line, tmp_path / "one.sql")
    assert (outcome.logged, outcome.taken, outcome.difference) == (6, 6, "")
    assert outcome.identical
    counted = {"script": "one", "logged": 9, "taken": 8, "reasons": [("why | not", "x")], "identical": True}
    text = page_of({line: [{**counted, "difference": "", "left": ""}]})
    assert f"| {line} | 1 | 9 | 8 (88.9 %) | 1 of 1 | 8 |" in text
    assert "| 1 | why \\| not |" in text
