"""What the search against live servers found (tests/long/live): what ALTER TABLE makes of columns and rows."""

from __future__ import annotations

import pytest

from forge.binlog.reader import read_events
from forge.compile import compile_files, write_files
from forge.errors import ScenarioError, UnsupportedError
from forge.events.query import Query
from forge.scenario import Scenario, Session, ddl, insert, plan

MYSQL, MARIADB = "mysql-9.7", "mariadb-11.8"


def variables_of_alter_table(scenario: Scenario, action: str) -> dict[str, object]:
    """The status variables of an ALTER TABLE behind the scenario."""
    planned = plan(scenario.transaction(ddl(f"ALTER TABLE d.t {action}")))
    (log,) = write_files(planned, compile_files(planned))
    bodies = [placed.event.body for placed in read_events(log)]
    (query,) = (body for body in bodies if isinstance(body, Query) and body.query.startswith("ALTER"))
    return dict(query.status_variables)


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
@pytest.mark.parametrize(
    ("column", "is_taken"),
    [("FLOAT DEFAULT 20240229", False), ("FLOAT DEFAULT 1.5", True), ("FLOAT DEFAULT 0.1234567", False),
     ("FLOAT(9,2) DEFAULT 123456.53", True), ("DOUBLE DEFAULT 0.1234567", True)],
)  # fmt: skip
def test_alter_table_beside_a_default_of_more_digits_than_it_prints_is_not_supported(
    server: str, column: str, is_taken: bool
) -> None:
    """Servers print six digits of a FLOAT, and read them again."""
    scenario = Scenario("digits", server=server, tables=[f"CREATE TABLE d.t (a INT, f {column})"])
    plan(scenario.transaction(ddl("RENAME TABLE d.t TO d.u")))
    plan(scenario.transaction(ddl("ALTER TABLE d.t MODIFY f FLOAT DEFAULT 0.1234567")))
    altered = scenario.transaction(ddl("ALTER TABLE d.t ADD x INT"))
    if is_taken:
        plan(altered)
    else:
        with pytest.raises(UnsupportedError, match="beside the default of the FLOAT column 'f'"):
            plan(altered)


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
@pytest.mark.parametrize(
    ("column", "changed", "prefix"),
    [("TINYTEXT", "SET('a','b')", None), ("VARCHAR(9)", "VARCHAR(2)", None), ("VARCHAR(9)", "DATE", None),
     ("VARCHAR(9)", "TEXT", 3), ("VARCHAR(3)", "VARCHAR(20)", None), ("TEXT", "CHAR", None), ("TEXT", "CHAR(3)", None)],
)  # fmt: skip
def test_a_key_that_stays_has_a_prefix_while_its_column_is_longer(
    server: str, column: str, changed: str, prefix: int | None
) -> None:
    scenario = Scenario("prefix", server=server, tables=[f"CREATE TABLE d.t (a {column}, PRIMARY KEY (a(3)))"])
    (key,) = plan(scenario.transaction(ddl(f"ALTER TABLE d.t MODIFY a {changed}"))).tables["d.t"].keys
    assert key.parts[0].prefix == prefix


def test_what_was_a_key_on_a_whole_column_has_no_prefix_for_a_text() -> None:
    """Error 1170."""
    scenario = Scenario("prefix", tables=["CREATE TABLE d.t (a VARCHAR(9), PRIMARY KEY (a(9)))"])
    with pytest.raises(ScenarioError, match="in a key without a length"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t MODIFY a TEXT")))


@pytest.mark.parametrize(
    ("server", "mode", "table", "action"),
    [
        (MYSQL, None, "a INT", "ADD x VECTOR(2) NOT NULL"),
        (MARIADB, None, "a INT", "ADD x POINT NOT NULL"),
        (MARIADB, None, "a INT", "ADD x VECTOR(2) NOT NULL"),
        (MYSQL, None, "a INT ZEROFILL", "MODIFY a VARCHAR(20)"),
        (MARIADB, None, "a INT, b INT AS (1)", "MODIFY b TIMESTAMP AS (20240229)"),
        (MYSQL, "", "a INT, b INT AS (1)", "MODIFY b TIMESTAMP AS (1)"),
        (MYSQL, "NO_ZERO_DATE", "a INT, at DATETIME NOT NULL", "ADD x CHAR(5) AS (1 + 1) STORED"),
    ],
)
def test_what_alter_table_makes_of_odd_rows_is_not_supported(
    server: str, mode: str | None, table: str, action: str
) -> None:
    scenario = Scenario("rows", server=server, session=Session(sql_mode=mode), tables=[f"CREATE TABLE d.t ({table})"])
    plan(scenario.transaction(ddl(f"ALTER TABLE d.t {action}")))
    with pytest.raises(UnsupportedError):
        plan(scenario.transaction(insert("d.t", {"a": 1})).transaction(ddl(f"ALTER TABLE d.t {action}")))


def test_an_invisible_key_on_a_part_of_a_text_is_not_supported() -> None:
    """Error 3522 for a TINYTEXT."""
    with pytest.raises(UnsupportedError, match="cannot be invisible"):
        plan(Scenario("keys", tables=["CREATE TABLE d.t (a TINYTEXT NOT NULL, UNIQUE KEY (a(3)) INVISIBLE)"]))


@pytest.mark.parametrize("action", ["CONVERT TO CHARACTER SET utf32", "CHARACTER SET ucs2"])
@pytest.mark.parametrize("column", ["b BINARY(3) AS (UPPER('ab'))", "b BINARY(3) DEFAULT (UPPER('ab'))"])
def test_mariadb_computes_literals_in_the_new_character_set_of_a_table(column: str, action: str) -> None:
    scenario = Scenario("sets", server=MARIADB, tables=[f"CREATE TABLE d.t (a INT, {column})"])
    plan(scenario.transaction(ddl("ALTER TABLE d.t CONVERT TO CHARACTER SET latin1")))
    with pytest.raises(UnsupportedError, match="wide characters"):
        plan(scenario.transaction(ddl(f"ALTER TABLE d.t {action}")))


@pytest.mark.parametrize(
    ("options", "action", "copies"),
    [
        ("", "DROP v, ADD x INT", True),
        ("", "DROP v, DROP a, ADD x INT", False),
        ("", "RENAME COLUMN a TO b, ADD x INT AS (2)", True),
        ("", "CHANGE a b INT, DROP v", True),
        ("", "RENAME COLUMN a TO b, ADD x INT", False),
        ("", "MODIFY v INT AS (1) COMMENT 'n'", False),
        ("", "MODIFY v BIGINT AS (1)", True),
        ("", "ADD x INT AS (2) FIRST", True),
        ("", "ADD x INT AS (2)", False),
        ("", "ADD x INT AS (2), COMMENT 'n'", True),
        ("", "ADD x INT AS (2), ADD KEY (a)", False),
        ("", "ADD x INT AS (2), ADD UNIQUE KEY (a)", True),
        ("", "ADD x INT CHECK (x > 0)", True),
        ("KEY_BLOCK_SIZE=8", "ADD x INT", False),
        ("KEY_BLOCK_SIZE=8", "ADD x INT, DROP v", True),
        ("FULLTEXT", "ADD x INT", True),
        ("FULLTEXT", "FORCE", True),
        ("FULLTEXT", "ADD KEY (a)", False),
        ("FULLTEXT", "ADD x SERIAL", False),
        ("", "AUTO_INCREMENT=50", False),
        ("ENGINE=MyISAM", "AUTO_INCREMENT=50", True),
        ("", "ADD x INT DEFAULT (1 + 1)", True),
        ("ENGINE=MyISAM", "CONVERT TO CHARACTER SET latin1", True),
        ("ENGINE=MyISAM", "COMMENT 'n', MAX_ROWS=5", True),
        ("ENGINE=MyISAM", "CHECKSUM=1", True),
        ("ENGINE=MyISAM CHECKSUM=1", "CHECKSUM=1", False),
        ("ENGINE=MyISAM", "KEY_BLOCK_SIZE=8", False),
        ("ENGINE=MyISAM", "ROW_FORMAT=DYNAMIC", True),
        ("ENGINE=MyISAM ROW_FORMAT=DYNAMIC", "ROW_FORMAT=DYNAMIC", False),
    ],
)
def test_mysql_names_the_time_zone_where_it_copies_moments(options: str, action: str, copies: bool) -> None:
    virtual = "" if "MyISAM" in options else ", v INT AS (1)"
    key = ", FULLTEXT KEY (s)" if options == "FULLTEXT" else ""
    options = options.replace("FULLTEXT", "")
    table = f"CREATE TABLE d.t (at DATETIME, a INT, s TEXT{virtual}{key}) {options}"
    scenario = Scenario("copies", tables=[table])
    scenario = scenario.transaction(insert("d.t", {"at": "2024-02-29 10:11:12"}))
    assert ("time_zone" in variables_of_alter_table(scenario, action)) == copies


@pytest.mark.parametrize(
    ("column", "changed", "value", "has_zone"),
    [
        ("TIMESTAMP NULL", "DATETIME", "2024-02-29", True),
        ("TIMESTAMP NULL", "TEXT", "2024-02-29", True),
        ("TIMESTAMP NULL", "TEXT", None, False),
        ("TIMESTAMP NULL", "TIMESTAMP(3) NULL", "2024-02-29", False),
        ("DATE", "TIMESTAMP NULL", "2024-02-29", True),
        ("DATE", "DATETIME", "2024-02-29", False),
    ],
)
def test_mariadb_names_the_time_zone_where_rows_get_or_lose_a_timestamp(
    column: str, changed: str, value: str | None, has_zone: bool
) -> None:
    scenario = Scenario("zones", server=MARIADB, tables=[f"CREATE TABLE d.t (at {column}, a INT)"])
    scenario = scenario.transaction(insert("d.t", {"at": value, "a": 1}))
    assert ("time_zone" in variables_of_alter_table(scenario, f"MODIFY at {changed}")) == has_zone


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
@pytest.mark.parametrize(
    ("options", "action", "is_taken"),
    [
        ("KEY_BLOCK_SIZE=8", "ROW_FORMAT=DYNAMIC", False),
        ("KEY_BLOCK_SIZE=8", "ROW_FORMAT=DYNAMIC, KEY_BLOCK_SIZE=0", True),
        ("ROW_FORMAT=COMPACT", "KEY_BLOCK_SIZE=8", False),
        ("ENGINE=MyISAM ROW_FORMAT=FIXED", "ENGINE=InnoDB", False),
        ("ENGINE=MyISAM ROW_FORMAT=DYNAMIC", "ENGINE=InnoDB", True),
    ],
)
def test_options_of_a_table_go_with_those_that_it_has(server: str, options: str, action: str, is_taken: bool) -> None:
    """Errors 1478, 1031 and 1005."""
    scenario = Scenario("options", server=server, tables=[f"CREATE TABLE d.t (a INT) {options}"])
    altered = scenario.transaction(ddl(f"ALTER TABLE d.t {action}"))
    if is_taken:
        plan(altered)
    else:
        with pytest.raises(ScenarioError, match=r"KEY_BLOCK_SIZE|ROW_FORMAT"):
            plan(altered)


@pytest.mark.parametrize(
    "action",
    ["MODIFY id INT AUTO_INCREMENT DEFAULT NULL", "MODIFY id BIGINT DEFAULT NULL", "MODIFY id BIGINT NULL",
     "DROP PRIMARY KEY, ADD x SERIAL PRIMARY KEY DEFAULT NULL"],
)  # fmt: skip
def test_a_column_that_alter_table_defines_for_the_primary_key_has_no_null(action: str) -> None:
    """Error 1171."""
    scenario = Scenario("keys", tables=["CREATE TABLE d.t (id INT PRIMARY KEY)"])
    with pytest.raises(ScenarioError, match="NULL"):
        plan(scenario.transaction(ddl(f"ALTER TABLE d.t {action}")))


def test_the_value_of_an_enum_that_is_no_member_stays_one() -> None:
    scenario = Scenario("members", tables=["CREATE TABLE d.t (id INT PRIMARY KEY, v ENUM('a','b'))"])
    scenario = scenario.transaction(insert("d.t", {"id": 1, "v": "0"}))
    scenario = scenario.transaction(ddl("ALTER TABLE d.t MODIFY v ENUM('b','a') CHARACTER SET latin1"))
    assert plan(scenario).contents["d.t"] == ((1, 0),)


@pytest.mark.parametrize(("server", "is_taken"), [(MYSQL, True), (MARIADB, False)])
def test_no_zero_date_keeps_a_new_date_out_of_a_table_with_rows_on_mariadb(server: str, is_taken: bool) -> None:
    """Error 1292."""
    session = Session(sql_mode="NO_ZERO_DATE")
    scenario = Scenario("dates", server=server, session=session, tables=["CREATE TABLE d.t (id INT PRIMARY KEY)"])
    scenario = scenario.transaction(insert("d.t", {"id": 1}))
    altered = scenario.transaction(ddl("ALTER TABLE d.t ADD x DATE NOT NULL"))
    if is_taken:
        assert plan(altered).contents["d.t"] == ((1, "0000-00-00"),)
    else:
        with pytest.raises(ScenarioError, match="no value for the new DATE column"):
            plan(altered)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("VARCHAR(9) CHARACTER SET ucs2 DEFAULT 1e3", "1000"),
        ("VARCHAR(9) DEFAULT 150e-1", "15"),
        ("CHAR(9) DEFAULT 1.50", "1.50"),
    ],
)
def test_a_number_with_an_exponent_is_a_double_as_the_default_of_a_text(column: str, value: str) -> None:
    scenario = Scenario("doubles", tables=[f"CREATE TABLE d.t (id INT PRIMARY KEY, v {column})"])
    assert plan(scenario.transaction(insert("d.t", {"id": 1}))).contents["d.t"] == ((1, value),)


def test_a_double_as_the_default_of_a_char_of_wide_characters_is_not_supported() -> None:
    """MySQL 9.7 takes the bytes of its digits for characters."""
    with pytest.raises(UnsupportedError, match="without ASCII"):
        plan(Scenario("doubles", tables=["CREATE TABLE d.t (v CHAR(5) CHARACTER SET ucs2 DEFAULT 1e3)"]))


@pytest.mark.parametrize(("mode", "is_unsupported"), [(None, False), ("", True)])
def test_a_default_has_no_more_places_than_mysql_computes_with(mode: str | None, is_unsupported: bool) -> None:
    """Error 1366; in a row they round to zero."""
    session = Session(sql_mode=mode)
    table = "CREATE TABLE d.t (v DECIMAL(10,2) DEFAULT '{}')"
    plan(Scenario("places", session=session, tables=[table.format("1e-81")]))
    plan(Scenario("places", server=MARIADB, session=session, tables=[table.format("1e-82")]))
    with pytest.raises(ScenarioError, match="81 places at most") as caught:
        plan(Scenario("places", session=session, tables=[table.format("1e-82")]))
    assert isinstance(caught.value, UnsupportedError) == is_unsupported


@pytest.mark.parametrize(
    ("default", "is_taken"), [("0xe3818b", True), ("'\u304b'", False), ("'a'", True)], ids=["hex", "text", "ascii"]
)
def test_mariadb_keeps_the_default_of_a_text_in_the_set_of_its_table_unless_it_is_hex(
    default: str, is_taken: bool
) -> None:
    """Error 1918."""
    table = f"CREATE TABLE d.t (a TEXT CHARACTER SET utf8mb4 DEFAULT {default}) CHARSET=latin1"
    scenario = Scenario("texts", server=MARIADB, tables=[table])
    if is_taken:
        plan(scenario)
    else:
        with pytest.raises(ScenarioError, match="latin1 cannot hold"):
            plan(scenario)


@pytest.mark.parametrize(
    ("options", "action", "has_zone"),
    [
        ("", "ADD x INT", False),
        ("", "ADD x INT, ALTER a SET INVISIBLE", False),
        ("", "ADD x INT, CHANGE a b INT COMMENT 'n'", False),
        ("", "ADD x INT, COMMENT 'n'", True),
        ("KEY_BLOCK_SIZE=8", "ADD x INT", True),
        ("KEY_BLOCK_SIZE=8", "DROP v", False),
        ("", "DROP v", False),
        ("", "MODIFY v INT AS (1) FIRST", False),
        ("", "MODIFY a INT UNIQUE", True),
    ],
)
def test_mysql_names_the_time_zone_where_it_changes_records_with_the_time_as_a_default(
    options: str, action: str, has_zone: bool
) -> None:
    table = f"CREATE TABLE d.t (at DATETIME DEFAULT CURRENT_TIMESTAMP, a INT, v INT AS (1), KEY (v)) {options}"
    scenario = Scenario("places", tables=[table]).transaction(insert("d.t", {"at": None, "a": 1}))
    assert ("time_zone" in variables_of_alter_table(scenario, action)) == has_zone


@pytest.mark.parametrize(
    ("mode", "action", "problem"),
    [
        ("", "ALTER at DROP DEFAULT", "which is the time, without strict mode"),
        (None, "DROP a, ADD a INT", "in place of one with a key"),
    ],
)
def test_what_mysql_makes_of_defaults_and_keys_that_go_is_not_supported(
    mode: str | None, action: str, problem: str
) -> None:
    table = "CREATE TABLE d.t (at DATETIME DEFAULT CURRENT_TIMESTAMP, a INT, KEY (a))"
    with pytest.raises(UnsupportedError, match=problem):
        plan(
            Scenario("odd", session=Session(sql_mode=mode), tables=[table]).transaction(
                ddl(f"ALTER TABLE d.t {action}")
            )
        )


def test_mariadb_makes_no_column_invisible_by_set() -> None:
    """Error 1064."""
    scenario = Scenario("words", server=MARIADB, tables=["CREATE TABLE d.t (a INT, b INT)"])
    with pytest.raises(ScenarioError, match="expected DEFAULT"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t ALTER a SET INVISIBLE")))


@pytest.mark.parametrize(
    ("mode", "column", "action", "copies"),
    [
        (None, "a INT", "MODIFY a INT NOT NULL", False),
        ("", "a INT", "MODIFY a INT NOT NULL", True),
        ("", "a INT NOT NULL", "MODIFY a INT", False),
        ("", "a INT", "ADD PRIMARY KEY (a)", True),
        (None, "a INT, s SET('a','b') UNICODE AS (1)", "CONVERT TO CHARACTER SET utf16", False),
        (None, "a INT, s SET('a','b') AS (1)", "MODIFY s SET('a','b','c') AS (1)", False),
        (None, "a INT, s SET('a','b') AS (1)", "MODIFY s SET('b','a') AS (1)", True),
    ],
)
def test_mysql_copies_for_what_becomes_not_null_without_strict_mode_and_for_types_of_generated_columns(
    mode: str | None, column: str, action: str, copies: bool
) -> None:
    table = f"CREATE TABLE d.t (at DATETIME, {column})"
    scenario = Scenario("copies", session=Session(sql_mode=mode), tables=[table])
    scenario = scenario.transaction(insert("d.t", {"at": "2024-02-29 10:11:12", "a": 1}))
    assert ("time_zone" in variables_of_alter_table(scenario, action)) == copies


def test_mariadb_computes_bytes_for_wide_characters_in_a_table_of_the_collation_binary() -> None:
    table = "CREATE TABLE d.t (a VARCHAR(5) CHARACTER SET utf32 AS (CONCAT('a', 1)), b INT) CHARSET=binary"
    plan(Scenario("wide", tables=[table]))
    plan(Scenario("wide", server=MARIADB, tables=[table.replace("utf32", "latin1")]))
    with pytest.raises(UnsupportedError, match="wide characters in a table of bytes"):
        plan(Scenario("wide", server=MARIADB, tables=[table]))


def test_alter_table_asks_for_the_time_zone_beside_a_date_that_is_today_by_default() -> None:
    """Recorded on MariaDB 10.11 and 11.8; what it reads of other clocks is refused by name."""
    scenario = Scenario("clocks", server=MARIADB, tables=["CREATE TABLE d.t (a DATE DEFAULT (CURRENT_DATE), b INT)"])
    assert variables_of_alter_table(scenario, "DROP b")["time_zone"] == "+00:00"
    for column in ("TIME DEFAULT CURRENT_TIME", "DATE DEFAULT NOW()"):
        with pytest.raises(UnsupportedError, match="ALTER TABLE beside the default"):
            plan(
                Scenario("clocks", server=MARIADB, tables=[f"CREATE TABLE d.t (a {column}, b INT)"]).transaction(
                    ddl("ALTER TABLE d.t DROP b")
                )
            )
