"""What CREATE TABLE and ALTER TABLE text means (forge.sql.parse.statements, definition, catalog, alteration)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from forge.charsets import collation
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.definitions import DdlStatement, TableAlteration, TableDrop
from forge.plan.tables import Table
from forge.scenario import (
    ColumnDeclaration,
    KeyDeclaration,
    Scenario,
    TableDeclaration,
    ddl,
    delete,
    insert,
    plan,
    update,
)
from forge.scenario.table_text import table_text
from forge.sql.parse.statements import parse_ddl


def defined(sql: str, server: str = "mysql-9.7") -> Table:
    return plan(Scenario("x", server=server, tables=[f"CREATE TABLE d.t {sql}"])).tables["d.t"]


def type_of(text: str, options: str = "") -> tuple[Any, ...]:
    """(name, collation name or None, the other facts that are set)."""
    found = defined(f"(c {text}) {options}").columns[0].type
    facts = {
        name: getattr(found, name)
        for name in ("length", "precision", "scale", "fsp", "unsigned", "zerofill", "members", "srid")
        if getattr(found, name)
    }
    return found.name, collation(found.collation).name if found.collation else None, facts


@pytest.mark.parametrize(
    ("text", "name", "facts"),
    [
        ("INT8 UNSIGNED", "BIGINT", {"unsigned": True}),
        ("INT(5) ZEROFILL", "INT", {"unsigned": True, "zerofill": True}),
        ("BOOL", "TINYINT", {}),
        ("MIDDLEINT", "MEDIUMINT", {}),
        ("DEC", "DECIMAL", {}),
        ("NUMERIC(12,4) UNSIGNED", "DECIMAL", {"precision": 12, "scale": 4, "unsigned": True}),
        ("FLOAT UNSIGNED", "FLOAT", {"unsigned": True}),
        ("FLOAT(25)", "DOUBLE", {}),
        ("DOUBLE PRECISION", "DOUBLE", {}),
        ("DOUBLE(7,3)", "DOUBLE", {"precision": 7, "scale": 3}),
        ("BIT(9)", "BIT", {"length": 9}),
        ("YEAR(4)", "YEAR", {}),
        ("TIMESTAMP(3) NULL", "TIMESTAMP", {"fsp": 3}),
        ("DATETIME(6)", "DATETIME", {"fsp": 6}),
        ("CHAR BYTE", "BINARY", {}),
        ("LONG VARBINARY", "MEDIUMBLOB", {}),
        ("JSON", "JSON", {}),
        ("VECTOR(3)", "VECTOR", {"length": 3}),
        ("POINT SRID 4326", "POINT", {"srid": 4326}),
        ("GEOMCOLLECTION", "GEOMETRYCOLLECTION", {}),
    ],
)
def test_types_without_character_set(text: str, name: str, facts: dict[str, Any]) -> None:
    assert type_of(text) == (name, None, facts)


@pytest.mark.parametrize(
    ("text", "options", "name", "found"),
    [
        # SHOW CREATE TABLE of MySQL 9.7 shows these.
        ("VARCHAR(5)", "", "VARCHAR", "utf8mb4_0900_ai_ci"),
        ("VARCHAR(5)", "CHARSET latin1", "VARCHAR", "latin1_swedish_ci"),
        ("VARCHAR(5) BINARY", "CHARSET latin1", "VARCHAR", "latin1_bin"),
        ("VARCHAR(5) NOT NULL COLLATE latin1_bin", "", "VARCHAR", "latin1_bin"),
        ("VARCHAR(5) CHARSET latin1 BINARY", "", "VARCHAR", "latin1_bin"),
        ("CHAR(3) ASCII", "", "CHAR", "latin1_swedish_ci"),
        ("NATIONAL CHARACTER VARYING(3)", "", "VARCHAR", "utf8mb3_general_ci"),
        ("LONG VARCHAR", "COLLATE utf8mb4_bin", "MEDIUMTEXT", "utf8mb4_bin"),
        ("ENUM('a') CHARACTER SET binary", "", "ENUM", "binary"),
        ("TEXT CHARACTER SET binary", "", "BLOB", None),
        ("VARCHAR(3)", "DEFAULT CHARACTER SET = binary", "VARBINARY", None),
        ("CHAR CHARACTER SET ascii", "", "CHAR", "ascii_general_ci"),
        ("TEXT CHARSET utf8", "", "TEXT", "utf8mb3_general_ci"),
    ],
)
def test_character_sets_come_from_the_column_then_the_table_then_the_database(
    text: str, options: str, name: str, found: str | None
) -> None:
    assert type_of(text, options)[:2] == (name, found)


def test_a_table_has_its_keys_by_the_servers_names() -> None:
    table = defined(
        "(a INT, b VARCHAR(9) NOT NULL, c TEXT, KEY (a), UNIQUE (a, b(4)), PRIMARY KEY (b), KEY own (c(7)))"
    )
    assert [(key.name, key.kind) for key in table.keys] == [
        ("a", "index"), ("a_2", "unique"), ("PRIMARY", "primary"), ("own", "index"),
    ]  # fmt: skip
    assert [[(part.column, part.prefix) for part in key.parts] for key in table.keys] == [
        [(0, None)], [(0, None), (1, 4)], [(1, None)], [(2, 7)],
    ]  # fmt: skip


def test_a_prefix_of_the_whole_column_is_none() -> None:
    assert defined("(a VARCHAR(9), KEY (a(9)))").keys[0].parts[0].prefix is None


def test_columns_of_the_primary_key_are_not_null() -> None:
    assert [column.nullable for column in defined("(a INT, b INT, PRIMARY KEY (b, a))").columns] == [False, False]
    assert not defined("(a SERIAL)").columns[0].nullable


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("TINYINT DEFAULT '5'", 5),
        ("TINYINT DEFAULT TRUE", 1),
        ("INT DEFAULT 0x41", 65),
        ("INT DEFAULT -7", -7),
        ("DECIMAL(3,1) DEFAULT 1.25", Decimal("1.3")),
        ("VARCHAR(5) DEFAULT 0x4142", "AB"),
        ("CHAR(3) DEFAULT 5", "5"),
        ("VARCHAR(12) DEFAULT 'it''s \\'q\\' \\n'", "it's 'q' \n"),
        ("VARCHAR(9) DEFAULT _utf8mb4 x'c3a9'", "é"),
        ("BIT(9) DEFAULT b'101'", 5),
        ("ENUM('a','b') DEFAULT 'b'", 2),
        ("DATETIME(2) DEFAULT '2024-01-02 03:04:05.678'", "2024-01-02 03:04:05.68"),
    ],
)
def test_defaults_are_values_of_their_columns(text: str, value: Any) -> None:
    column = defined(f"(c {text})").columns[0]
    assert (column.has_default, column.default) == (True, value)


def test_attributes_are_facts_of_the_column() -> None:
    table = defined(
        "(a INT COMMENT 'x' INVISIBLE, b INT GENERATED ALWAYS AS (a + 1) STORED NOT NULL,"
        " c TIMESTAMP(2) NOT NULL DEFAULT NOW(2) ON UPDATE CURRENT_TIMESTAMP(2), d INT AS (a) VIRTUAL)"
    )
    a, b, c, d = table.columns
    assert (a.visible, b.generated, d.generated) == (False, "stored", "virtual")
    assert (c.default_now, c.on_update_now, c.nullable, c.has_default) == (True, True, False, False)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("(a INT NOT NULL DEFAULT NULL)", "cannot have the default NULL"),
        ("(a FLOAT AUTO_INCREMENT PRIMARY KEY)", "cannot be AUTO_INCREMENT"),
        ("(a INT AS (b))", "no column 'b'"),
        ("(a UUID)", "does not have UUID columns; expected MariaDB 10.7.1 or later"),
        ("(a INT CHARACTER SET latin1)", "has no character set"),
        ("(a DATE DEFAULT '2024-00-00')", "zero month or day"),
        ("(a SET('a,b'))", "comma"),
        ("(a VARCHAR(10) DEFAULT 'x)", "not closed"),
        ("(a INT) ENGIN=InnoDB", "an option"),
        ("(a INT,)", "the name of a column"),
        ("(a INT); DROP TABLE d.t", "a second statement"),
    ],
)
def test_definitions_that_no_server_takes_are_refused(sql: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        defined(sql)


def test_vectors_need_a_line_that_has_them() -> None:
    assert defined("(v VECTOR(3))").columns[0].type.name == "VECTOR"
    with pytest.raises(ScenarioError, match=r"mysql-8\.4 does not have VECTOR columns"):
        defined("(v VECTOR(3))", "mysql-8.4")


def test_a_table_in_pieces_is_text() -> None:
    declared = TableDeclaration(
        table="shop.it`ems",
        columns=[
            ColumnDeclaration(name="id", type="INT UNSIGNED", auto_increment=True),
            ColumnDeclaration(name="order", type="VARCHAR(9)", nullable=False, default="it's"),
            ColumnDeclaration(name="at", type="DATETIME(3)", default="NOW(3)", on_update="NOW(3)", visible=False),
            ColumnDeclaration(name="n", type="DECIMAL(5,1)", default=Decimal("1.5"), nullable=True),
            ColumnDeclaration(name="m", type="INT", default=None),
        ],
        keys=[KeyDeclaration(primary=["id"]), KeyDeclaration(unique=["order(3)", "n"], name="u")],
        charset="latin1",
    )
    assert table_text(declared) == (
        "CREATE TABLE `shop`.`it``ems` (\n"
        "  `id` INT UNSIGNED AUTO_INCREMENT,\n"
        "  `order` VARCHAR(9) NOT NULL DEFAULT 'it\\'s',\n"
        "  `at` DATETIME(3) DEFAULT NOW(3) ON UPDATE NOW(3) INVISIBLE,\n"
        "  `n` DECIMAL(5,1) NULL DEFAULT 1.5,\n"
        "  `m` INT DEFAULT NULL,\n"
        "  PRIMARY KEY (`id`),\n"
        "  UNIQUE KEY `u` (`order`(3), `n`)\n"
        ") DEFAULT CHARSET=latin1"
    )
    table = plan(Scenario("x", tables=[declared])).tables["shop.it`ems"]
    assert [key.name for key in table.keys] == ["PRIMARY", "u"]
    assert table.columns[1].type.collation == 8


PEOPLE = "CREATE TABLE d.people (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(10), born DATE)"


def after(*texts: str, rows: int = 2) -> tuple[Table, list[tuple[Any, ...]], DdlStatement]:
    scenario = Scenario("x", tables=[PEOPLE])
    if rows:
        scenario = scenario.transaction(insert("people", *({"name": f"n{i}"} for i in range(rows))))
    for text in texts:
        scenario = scenario.ddl(text)
    result = plan(scenario)
    (table,) = result.tables.values()
    last = result.groups[-1]
    assert isinstance(last, DdlStatement)
    return table, list(result.contents[table.full_name]), last


def names(table: Table) -> list[str]:
    return [column.name for column in table.columns]


def test_alter_table_puts_columns_where_it_says_and_fills_the_rows() -> None:
    table, rows, statement = after(
        "ALTER TABLE people ADD COLUMN seen TIME AFTER id, ADD n INT NOT NULL FIRST, ADD (x CHAR(2) DEFAULT 'q', y INT)"
    )
    assert names(table) == ["n", "id", "seen", "name", "born", "x", "y"]
    assert rows[0] == (0, 1, None, "n0", None, "q", None)
    assert isinstance(statement, TableAlteration)
    assert statement.change is not None
    assert [column.name for column in statement.change.defines] == ["n", "seen", "x", "y"]
    assert (statement.change.before.version, table.version) == (0, 1)


def test_alter_table_changes_renames_and_drops_columns_with_their_keys() -> None:
    table, rows, _ = after(
        "ALTER TABLE people ADD UNIQUE KEY u (name, born)",
        "ALTER TABLE people CHANGE name title TEXT, MODIFY id BIGINT UNSIGNED AUTO_INCREMENT, DROP KEY u, DROP born",
        "ALTER TABLE people RENAME COLUMN title TO label, ADD KEY (label(3))",
        "ALTER TABLE people RENAME INDEX label TO by_label",
    )
    assert names(table) == ["id", "label"]
    assert [(key.name, key.kind) for key in table.keys] == [("PRIMARY", "primary"), ("by_label", "index")]
    assert rows == [(1, "n0"), (2, "n1")]
    assert [column.type.name for column in table.columns] == ["BIGINT", "TEXT"]


def test_a_dropped_column_leaves_its_keys_and_takes_the_empty_ones_along() -> None:
    table, _, _ = after("ALTER TABLE people ADD KEY a (name, born), ADD KEY b (born)", "ALTER TABLE people DROP born")
    assert [(key.name, len(key.parts)) for key in table.keys] == [("PRIMARY", 1), ("a", 1)]


def test_a_new_auto_increment_column_numbers_the_rows() -> None:
    scenario = Scenario("x", tables=["CREATE TABLE d.t (a INT)"]).transaction(insert("d.t", {"a": 3}, {"a": 1}))
    scenario = scenario.ddl("ALTER TABLE t ADD id INT AUTO_INCREMENT PRIMARY KEY").transaction(insert("t", {"a": 9}))
    assert plan(scenario).contents["d.t"] == ((3, 1), (1, 2), (9, 3))


def test_rows_keep_the_order_of_a_dropped_primary_key() -> None:
    scenario = Scenario("x", tables=["CREATE TABLE d.t (a INT PRIMARY KEY)"])
    scenario = scenario.transaction(insert("d.t", {"a": 3}, {"a": 1})).ddl("ALTER TABLE t DROP PRIMARY KEY")
    assert plan(scenario.transaction(insert("d.t", {"a": 2}))).contents["d.t"] == ((1,), (3,), (2,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ALTER TABLE people MODIFY name VARCHAR(1)", "cannot hold 2 characters"),
        ("ALTER TABLE people MODIFY born DATE NOT NULL", "becomes NOT NULL"),
        ("ALTER TABLE people ADD d DATE NOT NULL", "no value for the new DATE column"),
        ("ALTER TABLE people ADD n INT NOT NULL UNIQUE", "whose unique key n is n 0"),
        ("ALTER TABLE people DROP nme", "no column 'nme'"),
        ("ALTER TABLE people DROP KEY k", "no key 'k'"),
        ("ALTER TABLE people ADD name INT", "has a column 'name' already"),
        ("ALTER TABLE people ADD x INT AFTER y", "no column 'y'"),
        ("ALTER TABLE people MODIFY name INT", "cannot"),
        ("ALTER TABLE peple ADD x INT", "did you mean 'd.people'"),
        ("CREATE TABLE people (a INT)", "exists already"),
        ("DROP TABLE nobody", "there is no table d.nobody"),
        ("RENAME TABLE people TO nowhere.people", "there is no database 'nowhere'"),
        ("CREATE DATABASE d", "exists already"),
        ("DROP DATABASE e", "there is no database 'e'"),
    ],
)
def test_changes_that_no_server_makes_are_refused(text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        after(text)


def test_drop_says_what_existed_and_what_did_not() -> None:
    scenario = Scenario("x", tables=[PEOPLE, "CREATE TABLE d.u (a INT)"]).ddl("DROP TABLE IF EXISTS u, v, e.w")
    statement = plan(scenario).groups[-1]
    assert isinstance(statement, TableDrop)
    assert [table.name for table in statement.dropped] == [("d", "u")]
    assert [table.name for table in statement.missing] == [("d", "v"), ("e", "w")]
    assert statement.databases == ("d", "e")


def test_rename_and_like_and_truncate_make_new_versions() -> None:
    scenario = Scenario("x", tables=[PEOPLE]).transaction(insert("people", {}))
    scenario = scenario.ddl("CREATE TABLE copies LIKE people").ddl("RENAME TABLE people TO persons, copies TO people")
    scenario = scenario.transaction(insert("people", {"name": "new"})).ddl("TRUNCATE TABLE persons")
    result = plan(scenario)
    assert result.contents == {"d.persons": (), "d.people": ((1, "new", None),)}
    assert (result.tables["d.people"].version, result.tables["d.persons"].version) == (1, 1)


def test_if_exists_and_if_not_exists_change_nothing_but_are_there() -> None:
    texts = [
        "CREATE TABLE IF NOT EXISTS people (a INT)",
        "CREATE DATABASE IF NOT EXISTS d",
        "DROP DATABASE IF EXISTS e",
    ]
    for text in texts:
        table, _, statement = after(text)
        assert statement.no_effect
        assert names(table) == ["id", "name", "born"]


@pytest.mark.parametrize("text", ["ALTER TABLE people DISCARD TABLESPACE", "CREATE TABLE x SELECT 1"])
def test_what_is_not_built_is_named(text: str) -> None:
    with pytest.raises(UnsupportedError, match="not supported yet"):
        after(text)


def test_statements_reach_tables_by_their_new_names() -> None:
    scenario = Scenario("x", tables=[PEOPLE]).ddl("ALTER TABLE people RENAME TO e").transaction(insert("d.e", {}))
    scenario = scenario.transaction(update("e", set={"name": "z"})).transaction(delete("d.e", where={"name": "z"}))
    assert plan(scenario).contents == {"d.e": ()}


@pytest.mark.parametrize(
    "text", ["", ";", "CREATE", "((((", "'", "ALTER TABLE", "\0", "CREATE TABLE t (a ENUM(" + "'a'" * 9]
)
def test_broken_text_is_an_error_and_nothing_worse(text: str) -> None:
    with pytest.raises(ScenarioError):
        parse_ddl(text)


def test_converting_a_table_changes_its_text_columns_and_grows_its_texts() -> None:
    table = "CREATE TABLE d.t (a VARCHAR(5), b TEXT, c MEDIUMTEXT CHARSET utf8mb4, n INT, e ENUM('x')) CHARSET latin1"
    scenario = Scenario("convert", tables=[table]).ddl("ALTER TABLE d.t CONVERT TO CHARACTER SET utf8mb4")
    columns = plan(scenario).tables["d.t"].columns
    assert [column.type.name for column in columns] == ["VARCHAR", "MEDIUMTEXT", "MEDIUMTEXT", "INT", "ENUM"]
    assert {column.type.collation for column in columns if column.type.collation} == {255}
    back = plan(scenario.ddl("ALTER TABLE d.t CONVERT TO CHARACTER SET latin1")).tables["d.t"].columns
    assert back[1].type.name == "MEDIUMTEXT"


def test_converting_refuses_members_that_get_other_bytes_and_modify_takes_them() -> None:
    scenario = Scenario("convert", tables=["CREATE TABLE d.t (e ENUM('\u00e9', 'x')) CHARSET latin1"])
    scenario = scenario.transaction(insert("d.t", {"e": "\u00e9"}))
    with pytest.raises(UnsupportedError, match="members of 'e' get other bytes"):
        plan(scenario.ddl("ALTER TABLE d.t CONVERT TO CHARACTER SET utf8mb4"))
    modified = scenario.ddl("ALTER TABLE d.t MODIFY e ENUM('\u00e9', 'x') CHARACTER SET utf8mb4")
    assert plan(modified).contents["d.t"] == ((1,),)


@pytest.mark.parametrize(
    ("server", "sql", "message"),
    [
        ("mysql-5.6", "ALTER TABLE d.t RENAME COLUMN a TO b", "RENAME COLUMN; expected MySQL 8.0.3 or later"),
        ("mariadb-10.2", "ALTER TABLE d.t ADD z INT, ALGORITHM=INSTANT", "INSTANT; expected MariaDB 10.3.2 or later"),
        ("mysql-5.7", "CREATE TABLE d.q (i INT CHECK (i > 0) NOT ENFORCED)", "NOT ENFORCED; expected MySQL 8.0.16"),
    ],
)
def test_a_statement_that_the_line_does_not_parse_is_refused(server: str, sql: str, message: str) -> None:
    scenario = Scenario(scenario="t", server=server, tables=["CREATE TABLE d.t (a INT PRIMARY KEY)"])
    with pytest.raises(ScenarioError, match=message):
        plan(scenario.transaction(ddl(sql)))
