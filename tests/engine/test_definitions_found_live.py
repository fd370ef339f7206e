"""What the search against live servers found (tests/long/live): definitions that servers take, or refuse."""

from __future__ import annotations

import msgspec
import pytest

from forge.binlog.reader import read_events
from forge.compile import compile_files, write_files
from forge.errors import ScenarioError, UnsupportedError
from forge.events.table_map import TableMap
from forge.plan.keys import key_of_rows
from forge.scenario import Scenario, Session, ddl, insert, plan

MYSQL, MARIADB = "mysql-9.7", "mariadb-11.8"


@pytest.mark.parametrize(
    ("server", "columns", "problem"),
    [
        (MYSQL, "a DATE DEFAULT DATE '2024-02-29'", "no date or time as a literal default"),
        (MYSQL, "a INT, PRIMARY KEY (a) INVISIBLE", "the primary key cannot be invisible"),
        (MARIADB, "a INT AS (1) STORED, PRIMARY KEY (a)", "cannot be in the primary key"),
        (MARIADB, "id INT PRIMARY KEY, at DATETIME NOT NULL INVISIBLE", "the invisible column 'at' is NOT NULL"),
    ],
)
def test_a_definition_that_servers_refuse_is_refused(server: str, columns: str, problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        plan(Scenario("wrong", server=server, tables=[f"CREATE TABLE d.t ({columns})"]))


@pytest.mark.parametrize(
    "columns",
    [
        "a INT DEFAULT CURRENT_TIMESTAMP",
        "a CHAR(9) DEFAULT NOW(6)",
        "a CHAR(0), FULLTEXT KEY (a)",
        "a FLOAT(5,2) DEFAULT '1438'",
    ],
)
def test_what_mariadb_takes_and_is_not_simulated_is_refused_by_name(columns: str) -> None:
    with pytest.raises(UnsupportedError):
        plan(Scenario("unsupported", server=MARIADB, tables=[f"CREATE TABLE d.t ({columns})"]))


def test_a_literal_in_parentheses_is_looked_at_when_mariadb_makes_the_table() -> None:
    table = "CREATE TABLE d.t (id INT PRIMARY KEY, c INT DEFAULT ('x'))"
    assert plan(Scenario("x", tables=[table])).tables["d.t"].columns[1].computed_default
    with pytest.raises(ScenarioError, match="the default of column 'c' is impossible"):
        plan(Scenario("x", server="mariadb-11.8", tables=[table]))


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_tables_in_memory_have_no_fulltext_keys(server: str) -> None:
    with pytest.raises(ScenarioError, match="MEMORY tables have no FULLTEXT keys"):
        plan(Scenario("m", server=server, tables=["CREATE TABLE d.t (a CHAR(3), FULLTEXT KEY (a)) ENGINE=MEMORY"]))


def test_a_number_as_default_of_a_text_keeps_its_digits_unless_it_has_an_exponent() -> None:
    table = "CREATE TABLE d.t (id INT, a JSON DEFAULT 1.50, b JSON DEFAULT 1e3, c TEXT DEFAULT 1e30)"
    scenario = Scenario("n", server=MARIADB, tables=[table]).transaction(insert("d.t", {"id": 1}))
    assert [tuple(row) for row in plan(scenario).contents["d.t"]] == [(1, "1.50", "1000", "1e30")]


def test_an_invisible_column_has_its_time_from_updates_on_mariadb() -> None:
    table = "CREATE TABLE d.t (id INT PRIMARY KEY, at DATETIME NOT NULL INVISIBLE ON UPDATE CURRENT_TIMESTAMP)"
    assert not plan(Scenario("i", server=MARIADB, tables=[table])).tables["d.t"].columns[1].visible


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_null_is_no_default_of_an_auto_increment_column(server: str) -> None:
    found = plan(
        Scenario("null", server=server, tables=["CREATE TABLE d.t (a INT AUTO_INCREMENT UNIQUE DEFAULT NULL)"])
    )
    assert not found.tables["d.t"].columns[0].has_default
    with pytest.raises(ScenarioError, match="cannot have a default"):
        plan(Scenario("one", server=server, tables=["CREATE TABLE d.t (a INT AUTO_INCREMENT UNIQUE DEFAULT 1)"]))


def test_what_a_mode_forbids_is_no_default_on_mariadb_without_strict_mode_too() -> None:
    scenario = Scenario("zero", server=MARIADB, session=Session(sql_mode="NO_ZERO_DATE"))
    table = "CREATE TABLE d.t (id INT PRIMARY KEY, at DATETIME DEFAULT 0)"
    with pytest.raises(ScenarioError, match="the default of column 'at' has a zero month or day"):
        plan(msgspec.structs.replace(scenario, tables=[table]))
    assert plan(msgspec.structs.replace(scenario, tables=[table], server=MYSQL)).tables["d.t"]
    assert plan(msgspec.structs.replace(scenario, tables=[table], session=Session(sql_mode=""))).tables["d.t"]


def test_alter_table_sets_the_time_as_default_in_parentheses_on_mysql() -> None:
    scenario = Scenario("now", server=MYSQL, tables=["CREATE TABLE d.t (id INT PRIMARY KEY, at DATETIME)"])
    with pytest.raises(ScenarioError, match="in parentheses"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t ALTER at SET DEFAULT CURRENT_TIMESTAMP")))
    assert plan(scenario.transaction(ddl("ALTER TABLE d.t ALTER at SET DEFAULT (CURRENT_TIMESTAMP)"))).tables["d.t"]
    on_mariadb = msgspec.structs.replace(scenario, server=MARIADB)
    assert plan(on_mariadb.transaction(ddl("ALTER TABLE d.t ALTER at SET DEFAULT CURRENT_TIMESTAMP"))).tables["d.t"]


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_null_that_becomes_a_number_is_refused_by_name(server: str) -> None:
    scenario = Scenario("numbers", server=server, tables=["CREATE TABLE d.t (a INT)"])
    altered = scenario.transaction(insert("d.t", {"a": None})).transaction(ddl("ALTER TABLE d.t MODIFY a SERIAL"))
    with pytest.raises(UnsupportedError, match="becomes AUTO_INCREMENT, but a row has NULL"):
        plan(altered)


@pytest.mark.parametrize(
    "column",
    ["c ENUM('a','A')", "c VARCHAR(70000)", "c ENUM('x','X') CHARACTER SET utf16"],
)
@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_a_definition_that_only_strict_mode_refuses_is_unsupported_without_it(server: str, column: str) -> None:
    scenario = Scenario("strict", server=server, tables=[f"CREATE TABLE d.t (id INT PRIMARY KEY, {column})"])
    with pytest.raises(ScenarioError) as refusal:
        plan(scenario)
    assert not isinstance(refusal.value, UnsupportedError)
    with pytest.raises(UnsupportedError, match="without strict mode"):
        plan(msgspec.structs.replace(scenario, session=Session(sql_mode="")))


def test_an_engine_that_mysql_does_not_have_is_unsupported_where_it_takes_another() -> None:
    scenario = Scenario("aria", server=MYSQL, tables=["CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=Aria"])
    with pytest.raises(ScenarioError, match=r"tables of Aria|engines of MariaDB"):
        plan(scenario)
    with pytest.raises(UnsupportedError, match="takes for Aria"):
        plan(msgspec.structs.replace(scenario, session=Session(sql_mode="STRICT_TRANS_TABLES")))


def test_without_strict_mode_alter_table_clips_what_a_new_generated_column_cannot_hold() -> None:
    scenario = Scenario("clips", tables=["CREATE TABLE d.t (id INT PRIMARY KEY)"])
    scenario = scenario.transaction(insert("d.t", {"id": 1}))
    scenario = scenario.transaction(ddl("ALTER TABLE d.t ADD x SET('a','b') AS (CONCAT('a', 1)) VIRTUAL"))
    with pytest.raises(ScenarioError, match="no member 'a1'"):
        plan(scenario)
    assert plan(msgspec.structs.replace(scenario, session=Session(sql_mode=""))).contents["d.t"] == ((1, 0),)


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
@pytest.mark.parametrize(("declared", "size"), [("TEXT(30)", 2), ("TEXT(300)", 3), ("TEXT(70000)", 4), ("TEXT", 3)])
def test_a_text_with_a_length_grows_with_its_character_set_as_the_type_that_it_became(
    server: str, declared: str, size: int
) -> None:
    table = f"CREATE TABLE d.t (id INT PRIMARY KEY, v {declared} CHARACTER SET latin1)"
    scenario = Scenario("texts", server=server, tables=[table])
    scenario = scenario.transaction(ddl("ALTER TABLE d.t CONVERT TO CHARACTER SET utf8mb4"))
    scenario = scenario.transaction(insert("d.t", {"id": 1}))
    planned = plan(scenario)
    (log,) = write_files(planned, compile_files(planned))
    bodies = [placed.event.body for placed in read_events(log)]
    assert [body.metadata for body in bodies if isinstance(body, TableMap)] == [bytes([size])]


@pytest.mark.parametrize("definition", ["v INT AS (1) VIRTUAL", "v INT AS (1) STORED"])
@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_a_column_that_is_virtual_stays_virtual_and_takes_no_default(server: str, definition: str) -> None:
    scenario = Scenario("virtual", server=server, tables=[f"CREATE TABLE d.t (id INT PRIMARY KEY, {definition})"])
    if definition.endswith("STORED"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t MODIFY v INT")))
    else:
        with pytest.raises(ScenarioError, match="cannot become virtual, nor be so no longer"):
            plan(scenario.transaction(ddl("ALTER TABLE d.t MODIFY v INT")))
    with pytest.raises(ScenarioError, match="cannot have a default"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t ALTER v SET DEFAULT 1")))


def test_what_mariadb_alone_takes_of_odd_definitions_is_unsupported() -> None:
    for column in (
        "c DOUBLE AUTO_INCREMENT UNIQUE",
        "c BLOB COLLATE latin1_bin",
    ):
        with pytest.raises(UnsupportedError):
            plan(Scenario("odd", server=MARIADB, tables=[f"CREATE TABLE d.t (id INT PRIMARY KEY, {column})"]))
    table = "CREATE TABLE d.t (id INT PRIMARY KEY, c CHAR(3) AS (UPPER('a'))) CHARACTER SET binary"
    with pytest.raises(UnsupportedError, match="UPPER and LOWER"):
        plan(Scenario("odd", server=MARIADB, tables=[table]))


@pytest.mark.parametrize(
    "columns",
    ["c POINT, KEY (c)", "c CHAR(0), KEY (c)", "c INT, KEY (c(2))", "c TEXT, KEY (c)", "c INT NULL PRIMARY KEY",
     "c INT PRIMARY KEY, d INT PRIMARY KEY", "c BLOB, KEY (c(4000))"],
)  # fmt: skip
def test_keys_that_mariadb_cuts_are_unsupported_there_and_refused_by_mysql(columns: str) -> None:
    for server in (MYSQL, MARIADB):
        with pytest.raises(ScenarioError) as refusal:
            plan(Scenario("keys", server=server, tables=[f"CREATE TABLE d.t ({columns})"]))
        assert isinstance(refusal.value, UnsupportedError) == (server == MARIADB)


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_a_key_that_a_column_names_twice_is_one(server: str) -> None:
    table = "CREATE TABLE d.t (id INT PRIMARY KEY COMMENT 'c' KEY, v INT UNIQUE UNIQUE KEY)"
    (state,) = plan(Scenario("twice", server=server, tables=[table])).tables.values()
    assert [key.kind for key in state.keys] == ["primary", "unique"]


@pytest.mark.parametrize(("server", "is_taken"), [(MYSQL, True), (MARIADB, False)])
def test_a_column_of_a_unique_key_of_several_is_not_dropped_on_mariadb(server: str, is_taken: bool) -> None:
    scenario = Scenario("drop", server=server, tables=["CREATE TABLE d.t (a INT, b INT, PRIMARY KEY (a, b))"])
    scenario = scenario.transaction(ddl("ALTER TABLE d.t DROP a"))
    if is_taken:
        plan(scenario)
    else:
        with pytest.raises(UnsupportedError, match="unique key of several columns"):
            plan(scenario)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("ROW_FORMAT=DYNAMIC KEY_BLOCK_SIZE=8", "does not go with ROW_FORMAT=DYNAMIC"),
        ("KEY_BLOCK_SIZE=3", "no KEY_BLOCK_SIZE=3"),
        ("ROW_FORMAT=FIXED", "no ROW_FORMAT=FIXED"),
    ],
)
@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_innodb_has_row_formats_and_block_sizes_that_go_together(server: str, options: str, problem: str) -> None:
    """Errors 1031 and 1005; MyISAM takes them."""
    with pytest.raises(ScenarioError, match=problem):
        plan(Scenario("formats", server=server, tables=[f"CREATE TABLE d.t (a INT) {options}"]))
    plan(Scenario("formats", server=server, tables=[f"CREATE TABLE d.t (a INT) {options} ENGINE=MyISAM"]))


def test_pages_are_compressed_in_one_way() -> None:
    """Error 1031 of MySQL 9.7."""
    plan(Scenario("pages", tables=["CREATE TABLE d.t (a INT) KEY_BLOCK_SIZE=8 COMPRESSION='none'"]))
    for option in ("KEY_BLOCK_SIZE=8", "ROW_FORMAT=COMPRESSED"):
        with pytest.raises(ScenarioError, match="COMPRESSION does not go with"):
            plan(Scenario("pages", tables=[f"CREATE TABLE d.t (a INT) {option} COMPRESSION='zlib'"]))


def test_alter_table_gives_innodb_no_row_format_of_others() -> None:
    scenario = Scenario("formats", tables=["CREATE TABLE d.t (a INT)"])
    with pytest.raises(ScenarioError, match="no ROW_FORMAT=FIXED"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t ROW_FORMAT=FIXED")))


def test_a_temporary_table_of_innodb_is_not_compressed() -> None:
    scenario = Scenario("temporary", tables=["CREATE TABLE d.t (a INT)"])
    with pytest.raises(ScenarioError, match="not compressed"):
        plan(scenario.transaction(ddl("CREATE TEMPORARY TABLE d.u (a INT) KEY_BLOCK_SIZE=8")))


def test_only_innodb_has_columns_of_a_reference_system() -> None:
    """Error 1178 of MyISAM and BLACKHOLE; SRID 0 is taken."""
    plan(Scenario("places", tables=["CREATE TABLE d.t (a POINT SRID 0) ENGINE=MyISAM"]))
    with pytest.raises(ScenarioError, match="MyISAM tables have no columns with an SRID"):
        plan(Scenario("places", tables=["CREATE TABLE d.t (a POINT SRID 4326) ENGINE=MyISAM"]))


def test_a_vector_of_mariadb_is_no_blob_to_memory_tables() -> None:
    plan(Scenario("vectors", server=MARIADB, tables=["CREATE TABLE d.t (a VECTOR(2)) ENGINE=MEMORY"]))
    with pytest.raises(UnsupportedError, match="a generated VECTOR"):
        plan(Scenario("vectors", server=MARIADB, tables=["CREATE TABLE d.t (a VECTOR(2) AS (UPPER('a')))"]))
    with pytest.raises(ScenarioError, match="MEMORY tables have no VECTOR columns"):
        plan(Scenario("vectors", tables=["CREATE TABLE d.t (a VECTOR(2)) ENGINE=MEMORY"]))


@pytest.mark.parametrize(
    ("server", "mode", "sql"),
    [
        (MYSQL, "", "CREATE TABLE d.t (a MEDIUMTEXT DEFAULT '')"),
        (MARIADB, None, "CREATE TABLE d.t (a CHAR(3) DEFAULT 1e3)"),
        (MARIADB, "", "CREATE TABLE d.t (a CHAR BYTE DEFAULT 1e3)"),
        (MARIADB, None, "CREATE TABLE d.t (a BLOB AS (UPPER('a'))) CHARACTER SET ucs2"),
    ],
)
def test_what_servers_take_of_a_definition_and_is_not_simulated(server: str, mode: str | None, sql: str) -> None:
    with pytest.raises(UnsupportedError):
        plan(Scenario("unsupported", server=server, session=Session(sql_mode=mode), tables=[sql]))


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_auto_increment_behind_null_is_not_null_and_before_it_is_not_supported(server: str) -> None:
    """A column with AUTO_INCREMENT that takes NULL keeps NULL, and its numbers go on."""
    table = plan(Scenario("numbers", server=server, tables=["CREATE TABLE d.t (a INT UNIQUE NULL AUTO_INCREMENT)"]))
    assert not table.tables["d.t"].columns[0].nullable
    with pytest.raises(UnsupportedError, match="AUTO_INCREMENT and NULL"):
        plan(Scenario("numbers", server=server, tables=["CREATE TABLE d.t (a INT UNIQUE AUTO_INCREMENT NULL)"]))


def test_null_among_the_words_of_a_column_of_the_primary_key_is_refused() -> None:
    for columns in ("a INT NULL NOT NULL PRIMARY KEY", "a INT NULL AUTO_INCREMENT, PRIMARY KEY (a)"):
        with pytest.raises(ScenarioError, match="of the primary key cannot be NULL"):
            plan(Scenario("keys", tables=[f"CREATE TABLE d.t ({columns})"]))


@pytest.mark.parametrize(
    ("server", "mode", "column", "is_taken"),
    [
        (MYSQL, None, "x TIMESTAMP PRIMARY KEY", True),
        (MYSQL, None, "x DATE NOT NULL", False),
        (MYSQL, None, "x DATE, ADD PRIMARY KEY (x)", True),
        (MYSQL, "STRICT_ALL_TABLES", "x DATE NOT NULL", True),
        (MARIADB, None, "x DATETIME NOT NULL", True),
        (MARIADB, "TRADITIONAL", "x DATETIME PRIMARY KEY", False),
    ],
)
def test_rows_have_the_zero_date_in_a_new_column_unless_no_zero_date_refuses_it(
    server: str, mode: str | None, column: str, is_taken: bool
) -> None:
    scenario = Scenario("dates", server=server, session=Session(sql_mode=mode), tables=["CREATE TABLE d.t (a INT)"])
    scenario = scenario.transaction(insert("d.t", {"a": 1})).transaction(ddl(f"ALTER TABLE d.t ADD {column}"))
    if is_taken:
        assert str(plan(scenario).contents["d.t"][0][1]).startswith("0000-00-00")
    else:
        with pytest.raises(ScenarioError, match="have no value for the new DATE"):
            plan(scenario)


def test_a_geometry_without_a_default_needs_a_value_without_strict_mode_too() -> None:
    scenario = Scenario(
        "defaults", session=Session(sql_mode=""), tables=["CREATE TABLE d.t (a INT, g POINT, s VARCHAR(3))"]
    )
    scenario = scenario.transaction(ddl("ALTER TABLE d.t ALTER s DROP DEFAULT"))
    plan(scenario.transaction(insert("d.t", {"a": 1})))
    with pytest.raises(ScenarioError, match="column 'g' has no default"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t ALTER g DROP DEFAULT")).transaction(insert("d.t", {"a": 1})))


def test_a_new_virtual_column_that_rows_cannot_hold_is_not_supported() -> None:
    scenario = Scenario("columns", tables=["CREATE TABLE d.t (a INT)"]).transaction(insert("d.t", {"a": 1}))
    with pytest.raises(UnsupportedError, match="virtual column that rows cannot hold"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t ADD x INT AS ('a') VIRTUAL")))
    with pytest.raises(ScenarioError, match="cannot hold this value"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t ADD x INT AS ('a') STORED")))


def test_a_literal_in_parentheses_that_alter_table_sets_is_one() -> None:
    """A literal default is looked at, and TEXT has none; an expression is not looked at."""
    scenario = Scenario("defaults", tables=["CREATE TABLE d.t (a INT, s TEXT)"])
    column = plan(scenario.transaction(ddl("ALTER TABLE d.t ALTER a SET DEFAULT (1)"))).tables["d.t"].columns[0]
    assert (column.default, column.computed_default) == (1, False)
    texts = "s SET DEFAULT ('a')", "s SET DEFAULT (NULL)", "s SET DEFAULT NULL", "s SET DEFAULT (DATE '2024-02-29')"
    for wrong in ("a SET DEFAULT ('x')", "a SET DEFAULT (DATE '2024-02-29')", *texts):
        with pytest.raises(ScenarioError):
            plan(scenario.transaction(ddl(f"ALTER TABLE d.t ALTER {wrong}")))


@pytest.mark.parametrize("change", ["SET DEFAULT 1", "SET DEFAULT (NOW())", "DROP DEFAULT"])
def test_defaults_of_a_numbered_column_are_not_supported(change: str) -> None:
    scenario = Scenario("numbers", tables=["CREATE TABLE d.t (a INT AUTO_INCREMENT PRIMARY KEY)"])
    with pytest.raises(UnsupportedError):
        plan(scenario.transaction(ddl(f"ALTER TABLE d.t ALTER a {change}")))
    with pytest.raises(ScenarioError, match="cannot have a default"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t ALTER a SET DEFAULT NULL")))


def test_true_and_false_which_mysql_forgets_as_defaults_of_a_numbered_column_are_not_supported() -> None:
    for column in ("a INT PRIMARY KEY AUTO_INCREMENT DEFAULT TRUE", "a SERIAL DEFAULT FALSE"):
        with pytest.raises(UnsupportedError, match="TRUE or FALSE"):
            plan(Scenario("numbers", tables=[f"CREATE TABLE d.t ({column})"]))


def test_mariadb_forgets_that_null_was_the_default_of_a_column_of_the_primary_key() -> None:
    table = "CREATE TABLE d.t (a DATE DEFAULT NULL, b INT, PRIMARY KEY (a))"
    scenario = Scenario("keys", server=MARIADB, session=Session(sql_mode=""), tables=[table])
    assert plan(scenario.transaction(insert("d.t", {"b": 1}))).contents["d.t"] == (("0000-00-00", 1),)
    with pytest.raises(ScenarioError, match="of the primary key cannot be NULL"):
        plan(Scenario("keys", tables=[table]))


def test_mysql_gives_a_column_of_the_primary_key_no_null_that_is_its_default() -> None:
    """Error 1048, without strict mode too."""
    table = "CREATE TABLE d.t (a DATE DEFAULT (NULL), b INT, PRIMARY KEY (a))"
    with pytest.raises(ScenarioError, match="and its default NULL"):
        plan(Scenario("keys", session=Session(sql_mode=""), tables=[table]).transaction(insert("d.t", {"b": 1})))


@pytest.mark.parametrize(
    "table",
    [
        "(a VARCHAR(5) DEFAULT (UPPER('b'))) COLLATE binary",
        "(a DOUBLE UNSIGNED DEFAULT '-0523.64032E+3')",
        "(a INT DEFAULT DATE '2024-02-29')",
        "(a YEAR DEFAULT DATE '2024-02-29')",
        "(a JSON DEFAULT '')",
        "(a JSON DEFAULT (CONCAT('a', 'b')))",
    ],
)
def test_defaults_that_mariadb_takes_in_ways_of_its_own_are_not_supported(table: str) -> None:
    with pytest.raises(UnsupportedError):
        plan(Scenario("defaults", server=MARIADB, tables=[f"CREATE TABLE d.t {table}"]))


def test_a_unique_key_on_a_virtual_column_stands_for_no_row() -> None:
    """SIMPLE_PRIMARY_KEY names no such key (recorded on 9.7)."""
    table = plan(Scenario("keys", tables=["CREATE TABLE d.t (a INT, b INT AS (1) NOT NULL UNIQUE)"])).tables["d.t"]
    assert key_of_rows(table) is None
    table = plan(Scenario("keys", tables=["CREATE TABLE d.t (a INT, b INT NOT NULL UNIQUE)"])).tables["d.t"]
    assert key_of_rows(table) is not None


def test_a_column_of_the_primary_key_does_not_become_nullable() -> None:
    scenario = Scenario("keys", tables=["CREATE TABLE d.t (a INT, b INT, PRIMARY KEY (a, b))"])
    with pytest.raises(ScenarioError, match="of the primary key cannot be NULL"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t CHANGE a a BIGINT NULL AFTER b")))


def test_aria_has_no_key_on_a_virtual_column() -> None:
    """Error 1904."""
    plan(Scenario("keys", server=MARIADB, tables=["CREATE TABLE d.t (a INT, b INT AS (a), KEY (b)) ENGINE=MyISAM"]))
    with pytest.raises(ScenarioError, match="Aria tables have no keys on virtual columns"):
        plan(Scenario("keys", server=MARIADB, tables=["CREATE TABLE d.t (a INT, b INT AS (a), KEY (b)) ENGINE=Aria"]))


def test_true_is_the_number_1_as_the_default_of_mariadbs_json() -> None:
    scenario = Scenario("defaults", server=MARIADB, tables=["CREATE TABLE d.t (a INT, v JSON DEFAULT TRUE)"])
    assert plan(scenario.transaction(insert("d.t", {"a": 1}))).contents["d.t"] == ((1, "1"),)


def test_members_of_bytes_stay_so_when_a_table_is_converted() -> None:
    scenario = Scenario("members", tables=["CREATE TABLE d.t (a SET('a') BYTE, b SET('a'), c TEXT)"])
    columns = plan(scenario.transaction(ddl("ALTER TABLE d.t CONVERT TO CHARACTER SET latin1"))).tables["d.t"].columns
    assert [column.type.collation == 63 for column in columns] == [True, False, False]


@pytest.mark.parametrize(("mode", "is_unsupported"), [(None, False), ("", True)])
def test_members_that_another_character_set_makes_equal_are_refused_in_strict_mode_alone(
    mode: str | None, is_unsupported: bool
) -> None:
    table = "CREATE TABLE d.t (a ENUM('a', 'A') BINARY)"
    scenario = Scenario("members", session=Session(sql_mode=mode), tables=[table])
    with pytest.raises(ScenarioError, match="equal members") as caught:
        plan(scenario.transaction(ddl("ALTER TABLE d.t CONVERT TO CHARACTER SET latin1")))
    assert isinstance(caught.value, UnsupportedError) == is_unsupported


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_unique_keys_whose_order_the_primary_key_decides_are_not_supported(server: str) -> None:
    table = "CREATE TABLE d.t (id INT, a INT{} UNIQUE, s VARCHAR(5) NOT NULL, PRIMARY KEY (a, id){})"
    plan(Scenario("keys", server=server, tables=[table.format(" NOT NULL", ", UNIQUE KEY (s)")]))
    plan(Scenario("keys", server=server, tables=[table.format("", "")]))
    with pytest.raises(UnsupportedError, match="beside another unique key"):
        plan(Scenario("keys", server=server, tables=[table.format("", ", UNIQUE KEY (s)")]))


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_what_mariadb_forgets_of_a_generated_column_is_not_supported_and_refused_by_mysql(server: str) -> None:
    scenario = Scenario("generated", server=server, tables=["CREATE TABLE d.t (a INT, b INT AS (a))"])
    for statement in (insert("d.t", {"b": None}), ddl("ALTER TABLE d.t ALTER b SET DEFAULT 1")):
        with pytest.raises(ScenarioError, match="generated column") as refusal:
            plan(scenario.transaction(statement))
        assert isinstance(refusal.value, UnsupportedError) == (server == MARIADB)
    with pytest.raises(ScenarioError, match="a generated column takes no value"):
        plan(scenario.transaction(insert("d.t", {"b": 1})))


@pytest.mark.parametrize(
    ("mode", "column", "action"),
    [
        (None, "a TIMESTAMP NULL", "ADD PRIMARY KEY (a)"),
        ("NO_ZERO_DATE", "a DATETIME NOT NULL ON UPDATE CURRENT_TIMESTAMP", "AUTO_INCREMENT=50"),
    ],
)
def test_what_mariadb_makes_of_moments_without_a_value_in_alter_table_is_not_supported(
    mode: str | None, column: str, action: str
) -> None:
    scenario = Scenario(
        "moments", server=MARIADB, session=Session(sql_mode=mode), tables=[f"CREATE TABLE d.t ({column}, b INT)"]
    )
    if mode is None:
        scenario = scenario.transaction(insert("d.t", {"b": 1}))
    with pytest.raises(UnsupportedError):
        plan(scenario.transaction(ddl(f"ALTER TABLE d.t {action}")))
