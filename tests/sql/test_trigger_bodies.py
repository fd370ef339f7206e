"""What the body of a trigger changes, as far as its text tells."""

from __future__ import annotations

import pytest

from forge.scenario import Scenario, insert, plan
from forge.sql.ast.statements import CreateTrigger
from forge.sql.parse.statements import parse_ddl
from forge.sql.reads.triggers import Trigger, trigger_of


def trigger(body: str) -> Trigger:
    statement = parse_ddl(f"CREATE TRIGGER d.g BEFORE INSERT ON d.t FOR EACH ROW {body}")
    assert isinstance(statement, CreateTrigger)
    return trigger_of(statement, ("d", "t"))


def tables(body: str) -> list[str]:
    return [name for (_, name), _ in trigger(body).changes]


@pytest.mark.parametrize(
    "body",
    [
        'SET NEW.v = "insert into log values (1)"',
        "SET NEW.v = 'insert into log values (1)'",
        "SET NEW.v = 'it''s \" insert into log values (1)'",
        "SET NEW.v = 1 /* insert into log values (1) */",
        "SET NEW.v = 1 -- insert into log values (1)\n",
        "SET NEW.v = 1 # delete from log\n",
        "SET NEW.v = NEW.`insert into log values (1)`",
        "SET NEW.v = REPLACE (NEW.v, 'a', 'b')",
        "SET NEW.v = INSERT(NEW.v, 1, 1, 'log')",
        "SELECT a INTO NEW.v FROM b WHERE c = 1 FOR UPDATE",
    ],
)
def test_words_inside_strings_names_and_comments_change_no_table(body: str) -> None:
    assert tables(body) == []
    assert trigger(body).sets == {"v"}


def test_a_trigger_body_with_an_insert_in_double_quotes_opens_no_table_log() -> None:
    scenario = Scenario("x", tables=["CREATE TABLE d.t (id INT PRIMARY KEY, v TEXT)", "CREATE TABLE d.log (n INT)"])
    scenario = scenario.ddl('CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW SET NEW.v = "insert into log values (1)"')
    group = plan(scenario.transaction(insert("d.t", {"id": 1}))).groups[-1]
    (statement,) = group.rows_statements  # type: ignore[union-attr]
    assert [table.name for table in statement.tables] == ["t"]


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        ("INSERT log VALUES (1)", [(("d", "log"), ("insert",))]),
        ("INSERT IGNORE INTO `my log` VALUES (1)", [(("d", "my log"), ("insert",))]),
        ("REPLACE INTO e.log VALUES (1)", [(("e", "log"), ("insert", "delete"))]),
        ("REPLACE LOW_PRIORITY `d` . `a``b` VALUES (1)", [(("d", "a`b"), ("insert", "delete"))]),
        ("INSERT INTO a VALUES ('x;') ON DUPLICATE KEY UPDATE b = 1", [(("d", "a"), ("insert", "update"))]),
        ("BEGIN INSERT INTO a VALUES (1); INSERT INTO b VALUES (1) ON DUPLICATE KEY UPDATE c = 1; END",
         [(("d", "a"), ("insert",)), (("d", "b"), ("insert", "update"))]),
        ("BEGIN UPDATE a SET b = 1; DELETE FROM d.a; END", [(("d", "a"), ("update", "delete"))]),
        ("DELETE QUICK FROM d.a WHERE b = '/*' OR c = '*/'", [(("d", "a"), ("delete",))]),
        ("IF NEW.a > 1 THEN UPDATE /* b */ c SET d = 1; END IF", [(("d", "c"), ("update",))]),
    ],
)  # fmt: skip
def test_a_body_tells_which_tables_it_changes_and_how(body: str, changed: list[object]) -> None:
    assert list(trigger(body).changes) == changed


@pytest.mark.parametrize(
    ("body", "columns"),
    [
        ("BEGIN IF NEW.a = 5 THEN SET NEW.c = IF(NEW.d = 1, 2, 3), @v = 2, NEW.`E e` := 7; END IF;"
         " SELECT 1 INTO NEW.f; UPDATE u SET g = NEW.h; END", {"c", "e e", "f"}),
        ("SET NEW.a = '(', NEW.b = ')', NEW.c = 1", {"a", "b", "c"}),
        ("SET NEW.a = CONCAT('x, NEW.b = 1', \"(\"), NEW.d = 1", {"a", "d"}),
        ("SELECT 1, 2, 3 INTO NEW.a, @b, NEW.c", {"a", "c"}),
        ("INSERT INTO log SELECT 1, NEW.a", set()),
        ("SET @a = 1 /* , NEW.b = 1 */", set()),
    ],
)  # fmt: skip
def test_a_body_tells_which_columns_of_its_row_it_may_set(body: str, columns: set[str]) -> None:
    assert trigger(body).sets == columns


def test_a_body_tells_which_columns_of_its_row_it_names() -> None:
    body = "BEGIN SET @a = NEW.x, NEW.y = OLD.z; INSERT INTO log SELECT NEW.`x`, 'NEW.q'; END"
    assert (trigger(body).writes, trigger(body).names) == (frozenset("xy"), frozenset("xyz"))


def test_the_body_of_a_trigger_is_what_stands_behind_its_order() -> None:
    sql = "CREATE TRIGGER a AFTER UPDATE ON d.t FOR EACH ROW FOLLOWS b INSERT INTO c VALUES ('FOR EACH ROW');"
    statement = parse_ddl(sql)
    assert isinstance(statement, CreateTrigger)
    assert (statement.timing, statement.event, statement.table.database) == ("after", "update", "d")
    assert statement.body == "INSERT INTO c VALUES ('FOR EACH ROW');"
    assert statement.text == sql[len("CREATE ") :]
