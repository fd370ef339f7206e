"""A log retold as a scenario: the scenario makes the log again, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

import forge
from forge.errors import FormatError, ScenarioError
from forge.record.retold import retold
from forge.record.retold.anonymised import Cipher, anonymised
from forge.record.retold.log_selection import selected, wanted
from forge.scenario.script import scenario_text
from tests.recorded import LOGS, RECORDINGS, every

_LARGEST = 40_000
_SMALL = [path for path in LOGS if path.stat().st_size < _LARGEST]


def rebuilt(tree: dict[str, object]) -> bytes:
    return forge.build(scenario_text(tree)).files[0].data


@pytest.mark.parametrize("path", every(12, _SMALL), ids=lambda path: str(path.relative_to(RECORDINGS)))
def test_the_scenario_of_a_recorded_log_makes_the_log(path: Path) -> None:
    data = path.read_bytes()
    told = retold(data, name="retold", file=path.name)
    assert told.identical
    assert rebuilt(told.tree) == data


SHOP = """
scenario: shop
server: {server}
session: {{gtid: {gtid}, row_image: {image}, row_metadata: {metadata}}}
tables:
  - CREATE TABLE shop.orders (id INT PRIMARY KEY, who VARCHAR(40) CHARSET utf8mb4, qty DECIMAL(8,2), at DATETIME(3))
transactions:
  - - insert: {{into: shop.orders, rows: [{{id: 1, who: Ann, qty: 1.5, at: 2024-02-29 10:00}}, {{id: 2, who: Bo}}]}}
    - insert: {{into: shop.orders, rows: [{{id: 3, who: null}}]}}
  - - update: {{table: shop.orders, where: {{id: [1, 2]}}, set: {{qty: {{sql: id + 10}}}}}}
  - - delete: {{from: shop.orders, where: {{id: 1}}}}
  - {{statements: [{{delete: {{from: shop.orders}}}}], end: rollback}}
  - - replace: {{into: shop.orders, rows: [{{id: 3, who: Cy}}]}}
"""
CASES = [
    (server, gtid, image, metadata)
    for server, gtid in (("mysql-9.7", "true"), ("mysql-5.6", "false"), ("mariadb-11.8", "false"))
    for image in ("full", "minimal")
    for metadata in ("minimal", "full")
    if server != "mysql-5.6" or metadata == "minimal"
]


def shop(server: str = "mysql-9.7", gtid: str = "false", image: str = "full", metadata: str = "minimal") -> bytes:
    return forge.build(SHOP.format(server=server, gtid=gtid, image=image, metadata=metadata)).files[0].data


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(case))
def test_every_transaction_of_a_built_log_is_said_as_statements(case: tuple[str, str, str, str]) -> None:
    data = shop(*case)
    told = retold(data, name="shop", file="binlog.000001")
    assert (told.said, told.obstacles) == (told.groups, [])
    assert "edits" not in told.tree["session"]
    assert rebuilt(told.tree) == data


def test_rows_that_were_there_before_are_existing() -> None:
    told = retold(selected(shop(), wanted("4-5", None, None)), name="later", file="later")
    assert told.identical
    assert (told.said, told.groups) == (2, 2)
    inserts = [
        entry[0]["insert"] for entry in told.tree["existing"] if isinstance(entry, list) and "insert" in entry[0]
    ]
    assert [(new["into"], new["rows"][0]["col2"]) for new in inserts] == [("shop.orders", "Ann"), ("shop.orders", "Bo")]


def test_a_schema_gives_names_to_tables_that_were_there_before() -> None:
    columns = "id INT PRIMARY KEY, who VARCHAR(40) CHARSET utf8mb4, qty DECIMAL(8,2), at DATETIME(3)"
    part = selected(shop(), wanted("3", None, None))
    told = retold(part, name="later", file="later", schema=f"USE shop; CREATE TABLE orders ({columns});")
    assert told.identical
    assert told.tree is not None
    rows = told.tree["transactions"][-1]["statements"][0]["insert"]["rows"]
    assert set(rows[0]) == {"id", "who", "qty", "at"}


def test_a_selection_keeps_transactions_tables_and_rows() -> None:
    part = forge.read(selected(shop(), wanted("3", "shop.orders", 1)))
    assert [(change.table, (change.after or {})["@1"]) for change in part.rows] == [("orders", 1), ("orders", 3)]


@pytest.mark.parametrize("words", ["0", "3-1", "a", "1-"])
def test_numbers_of_no_transactions_are_refused(words: str) -> None:
    with pytest.raises(ScenarioError, match="names no transactions"):
        wanted(words, None, None)


def test_transactions_beyond_the_end_are_refused() -> None:
    with pytest.raises(ScenarioError, match="the log has no transaction 70"):
        selected(shop(), wanted("70", None, None))


@pytest.mark.parametrize("data", [b"", b"no log", b"\xfebin", b"\xfdbin" + bytes(600)])
def test_what_is_no_binary_log_is_refused(data: bytes) -> None:
    with pytest.raises(FormatError):
        retold(data, name="x", file="x")


def test_a_torn_log_has_a_scenario_too() -> None:
    data = shop()[:-30]
    told = retold(data, name="torn", file="torn")
    assert told.identical
    assert rebuilt(told.tree) == data


def test_an_anonymised_log_keeps_lengths_keys_and_shape() -> None:
    data = shop()
    other = anonymised(data, "seed")
    assert other == anonymised(data, "seed") != anonymised(data, "another")
    assert len(other) == len(data)
    rows, others = forge.read(data).rows, forge.read(other).rows
    assert [(row.kind, set(row.after or ()), set(row.before or ())) for row in rows] == [
        (row.kind, set(row.after or ()), set(row.before or ())) for row in others
    ]
    names = {(one.after or {}).get("@2"): (two.after or {}).get("@2") for one, two in zip(rows, others, strict=True)}
    assert names[None] is None
    name = str(names["Ann"])
    assert (len(name), name.istitle(), name == "Ann") == (3, True, False)
    assert retold(other, name="other", file="other").identical


@pytest.mark.parametrize("number", [0, 1, -1, 9, 10, -128, 127, 128, 255, 256, -32768, 2**31 - 1, 2**63 - 1, 2**64 - 1])
def test_another_integer_fits_the_same_types(number: int) -> None:
    cipher = Cipher("seed")
    found = cipher.integer(number)
    assert (found < 0, len(str(found)), found == 0) == (number < 0, len(str(number)), number == 0)
    for bits in (7, 8, 15, 16, 31, 32, 63, 64):
        assert (-(2**bits) <= found < 2**bits) == (-(2**bits) <= number < 2**bits)


def test_different_texts_and_numbers_stay_different() -> None:
    cipher = Cipher("seed")
    assert len({cipher.integer(number) for number in range(-300, 300)}) == 600
    assert len({cipher.text(f"Name {number}") for number in range(200)}) == 200
    assert cipher.text("2024-02-29 10:00:00")[10:] == " 10:00:00"


def test_a_statement_has_the_literals_that_its_rows_have() -> None:
    cipher = Cipher("seed")
    sql = "UPDATE t SET a = 'Ann' /* Bo */ WHERE id = 17 LIMIT 3"
    assert (
        cipher.sql(sql) == f"UPDATE t SET a = '{cipher.text('Ann')}' /* Bo */ WHERE id = {cipher.integer(17)} LIMIT 3"
    )


def test_a_log_has_a_script_that_makes_it() -> None:
    data = shop(gtid="true")
    told = retold(data, name="shop", file="binlog.000001", as_script=True)
    assert told.identical
    assert told.script is not None
    assert forge.build(told.script).files[0].data == data
