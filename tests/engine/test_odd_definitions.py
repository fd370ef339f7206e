"""Column definitions that look right or wrong, as MySQL 9.7, MariaDB 10.11 and 11.8 took them."""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError, UnsupportedError
from forge.scenario import Scenario, insert, plan

MYSQL, MARIADB = ("mysql-9.7",), ("mariadb-10.11", "mariadb-11.8")
BOTH = (*MYSQL, *MARIADB)


def define(server: str, column: str) -> None:
    scenario = Scenario("odd", server=server, tables=[f"CREATE TABLE d.t (id INT PRIMARY KEY, {column})"])
    plan(scenario.transaction(insert("d.t", {"id": 1})))


@pytest.mark.parametrize(
    ("column", "servers"),
    [
        ("c INT(255)", BOTH),
        ("c MEDIUMINT, KEY (c(3))", BOTH),
        ("c DECIMAL(5), UNIQUE KEY (c(3))", BOTH),
        ("c INT DEFAULT ('5')", BOTH),
        ("c UUID DEFAULT '5a2e91c2-a594-8d3a-9dac-9637348604c2'", MARIADB),
        ("c ENUM('a','2') DEFAULT '2'", BOTH),
        ("c POINT SRID 4326", MYSQL),
        ("c INT COLUMN_FORMAT DYNAMIC STORAGE DISK", MYSQL),
        ("c CHAR(3) DEFAULT 'abc '", BOTH),
        ("c INT DEFAULT x'41'", MYSQL),
        ("c INT DEFAULT 0x41", BOTH),
        ("c DATE DEFAULT (CURRENT_DATE)", BOTH),
        ("c DATE DEFAULT CURRENT_DATE()", MARIADB),
        ("c TIME DEFAULT CURRENT_TIME", MARIADB),
        ("c TIME(3) DEFAULT (CURTIME(3))", BOTH),
        ("c VARCHAR(5) CHARACTER SET utf8mb4 COLLATE uca1400_as_cs", MARIADB),
        ("c TEXT(4294967295)", BOTH),
        ("c VECTOR(0)", MYSQL),
        ("c INET6 DEFAULT '::01.2.3.4'", MARIADB),
        ("c INT CHECK ((c > 1) OR 1)", BOTH),
        ("c VARCHAR(3) COLLATE latin1_bin AS ('1')", BOTH),
        ("c INT AS (1) COMMENT 'c' INVISIBLE UNIQUE", BOTH),
        ("c INT, KEY (c) USING HASH", BOTH),
        ("c BINARY(3) UNIQUE KEY DEFAULT ('[]') INVISIBLE", BOTH),
        ("c INT, KEY k (c) INVISIBLE", MYSQL),
        ("c DATETIME DEFAULT ' '", ()),
        ("c NCHAR(3) COLLATE utf8mb3_bin", BOTH),
        ("c TEXT, FULLTEXT KEY (c) USING BTREE", ()),
        ("c VARCHAR(5) AS ('a') STORED, FULLTEXT KEY (c)", BOTH),
        ("c DATE DEFAULT (UPPER('x'))", ()),
        ("c TINYINT DEFAULT (10 * 100)", ()),
        ("c TINYINT NOT NULL DEFAULT (NULLIF(1, 1))", ()),
        ("c DATE DEFAULT (UPPER('2020-01-01'))", BOTH),
        ("c INT COLLATE latin1_bin", BOTH),
        ("c INT COLLATE latin7_none", ()),
    ],
)
def test_a_server_takes_a_definition_or_not(column: str, servers: tuple[str, ...]) -> None:
    for server in BOTH:
        if server in servers:
            define(server, column)
        else:
            with pytest.raises((ScenarioError, UnsupportedError)):
                define(server, column)


def test_an_srid_has_to_be_one_of_a_reference_system() -> None:
    with pytest.raises(ScenarioError, match="no spatial reference system with SRID 999999"):
        define("mysql-9.7", "c POINT SRID 999999")


def test_a_column_that_lost_its_default_wants_a_value_on_mysql() -> None:
    for server in BOTH:
        scenario = Scenario("lost", server=server, tables=["CREATE TABLE d.t (id INT PRIMARY KEY, v INT)"])
        scenario = scenario.ddl("ALTER TABLE d.t ALTER v DROP DEFAULT").transaction(insert("d.t", {"id": 1}))
        if server in MARIADB:
            plan(scenario)
        else:
            with pytest.raises(ScenarioError, match="'v' has no default"):
                plan(scenario)
