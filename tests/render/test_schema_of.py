"""WL#4618 F7: the definition of a table can be had from its table map."""

from __future__ import annotations

import json
from typing import Literal

import pytest

from forge.binlog import write_binlog
from forge.compile import compile_plan
from forge.plan.session import Session
from forge.render.schema_of import schemas_of
from forge.scenario import Scenario, insert, plan

ORDERS = (
    "CREATE TABLE shop.orders (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY,"
    " who VARCHAR(60) CHARACTER SET latin1 NOT NULL, e ENUM('a','it''s') DEFAULT 'a', d DECIMAL(10,2) UNSIGNED,"
    " g POINT, at DATETIME(3) INVISIBLE)"
)


def orders(server: str, row_metadata: Literal["minimal", "full"]) -> bytes:
    scenario = Scenario(
        scenario="orders", server=server, session=Session(row_metadata=row_metadata), tables=[ORDERS]
    ).transaction(insert("shop.orders", {"who": "Ann"}))
    return write_binlog(compile_plan(plan(scenario)))


def test_full_metadata_tells_the_whole_definition() -> None:
    (schema,) = schemas_of(orders("mysql-9.7", "full"))
    assert schema.create_table() == (
        "CREATE TABLE `shop`.`orders` (\n"
        "  `id` BIGINT UNSIGNED NOT NULL,\n"
        "  `who` VARCHAR(60) CHARACTER SET latin1 COLLATE latin1_swedish_ci NOT NULL,\n"
        "  `e` ENUM('a','it\\'s') CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci NULL,\n"
        "  `d` DECIMAL(10,2) UNSIGNED NULL,\n"
        "  `g` POINT NULL,\n"
        "  `at` DATETIME(3) NULL INVISIBLE,\n"
        "  PRIMARY KEY (`id`) /* or the first UNIQUE key of NOT NULL columns */\n"
        ");\n"
    )


def test_minimal_metadata_leaves_names_and_members_unknown() -> None:
    (schema,) = schemas_of(orders("mysql-9.7", "minimal"))
    text = schema.create_table()
    assert "`@1` BIGINT UNSIGNED NOT NULL /* unknown: name */" in text
    assert "`@3` ENUM NULL /* unknown: name, character set, members */" in text


@pytest.mark.parametrize("row_metadata", ["minimal", "full"])
def test_a_generated_invisible_column_is_the_primary_key(row_metadata: Literal["minimal", "full"]) -> None:
    session = Session(row_metadata=row_metadata, generate_invisible_primary_key=True)
    scenario = Scenario("keyless", session=session, tables=["CREATE TABLE d.t (a INT)"])
    (schema,) = schemas_of(write_binlog(compile_plan(plan(scenario.transaction(insert("d.t", {"a": 1}))))))
    text = schema.create_table()
    assert "AUTO_INCREMENT INVISIBLE" in text
    assert text.count("PRIMARY KEY (`") == 1


def test_the_column_facts_have_what_readers_of_the_worklog_asked_for() -> None:
    (schema,) = schemas_of(orders("mysql-9.7", "full"))
    columns = json.loads(json.dumps(schema.as_json()))["columns"]
    assert columns[0]["unsigned"] is True
    assert columns[0]["key_part"] == 1
    assert columns[0]["unique"] is True
    assert (columns[1]["characters"], columns[1]["octets"], columns[1]["charset"]) == (60, 60, "latin1")
    assert columns[2]["members"] == ["a", "it's"]
    assert columns[5]["visible"] is False


@pytest.mark.parametrize("server", ["mysql-8.0", "mysql-8.4"])
def test_every_line_that_writes_full_metadata_tells_the_same(server: str) -> None:
    (schema,) = schemas_of(orders(server, "full"))
    (newest,) = schemas_of(orders("mysql-9.7", "full"))
    assert schema.create_table() == newest.create_table()
