"""When ALTER TABLE copies a table, as recorded on MySQL 9.7 (forge.engine.ddl.alter_copy, alter_method)."""

from __future__ import annotations

import pytest

from forge.plan.definitions import TableAlteration, TableChange
from forge.plan.transactions import Group
from forge.scenario import Scenario, insert, plan

#: Old type, new type, whether the table is copied.
TYPES = [
    ("VARCHAR(10)", "VARCHAR(63)", False),
    ("VARCHAR(10)", "VARCHAR(64)", True),
    ("VARCHAR(64)", "VARCHAR(300)", False),
    ("VARCHAR(20)", "VARCHAR(10)", True),
    ("VARCHAR(100) CHARACTER SET latin1", "VARCHAR(255) CHARACTER SET latin1", False),
    ("VARCHAR(255) CHARACTER SET latin1", "VARCHAR(256) CHARACTER SET latin1", True),
    ("VARCHAR(10)", "VARCHAR(10) COLLATE utf8mb4_bin", False),
    ("VARCHAR(10), KEY (c)", "VARCHAR(10) COLLATE utf8mb4_bin", True),
    ("VARCHAR(10) CHARACTER SET utf8mb3", "VARCHAR(10) CHARACTER SET utf8mb4", False),
    ("VARCHAR(80) CHARACTER SET utf8mb3", "VARCHAR(80) CHARACTER SET utf8mb4", True),
    ("VARCHAR(10) CHARACTER SET utf8mb3, KEY (c)", "VARCHAR(10) CHARACTER SET utf8mb4", True),
    ("VARCHAR(10) CHARACTER SET ascii", "VARCHAR(10) CHARACTER SET utf8mb4", True),
    ("VARCHAR(10) CHARACTER SET latin1", "VARCHAR(10) CHARACTER SET ascii", True),
    ("VARCHAR(10)", "VARBINARY(40)", False),
    ("VARBINARY(10)", "VARCHAR(10)", True),
    ("VARBINARY(10)", "VARBINARY(20)", False),
    ("VARBINARY(10)", "VARBINARY(300)", True),
    ("CHAR(5)", "CHAR(6)", True),
    ("CHAR(5)", "CHAR(5) COLLATE utf8mb4_bin", False),
    ("CHAR(3)", "VARCHAR(3)", True),
    ("BINARY(3)", "BINARY(4)", True),
    ("TEXT", "TEXT(10)", True),
    ("TEXT", "MEDIUMTEXT", True),
    ("TEXT CHARACTER SET utf8mb3", "TEXT CHARACTER SET utf8mb4", False),
    ("TEXT", "TEXT CHARACTER SET latin1", True),
    ("BLOB", "TEXT", True),
    ("ENUM('1','b')", "ENUM('1','b','c')", False),
    ("ENUM('1','b')", "ENUM('1','c','b')", True),
    ("ENUM('1') CHARACTER SET ascii", "ENUM('1') CHARACTER SET utf8mb4", False),
    ("SET('1','b')", "SET('1','b','c')", False),
    ("SET('1','2','3','4','5','6','7','8')", "SET('1','2','3','4','5','6','7','8','9')", True),
    ("INT", "INT UNSIGNED", True),
    ("INT", "INT ZEROFILL", True),
    ("INT UNSIGNED", "INT UNSIGNED ZEROFILL", False),
    ("INT", "BIGINT", True),
    ("DECIMAL(5,2)", "DECIMAL(6,2)", True),
    ("BIT(3)", "BIT(4)", True),
    ("FLOAT", "DOUBLE", True),
    ("FLOAT(7,3)", "FLOAT", False),
    ("DOUBLE", "DOUBLE(7,3)", False),
    ("INT", "INT NOT NULL", False),
    ("INT", "INT DEFAULT 5", False),
    ("INT", "INT INVISIBLE", False),
    ("INT", "INT FIRST", False),
    ("INT", "INT AUTO_INCREMENT UNIQUE", True),
]

TABLE = "CREATE TABLE d.t (id INT NOT NULL PRIMARY KEY, x DATETIME, c {column})"


def altered(create: str, alter: str) -> TableAlteration:
    scenario = Scenario("x", tables=[create])
    scenario = scenario.transaction(insert("d.t", {"id": 1, "c": "1", "x": "2024-01-01"}))
    statement = plan(scenario.ddl(f"ALTER TABLE t {alter}")).groups[-1]
    assert isinstance(statement, TableAlteration)
    return statement


def changed(statement: Group) -> TableChange:
    assert isinstance(statement, TableAlteration)
    assert statement.change is not None
    return statement.change


@pytest.mark.parametrize(("old", "new", "copied"), TYPES)
def test_a_changed_type_copies_the_table_where_cells_change(old: str, new: str, copied: bool) -> None:
    change = changed(altered(TABLE.format(column=old), f"MODIFY c {new}"))
    assert (change.method == "copy") is copied
    assert change.copies_moments


@pytest.mark.parametrize(
    ("alter", "method"),
    [
        ("DROP PRIMARY KEY", "copy"),
        ("DROP PRIMARY KEY, ADD PRIMARY KEY (c)", "in_place"),
        ("DROP PRIMARY KEY, ADD UNIQUE (c)", "copy"),
        ("ADD s INT AS (id) STORED", "copy"),
        ("ADD s INT AS (id) VIRTUAL", "metadata"),
        ("ADD n INT", "metadata"),
        ("ADD n INT, ALGORITHM=COPY", "copy"),
        ("ADD n INT AUTO_INCREMENT UNIQUE", "in_place"),
        ("ADD KEY (c)", "in_place"),
        ("FORCE", "in_place"),
        ("ENGINE=InnoDB", "in_place"),
        ("ROW_FORMAT=COMPACT", "in_place"),
        ("COMMENT='x'", "metadata"),
        ("RENAME TO u", "rename"),
        ("RENAME COLUMN c TO b", "metadata"),
    ],
)
def test_the_action_that_needs_most_decides(alter: str, method: str) -> None:
    assert changed(altered(TABLE.format(column="INT"), alter)).method == method


def test_a_key_that_stands_in_for_the_primary_key_is_missed_too() -> None:
    create = "CREATE TABLE d.t (id INT NOT NULL, x DATETIME, c INT, UNIQUE KEY (id))"
    assert changed(altered(create, "DROP KEY id")).method == "copy"


def test_statements_without_an_action_have_no_effect() -> None:
    for alter in ("RENAME TO t", "ALGORITHM=INPLACE"):
        assert altered(TABLE.format(column="INT"), alter).no_effect
    assert not altered(TABLE.format(column="INT"), "FORCE").no_effect


@pytest.mark.parametrize(
    ("old", "new", "converted"),
    [
        ("DATE", "DATETIME", True),
        ("DATE", "TIMESTAMP NULL", True),
        ("DATE", "CHAR(10)", False),
        ("TIMESTAMP NULL", "DATETIME", True),
        ("TIMESTAMP NULL", "VARCHAR(20)", True),
        ("DATETIME", "VARCHAR(20)", False),
        ("VARCHAR(20)", "VARCHAR(10)", False),
    ],
)
def test_moments_are_converted_into_datetime_and_to_and_from_timestamp(old: str, new: str, converted: bool) -> None:
    scenario = Scenario("x", tables=[f"CREATE TABLE d.t (c {old})"]).transaction(insert("d.t", {"c": "2024-01-01"}))
    statement = plan(scenario.ddl(f"ALTER TABLE t MODIFY c {new}")).groups[-1]
    assert changed(statement).copies_moments is converted
    empty = Scenario("x", tables=[f"CREATE TABLE d.t (c {old})"]).transaction(insert("d.t", {}))
    statement = plan(empty.ddl(f"ALTER TABLE t MODIFY c {new}")).groups[-1]
    assert not changed(statement).copies_moments
