"""Wrong scenarios: one sentence each, with file and line, what was expected, and the nearest word."""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError, UnsupportedError
from forge.scenario import Scenario, expand, insert, plan
from forge.scenario.statement_model import KINDS

ROWS = "\ntransactions:\n  - - insert: {into: d.t, rows: "
HEAD = "scenario: wrong\ntables:\n"
ORDERS = (
    "  - CREATE TABLE shop.orders (id INT AUTO_INCREMENT PRIMARY KEY, who VARCHAR(5) NOT NULL, qty TINYINT,"
    " at DATETIME(6))\ntransactions:\n"
)


def table(sql: str) -> str:
    """A scenario of one table; its text begins on line 4."""
    return HEAD + "  - |\n" + "".join(f"    {line}\n" for line in sql.split("\n"))


def inserted(row: str) -> str:
    """A row inserted into shop.orders, on line 8."""
    return HEAD + ORDERS + f"  - - insert:\n        into: shop.orders\n        rows:\n          - {row}\n"


def then(statement: str) -> str:
    """A statement on line 6, after two rows have come into shop.orders."""
    rows = "  - - insert: {into: shop.orders, rows: [{who: Ann}, {who: Bob}]}\n"
    return HEAD + ORDERS + rows + f"  - - {statement}\n"


WRONG = [
    pytest.param(
        table("CREATE TABLE d.t (\n  a INT,\n  b VARCAR(10)\n)"),
        "f.yaml:6: unknown column type 'VARCAR'; did you mean 'VARCHAR'?",
        id="unknown type",
    ),
    pytest.param(
        inserted("{who: Ann, qty: 128}"),
        "f.yaml:8: shop.orders.qty: TINYINT cannot hold this number: 128; expected -128 to 127",
        id="value out of range",
    ),
    pytest.param(
        then("delete: {from: shop.order}"),
        "f.yaml:6: there is no table shop.order; did you mean 'shop.orders'?",
        id="missing table",
    ),
    pytest.param(
        "scenario: x\ntables: [a, b\n",
        "f.yaml:2: bad YAML: did not find expected ',' or ']', while parsing a flow sequence",
        id="bad yaml",
    ),
    pytest.param(
        "scenario: x\nverdict: rejects\n",
        "f.yaml:2: verdict is 'rejects'; expected one of accept, reject, may; did you mean 'reject'?",
        id="unknown verdict",
    ),
    pytest.param(
        "scenario: x\nverdict: reject\n",
        (
            "f.yaml:1: `verdict: reject` needs `phase`: one of framing, checksum, post_header, body, metadata, row, "
            "value, listing"
        ),
        id="reject without phase",
    ),
    pytest.param(
        "scenario: x\nphase: row\n",
        "f.yaml:1: `phase` says where a reader stops: it goes with `verdict: reject` or `verdict: may`",
        id="phase without reject",
    ),
    pytest.param(
        "scenario: x\n\ttables: []\n",
        (
            "f.yaml:2: bad YAML: found a tab character that violates indentation, while scanning a plain "
            "scalar that begins on line 1"
        ),
        id="tab",
    ),
    pytest.param(
        table("CREATE TABLE d.t (\n  a INT PRIMARY KEY,\n  b INT,\n  PRIMARY KEY (b)\n)"),
        "f.yaml:7: the table has two primary keys; expected one",
        id="two primary keys",
    ),
    pytest.param(
        inserted("{who: Annabelle}"),
        "f.yaml:8: shop.orders.who: VARCHAR(5) cannot hold 9 characters: 'Annabelle'",
        id="too long",
    ),
    pytest.param(
        table("CREATE TABLE d.t (\n  a VARCHAR(5)\n    COLLATE utf8mb4_genral_ci\n)"),
        "f.yaml:6: unknown collation 'utf8mb4_genral_ci' for mysql-9.7; did you mean 'utf8mb4_general_ci'?",
        id="unknown collation",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a CHAR(5) CHARACTER SET latn1)"),
        "f.yaml:4: unknown character set 'latn1' for mysql-9.7; did you mean 'latin1'?",
        id="unknown charset",
    ),
    pytest.param(
        table("CREATE TABLE d.t (\n  a CHAR(5)\n) DEFAULT CHARSET utf8mb5"),
        "f.yaml:6: unknown character set 'utf8mb5' for mysql-9.7; did you mean 'utf8mb4'?",
        id="table charset",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a CHAR(5) CHARACTER SET latin1 COLLATE utf8mb4_bin)"),
        (
            "f.yaml:4: collation utf8mb4_bin is not of character set latin1; "
            "expected a collation that begins with latin1_"
        ),
        id="collation of other charset",
    ),
    pytest.param(
        table("CREATE TABLE d.t (\n  abc INT,\n  KEY (abd))"),
        "f.yaml:6: table d.t has no column 'abd'; did you mean 'abc'?",
        id="unknown column in key",
    ),
    pytest.param(
        table("CREATE TABLE d.t (\n  a INT,\n  A INT)"),
        "f.yaml:6: column 'A' is there twice",
        id="column twice",
    ),
    pytest.param(
        table("CREATE TABLE d.t (\n  a TEXT,\n  KEY (a))"),
        "f.yaml:6: TEXT column 'a' is in a key without a length; expected a prefix, a(20)",
        id="blob key",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a INT AUTO_INCREMENT PRIMARY KEY,\n  b INT AUTO_INCREMENT UNIQUE)"),
        "f.yaml:5: the table has two AUTO_INCREMENT columns; expected one",
        id="two ai",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a INT AUTO_INCREMENT)"),
        "f.yaml:4: AUTO_INCREMENT column 'a' is not the first of a key; expected PRIMARY KEY or UNIQUE on a",
        id="ai no key",
    ),
    pytest.param(
        table("CREATE TABLE d.t (\n  order INT)"),
        "f.yaml:5: 'order' is a reserved word; expected `order` in backticks as the name of a column",
        id="reserved",
    ),
    pytest.param(
        table("CREATE TABLE d.t (\n  a INT"),
        "f.yaml:6: unexpected end of the statement; expected a comma or ')'",
        id="not closed",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a TINYINT\n  DEFAULT 300)"),
        (
            "f.yaml:5: the default of column 'a' is impossible: TINYINT cannot hold this number: 300; "
            "expected -128 to 127"
        ),
        id="default",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a TEXT DEFAULT 'x')"),
        "f.yaml:4: a TEXT column cannot have a literal default; expected DEFAULT (expression)",
        id="text default",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a DATE DEFAULT CURRENT_TIMESTAMP)"),
        "f.yaml:4: DEFAULT CURRENT_TIMESTAMP is not for DATE; expected TIMESTAMP or DATETIME",
        id="now on date",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a DATETIME(3) DEFAULT NOW(6))"),
        "f.yaml:4: DEFAULT has 6 fractional digits, its column 3; expected CURRENT_TIMESTAMP(3)",
        id="now fsp",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a ENUM('x','X'))"),
        "f.yaml:4: ENUM has the equal members 'x' and 'X'",
        id="enum dup",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a VARCHAR(16384))"),
        (
            "f.yaml:4: VARCHAR cannot have the length 16384; "
            "expected 0 to 16383 (use a TEXT or BLOB type for longer values)"
        ),
        id="too wide",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a VARCHAR(9000), b VARCHAR(9000))"),
        "f.yaml:4: a row can take 72005 bytes; expected at most 65535; TEXT and BLOB columns do not count",
        id="row too wide",
    ),
    pytest.param(
        "scenario: x\nserver: mysql-9.8\n",
        (
            "f.yaml:2: unknown server line 'mysql-9.8'; "
            "expected one of mariadb-10.11, mariadb-10.2, mariadb-10.6, mariadb-11.4, mariadb-11.8, mysql-5.0, "
            "mysql-5.1, mysql-5.5, mysql-5.6, mysql-5.7, mysql-8.0, mysql-8.4, mysql-9.7; "
            "did you mean 'mysql-9.7'?"
        ),
        id="unknown server",
    ),
    pytest.param(
        then("delete: {form: shop.orders}"),
        (
            "f.yaml:6: unknown word 'form' in transactions[1][0].delete; expected one of from, where; "
            "did you mean 'from'?"
        ),
        id="unknown field",
    ),
    pytest.param(
        "scenario: x\nsession:\n  row_image: ful\n",
        "f.yaml:3: session.row_image is 'ful'; expected one of full, minimal, noblob; did you mean 'full'?",
        id="bad enum",
    ),
    pytest.param(
        "scenario: x\nsession: {server_id: one}\n",
        "f.yaml:2: session.server_id is text; expected a whole number",
        id="wrong kind",
    ),
    pytest.param(
        "tables: []\n",
        "f.yaml:1: 'scenario' is missing",
        id="no name",
    ),
    pytest.param(
        "",
        "f.yaml:1: the file is empty; expected a scenario",
        id="empty",
    ),
    pytest.param(
        "- a\n",
        "f.yaml:1: the scenario is a list; expected a mapping",
        id="list",
    ),
    pytest.param(
        inserted("{who: Ann, qyt: 1}"),
        ("f.yaml:8: table shop.orders has no column 'qyt'; expected one of id, who, qty, at; did you mean 'qty'?"),
        id="unknown column",
    ),
    pytest.param(
        inserted("{who: null}"),
        "f.yaml:8: shop.orders.who is NOT NULL; expected a value",
        id="not null",
    ),
    pytest.param(
        inserted("{qty: 1}"),
        "f.yaml:8: table shop.orders: column 'who' is NOT NULL and has no default; expected a value for it",
        id="no default",
    ),
    pytest.param(
        inserted("{who: Ann, at: 2023-02-29 00:00:00}"),
        "f.yaml:8: shop.orders.at: DATETIME(6) cannot hold this date: '2023-02-29 00:00:00'",
        id="bad date",
    ),
    pytest.param(
        inserted("{who: Ann, at: 0000-00-00 00:00:00}"),
        (
            "f.yaml:8: shop.orders.at: DATETIME '0000-00-00 00:00:00.000000' has a zero month or day; "
            "expected a date of the calendar"
        ),
        id="zero date",
    ),
    pytest.param(
        inserted("{who: Ann, qty: many}"),
        "f.yaml:8: shop.orders.qty: TINYINT cannot hold this value: 'many'; expected a number",
        id="text for number",
    ),
    pytest.param(
        inserted("{who: {fakr: name}}"),
        (
            "f.yaml:8: shop.orders.who: no generator is named by 'fakr'; "
            "expected a literal, or one of faker, sequence, choice, cycle, random_int, text, bytes, "
            "datetime; "
            "did you mean 'faker'?"
        ),
        id="generator",
    ),
    pytest.param(
        inserted("{who: {faker: nmae}}"),
        "f.yaml:8: shop.orders.who: faker has no provider 'nmae'; did you mean 'name'?",
        id="faker",
    ),
    pytest.param(
        inserted("{id: 1, who: a}\n          - {id: 1, who: b}"),
        "f.yaml:9: table shop.orders already has a row whose primary key is id 1",
        id="duplicate key",
    ),
    pytest.param(
        inserted("[1, Ann]"),
        "f.yaml:8: a row is a list, but no columns are named; expected `columns` beside `rows`",
        id="list without columns",
    ),
    pytest.param(
        then("{delete: {from: shop.orders}, ddl: DROP TABLE shop.orders}"),
        f"f.yaml:6: a statement has exactly one of {', '.join(KINDS)}; here are delete and ddl",
        id="statement two",
    ),
    pytest.param(
        then("{query: DELETE}"),
        f"f.yaml:6: a statement has exactly one of {', '.join(KINDS)}; here are none",
        id="statement none",
    ),
    pytest.param(
        then("update: {table: shop.orders, where: {id: {lte: 1}}, set: {qty: 1}}"),
        (
            "f.yaml:6: column 'id': unknown operator 'lte'; "
            "expected one of lt, le, gt, ge, ne, between; "
            "did you mean 'lt'?"
        ),
        id="operator",
    ),
    pytest.param(
        then("delete: {from: shop.orders, where: {qty: 1000}}"),
        "f.yaml:6: column 'qty': TINYINT cannot hold this number: 1000; expected -128 to 127",
        id="where value",
    ),
    pytest.param(
        then("insert: {into: shop.orders, rows: [{who: x}]}\n    - ddl: DROP TABLE shop.orders"),
        "f.yaml:7: ddl commits by itself; expected a transaction with nothing else in it",
        id="ddl in list",
    ),
    pytest.param(
        then("ddl: CREATE LOGFILE GROUP g ADD UNDOFILE 'f'"),
        "f.yaml:6: CREATE LOGFILE is not supported yet",
        id="ddl unsupported",
    ),
    pytest.param(
        then("ddl: CRAETE TABLE shop.x (a INT)"),
        "f.yaml:6: unexpected 'CRAETE'; expected a data definition statement; did you mean 'CREATE'?",
        id="ddl unknown",
    ),
    pytest.param(
        then("ddl: DELETE FROM shop.orders"),
        "f.yaml:6: DELETE is not a data definition; expected insert:, update: or delete:",
        id="ddl dml",
    ),
    pytest.param(
        then("ddl: ALTER TABLE shop.orders DROP COLUMN qyt"),
        "f.yaml:6: table shop.orders has no column 'qyt'; did you mean 'qty'?",
        id="alter unknown column",
    ),
    pytest.param(
        then("ddl: ALTER TABLE shop.orders MODIFY who VARCHAR(2)"),
        "f.yaml:6: VARCHAR(2) cannot hold 3 characters: 'Ann'",
        id="alter shrink",
    ),
    pytest.param(
        then("ddl: CREATE TABLE shop.orders (a INT)"),
        "f.yaml:6: table shop.orders exists already",
        id="table exists",
    ),
    pytest.param(
        HEAD + ORDERS + "  - insert: {into: shop.orders, rows: [{who: x}]}\n",
        (
            "f.yaml:5: unknown word 'insert' in transactions[0]; "
            "expected a list of statements, or a mapping with statements"
        ),
        id="transaction mapping",
    ),
    pytest.param(
        HEAD + "  - CREATE TABLE orders (a INT)\n",
        "f.yaml:3: table 'orders' names no database; expected database.table, or session.database",
        id="no database",
    ),
    pytest.param(
        HEAD + "  - CREATE TABLE mysql.orders (a INT)\n",
        "f.yaml:3: 'mysql' is a system database; expected another name",
        id="system database",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a INT) ENGINE=FEDERATED"),
        "f.yaml:4: the storage engine FEDERATED is not supported yet",
        id="unsupported engine",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a INT) ENGINE=CSV"),
        "f.yaml:4: CSV tables have no nullable columns: 'a'",
        id="NULL in an engine without",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a INT, KEY (a DESC)) ENGINE=MyISAM"),
        "f.yaml:4: MyISAM tables have no descending keys",
        id="descending key in MyISAM",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a INT, b INT AS (c + 1), c INT AS (a + 1))"),
        "f.yaml:4: generated column 'b' uses 'c', which is generated behind it",
        id="generated column of a later one",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a INT,\n FOREIGN KEY (a) REFERENCES p (b))"),
        "f.yaml:5: there is no table d.p",
        id="foreign key",
    ),
    pytest.param(
        "scenario: x\nserver: mysql-9.7\nserver: mysql-8.0\n",
        "f.yaml:3: 'server' stands twice in this mapping",
        id="duplicate yaml key",
    ),
    pytest.param(
        "scenario: x\nsession: {timestamp: yesterday}\n",
        "f.yaml:2: timestamp 'yesterday' is not a time; expected YYYY-MM-DD hh:mm:ss[.ffffff]",
        id="timestamp",
    ),
    pytest.param(
        "scenario: x\nmatrix:\n  server: mysql-9.7\n",
        "f.yaml:3: matrix.server has no values; expected a list",
        id="matrix",
    ),
    pytest.param(
        "scenario: x\nmatrix:\n  server: [mysql-9.7]\n  exclude:\n    - {sever: mysql-9.7}\n",
        "f.yaml:5: the matrix has no key 'sever'; expected one of server; did you mean 'server'?",
        id="exclude",
    ),
    pytest.param(
        "scenario: {{ name }}\n",
        "f.yaml:1: the template needs the parameter 'name'; expected --set name=VALUE (given: none)",
        id="template",
    ),
    pytest.param(
        HEAD + "  - table: d.t\n    columns:\n      - {name: a, type: INTT}\n",
        "f.yaml:5: unknown column type 'INTT'; did you mean 'INT'?",
        id="pieces",
    ),
    pytest.param(
        HEAD + "  - table: d.t\n    columns: [{name: a, type: INT}]\n    keys: [{primary: [a], unique: [a]}]\n",
        "f.yaml:5: a key has exactly one of primary, unique, index; here are primary and unique",
        id="pieces key",
    ),
    pytest.param(
        "scenario: x\nserver: mysql-8.0\ntables: ['CREATE TABLE d.t (v VECTOR(3))']\n",
        "f.yaml:3: mysql-8.0 does not have VECTOR columns; expected MySQL 9.0.0 or later",
        id="vector",
    ),
    pytest.param(
        HEAD + "  - CREATE TABLE d.t (e ENUM('red','green'))" + ROWS + "[{e: gren}]}\n",
        "f.yaml:5: d.t.e: ENUM has no member 'gren'; did you mean 'green'?",
        id="enum member",
    ),
    pytest.param(
        HEAD + "  - CREATE TABLE d.t (c VARCHAR(5) CHARACTER SET latin1)" + ROWS + "[{c: żółw}]}\n",
        "f.yaml:5: d.t.c: character set latin1 cannot hold the character 'ż' (U+017C)",
        id="charset cell",
    ),
    pytest.param(
        HEAD + "  - CREATE TABLE d.t (a INT, b INT AS (a + 1))" + ROWS + "[{b: 1}]}\n",
        "f.yaml:5: d.t.b: a generated column takes no value; expected nothing for it",
        id="insert into generated",
    ),
    pytest.param(
        HEAD
        + ORDERS
        + "  - statements: [{delete: {from: shop.orders}}, {delete: {from: shop.orders}}]\n"
        + "    explicit: false\n",
        "f.yaml:5: several statements commit together only in BEGIN ... COMMIT; expected explicit: true",
        id="explicit false",
    ),
    pytest.param(
        HEAD + ORDERS + "  - []\n",
        "f.yaml:5: the transaction is empty; expected at least one statement",
        id="empty transaction",
    ),
    pytest.param(
        HEAD + ORDERS + "  - - insert: {into: shop.orders, count: 3}\n",
        "f.yaml:5: an insert has either `rows` or `count` and `row`",
        id="count without row",
    ),
    pytest.param(
        HEAD + "  - CREATE TABLE d.t (j JSON)\ntransactions:\n  - - delete: {from: d.t, where: {j: x}}\n",
        "f.yaml:5: column 'j': JSON columns in where are not supported yet",
        id="json column where",
    ),
]


def planned(text: str) -> None:
    for case in expand(text, file="f.yaml"):
        plan(case.scenario)


@pytest.mark.parametrize(("text", "sentence"), WRONG)
def test_a_wrong_scenario_gets_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        planned(text)
    assert str(caught.value) == sentence
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "text",
    [
        then("ddl: CREATE LOGFILE GROUP g ADD UNDOFILE 'f'"),
        then("ddl: CREATE USER ann IDENTIFIED BY RANDOM PASSWORD"),
        table("CREATE TABLE d.t (a INT) ENGINE=FEDERATED"),
        table("CREATE TABLE d.t (a VARCHAR(40) DEFAULT (uuid()))"),
    ],
)
def test_what_servers_know_and_we_do_not_is_refused_by_name(text: str) -> None:
    with pytest.raises(UnsupportedError, match=r"f\.yaml:[46]: .* not supported"):
        planned(text)


def test_scenarios_made_in_python_have_errors_without_a_place() -> None:
    scenario = Scenario("x", tables=["CREATE TABLE d.t (a TINYINT)"]).transaction(insert("d.t", {"a": 1000}))
    with pytest.raises(ScenarioError) as caught:
        plan(scenario)
    assert str(caught.value) == "d.t.a: TINYINT cannot hold this number: 1000; expected -128 to 127"


def test_the_form_of_scenarios_made_in_python_is_checked_as_well() -> None:
    with pytest.raises(ScenarioError, match=r"unknown word 'gtids' in session; .*did you mean 'gtid'"):
        plan(Scenario("x", session={"gtids": True}))  # type: ignore[arg-type]
