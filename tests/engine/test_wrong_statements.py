"""Wrong statements and cells: one sentence each, with the line, what was expected, and the nearest word."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from forge.engine.requests.statements import KINDS
from forge.errors import ScenarioError, UnsupportedError

ROWS = "\ntransactions:\n  - - insert: {into: d.t, rows: "
HEAD = "scenario: wrong\ntables:\n"
ORDERS = (
    "  - CREATE TABLE shop.orders (id INT AUTO_INCREMENT PRIMARY KEY, who VARCHAR(5) NOT NULL, qty TINYINT,"
    " at DATETIME(6))\ntransactions:\n"
)


def inserted(row: str) -> str:
    """A row inserted into shop.orders, on line 8."""
    return HEAD + ORDERS + f"  - - insert:\n        into: shop.orders\n        rows:\n          - {row}\n"


def then(statement: str) -> str:
    """A statement on line 6, after two rows have come into shop.orders."""
    rows = "  - - insert: {into: shop.orders, rows: [{who: Ann}, {who: Bob}]}\n"
    return HEAD + ORDERS + rows + f"  - - {statement}\n"


WRONG = [
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
        inserted("{who: Annabelle}"),
        "f.yaml:8: shop.orders.who: VARCHAR(5) cannot hold 9 characters: 'Annabelle'",
        id="too long",
    ),
    pytest.param(
        then("delete: {form: shop.orders}"),
        (
            "f.yaml:6: unknown word 'form' in transactions[1][0].delete; expected one of from, tables, rows_of, alias,"
            " partition, ignore, where, affects, order_by, limit, for_portion_of; did you mean 'from'?"
        ),
        id="unknown field",
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
            "f.yaml:8: shop.orders.who: 'fakr' does not name a generator; "
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
        "f.yaml:8: the row has 2 cells; expected 4, as many as columns",
        id="list without columns",
    ),
    pytest.param(
        then("{delete: {from: shop.orders}, ddl: DROP TABLE shop.orders}"),
        f"f.yaml:6: a statement has exactly one of {', '.join(KINDS)}; this one has delete and ddl",
        id="statement two",
    ),
    pytest.param(
        then("{query: DELETE}"),
        f"f.yaml:6: a statement has exactly one of {', '.join(KINDS)}; this one has none",
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
        "f.yaml:6: CREATE LOGFILE is not supported in `ddl:`; declare what the server logs with `logged:`",
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
            "expected a list of statements (`- - insert: ...`), or a mapping with statements"
        ),
        id="transaction mapping",
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


@pytest.mark.parametrize(("text", "sentence"), WRONG)
def test_a_wrong_statement_gets_one_sentence(text: str, sentence: str, refused: Callable[[str], ScenarioError]) -> None:
    error = refused(text)
    assert str(error) == sentence
    assert error.exit_code == 2


@pytest.mark.parametrize(
    "text",
    [
        then("ddl: CREATE LOGFILE GROUP g ADD UNDOFILE 'f'"),
        then("ddl: CREATE USER ann IDENTIFIED BY RANDOM PASSWORD"),
    ],
)
def test_a_statement_that_servers_know_and_we_do_not_is_refused_by_name(
    text: str, refused: Callable[[str], ScenarioError]
) -> None:
    error = refused(text)
    assert isinstance(error, UnsupportedError)
    assert re.match(r"f\.yaml:6: CREATE (LOGFILE|USER) is not supported in `ddl:`", str(error))


@pytest.mark.parametrize(
    ("statement", "contradiction"),
    [
        (
            "delete: {from: shop.orders}\n      query: UPDATE orders SET qty = 1",
            "is an UPDATE, but the statement is a delete",
        ),
        (
            "insert: {into: shop.orders, rows: [{who: Cy}]}\n      query: REPLACE INTO orders (who) VALUES ('Cy')",
            "is a REPLACE, but the statement is an insert",
        ),
        ("delete: {from: shop.orders}\n      query: DELETE FROM others", "names others, but not shop.orders"),
    ],
)
def test_a_query_that_contradicts_its_rows_is_refused(
    refused: Callable[[str], ScenarioError], statement: str, contradiction: str
) -> None:
    others = ORDERS.replace("\ntransactions", "\n  - CREATE TABLE shop.others (id INT)\ntransactions")
    text = then(statement).replace(ORDERS, others)
    assert f"`query` {contradiction}; expected" in str(refused(text))
